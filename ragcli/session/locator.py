"""SessionManager: where sessions live, and which one a directory belongs to. Opens no segment."""

import contextlib
import os
import re
import shutil
from typing import NamedTuple

from ragcli.errors import RagError, SessionNotFoundError, StoreError, UsageError
from ragcli.store.directory import OsDirectory
from ragcli.store.snapshots import CURRENT, SnapshotStore

# Compiled on use: the session of a directory is found without them.
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_ID = r"[0-9a-f]{16}"
# A directory name of its own kind, so that no name can be taken for an id or leave the data directory.
_NAMED = "name-"


class SessionPlace(NamedTuple):
    """A session's directory. `root` is where its tree is now, '' where the stored root holds; `name` is '' for the
    session of a directory, `moved_from` the root it had before the tree was moved."""

    id: str
    name: str
    path: str
    root: str = ""
    moved_from: str = ""


def session_id(path: str) -> str:
    """16 hex digits of the BLAKE2b of a real path."""
    try:
        # hashlib loads OpenSSL for it: 2 ms of each search, for a function that Python brings along.
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    return blake2b(os.fsencode(path), digest_size=8).hexdigest()


class Sessions:
    """The sessions below one data directory; nothing is made before something is written."""

    def __init__(self, data_dir: str | os.PathLike[str]) -> None:
        self.data_dir = os.fspath(data_dir)
        self._root = os.path.join(self.data_dir, "sessions")

    def named(self, session: str) -> SessionPlace:
        """The place of a name, or of an id as `status --all` shows it; it need not exist.

        UsageError for a name that none can have.
        """
        if re.fullmatch(_ID, session) and os.path.isdir(os.path.join(self._root, session)):
            return SessionPlace(session, "", os.path.join(self._root, session))
        if not re.fullmatch(NAME, session):
            raise UsageError(
                f"{session!r} cannot name a session",
                "use up to 64 letters, digits, '.', '_' and '-', the first a letter or digit",
            )
        return SessionPlace(session, session, os.path.join(self._root, _NAMED + session))

    def of_root(self, path: str) -> SessionPlace:
        """The place of a directory's or file's own session, taken along where the tree was moved."""
        real = os.path.realpath(path)
        place = self._place(real)
        if not os.path.isdir(place.path):
            moved = self._moved_to([real])
            if moved is not None:
                return moved
        return place

    def of_directory(self, directory: str) -> SessionPlace:
        """The place of the nearest ancestor that has a session; SessionNotFoundError where none has."""
        real = os.path.realpath(directory)
        ancestors = _ancestors(real)
        for ancestor in ancestors:
            place = self._place(ancestor)
            if os.path.isdir(place.path):
                return place
        moved = self._moved_to(ancestors)
        if moved is not None:
            return moved
        raise SessionNotFoundError(
            f"no index of {_shown(real)} or a directory above it", "run: ragcli index .  (or name a session with -s)"
        )

    def nearest(self, directory: str) -> str:
        """The nearest ancestor of a directory that has a session; '' where none has."""
        ancestors = _ancestors(os.path.realpath(directory))
        return next((path for path in ancestors if os.path.isdir(self._place(path).path)), "")

    def all(self) -> list[SessionPlace]:
        """Every session, directories' first."""
        try:
            names = sorted(os.listdir(self._root))
        except OSError:
            return []
        found = [SessionPlace(n, "", os.path.join(self._root, n)) for n in names if re.fullmatch(_ID, n)]
        for entry in names:
            name = entry.removeprefix(_NAMED)
            if name != entry and re.fullmatch(NAME, name):
                found.append(SessionPlace(name, name, os.path.join(self._root, entry)))
        return found

    def rebind(self, place: SessionPlace) -> SessionPlace:
        """Give a moved tree's session the id of its new root. StoreError where the directory cannot be renamed."""
        target = self._place(place.root)
        try:
            os.rename(place.path, target.path)
        except OSError as error:
            if not os.path.isdir(target.path):  # else another process was faster
                raise StoreError(
                    f"cannot take the index of {_shown(place.moved_from)} along in {self._root}: {error.strerror}",
                    "choose another with --data-dir DIR or RAGCLI_DATA_DIR",
                ) from error
        return target._replace(moved_from=place.moved_from)

    def remove(self, place: SessionPlace, wait: float) -> bool:
        """Delete a session with all that it holds; False where there is none."""
        if not os.path.isdir(place.path):
            return False
        directory = OsDirectory(place.path)
        with directory.lock(wait):
            directory.remove(CURRENT)  # first, so that no search meets half a session
            shutil.rmtree(place.path)
        return True

    def _place(self, real: str) -> SessionPlace:
        id_ = session_id(real)
        return SessionPlace(id_, "", os.path.join(self._root, id_))

    def _moved_to(self, paths: list[str]) -> SessionPlace | None:
        """The session whose root is gone, and whose directory (by device and inode) is one of `paths`."""
        keys = {key: path for path in reversed(paths) if (key := root_key(path)) != (0, 0)}
        for place in self.all():
            if place.name:
                continue
            with contextlib.suppress(RagError, OSError):
                manifest = SnapshotStore(OsDirectory(place.path)).manifest()
                if manifest is None or manifest.root_key not in keys:
                    continue
                old = os.path.join(manifest.root, manifest.only)
                if not os.path.lexists(old):
                    return place._replace(root=keys[manifest.root_key], moved_from=old.rstrip(os.sep))
        return None


def root_key(path: str) -> tuple[int, int]:
    """Device and inode, by which a moved root is known again; (0, 0) where there is nothing."""
    try:
        status = os.stat(path)
    except OSError:
        return (0, 0)
    return status.st_dev, status.st_ino


def _ancestors(real: str) -> list[str]:
    found = [real]
    while os.path.dirname(found[-1]) != found[-1]:
        found.append(os.path.dirname(found[-1]))
    return found


def _shown(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
