"""Fixtures that several test modules share."""

import os

import pytest


@pytest.fixture
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let fsync of this process do nothing: for tests of many commits that are not about a power cut."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
