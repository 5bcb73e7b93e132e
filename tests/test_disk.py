"""A disk that is full, over quota, failing, read-only or not ours: the old generation answers, in one clear line."""

import contextlib
import errno
import os
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ragcli.errors import IndexCorruptError, SessionNotFoundError, StoreError
from ragcli.session.manager import SessionManager
from ragcli.session.service import RagService
from ragcli.store import directory as store_directory
from tests.engine import answers, index, rebuilt, rewrite, write
from tests.unprivileged import NOBODY, commands

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write(tmp_path / "tree", {"a.txt": "alpha beta gamma\n" * 30, "b.md": "# Notes\n\nalpha delta\n"})


@pytest.fixture
def data(tmp_path: Path, tree: Path) -> Path:
    """A session that holds the tree and a document; then the tree changes."""
    rag = SessionManager(tmp_path / "data").get_rag("disk")
    index(rag, tree)
    rag.add_document("added kiwi")
    rewrite(tree / "a.txt", "alpha omega changed\n" * 40)
    write(tree, {"new.txt": "gamma omega new\n"})
    return tmp_path / "data"


def session(data: Path) -> Path:
    return data / "sessions" / "name-disk"


CHANGES: dict[str, Callable[[RagService, Path], object]] = {
    "index": lambda rag, tree: index(rag, tree),
    "add": lambda rag, tree: rag.add_document("added kiwi second"),
    "rm": lambda rag, tree: rag.remove_document(rag.list_documents()[0].id),
    "clear": lambda rag, tree: rag.clear(),
}
FAULTS = [
    ("open", errno.ENOSPC), ("open", errno.EROFS), ("open", errno.EACCES), ("write", errno.ENOSPC),
    ("write", errno.EDQUOT), ("fsync", errno.EIO), ("replace", errno.ENOSPC),
]  # fmt: skip
QUERIES = ("alpha omega", "added kiwi")


class Failing:
    """The system calls of the store, one of which fails from its k-th use on, or then only."""

    def __init__(self, call: str, number: int, at: int, once: bool) -> None:
        self._call, self._number, self._at, self._once = call, number, at, once
        self.uses = 0

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name != self._call:
            return real

        def call(*arguments: Any, **named: Any) -> Any:
            if name == "open" and not arguments[1] & os.O_CREAT:  # a reader's
                return real(*arguments, **named)
            self.uses += 1
            if self.uses == self._at or (self.uses > self._at and not self._once):
                raise OSError(self._number, os.strerror(self._number), arguments[0])
            return real(*arguments, **named)

        return call


@pytest.mark.usefixtures("unsynced")
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(("call", "number"), FAULTS, ids=lambda value: errno.errorcode.get(value, value))
def test_a_call_that_fails_at_any_point_of_a_change_leaves_one_generation(
    data: Path, tree: Path, change: str, call: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old or new answers; nothing half-written stays; the next run completes as if nothing had been."""
    manager = SessionManager(data)
    old = answers(manager.get_rag("disk"), QUERIES)
    # On a full disk clear removes what is to go before it writes, at worst all of the session.
    makes_room = change == "clear" and number in (errno.ENOSPC, errno.EDQUOT)
    shutil.copytree(session(data), data / "kept")
    with monkeypatch.context() as patched:
        for at in range(1, 200):
            once = at % 2 == 0
            failing = Failing(call, number, at, once)
            patched.setattr(store_directory, "os", failing)
            try:
                CHANGES[change](SessionManager(data).get_rag("disk"), tree)
            except StoreError as error:
                assert str(session(data)) in error.message
                assert os.strerror(number) in error.message
                assert error.hint
            else:
                assert failing.uses < at or once or makes_room, "a failure was swallowed"
            patched.setattr(store_directory, "os", os)
            assert not [name for name in os.listdir(session(data)) if name.startswith(".draft-")]
            after = SessionManager(data).get_rag("disk")
            with contextlib.suppress(SessionNotFoundError) if makes_room else contextlib.nullcontext():
                assert answers(after, QUERIES) == old or {info.id for info in after.list_documents()} == {
                    result.id for result in after.search("kiwi", 9) if not result.file
                }
            index(after, tree)
            documents = [(info.preview, {}) for info in after.list_documents()]
            assert answers(after, QUERIES) == answers(rebuilt(tree, documents), QUERIES)
            assert set(os.listdir(session(data))) <= known_files(data)
            shutil.rmtree(session(data))
            shutil.copytree(data / "kept", session(data))
            if failing.uses < at:
                break
    assert at > 2


def known_files(data: Path) -> set[str]:
    """What the current and the previous generation consist of."""
    from ragcli.store.directory import OsDirectory
    from ragcli.store.snapshots import SnapshotStore

    store = SnapshotStore(OsDirectory(str(session(data))))
    current = store.current_number()
    names = {"CURRENT", "lock"}
    manifests = [store._manifest(number) for number in (current,)]
    with contextlib.suppress(FileNotFoundError):
        manifests.append(store._previous(current))
    for manifest in manifests:
        names |= {f"{manifest.number}.manifest", f"{manifest.number}.stat", manifest.documents}
        names |= {info.name for info in manifest.segments}
    return names


@pytest.mark.parametrize("call", ["open", "pread"])
def test_a_disk_that_gives_nothing_back_is_exit_5_and_is_read_around(
    data: Path, tree: Path, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never a stream's failure, never half an answer; a run that can read the files again needs nothing of the old."""
    right = answers(rebuilt(tree, [("added kiwi", {})]), QUERIES)
    old = answers(SessionManager(data).get_rag("disk"), QUERIES[:1])
    refused = 0
    for at in range(1, 60):
        failing = FailingReads(call, at)
        with monkeypatch.context() as patched:
            patched.setattr(store_directory, "os", failing)
            try:
                assert answers(SessionManager(data).get_rag("disk"), QUERIES[:1]) == old
            except IndexCorruptError as error:
                assert error.exit_code == 5
                assert "Input/output error" in error.message
                assert "ragcli index --rebuild" in error.hint
                refused += 1
        if failing.uses < at:
            break
    assert refused > 2
    with monkeypatch.context() as patched:
        patched.setattr(store_directory, "os", FailingReads(call, 0, ".segment"))
        index(SessionManager(data).get_rag("disk"), tree)
    assert answers(SessionManager(data).get_rag("disk"), QUERIES) == right


class FailingReads:
    """The system calls of the store; from its `at`-th use on the disk gives an error for a call that reads."""

    def __init__(self, call: str, at: int, suffix: str = "") -> None:
        self._call, self._at, self._suffix = call, at, suffix
        self.uses = 0

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name != self._call:
            return real

        def call(*arguments: Any, **named: Any) -> Any:
            if name == "open" and (arguments[1] & os.O_CREAT or not str(arguments[0]).endswith(self._suffix)):
                return real(*arguments, **named)
            self.uses += 1
            if (self._at and self.uses >= self._at) or (not self._at and self.uses == 1):
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return real(*arguments, **named)

        return call


@contextlib.contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """No file of this process may grow over `size` bytes: what a full disk does to large writes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_under_any_limit_on_the_size_of_files_the_previous_generation_answers(data: Path, tree: Path) -> None:
    old = answers(SessionManager(data).get_rag("disk"))
    refused = 0
    for size in range(0, 6000, 150):
        error: StoreError | None = None
        try:
            with file_size_limit(size):
                index(SessionManager(data).get_rag("disk"), tree)
        except StoreError as caught:
            error = caught
        rag = SessionManager(data).get_rag("disk")
        if error is None:
            break
        assert "cannot write" in error.message and "room" in error.hint
        assert answers(rag) == old
        refused += 1
    assert refused > 2
    assert answers(rag) == answers(rebuilt(tree, [("added kiwi", {})]))
    assert set(os.listdir(session(data))) <= known_files(data)


def ragcli(*words: str, data: Path, **how: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ragcli", *words], capture_output=True, text=True, timeout=60, cwd=how.pop("cwd", "/"),
        env={**os.environ, "RAGCLI_DATA_DIR": str(data), "PYTHONPATH": str(REPOSITORY)}, **how,
    )  # fmt: skip


def check_refused(done: subprocess.CompletedProcess[str], data: Path) -> None:
    check_line(done.returncode, done.stderr, data)


def check_line(code: int, complaint: str, data: Path) -> None:
    """One line and a hint that name the place; exit code 2."""
    assert code == 2, complaint
    lines = complaint.splitlines()
    assert len(lines) == 2, complaint
    assert str(data) in lines[0]
    assert lines[1].startswith("hint: ")


@pytest.mark.parametrize("words", [("index", "TREE"), ("add", "late"), ("clear", "--yes")])
def test_the_command_line_says_in_one_line_that_the_disk_is_full(
    data: Path, tree: Path, words: tuple[str, ...]
) -> None:
    before = ragcli("search", "-s", "disk", "alpha", "--json", data=data).stdout
    command = [str(tree) if word == "TREE" else word for word in words]

    done = ragcli(
        command[0], "-s", "disk", *command[1:], data=data,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
    )  # fmt: skip

    check_refused(done, data)
    assert ragcli("search", "-s", "disk", "alpha", "--json", data=data).stdout.replace('"stale":true', "") == (
        before.replace('"stale":true', "")
    )


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB."""
    place = tmp_path / "small"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(place)], capture_output=True).returncode:
        pytest.skip("mounting needs root")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_on_a_file_system_that_is_full_the_index_answers_and_goes_on_when_there_is_room(
    mounted: Path, tree: Path
) -> None:
    data = mounted / "data"
    index(SessionManager(data).get_rag("disk"), tree)
    old = answers(SessionManager(data).get_rag("disk"))
    filler = mounted / "filler"
    with contextlib.suppress(OSError), filler.open("wb") as file:
        while True:
            file.write(b"x" * 4096)
            file.flush()
    write(tree, {"more.txt": "alpha omega more\n" * 500})

    with pytest.raises(StoreError, match="No space left") as caught:
        index(SessionManager(data).get_rag("disk"), tree)

    assert "make room" in caught.value.hint
    assert answers(SessionManager(data).get_rag("disk")) == old
    filler.unlink()
    index(SessionManager(data).get_rag("disk"), tree)
    assert answers(SessionManager(data).get_rag("disk")) == answers(rebuilt(tree))
    assert set(os.listdir(session(data))) <= known_files(data)


def test_on_a_read_only_file_system_searches_answer_and_changes_are_refused(mounted: Path, tree: Path) -> None:
    data = mounted / "data"
    index(SessionManager(data).get_rag("disk"), tree)
    old = answers(SessionManager(data).get_rag("disk"))
    subprocess.run(["mount", "-o", "remount,ro", str(mounted)], check=True)

    assert answers(SessionManager(data).get_rag("disk")) == old
    for words in (("index", str(tree)), ("add", "late"), ("clear", "--yes")):
        done = ragcli(words[0], "-s", "disk", *words[1:], data=data)
        check_refused(done, data)
        assert "Read-only" in done.stderr


@pytest.fixture
def shared() -> Iterator[Path]:
    """A directory that belongs to whom the children run as, with a tree in it."""
    place = Path(tempfile.mkdtemp(prefix="ragcli-shared-"))
    write(place / "tree", {"a.txt": "alpha beta gamma\n", "b.md": "# Notes\n\nalpha delta\n"})
    if os.getuid() == 0:
        for path in [place, *place.rglob("*")]:
            os.chown(path, NOBODY, NOBODY)
    yield place
    subprocess.run(["chmod", "-R", "u+rwX", str(place)], check=True)
    shutil.rmtree(place)


def test_without_permission_to_write_searches_answer_and_changes_are_refused(shared: Path) -> None:
    data = shared / "data"
    made, found = commands(
        [("index", "-s", "disk", str(shared / "tree")), ("search", "-s", "disk", "alpha", "--json")], data
    )
    assert (made.code, found.code) == (0, 0), (made, found)
    subprocess.run(["chmod", "-R", "a-w", str(data)], check=True)

    again, *refused = commands(
        [("search", "-s", "disk", "alpha", "--json"), ("index", "-s", "disk", str(shared / "tree")),
         ("add", "-s", "disk", "late"), ("clear", "-s", "disk", "--yes")], data,
    )  # fmt: skip

    assert again == found
    for done in refused:
        check_line(done.code, done.err, data)
        assert "Permission denied" in done.err


def test_without_permission_to_read_the_index_every_command_says_so_in_one_line(shared: Path) -> None:
    data = shared / "data"
    commands([("index", "-s", "disk", str(shared / "tree"))], data)
    for path in (session(data), session(data) / "CURRENT", next(session(data).glob("*.segment")), data):
        before = stat.S_IMODE(path.stat().st_mode)
        path.chmod(0)
        words = [("search", "alpha"), ("status",), ("list",), ("index", str(shared / "tree")), ("add", "x")]
        for line, done in zip(words, commands([(w[0], "-s", "disk", *w[1:]) for w in words], data), strict=True):
            if path.name.endswith(".segment") and line[0] in ("status", "list"):
                continue  # these open no segment
            assert done.code in (2, 5), (path, line, done)
            assert "ermission denied" in done.err, (path, line, done)
            assert 1 <= len(done.err.splitlines()) <= 2, done.err
            assert "internal" not in done.err, (path, line, done)
        path.chmod(before)


def test_a_data_directory_that_cannot_be_made_is_one_line(shared: Path) -> None:
    closed = shared / "closed"
    closed.mkdir(mode=0o555)
    (done,) = commands([("index", str(shared / "tree"))], closed / "data")
    check_line(done.code, done.err, closed)
    (done,) = commands([("index", str(shared / "tree"))], Path("/proc/nowhere/data"))
    check_line(done.code, done.err, Path("/proc/nowhere"))


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_whatever_the_umask_directories_are_0700_and_files_0600(tmp_path: Path, tree: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        rag = SessionManager(tmp_path / "made" / "data").get_rag("modes")
        index(rag, tree)
        rag.add_document("added kiwi")
    finally:
        os.umask(before)
    paths = [tmp_path / "made", *(tmp_path / "made").rglob("*")]
    assert len(paths) > 8
    for path in paths:
        wanted = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == wanted, path
