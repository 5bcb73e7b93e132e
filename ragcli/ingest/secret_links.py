"""Secrets that have further names: a hard link to a secret is a secret, whatever it is called."""

import os
from collections.abc import Iterable
from contextlib import suppress

from ragcli.documents import SourceFile


class SecretLinks:
    """The secrets of one walk that have more than one name, by device and inode."""

    def __init__(self) -> None:
        self._known: set[tuple[int, int]] = set()

    def note(self, entry: os.DirEntry[str]) -> None:
        """Remember a secret that has other names too."""
        with suppress(OSError):
            status = entry.stat(follow_symlinks=False)
            if status.st_nlink > 1:
                self._known.add((status.st_dev, status.st_ino))

    def among(self, root: str, files: Iterable[SourceFile]) -> list[str]:
        """The paths of those files that are one of these secrets."""
        numbers = {inode for _, inode in self._known}
        return [file.path for file in files if file.inode in numbers and self._is_known(os.path.join(root, file.path))]

    def _is_known(self, path: str) -> bool:
        try:
            status = os.lstat(path)
        except OSError:
            return True  # gone meanwhile; the number alone says so
        return (status.st_dev, status.st_ino) in self._known
