"""Where a session's files live: atomic writes, removal, listing, one writer's lock; on disk and in memory.

A file appears whole or not at all: it is written beside its target, synced, renamed over it, and the directory is
synced. Names are plain file names; nothing here knows what is in a file.
"""

import contextlib
import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from ragcli.errors import REBUILD_HINT, IndexCorruptError
from ragcli.store.locks import LOCK_NAME, held_lock
from ragcli.store.private_files import explained, make_private

DRAFT_PREFIX = ".draft-"
_O_BINARY = getattr(os, "O_BINARY", 0)
BROKEN_HINT = f"check the disk, then {REBUILD_HINT}"
# What file systems answer that keep directories without being asked to, or cannot (CIFS, VirtualBox, DrvFs).
_NO_DIRECTORY_SYNC = frozenset((errno.EINVAL, errno.ENOTSUP))
_BROKEN = frozenset((errno.EIO, errno.EBADMSG, getattr(errno, "EUCLEAN", errno.EIO)))


class ByteSource(Protocol):
    """An open file's bytes; reading past the end gives fewer bytes."""

    size: int

    def pread(self, offset: int, count: int) -> bytes: ...

    def close(self) -> None: ...


class Draft(Protocol):
    """A file being written; it has no name until `publish`."""

    def write(self, data: bytes) -> None: ...

    def publish(self, name: str) -> None: ...

    def discard(self) -> None: ...


class Directory(Protocol):
    """A flat set of named files."""

    def list(self) -> list[str]: ...

    def open(self, name: str) -> ByteSource: ...

    def read(self, name: str) -> bytes: ...

    def draft(self) -> Draft: ...

    def remove(self, name: str) -> None: ...

    def sizes(self) -> dict[str, int]: ...

    def lock(self, wait: float) -> contextlib.AbstractContextManager[None]: ...


def write_file(directory: Directory, name: str, data: bytes) -> None:
    """Put `data` at `name`, whole or not at all."""
    draft = directory.draft()
    try:
        draft.write(data)
        draft.publish(name)
    except BaseException:
        draft.discard()
        raise


class FileSource:
    """A file on disk, read by position."""

    _descriptor = -1  # for the end of a source whose file could not be opened

    def __init__(self, path: str) -> None:
        self._name = os.path.basename(path)
        self._descriptor = self._asked(os.open, path, os.O_RDONLY | os.O_CLOEXEC | _O_BINARY)
        self.size = os.fstat(self._descriptor).st_size

    def pread(self, offset: int, count: int) -> bytes:
        return bytes(self._asked(os.pread, self._descriptor, count, offset))

    def _asked(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """What the system answers; a disk that gives no bytes back is as good as one that gives wrong ones."""
        try:
            return call(*arguments)
        except OSError as error:
            if error.errno not in _BROKEN:
                raise
            raise IndexCorruptError(f"{self._name} cannot be read: {error.strerror}", BROKEN_HINT) from None

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        self.close()


class OsDirectory:
    """A directory on disk, mode 0700, files 0600, made when first written to."""

    def __init__(self, path: str) -> None:
        self.path = path

    def list(self) -> list[str]:
        try:
            return sorted(os.listdir(self.path))
        except FileNotFoundError:
            return []

    def open(self, name: str) -> ByteSource:
        return FileSource(os.path.join(self.path, name))

    def read(self, name: str) -> bytes:
        source = FileSource(os.path.join(self.path, name))
        try:
            return source.pread(0, source.size)
        finally:
            source.close()

    def draft(self) -> Draft:
        with explained(self.path):
            return _FileDraft(make_private(self.path))

    def remove(self, name: str) -> None:
        path = os.path.join(self.path, name)
        with contextlib.suppress(FileNotFoundError):
            if os.path.isdir(path) and not os.path.islink(path):  # documents that a session keeps for itself
                shutil.rmtree(path)
            else:
                os.unlink(path)

    def sizes(self) -> dict[str, int]:
        found = {}
        for name in self.list():
            with contextlib.suppress(FileNotFoundError):
                found[name] = os.stat(os.path.join(self.path, name)).st_size
        return found

    def lock(self, wait: float) -> contextlib.AbstractContextManager[None]:
        """Hold the one writer's lock. LockedError after `wait` seconds, StoreError where it cannot be made."""
        return held_lock(self.path, wait)

    def remove_itself(self) -> None:
        """Remove the directory with the lock, which the caller holds: the last file to go, so that none can slip in."""
        with explained(self.path):
            self.remove(LOCK_NAME)
            with contextlib.suppress(OSError):  # another process has made its lock there already
                os.rmdir(self.path)


class _FileDraft:
    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._path = os.path.join(directory, f"{DRAFT_PREFIX}{os.getpid()}-{os.urandom(6).hex()}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | _O_BINARY
        self._descriptor = os.open(self._path, flags, 0o600)

    def write(self, data: bytes) -> None:
        with explained(self._directory):
            view = memoryview(data)
            while view:
                view = view[os.write(self._descriptor, view) :]

    def publish(self, name: str) -> None:
        with explained(self._directory):
            os.fsync(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1
            os.replace(self._path, os.path.join(self._directory, name))
            _sync_directory(self._directory)

    def discard(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        with contextlib.suppress(OSError):
            os.unlink(self._path)


def _sync_directory(path: str) -> None:
    if os.name == "nt":  # pragma: no cover  (a directory has no descriptor to sync there)
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_DIRECTORY_SYNC:
            raise
    finally:
        os.close(descriptor)


class MemorySource:
    """Bytes in memory as an open file."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.size = len(data)

    def pread(self, offset: int, count: int) -> bytes:
        return self._data[offset : offset + count]

    def close(self) -> None:
        """Nothing to give back."""


class RamDirectory:
    """The same in memory, for tests and for indexes that are not to be kept."""

    def __init__(self, files: dict[str, bytes] | None = None) -> None:
        self.files: dict[str, bytes] = {} if files is None else files

    def list(self) -> list[str]:
        return sorted(self.files)

    def open(self, name: str) -> ByteSource:
        return MemorySource(self.read(name))

    def read(self, name: str) -> bytes:
        try:
            return self.files[name]
        except KeyError:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name) from None

    def draft(self) -> Draft:
        return _MemoryDraft(self)

    def remove(self, name: str) -> None:
        self.files.pop(name, None)

    def sizes(self) -> dict[str, int]:
        return {name: len(data) for name, data in sorted(self.files.items())}

    @contextmanager
    def lock(self, wait: float) -> Iterator[None]:
        yield


class _MemoryDraft:
    def __init__(self, directory: RamDirectory) -> None:
        self._directory = directory
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> None:
        self._pieces.append(bytes(data))

    def publish(self, name: str) -> None:
        self._directory.files[name] = b"".join(self._pieces)

    def discard(self) -> None:
        self._pieces.clear()
