"""What counts as a session, which one a directory has, and what a listing says of one that cannot be read."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from ragcli.errors import SessionNotFoundError
from ragcli.session.manager import SessionManager
from ragcli.store.directory import OsDirectory
from tests.cases import run
from tests.engine import write
from tests.unprivileged import commands


def session_path(data: Path, root: Path) -> Path:
    return data / "sessions" / SessionManager(data)._sessions.of_root(str(root)).id


def test_first_runs_that_failed_leave_the_parents_index_in_sight(tmp_path: Path) -> None:
    write(tmp_path / "p", {"a.txt": "zqshadow\n", "strict/bad.docx": "x", "typo/a.txt": "zqtypo\n"})
    (tmp_path / "p" / "img").mkdir()
    (tmp_path / "p" / "img" / "x.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    data = tmp_path / "data"
    assert run("index", str(tmp_path / "p"), data=data).code == 0

    failed = [
        run("index", ".", data=data, cwd=tmp_path / "p" / "img").code,
        run("index", "--strict", ".", data=data, cwd=tmp_path / "p" / "strict").code,
        run("index", "--include", "*.py", ".", data=data, cwd=tmp_path / "p" / "typo").code,
    ]

    assert 0 not in failed
    for name in ("img", "strict", "typo"):
        assert run("search", "zqshadow", data=data, cwd=tmp_path / "p" / name).code == 0
    listed = run("status", "--all", data=data)
    assert listed.code == 0 and listed.err == "" and len(listed.out.splitlines()) == 2
    assert len(run("status", "--all", "--json", data=data).json()["sessions"]) == 1


def test_a_first_index_under_way_is_named_as_that(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {"a.txt": "zqa\n"})
    data = tmp_path / "data"
    with OsDirectory(str(session_path(data, tree))).lock(0):
        done = run("search", "zqa", data=data, cwd=tree)
    assert done.code == 3 and f"the first index of {tree} is under way" in done.err
    assert "no index of" in run("search", "zqa", data=data, cwd=tree).err


@pytest.mark.parametrize("damage", ["CURRENT", ".segment", ".manifest"])
def test_a_damaged_session_takes_no_others_listing_along(tmp_path: Path, damage: str) -> None:
    data = tmp_path / "data"
    for name in ("good", "bad"):
        write(tmp_path / name, {"a.txt": f"zq{name}\n"})
        assert run("index", str(tmp_path / name), data=data).code == 0
    bad = session_path(data, tmp_path / "bad")
    for file in bad.iterdir():
        if file.name.endswith(damage):
            file.write_bytes(b"damaged")

    listed = run("status", "--all", data=data)
    assert listed.code == 5 and str(tmp_path / "good") in listed.out.decode() and b"cannot be read" in listed.out
    sessions = run("status", "--all", "--json", data=data).json()["sessions"]
    assert [bool(one.get("problem")) for one in sorted(sessions, key=lambda one: "problem" in one)] == [False, True]
    one = run("status", data=data, cwd=tmp_path / "bad")
    assert one.code == 5 and str(bad) in one.err


def test_a_missing_segment_is_told_by_status_with_the_place_of_the_index(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {"a.txt": "zqa\n"})
    data = tmp_path / "data"
    assert run("index", str(tree), data=data).code == 0
    for segment in session_path(data, tree).glob("*.segment"):
        segment.unlink()

    for command in (["status"], ["search", "zqa"], ["prompt", "zqa"], ["list", "--files"]):
        done = run(*command, data=data, cwd=tree)
        assert done.code == 5 and str(session_path(data, tree)) in done.err, command


def test_another_users_index_is_a_matter_of_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.getuid():
        pytest.skip("only root can make an index of somebody else's")
    tree = write(tmp_path / "tree", {"a.txt": "zqa\n"})
    with tempfile.TemporaryDirectory() as shared:
        os.chmod(shared, 0o755)
        data = Path(shared)
        assert run("index", str(tree), data=data).code == 0
        (data / "sessions").chmod(0o755)
        monkeypatch.chdir(tree)
        [search, listing] = commands([["search", "zqa"], ["status", "--all"]], data)
        assert search.code == 2 and "permission denied" in search.err and "owner root" in search.err
        assert listing.code == 2 and "belongs to another user" in listing.err
        (data / "sessions").chmod(0o700)
        [search, listing] = commands([["search", "zqa"], ["status", "--all"]], data)
        assert (search.code, listing.code) == (2, 2) and "owner root" in search.err and "owner root" in listing.err


def test_a_new_directory_inherits_nothing_of_a_deleted_one(tmp_path: Path) -> None:
    """File systems give a freed inode number to the next directory that is made."""
    data = tmp_path / "data"
    old = write(tmp_path / "old", {"a.md": "zqold\n"})
    assert run("index", "--include", "*.md", str(old), data=data).code == 0
    assert run("add", "private zqnote", data=data, cwd=old).code == 0
    number = old.stat().st_ino
    shutil.rmtree(old)
    for attempt in range(50):
        new = tmp_path / f"new{attempt}"
        new.mkdir()
        if new.stat().st_ino == number:
            break
    else:
        pytest.skip("this file system did not give the number again")
    (new / "b.py").write_text("zqnew = 1\n")

    assert run("search", "zqnote", data=data, cwd=new).code == 3
    assert run("index", ".", data=data, cwd=new).code == 0
    assert run("search", "zqnote", data=data, cwd=new).code == 1
    assert run("search", "zqnew", data=data, cwd=new).code == 0


def test_a_file_that_was_indexed_alone_is_found_from_its_directory(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {"notes.md": "zqsingle\n", "other.md": "zqother\n"})
    (tree / "sub").mkdir()
    data = tmp_path / "data"
    assert run("index", "notes.md", data=data, cwd=tree).code == 0

    for place in (tree, tree / "sub"):
        found = run("search", "zqsingle", data=data, cwd=place)
        assert found.code == 0, found.err
    assert run("prompt", "zqsingle", data=data, cwd=tree).code == 0

    assert run("index", "other.md", data=data, cwd=tree).code == 0
    several = run("search", "zqsingle", data=data, cwd=tree)
    assert several.code == 3 and "2 single files" in several.err and "-s " in several.err
    assert run("index", ".", data=data, cwd=tree).code == 0
    assert run("search", "zqother", data=data, cwd=tree).code == 0


def test_a_tree_that_its_options_shrank_to_nothing_says_which(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {"a.md": "zqa\n"})
    data = tmp_path / "data"
    assert run("index", str(tree), data=data).code == 0

    done = run("index", str(tree), "--include", "*.rs", data=data)
    assert done.code == 2 and "--include" in done.err and "mount" not in done.err
    ignored = run("index", str(tree), "--exclude", "*.md", data=data)
    assert ignored.code == 2 and "excluded *.md" in ignored.err
    assert run("search", "zqa", data=data, cwd=tree).code == 0


def test_a_session_of_no_commit_is_no_session(tmp_path: Path) -> None:
    manager = SessionManager(tmp_path)
    (tmp_path / "sessions" / "name-half").mkdir(parents=True)
    (tmp_path / "sessions" / "name-half" / "lock").write_text("")

    assert manager.sessions() == [] and manager.session_names() == []
    with pytest.raises(SessionNotFoundError):
        manager.get_rag("half").require()
