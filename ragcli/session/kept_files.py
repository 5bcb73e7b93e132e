"""Small files kept in a session's directory beside its index, such as a cursor; written whole or not at all."""

import os
from contextlib import AbstractContextManager

from ragcli.errors import UsageError
from ragcli.store.directory import Directory, OsDirectory, write_file

_PREFIX = "kept-"


class KeptFiles:
    """The files of one session; they go with it."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def read(self, name: str) -> bytes | None:
        """A file's bytes, None where there is none."""
        try:
            return self._directory.read(_PREFIX + name)
        except FileNotFoundError:
            return None

    def write(self, name: str, data: bytes) -> None:
        """Put bytes at a name; StoreError where the data directory cannot be written."""
        write_file(self._directory, _PREFIX + name, data)

    def remove(self, name: str) -> None:
        """Remove a file; nothing where there is none."""
        self._directory.remove(_PREFIX + name)

    def names(self) -> list[str]:
        """The names of the files."""
        return [name.removeprefix(_PREFIX) for name in self._directory.list() if name.startswith(_PREFIX)]

    def lock(self, wait: float) -> AbstractContextManager[None]:
        """Hold the session's writer lock; LockedError after `wait` seconds."""
        return self._directory.lock(wait)

    def tree(self, name: str) -> str:
        """A directory of documents that the session keeps for itself, for its root; it need not exist.

        UsageError for a session in memory.
        """
        if not isinstance(self._directory, OsDirectory):
            raise UsageError("a session in memory keeps no documents of its own")
        return os.path.join(self._directory.path, _PREFIX + name)
