"""Read one regular file below a root, without following a link in any component and without blocking on a pipe.

Opens read-only, writes nothing, decides nothing about formats. Everything that can go wrong with a file is an OSError:
EFBIG over the size cap, EBUSY for a file that keeps changing, ENXIO for what is no regular file.
"""

import errno
import os
import stat
from typing import Self

from ragcli.documents import SourceFile
from ragcli.model import MAX_TIME_NS

DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
BELOW_FLAGS = DIRECTORY_FLAGS | os.O_NOFOLLOW
# O_NONBLOCK: opening a FIFO that nobody writes to must not wait; it means nothing for a regular file.
FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
VANISHED = frozenset((errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ESTALE, errno.ENXIO))
_NO_NAMES = frozenset(("", ".", ".."))
_ATTEMPTS = 2  # a file that an editor saves under us is whole at the second look


def reason_of(error: OSError) -> str:
    """Say in lower case why the system refused (`permission denied`)."""
    return (error.strerror or str(error) or type(error).__name__).lower()


def source_file(path: str, status: os.stat_result) -> SourceFile:
    """Make the SourceFile of a stat result."""
    changed, moved = status.st_mtime_ns, status.st_ctime_ns
    if not (-MAX_TIME_NS <= changed <= MAX_TIME_NS and -MAX_TIME_NS <= moved <= MAX_TIME_NS):
        changed, moved = (max(-MAX_TIME_NS, min(time, MAX_TIME_NS)) for time in (changed, moved))
    return SourceFile(path, status.st_size, changed, moved, status.st_ino)


def read_file(root: str, file: str | SourceFile, max_bytes: int) -> tuple[bytes, SourceFile]:
    """Read one file as `TreeReader.read` does."""
    with TreeReader(root) as reader:
        return reader.read(file, max_bytes)


def read_at(directory: int | None, name: str, path: str, max_bytes: int) -> tuple[bytes, SourceFile]:
    """Read the file `name` of an open directory; the stat returned is that of the very bytes.

    A file that changes while it is read is read once more, then refused with EBUSY. None means the working directory.

    OSError where it is gone, unreadable or no regular file.
    """
    for _ in range(_ATTEMPTS):
        descriptor = os.open(name, FILE_FLAGS, dir_fd=directory)
        try:
            before = os.fstat(descriptor)
            if not stat.S_ISREG(before.st_mode):
                raise OSError(errno.ENXIO, "not a regular file", path)
            if before.st_size > max_bytes:
                raise OSError(errno.EFBIG, f"larger than {max_bytes} bytes", path)
            raw = _read_to_end(descriptor, before.st_size)
            file = source_file(path, before)
            if len(raw) == before.st_size and source_file(path, os.fstat(descriptor)) == file:
                return raw, file
        finally:
            os.close(descriptor)
    raise OSError(errno.EBUSY, "changed while it was read", path)


def _read_to_end(descriptor: int, size: int) -> bytes:
    """Read `size` bytes and one more if there is one, so that growth shows."""
    parts: list[bytes] = []
    left = size + 1
    while left > 0:
        part = os.read(descriptor, left)
        if not part:
            break
        parts.append(part)
        left -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


class TreeReader:
    """Reads many files of one tree. Keeps the directories of the last path open, so reading in path order is fast.

    Not for threads. A directory that is replaced meanwhile may be read as it was; never is anything outside the root.
    """

    def __init__(self, root: str) -> None:
        self._root = os.open(root, DIRECTORY_FLAGS)
        self._names: list[str] = []
        self._descriptors: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all descriptors; a second call does nothing."""
        self._leave(0)
        if self._root >= 0:
            os.close(self._root)
            self._root = -1

    def read(self, file: str | SourceFile, max_bytes: int) -> tuple[bytes, SourceFile]:
        """Read a file by its path below the root; return its bytes and the stat that belongs to them, else OSError."""
        path = file if isinstance(file, str) else file.path
        *directories, name = path.split("/")
        other = directories != self._names  # those entered were looked at before
        if name in _NO_NAMES or (other and not _NO_NAMES.isdisjoint(directories)):
            raise OSError(errno.EINVAL, "not a path below the root", path)
        if other:
            self._enter(directories)
        return read_at(self._descriptors[-1] if directories else self._root, name, path, max_bytes)

    def _enter(self, directories: list[str]) -> None:
        common = 0
        for old, new in zip(self._names, directories, strict=False):
            if old != new:
                break
            common += 1
        self._leave(common)
        for name in directories[common:]:
            parent = self._descriptors[-1] if self._descriptors else self._root
            self._descriptors.append(os.open(name, BELOW_FLAGS, dir_fd=parent))
            self._names.append(name)

    def _leave(self, keep: int) -> None:
        while len(self._descriptors) > keep:
            os.close(self._descriptors.pop())
            self._names.pop()
