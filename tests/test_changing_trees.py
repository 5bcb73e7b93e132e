"""Trees that change while they are indexed: no crash, no mixed content, right by the next run, no edit ever missed."""

import os
import shutil
import socket
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragcli.documents import SourceFile
from ragcli.ingest import reading, walk
from ragcli.session.service import RagService
from ragcli.store.stat_cache import INDEXED, FileState, StatCache
from tests.engine import QUERIES, answers, index, rebuilt, rewrite, service, write
from tests.office_files import docx, paragraph

NAMES = ("a.txt", "m/b.txt", "z.txt")
OLD = "alpha old words stay together\n" * 20
NEW = "omega new words stay together\n" * 20  # as long as the old


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write(tmp_path / "tree", dict.fromkeys(NAMES, OLD))


def shown(rag: RagService) -> dict[str, str]:
    return {info.file: rag.show(info.file).text for info in rag.list_files()}


def grow(path: Path) -> None:
    path.write_text(OLD + NEW)


def shrink(path: Path) -> None:
    path.write_text(OLD[:30])


def rewrite_in_place(path: Path) -> None:
    with path.open("r+") as file:
        file.write(NEW)


def replace(path: Path) -> None:
    other = path.with_suffix(".tmp")
    other.write_text(NEW)
    other.rename(path)


def link_outside(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/hostname")


def directory(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inner.txt").write_text(NEW)


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def unix_socket(path: Path) -> None:
    path.unlink()
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path.name)
    finally:
        os.chdir(here)


def parent_gone(path: Path) -> None:
    if path.parent.name == "m":
        shutil.rmtree(path.parent)
    else:
        path.unlink()


def parent_a_link(path: Path) -> None:
    """The directory becomes a link to another with a file of that name."""
    if path.parent.name == "m":
        aside = path.parent.parent.parent / "aside"
        shutil.copytree(path.parent, aside)
        (aside / path.name).write_text("zqoutside\n")
        shutil.rmtree(path.parent)
        path.parent.symlink_to(aside)


CHANGES: list[Callable[[Path], None]] = [
    Path.unlink, grow, shrink, rewrite_in_place, replace, link_outside, directory, fifo, unix_socket, parent_gone,
    parent_a_link,
]  # fmt: skip
ALLOWED = {OLD, NEW, OLD + NEW, OLD[:30], OLD + "\n", NEW + "\n", ""}


class Hooked:
    """`os` for one module, with an action before (or after) the n-th use of a call on one name."""

    def __init__(self, call: str, name: str, action: Callable[[], object], after: bool = False) -> None:
        self._call, self._name, self._action, self._after = call, name, action, after
        self.done = False

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name != self._call:
            return real

        def call(*arguments: Any, **named: Any) -> Any:
            fires = not self.done and (not self._name or str(arguments[0]).endswith(self._name))
            self.done = self.done or fires
            if fires and not self._after:
                self._action()
            result = real(*arguments, **named)
            if fires and self._after:
                self._action()
            return result

        return call


@pytest.mark.parametrize("known", [False, True], ids=["new", "known"])
@pytest.mark.parametrize("moment", ["walk-open", "read-open", "read-opened", "read"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("name", ["a.txt", "m/b.txt"])
def test_a_file_that_changes_at_any_moment_is_never_mixed_and_right_by_the_next_run(
    tree: Path, change: Callable[[Path], None], moment: str, name: str, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rag = service()
    if known:
        index(rag, tree)
        write(tree, {name: OLD + "\n"})
    path = tree / name
    module, call, where, after = {
        "walk-open": (walk, "open", "m", False),
        "read-open": (reading, "open", path.name, False),
        "read-opened": (reading, "open", path.name, True),
        "read": (reading, "read", "", True),
    }[moment]
    hooked = Hooked(call, where, lambda: change(path), after)
    with monkeypatch.context() as patched:
        patched.setattr(module, "os", hooked)
        index(rag, tree)
    assert hooked.done

    for text in shown(rag).values():
        assert text in ALLOWED
    assert not rag.search("zqoutside")
    index(rag, tree)
    assert answers(rag) == answers(rebuilt(tree))
    assert shown(rag) == shown(rebuilt(tree))


def test_an_edit_of_the_same_size_is_never_missed_however_quick(tmp_path: Path) -> None:
    """Within one tick of the file system's clock nothing but the content tells the two apart."""
    tree = write(tmp_path / "tree", {"a.txt": "start\n", "b.txt": "steady\n"})
    rag = service()
    for number in range(150):
        first, second = f"first{number:04}\n", f"other{number:04}\n"
        (tree / "a.txt").write_text(first)
        index(rag, tree)
        (tree / "a.txt").write_text(second)
        index(rag, tree)
        assert rag.show("a.txt").text == second
        if number % 10 == 0:
            time.sleep(0.003)


def test_an_edit_right_after_the_read_within_the_same_run_is_seen_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = write(tmp_path / "tree", {"a.txt": "start\n"})
    rag = service()
    for number in range(30):
        (tree / "a.txt").write_text(f"first{number:04}\n")
        stamp = (tree / "a.txt").stat()

        def edit(number: int = number, stamp: os.stat_result = stamp) -> None:
            (tree / "a.txt").write_text(f"other{number:04}\n")
            os.utime(tree / "a.txt", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))

        with monkeypatch.context() as patched:
            patched.setattr(reading, "os", Hooked("close", "", edit, after=True))
            index(rag, tree)
        index(rag, tree)
        assert rag.show("a.txt").text == f"other{number:04}\n"


@pytest.mark.parametrize("grain", [1, 1_000_000_000, 2_000_000_000])
def test_an_edit_with_times_put_back_is_seen(tmp_path: Path, grain: int) -> None:
    """Also on file systems that keep whole seconds: the time of the last change of the inode moves on."""
    tree = write(tmp_path / "tree", {"a.txt": "zqbefore\n"})
    long_ago = (time.time_ns() - 10_000_000_000_000) // grain * grain
    os.utime(tree / "a.txt", ns=(long_ago, long_ago))
    rag = service()
    index(rag, tree)
    (tree / "a.txt").write_text("zqafter!\n")
    os.utime(tree / "a.txt", ns=(long_ago, long_ago))

    index(rag, tree)

    assert rag.show("a.txt").text == "zqafter!\n"


@pytest.mark.parametrize("year", [1000, 1900, 1969, 2106, 2262, 2300, 2446, 9999])
def test_a_file_of_any_year_is_indexed_and_its_edits_are_seen(tmp_path: Path, year: int) -> None:
    """Found by killing: a time beyond 2262 does not fit 64 bits of nanoseconds."""
    tree = write(tmp_path / "tree", {"a.txt": "zqbefore\n", "b.txt": "steady\n"})
    seconds = int((year - 1970) * 365.2425 * 86_400)
    rag = service()
    for content in ("zqbefore\n", "zqafter!\n"):
        (tree / "a.txt").write_text(content)
        for name in ("a.txt", "b.txt"):
            os.utime(tree / name, (seconds, seconds))
        index(rag, tree)
        assert rag.show("a.txt").text == content
        assert [result.stale for result in rag.search(content.strip())] == [False]
    assert not index(rag, tree).committed


def test_a_touched_file_counts_as_kept(tree: Path) -> None:
    rag = service()
    index(rag, tree)
    for name in NAMES:
        os.utime(tree / name, ns=(1, 1))

    report = index(rag, tree)

    assert (report.files.kept, report.files.changed, report.committed) == (3, 0, False)


def test_files_beside_a_busy_directory_are_all_indexed_and_the_next_run_is_right(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {f"stable/s{n:03}.txt": f"zqstable alpha {n}\n" for n in range(60)})
    busy = tree / "busy"
    busy.mkdir()
    stop = threading.Event()

    def churn() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            a, b, place = busy / f"t{number % 20}.txt", busy / f"r{number % 20}.txt", busy / f"d{number % 5}"
            a.write_text(f"churn {number}\n" * (number % 30 + 1))
            a.replace(b)
            if place.is_dir():
                shutil.rmtree(place)
                place.write_text("now a file\n")
            else:
                place.unlink(missing_ok=True)
                place.mkdir()
                (place / "x.txt").write_text("x\n")
            if number % 3:
                b.unlink()

    thread = threading.Thread(target=churn)
    thread.start()
    rag = service()
    try:
        for _ in range(8):
            index(rag, tree)
            stored = shown(rag)
            assert sum(name.startswith("stable/") for name in stored) == 60
            for name, text in stored.items():
                if name.startswith("busy/") and text:
                    assert len(set(text.splitlines())) == 1, "content of two writes"
    finally:
        stop.set()
        thread.join()
    index(rag, tree)
    assert answers(rag, (*QUERIES, "churn", "file")) == answers(rebuilt(tree), (*QUERIES, "churn", "file"))


def test_a_whole_tree_swapped_for_another_between_two_runs(tmp_path: Path) -> None:
    """Files become directories, directories files, names change their case, all with the times they had."""
    first = write(
        tmp_path / "tree", {"x": "alpha\n", "d/inner.txt": "beta\n", "case.txt": "gamma\n", "old.md": "delta"}
    )
    rag = service()
    index(rag, first)
    shutil.rmtree(first)
    write(first, {"x/inner.txt": "alpha\n", "d": "omega\n", "Case.txt": "gamma\n", "new.md": "delta"})
    for path in first.rglob("*"):
        os.utime(path, ns=(1_000_000_000, 1_000_000_000))

    index(rag, first)

    assert answers(rag) == answers(rebuilt(first))
    assert set(shown(rag)) == {"x/inner.txt", "d", "Case.txt", "new.md"}


def test_only_regular_files_are_ever_opened(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a descriptor is opened of is checked again on the descriptor."""
    opened: list[int] = []
    real = os.open

    def watching(*arguments: Any, **named: Any) -> int:
        descriptor = real(*arguments, **named)
        if not arguments[1] & os.O_DIRECTORY:
            opened.append(stat.S_IFMT(os.fstat(descriptor).st_mode))
        return descriptor

    os.mkfifo(tree / "pipe.txt")
    (tree / "link.txt").symlink_to("/dev/zero")
    monkeypatch.setattr(os, "open", watching)
    index(service(), tree)

    assert set(opened) == {stat.S_IFREG}


@pytest.mark.parametrize(
    ("before_the_run", "coarse", "trusted"),
    [
        (-5_000_000, False, False),  # written while the run was under way
        (5_000_000, False, False),  # within a tick of the clock: a later write may have left the same times
        (100_000_000, False, True),
        (1_000_000_000, True, False),  # whole seconds: the file system keeps no more, some only each second one
        (5_000_000_000, True, True),
    ],
)
def test_times_near_the_run_are_not_trusted(before_the_run: int, coarse: bool, trusted: bool) -> None:
    started = 1_800_000_000_000_000_000 if coarse else 1_800_000_000_123_456_789
    then = started - before_the_run
    file = SourceFile("a.txt", 5, then, then, 7)
    cache = StatCache(started, "", {"a.txt": FileState(file, INDEXED)}, [])

    assert (cache.trusts(file) is not None) == trusted
    assert cache.trusts(file._replace(ctime_ns=then - 1)) is None


@pytest.mark.parametrize("rebuild", [False, True])
def test_a_document_that_fails_keeps_what_is_stored_of_it(tmp_path: Path, rebuild: bool) -> None:
    tree = write(tmp_path, {"a.docx": docx(paragraph("zqkept")), "b.txt": "zqother basin\n", "gone.txt": "zqgone\n"})
    rag = service()
    added = rag.add_document("zqadded kiwi")
    index(rag, tree)
    before = rag.show("a.docx")
    rewrite(tree / "a.docx", "broken")
    rewrite(tree / "b.txt", "zqnewer basin\n")
    (tree / "gone.txt").unlink()

    for _ in range(2):
        report = index(rag, tree, rebuild=rebuild)
        assert [failure.file for failure in report.failed] == ["a.docx"]
        assert [result.file for result in rag.search("zqkept")] == ["a.docx"]
        assert rag.show("a.docx").chunks == before.chunks
        assert [result.file for result in rag.search("zqnewer")] == ["b.txt"]
        assert rag.search("zqother") == rag.search("zqgone") == []
        assert [result.id for result in rag.search("zqadded")] == [added]
        assert sorted(info.file for info in rag.list_files()) == ["a.docx", "b.txt"]


def test_a_rebuild_keeps_what_is_stored_below_a_directory_that_cannot_be_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = write(tmp_path, {"sub/a.txt": "zqkept amber\n", "subs.txt": "zqother\n", "b.txt": "zqsound\n"})
    rag = service()
    index(rag, tree)
    opened = os.open

    def refused(path: Any, *how: Any, **more: Any) -> int:
        if path == "sub":
            raise PermissionError(13, "Permission denied", path)
        return opened(path, *how, **more)

    monkeypatch.setattr(os, "open", refused)
    index(rag, tree, rebuild=True)

    assert [result.file for result in rag.search("zqkept")] == ["sub/a.txt"]
    assert [result.file for result in rag.search("zqsound")] == ["b.txt"]
    assert sorted(info.file for info in rag.list_files()) == ["b.txt", "sub/a.txt", "subs.txt"]
