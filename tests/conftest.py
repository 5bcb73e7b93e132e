"""Fixtures that several test modules share."""

import os

import pytest
from hypothesis import settings


@pytest.fixture
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let fsync of this process do nothing: for tests of many commits that are not about a power cut."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


# A slow machine is no fault of the code: how long one example takes is for tests/benchmarks to measure.
settings.register_profile("default", deadline=None)
# Where the environment says that it is a build server, the same examples at each run.
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")
