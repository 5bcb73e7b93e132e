"""Cases after public bug reports about the store. The id of a case stands in the name of its test."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ragcli.config.options import STANDARD, IndexOptions
from ragcli.errors import IndexCorruptError
from ragcli.session.locator import session_id
from ragcli.session.manager import SessionManager
from ragcli.store.directory import OsDirectory
from ragcli.store.snapshots import SnapshotStore
from tests.cases import REPOSITORY, indexed, run
from tests.engine import answers, index, rebuilt, write
from tests.test_concurrency import held
from tests.test_damage import with_version

STAMP = 1_704_067_200_000_000_000


def source(folder: Path, files: int = 300) -> Path:
    text = "amber basin cedar delta ember fjord grove hazel inlet jetty"
    return write(
        folder / "src", {f"f{number:03}.txt": f"zqcrash f{number:03} {text} {number}\n" for number in range(files)}
    )


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damage")
    source(folder)
    assert run("index", str(folder / "src"), data=folder / "data").code == 0
    assert run("add", "zqadded document", data=folder / "data", cwd=folder / "src").code == 0
    return folder


def files_of(session: Path) -> set[tuple[str, int]]:
    """The files of a session, with the times at which they were made."""
    found = set()
    for path in session.iterdir() if session.is_dir() else ():
        with contextlib.suppress(FileNotFoundError):
            found.add((path.name, path.stat().st_mtime_ns))
    return found


def kill_at(event: str, process: subprocess.Popen[bytes], session: Path, before: set[tuple[str, int]]) -> None:
    """Kill a run as soon as the session holds a new file whose name has `event` in it, or the run has ended."""
    while process.poll() is None:
        if not event or any(event in name for name, _ in files_of(session) - before):
            break
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def test_killed_at_any_event_the_last_generation_answers_and_the_next_run_completes(tmp_path: Path) -> None:
    """What was committed decides what a search answers, however fast the run or this test was."""
    tree, data = source(tmp_path), tmp_path / "data"
    environment = {**os.environ, "RAGCLI_DATA_DIR": str(data), "PYTHONPATH": str(REPOSITORY)}
    session = data / "sessions" / session_id(os.path.realpath(tree))
    words: set[str] = set()
    for number, event in enumerate(("", "lock", ".draft-", ".segment", "PENDING", ".stat", ".manifest", "CURRENT")):
        words.add(f"round{number}")
        (tree / "f000.txt").write_text(f"zqcrash round{number}\n" * (number + 1))
        before = files_of(session)
        process = subprocess.Popen(
            [sys.executable, "-m", "ragcli", "index", str(tree)], env=environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        kill_at(event, process, session, before)
        done = run("search", "zqcrash", "--jsonl", "-k", "400", data=data, cwd=tree)
        committed = SnapshotStore(OsDirectory(str(session))).current_number()
        assert done.code == (0 if committed else 3), (event, done)
        if done.code == 0:
            found = {json.loads(line)["file"]: json.loads(line)["content"] for line in done.out.splitlines()}
            assert len(found) == 300
            assert found["f000.txt"].split()[1] in words
    assert run("index", str(tree), data=data).code == 0
    assert not [path for path in data.rglob("*") if path.name.startswith(".draft-") or path.name == "PENDING"]
    assert answers(SessionManager(data).rag_for_path(str(tree))) == answers(rebuilt(tree))


@pytest.mark.parametrize(
    "how", ["flip", *(pytest.param(how, marks=pytest.mark.slow) for how in ("empty", "half", "random", "missing"))]
)
def test_a_damaged_file_is_named_with_the_way_out_and_never_an_empty_answer(
    stored: Path, tmp_path: Path, how: str
) -> None:
    """Through the command line; each byte is the work of test_damage."""
    right = run("search", "zqcrash", "--json", data=stored / "data", cwd=stored / "src")
    names = sorted(path.relative_to(stored / "data") for path in (stored / "data").rglob("*") if path.is_file())
    assert len(names) > 5
    for number, name in enumerate(names):
        data = tmp_path / str(number)
        shutil.copytree(stored / "data", data)
        raw = (data / name).read_bytes()
        if how == "missing":
            (data / name).unlink()
        else:
            third = len(raw) // 3
            made = {
                "empty": b"", "half": raw[: len(raw) // 2], "random": bytes((7 * n + 3) % 256 for n in range(len(raw))),
                "flip": raw[:third] + bytes([raw[third] ^ 0x10]) + raw[third + 1 :] if raw else b"x",
            }  # fmt: skip
            (data / name).write_bytes(made[how])
        before = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
        done = run("search", "zqcrash", "--json", data=data, cwd=stored / "src")
        if done.code == 0:
            assert done.json()["results"] == right.json()["results"]
        else:
            assert done.code == 5
            assert "ragcli index" in done.err
            assert name.name in done.err
        with contextlib.suppress(IndexCorruptError):
            assert len(SessionManager(data).rag_for_path(str(stored / "src")).list_documents()) == 1
        assert {path: path.read_bytes() for path in data.rglob("*") if path.is_file()} == before

        rag = SessionManager(data).rag_for_path(str(stored / "src"))
        index(rag, stored / "src")
        assert [result.id for result in rag.search("zqcrash")] == [hit["id"] for hit in right.json()["results"]]
        assert len(rag.list_documents()) == 1


def test_an_old_lock_file_blocks_nobody_and_a_live_holder_for_as_long_as_was_said(stored: Path) -> None:
    (session,) = (stored / "data" / "sessions").iterdir()
    (session / "lock").write_text("process 1 since the beginning of time")
    assert run("index", "--wait", "0", data=stored / "data", cwd=stored / "src").code == 0
    with held(session, 60) as holder:
        began = time.monotonic()
        done = run("index", "--wait", "0.5", data=stored / "data", cwd=stored / "src")
        assert time.monotonic() - began > 0.5
    assert done.code == 4
    assert str(holder.pid) in done.err


def trees(folder: Path) -> tuple[Path, Path]:
    """The same project before and after, all files with the same times where nothing else is said."""
    before = {
        "same.txt": "text zqoldword here\n", "gone.txt": "zqgone\n", "old_name.txt": "zqrename stays\n",
        "touched.txt": "zqtouched\n", "grown.txt": "short\n", "case.txt": "zqcase\n",
        "dir_to_file/inner.txt": "zqinner\n",
    }  # fmt: skip
    after = {
        "same.txt": "text zqnewword here\n", "new_name.txt": "zqrename stays\n", "touched.txt": "zqtouched\n",
        "grown.txt": "short and zqgrown\n", "Case.txt": "zqcase\n", "dir_to_file": "zqnowfile\n",
    }  # fmt: skip
    roots = write(folder / "before", dict(before)), write(folder / "after", dict(after))
    for root in roots:
        for path in root.rglob("*"):
            os.utime(path, ns=(STAMP, STAMP))
    os.utime(folder / "after" / "grown.txt", ns=(STAMP + 5_000_000_000,) * 2)
    return roots


def mirror(origin: Path, target: Path) -> None:
    """Make one directory what another is, keeping times, as rsync -a --delete does: files in place, no new tree."""
    for path in sorted(target.rglob("*"), reverse=True):
        other = origin / path.relative_to(target)
        if not other.exists() or other.is_dir() != path.is_dir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in sorted(origin.rglob("*")):
        copy = target / path.relative_to(origin)
        if path.is_dir():
            copy.mkdir(exist_ok=True)
        else:
            copy.write_bytes(path.read_bytes())
            shutil.copystat(path, copy)


def test_an_incremental_run_sees_what_a_rebuild_sees_without_being_asked_to_hash(tmp_path: Path) -> None:
    before, after = trees(tmp_path)
    work = tmp_path / "work"
    shutil.copytree(before, work)
    data = tmp_path / "data"
    assert run("index", str(work), data=data).code == 0
    time.sleep(0.05)
    mirror(after, work)
    os.utime(work / "touched.txt")

    report = run("index", str(work), "--json", data=data).json()

    assert report["files"]["kept"] == 1
    rag = SessionManager(data).rag_for_path(str(work))

    def hits(query: str) -> list[str]:
        return [result.file for result in rag.search(query)]

    assert hits("zqnewword") == ["same.txt"]
    assert hits("zqoldword") == hits("zqgone") == hits("zqinner") == []
    assert hits("zqrename") == ["new_name.txt"]
    assert hits("zqcase") == ["Case.txt"]
    assert hits("zqnowfile") == ["dir_to_file"]
    fresh = indexed(work)
    words = ("text", "here", "short", "stays", "zqgrown", "zqtouched", "case", "name", "file", "txt", "old", "new",
             "dir", "same", "grown", "zqcase", "and", "zqrename stays", "short and", "to")  # fmt: skip
    assert answers(rag, words) == answers(fresh, words)
    assert rag.list_files() == fresh.list_files()


@pytest.mark.parametrize("data_inside", [False, True])
def test_a_moved_project_takes_its_index_along(tmp_path: Path, data_inside: bool) -> None:
    project = write(tmp_path / "proj", {"a.txt": "zqmove alpha\n", "b/c.txt": "zqmove beta\n"})
    data = project / ".data" if data_inside else tmp_path / "data"
    assert run("index", str(project), data=data).code == 0
    project.rename(tmp_path / "proj2")
    data = tmp_path / "proj2" / ".data" if data_inside else data

    before = run("search", "zqmove", data=data, cwd=tmp_path / "proj2")
    again = run("index", str(tmp_path / "proj2"), "--json", data=data)
    found = run("search", "zqmove", "--json", data=data, cwd=tmp_path / "proj2")

    assert before.code == 3 and f"ragcli index {tmp_path / 'proj2'}" in before.err
    assert "was taken along" in again.err
    assert found.code == 0
    value = found.json()
    assert value["root"] == str(tmp_path / "proj2")
    assert {hit["file"] for hit in value["results"]} == {"a.txt", "b/c.txt"}
    assert again.json()["files"]["kept"] == 2
    assert again.json()["files"]["new"] == 0


def test_of_two_processes_that_find_a_project_moved_both_go_on(tmp_path: Path) -> None:
    project = write(tmp_path / "proj", {"a.txt": "zqmove alpha\n"})
    data = tmp_path / "data"
    assert run("index", str(project), data=data).code == 0
    moved = project.rename(tmp_path / "proj2")
    services = [SessionManager(data).rag_for_path(str(moved)) for _ in range(3)]

    reports = [index(rag, moved) for rag in services]

    assert [report.files.new for report in reports] == [0, 0, 0]
    assert [result.file for result in SessionManager(data).rag_for_path(str(moved)).search("zqmove")] == ["a.txt"]


@pytest.mark.parametrize("home", [{"HOME": "/nonexistent"}, {"HOME": "/proc"}, {"HOME": ""}], ids=str)
def test_without_a_usable_home_a_data_directory_is_enough(tmp_path: Path, home: dict[str, str]) -> None:
    tree = write(tmp_path / "tree", {"a.txt": "zqhome\n"})
    bare = {name: "" for name in os.environ if name.startswith("XDG_")}
    assert run("index", str(tree), data=tmp_path / "data", **home, **bare).code == 0
    assert run("search", "zqhome", data=tmp_path / "data", cwd=tree, **home, **bare).code == 0


def only_session(data: Path) -> Path:
    (session,) = (data / "sessions").iterdir()
    return session


def current_manifest(data: Path) -> Path:
    return max(only_session(data).glob("*.manifest"), key=lambda path: int(path.stem))


@pytest.mark.parametrize("version", [0, 2])
def test_another_version_is_named_its_files_stay_and_the_hint_works(tmp_path: Path, version: int) -> None:
    tree, data = write(tmp_path / "tree", {"a.txt": "zqversion\n", "skip.txt": "zqversion\n"}), tmp_path / "data"
    rag = SessionManager(data).rag_for_path(str(tree))
    index(rag, tree, IndexOptions(limits=STANDARD, exclude=("skip.txt",)))
    rag.add_document("zqversion added")
    path = current_manifest(data)
    path.write_bytes(with_version(path.name, path.read_bytes(), version))
    before = path.read_bytes()

    for words in (("search", "zqversion"), ("index",), ("add", "more")):
        done = run(*words, data=data, cwd=tree)
        assert done.code == 5, (words, done)
        assert f"format {version}, this ragcli reads format 1" in done.err
        assert "ragcli index --rebuild" in done.err
    assert path.read_bytes() == before

    assert run("index", "--rebuild", data=data, cwd=tree).code == 0
    found = SessionManager(data).rag_for_path(str(tree)).search("zqversion")
    assert sorted(result.file for result in found) == ["", "a.txt"]


@pytest.mark.parametrize(
    "names", [("CURRENT",), ("*.manifest",), ("*.manifest", "CURRENT", "*.segment", "*.documents")], ids=str
)
def test_every_way_out_that_a_message_names_works(tmp_path: Path, names: tuple[str, ...]) -> None:
    """From the working directory, without a path."""
    tree, data = write(tmp_path / "tree", {"a.txt": "zqway alpha\n"}), tmp_path / "data"
    for way in (("index",), ("index", "--rebuild"), ("clear", "--yes")):
        shutil.rmtree(data, ignore_errors=True)
        rag = SessionManager(data).rag_for_path(str(tree))
        index(rag, tree)
        rag.add_document("zqway added")
        for pattern in names:
            for path in only_session(data).glob(pattern):
                path.write_bytes(path.read_bytes()[:-1] + b"\xff")
        with pytest.raises(IndexCorruptError):
            SessionManager(data).rag_for_path(str(tree)).search("zqway")
        done = run(*way, data=data, cwd=tree)
        if "*.documents" in names and way[0] == "index":
            assert done.code == 5 and "ragcli clear" in done.err
            continue
        assert done.code == 0, (way, done)
        if way[0] == "index":
            assert len(SessionManager(data).rag_for_path(str(tree)).search("zqway")) == 2
        else:
            index(SessionManager(data).rag_for_path(str(tree)), tree)
            assert run("search", "zqway", data=data, cwd=tree).code == 0
