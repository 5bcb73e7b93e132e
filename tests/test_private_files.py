"""What is stored is for its owner alone, and what others could change is not used."""

import os
import stat
from pathlib import Path

import pytest

from ragcli.errors import StoreError
from ragcli.session.manager import SessionManager
from tests.cases import run


@pytest.fixture
def data(tmp_path: Path) -> Path:
    SessionManager(tmp_path / "data").get_rag("mine").add_document("kiwi")
    return tmp_path / "data"


def test_an_export_is_readable_by_its_owner_alone(data: Path, tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        assert run("-s", "mine", "export", "out.tar", data=data, cwd=tmp_path).code == 0
    finally:
        os.umask(old)

    assert stat.S_IMODE((tmp_path / "out.tar").stat().st_mode) == 0o600


@pytest.mark.parametrize("place", [".", "sessions", "sessions/name-mine"])
def test_a_directory_that_everybody_can_write_to_is_refused_in_a_line(data: Path, tmp_path: Path, place: str) -> None:
    (data / place).chmod(0o777)

    for words in (("search", "kiwi"), ("add", "more"), ("status",), ("clear", "--yes")):
        done = run("-s", "mine", *words, data=data, cwd=tmp_path)
        assert done.code == 2
        assert f"{data / place} is not used: every user of this machine can write to it" in done.err.replace("/./", "/")
    (data / place).chmod(0o700)
    assert run("-s", "mine", "search", "kiwi", data=data, cwd=tmp_path).code == 0


@pytest.mark.parametrize("place", ["sessions", "sessions/name-mine"])
def test_a_link_in_the_place_of_a_session_is_refused(data: Path, tmp_path: Path, place: str) -> None:
    (data / place).rename(tmp_path / "elsewhere")
    (data / place).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(StoreError, match="it is a symbolic link"):
        SessionManager(data).get_rag("mine")


def test_a_data_directory_may_be_a_link_that_its_user_made(data: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(data)

    assert SessionManager(tmp_path / "link").get_rag("mine").search("kiwi")


def test_what_belongs_to_another_user_is_refused(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 54321)

    with pytest.raises(StoreError, match="belongs to another user"):
        SessionManager(data).get_rag("mine")
