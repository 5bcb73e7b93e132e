"""Many readers and writers at a time: no search fails or waits, one writer writes, a dead one holds nobody."""

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ragcli.errors import LockedError
from ragcli.index import merge_policy
from ragcli.session.manager import SessionManager
from ragcli.store.directory import OsDirectory
from tests.cases import run
from tests.engine import answers, index, rebuilt
from tests.generations import check_one_generation, write_generation

REPOSITORY = Path(__file__).resolve().parent.parent
FILES = 5
COMMITS = 50


@pytest.fixture
def merging_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge_policy, "MAX_PER_CLASS", 2)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A session `busy` with one generation of its tree."""
    write_generation(tmp_path / "tree", 1, FILES)
    index(SessionManager(tmp_path / "data").get_rag("busy"), tmp_path / "tree")
    return tmp_path / "data"


def commit_often(data: Path, commits: int = COMMITS) -> None:
    """Index, add and remove: each a commit, many with a merge."""
    writer = SessionManager(data).get_rag("busy")
    tree = data.parent / "tree"
    for number in range(2, commits + 2):
        if number % 5 == 0:
            id_ = writer.add_document(f"an added document {number}")
        elif number % 5 == 1 and number > 5:
            writer.remove_document(id_)
        else:
            write_generation(tree, number, FILES)
            index(writer, tree)


@contextlib.contextmanager
def threads(count: int, work: Callable[[], None]) -> Iterator[list[int]]:
    """Run `work` again and again in threads while the block runs; the number of times, at the end."""
    stop = threading.Event()
    done = [0] * count

    def repeat(number: int) -> None:
        while not stop.is_set() or not done[number]:
            work()
            done[number] += 1
            time.sleep(0.005)  # the writer shares this process' one interpreter lock

    with ThreadPoolExecutor(count) as pool:
        futures = [pool.submit(repeat, number) for number in range(count)]
        try:
            yield done
        finally:
            stop.set()
        for future in futures:
            future.result()


@pytest.mark.usefixtures("merging_often", "unsynced")
def test_threads_that_share_one_service_search_through_fifty_commits(data: Path) -> None:
    rag = SessionManager(data).get_rag("busy")

    with threads(4, lambda: check_one_generation(rag, FILES)) as done:
        commit_often(data)

    assert sum(done) >= 50


@pytest.mark.usefixtures("merging_often", "unsynced")
def test_processes_search_through_fifty_commits(data: Path) -> None:
    """Each search opens the session anew; whatever is wrong with one ends its process with an error."""
    command = [sys.executable, "-m", "tests.search_driver", str(data), "busy", str(FILES)]
    pipe = subprocess.PIPE
    readers = [subprocess.Popen(command, cwd=REPOSITORY, stdin=pipe, stdout=pipe, stderr=pipe) for _ in range(4)]
    for reader in readers:
        assert reader.stdout is not None and reader.stdout.readline() == b"ready\n"

    commit_often(data)

    searches = 0
    for reader in readers:
        out, complaint = reader.communicate(timeout=60)
        assert (reader.returncode, complaint) == (0, b"")
        searches += int(out)
    assert searches >= 50


def search_by_command(data: Path) -> None:
    command = [sys.executable, "-m", "ragcli", "search", "-s", "busy", "everywhere", "--plain"]
    done = subprocess.run(command, env={**os.environ, "RAGCLI_DATA_DIR": str(data)}, capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode()
    lines = done.stdout.decode().splitlines()
    assert len(lines) == FILES
    assert len({line.split("gen")[1].split()[0] for line in lines}) == 1


def search_by_commands(data: Path, total: int, at_once: int) -> None:
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            commit_often(data)

    with ThreadPoolExecutor(at_once + 1) as pool:
        writing = pool.submit(write)
        searching = [pool.submit(search_by_command, data) for _ in range(total)]
        try:
            for search in searching:
                search.result()
        finally:
            stop.set()
        writing.result()


@pytest.mark.usefixtures("merging_often", "unsynced")
def test_commands_search_during_commits(data: Path) -> None:
    search_by_commands(data, total=16, at_once=8)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("merging_often", "unsynced")
def test_a_thousand_commands_thirty_two_at_a_time_search_during_commits(data: Path) -> None:
    search_by_commands(data, total=1000, at_once=32)


def test_writers_in_threads_and_services_lose_nothing(data: Path) -> None:
    """Each waits for the others."""
    tree = data.parent / "tree"

    def write(number: int) -> str:
        rag = SessionManager(data).get_rag("busy")
        if number % 4 == 0:
            index(rag, tree)
        return rag.add_document(f"document of writer number{number}", wait=60)

    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(write, range(16)))

    rag = SessionManager(data).get_rag("busy")
    assert {info.id for info in rag.list_documents()} == ids
    documents = [(info.preview, {}) for info in rag.list_documents()]
    assert answers(rag) == answers(rebuilt(tree, documents))


HOLDER = """
import sys, time
from ragcli.store.directory import OsDirectory
with OsDirectory(sys.argv[1]).lock(5):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


@contextlib.contextmanager
def held(session: Path, seconds: float) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that holds a session's lock."""
    command = [sys.executable, "-c", HOLDER, str(session), str(seconds)]
    process = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None and process.stdout.readline() == b"held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_without_a_wait_a_second_writer_is_told_who_holds_the_session(data: Path) -> None:
    rag = SessionManager(data).get_rag("busy")
    with held(data / "sessions" / "name-busy", 60) as holder:
        for change in (lambda: rag.add_document("late", wait=0), lambda: rag.clear(wait=0),
                       lambda: index(rag, data.parent / "tree", wait=0)):  # fmt: skip
            with pytest.raises(LockedError, match=f"process {holder.pid} ") as caught:
                change()
            assert caught.value.exit_code == 4
            assert "--wait" in caught.value.hint
        check_one_generation(rag, FILES)


def test_the_command_line_exits_4_and_names_the_holder(data: Path) -> None:
    with held(data / "sessions" / "name-busy", 60) as holder:
        done = subprocess.run(
            [sys.executable, "-m", "ragcli", "add", "-s", "busy", "--wait", "0", "late"],
            env={**os.environ, "RAGCLI_DATA_DIR": str(data)}, capture_output=True, timeout=60,
        )  # fmt: skip
    assert done.returncode == 4
    assert f"process {holder.pid} ".encode() in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_second_writer_waits_until_the_first_is_done(data: Path) -> None:
    with held(data / "sessions" / "name-busy", 0.4):
        began = time.monotonic()
        SessionManager(data).get_rag("busy").add_document("patient kiwi", wait=30)
        assert time.monotonic() - began > 0.2
    assert SessionManager(data).get_rag("busy").search("patient kiwi", 1)


def test_a_dead_holder_holds_nobody(data: Path) -> None:
    """The lock is the kernel's: what a killed process leaves of its lock file blocks no one."""
    with held(data / "sessions" / "name-busy", 60) as holder:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        SessionManager(data).get_rag("busy").add_document("after death", wait=0)
    assert (data / "sessions" / "name-busy" / "lock").exists()
    OsDirectory(str(data / "sessions" / "name-busy")).remove("lock")
    SessionManager(data).get_rag("busy").add_document("after removal of the file", wait=0)


def test_a_session_that_is_removed_and_made_again_never_fails_a_search(data: Path) -> None:
    """A search finds the session whole, or says that there is none."""
    from ragcli.errors import SessionNotFoundError

    manager = SessionManager(data)

    def search() -> None:
        with contextlib.suppress(SessionNotFoundError):
            outcome = SessionManager(data).get_rag("busy").query("everywhere", 20)
            assert len(outcome.results) == FILES or not outcome.generation

    with threads(3, search):
        for _ in range(30):
            manager.remove_session("busy")
            index(manager.get_rag("busy"), data.parent / "tree")


def test_a_session_that_is_being_written_is_not_removed(data: Path) -> None:
    (session,) = (data / "sessions").iterdir()
    before = sorted(session.iterdir())

    with held(session, 60), pytest.raises(LockedError):
        SessionManager(data).remove_session("busy", wait=0)

    assert sorted(session.iterdir()) == before
    check_one_generation(SessionManager(data).get_rag("busy"), FILES)


def test_documents_added_while_a_session_is_removed_are_kept_or_removed_with_it_and_none_fails(tmp_path: Path) -> None:
    """Who waits for the lock of a session that goes makes a new one; nobody writes into what is being deleted."""
    manager = SessionManager(tmp_path / "data")
    manager.get_rag("busy").add_document("the first one")
    added = itertools.count()

    def add() -> None:
        SessionManager(tmp_path / "data").get_rag("busy").add_document(f"a kiwi {next(added)}", wait=60)

    with threads(4, add):
        for _ in range(25):
            manager.remove_session("busy", wait=60)
    id_ = manager.get_rag("busy").add_document("the last kiwi")

    rag = SessionManager(tmp_path / "data").get_rag("busy")
    listed = {info.id for info in rag.list_documents()}
    assert id_ in listed
    assert listed == {result.id for result in rag.search("kiwi the first last", 999)}


def test_a_lock_on_a_file_that_was_removed_meanwhile_is_none(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between opening the lock's file and locking it, whoever removes the session takes the file away."""
    import fcntl

    (session,) = (data / "sessions").iterdir()
    locked = fcntl.flock
    removed = []

    def flock(descriptor: int, how: int) -> None:
        if not removed:
            removed.append((session / "lock").unlink())
        locked(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    with OsDirectory(str(session)).lock(10):
        assert removed
        assert run("add", "kiwi", "-s", "busy", "--wait", "0", data=data).code == 4
