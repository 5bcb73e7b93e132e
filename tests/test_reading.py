"""Reading gives the bytes of one regular file below the root with the stat that is theirs, or an OSError."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragcli.config.options import IndexOptions
from ragcli.ingest import reading
from ragcli.ingest.reading import TreeReader, read_file
from ragcli.ingest.walk import walk

CAP = 1_000_000


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    contents=st.dictionaries(st.sampled_from(["a", "b/a", "b/c/a", "b/c/d/e", "f/a", "f/g/a"]), st.binary(max_size=99))
)
def test_what_the_walk_lists_is_read_back(tmp_path_factory: pytest.TempPathFactory, contents: dict[str, bytes]) -> None:
    """In any order, a reader that keeps directories open gives each file's bytes and the stat of the walk."""
    root = tmp_path_factory.mktemp("tree")
    for name, body in contents.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(body)
    files = walk(str(root), IndexOptions()).files

    with TreeReader(str(root)) as reader:
        for file in [*files, *reversed(files)]:
            assert reader.read(file, CAP) == (contents[file.path], file)
            assert reader.read(file.path, CAP) == (contents[file.path], file)


def refused(root: Path, path: str, cap: int = CAP) -> int | None:
    with pytest.raises(OSError) as caught:
        read_file(str(root), path, cap)
    return caught.value.errno


def test_a_link_in_any_component_is_refused(tmp_path: Path) -> None:
    """A link as the file, as its directory or as a directory above is never followed, wherever it points."""
    (tmp_path / "root/real/sub").mkdir(parents=True)
    (tmp_path / "root/real/sub/a").write_text("x")
    (tmp_path / "root/real/link").symlink_to("sub/a")
    (tmp_path / "root/inside").symlink_to("real")
    (tmp_path / "root/outside").symlink_to("../..")

    for path in ("real/link", "inside/sub/a", "outside/root/real/sub/a"):
        assert refused(tmp_path / "root", path) in (errno.ELOOP, errno.ENOTDIR)
    assert read_file(str(tmp_path / "root"), "real/sub/a", CAP)[0] == b"x"


@pytest.mark.parametrize("path", ["../a", "a/../a", "/etc/hostname", "", ".", "a//b", "sub/."])
def test_only_plain_paths_below_the_root_are_read(tmp_path: Path, path: str) -> None:
    """A path with a dot component, an empty one or a leading slash is not opened at all."""
    (tmp_path / "a").write_text("x")

    assert refused(tmp_path, path) == errno.EINVAL


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path) -> None:
    """A pipe without a writer, a directory: refused after opening, by the open descriptor."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dir").mkdir()

    assert refused(tmp_path, "pipe") == errno.ENXIO
    assert refused(tmp_path, "dir") == errno.ENXIO
    assert refused(tmp_path, "missing") == errno.ENOENT


def test_the_size_cap_is_inclusive(tmp_path: Path) -> None:
    """A file of exactly the cap is read, one byte more is EFBIG before anything is read."""
    (tmp_path / "a").write_bytes(b"x" * 100)

    assert len(read_file(str(tmp_path), "a", 100)[0]) == 100
    assert refused(tmp_path, "a", 99) == errno.EFBIG


def interfering(function: Callable[..., Any], action: Callable[[int], None]) -> Callable[..., Any]:
    calls = 0

    def wrapped(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        result = function(*args)
        action(calls)
        return result

    return wrapped


def test_a_file_that_changes_once_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bytes and the stat are of one state: the later one."""
    path = tmp_path / "a"
    path.write_text("old")

    def change(call: int) -> None:
        if call == 1:
            path.write_text("newer")

    monkeypatch.setattr(reading.os, "read", interfering(os.read, change))

    raw, file = read_file(str(tmp_path), "a", CAP)
    status = path.stat()
    assert raw == b"newer"
    assert (file.size, file.mtime_ns, file.ctime_ns) == (5, status.st_mtime_ns, status.st_ctime_ns)


@pytest.mark.parametrize("change", [lambda p: p.open("a").close() or p.write_text(p.read_text() + "x"), Path.touch])
def test_a_file_that_keeps_changing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object]
) -> None:
    """Growing, or rewritten with the same size: EBUSY, never bytes of two states."""
    path = tmp_path / "a"
    path.write_text("old")

    def rewrite(call: int) -> None:
        change(path)
        os.utime(path, ns=(call, call))  # the clock may be too coarse to show it

    monkeypatch.setattr(reading.os, "read", interfering(os.read, rewrite))

    assert refused(tmp_path, "a") == errno.EBUSY


def test_short_reads_are_put_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that hands out a few bytes at a time gives the same bytes."""
    (tmp_path / "a").write_bytes(bytes(range(256)))
    real = os.read
    monkeypatch.setattr(reading.os, "read", lambda descriptor, count: real(descriptor, min(count, 7)))

    assert read_file(str(tmp_path), "a", CAP)[0] == bytes(range(256))


def test_a_directory_that_is_gone_does_not_spoil_the_next_file(tmp_path: Path) -> None:
    """After a path that cannot be opened half way down, the reader still finds the others."""
    for name in ("a/b/c", "a/x", "d/e"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)

    with TreeReader(str(tmp_path)) as reader:
        assert reader.read("a/b/c", CAP)[0] == b"a/b/c"
        with pytest.raises(FileNotFoundError):
            reader.read("a/gone/deep/x", CAP)
        for name in ("a/x", "a/b/c", "d/e"):
            assert reader.read(name, CAP)[0] == name.encode()


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    """Closing a reader closes its directories; a failed read leaves nothing open."""
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/c").write_text("x")
    before = len(os.listdir("/dev/fd"))

    with TreeReader(str(tmp_path)) as reader:
        reader.read("a/b/c", CAP)
        with pytest.raises(OSError, match="larger than 0 bytes"):
            reader.read("a/b/c", 0)
        reader.close()
    assert len(os.listdir("/dev/fd")) == before
