"""SessionManager: where sessions live, and which one a directory belongs to. Opens no segment."""

import contextlib
import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from ragcli.errors import RagError, SessionNotFoundError, StoreError, UsageError
from ragcli.index.manifest import OLD_DOCUMENTS, Manifest
from ragcli.store.directory import OsDirectory
from ragcli.store.locks import is_locked
from ragcli.store.snapshots import CURRENT, SnapshotStore

# Compiled on use: the session of a directory is found without them.
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_ID = r"[0-9a-f]{16}"
# The session of a declared source, whose id its declaration gives.
_SOURCE = r"source-[0-9a-f]{16}"
# A directory name of its own kind, so that no name can be taken for an id or leave the data directory.
_NAMED = "name-"


class SessionPlace(NamedTuple):
    """A session's directory; `name` is '' for the session of a directory.

    Of a tree that was moved, `root` is where it is now and `moved_from` where it was; else both are ''.
    """

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
        if re.fullmatch(_SOURCE, session):
            return SessionPlace(session, "", os.path.join(self._root, session))
        if not re.fullmatch(NAME, session):
            raise UsageError(
                f"{session!r} cannot name a session",
                "use up to 64 letters, digits, '.', '_' and '-', the first a letter or digit",
            )
        return SessionPlace(session, session, os.path.join(self._root, _NAMED + session))

    def of_root(self, path: str) -> SessionPlace:
        """The place of a directory's or file's own session, which need not exist."""
        return self._place(os.path.realpath(path))

    def moved_to(self, path: str) -> SessionPlace | None:
        """The session of a tree that was moved to `path`, which has none of its own: for a writer to take along."""
        return None if self.is_session(self.of_root(path)) else self._moved_to([os.path.realpath(path)])

    def of_directory(self, directory: str) -> SessionPlace:
        """The place of the nearest ancestor that has a session, else of one file that was indexed in one of them.

        SessionNotFoundError where there is none: it tells a first index under way, a tree that was moved here, several
        files; StoreError where the index may not be read.
        """
        real = os.path.realpath(directory)
        ancestors = _ancestors(real)
        for ancestor in ancestors:
            place = self._place(ancestor)
            if self.is_session(place):
                return place
        files = self._of_files(ancestors)
        if len(files) == 1:
            return files[0][1]
        raise self._none_for(real, ancestors, [file for file, _ in files])

    def nearest(self, directory: str) -> str:
        """The nearest ancestor of a directory that has a session; '' where none has."""
        ancestors = _ancestors(os.path.realpath(directory))
        return next((path for path in ancestors if self.is_session(self._place(path))), "")

    def is_session(self, place: SessionPlace) -> bool:
        """Whether something was committed: a lock or a draft alone is a run that was refused, killed, or is under way.

        StoreError where the directory may not be read.
        """
        try:
            if os.path.lexists(os.path.join(place.path, CURRENT)):
                return not _is_empty(place)
            names = os.listdir(place.path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except PermissionError:
            raise StoreError(
                f"permission denied: the index at {_shown(place.path)}{_owned_by(place.path)}",
                "ask its owner, or choose another with --data-dir DIR",
            ) from None
        # Without CURRENT these are what damage left of a session.
        return any(name == OLD_DOCUMENTS or name.endswith(".manifest") for name in names)

    def all(self) -> list[SessionPlace]:
        """Every session, directories' first; what holds nothing committed is none. StoreError as `is_session`."""
        try:
            names = sorted(os.listdir(self._root))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreError(
                f"{_shown(self._root)} cannot be read: {error.strerror}{_owned_by(self._root)}",
                "choose another with --data-dir DIR or RAGCLI_DATA_DIR",
            ) from None
        found = [SessionPlace(n, "", os.path.join(self._root, n)) for n in names if re.fullmatch(f"{_ID}|{_SOURCE}", n)]
        for entry in names:
            name = entry.removeprefix(_NAMED)
            if name != entry and re.fullmatch(NAME, name):
                found.append(SessionPlace(name, name, os.path.join(self._root, entry)))
        return [place for place in found if not _is_readable(place) or self.is_session(place)]

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
            SnapshotStore(directory).remove_all()
            directory.remove_itself()
        return True

    def _place(self, real: str) -> SessionPlace:
        id_ = session_id(real)
        return SessionPlace(id_, "", os.path.join(self._root, id_))

    def _moved_to(self, paths: list[str]) -> SessionPlace | None:
        """The session of a tree that was moved to one of `paths`; see `_is_moved`."""
        keys = {key: path for path in reversed(paths) if (key := root_key(path)) != (0, 0)}
        for place, manifest in self._manifests():
            if not place.name and manifest.root_key in keys:
                old = os.path.join(manifest.root, manifest.only)
                new = keys[manifest.root_key]
                if not os.path.lexists(old) and _is_moved(place, manifest, new):
                    return place._replace(root=new, moved_from=old.rstrip(os.sep))
        return None

    def _of_files(self, directories: list[str]) -> list[tuple[str, SessionPlace]]:
        """Sessions of single files in the nearest of these directories that has some."""
        found = [(manifest.root, manifest.only, place) for place, manifest in self._manifests() if manifest.only]
        for directory in directories:
            here = sorted((only, place) for root, only, place in found if root == directory and not place.name)
            if here:
                return [(os.path.join(directory, only), place) for only, place in here]
        return []

    def _manifests(self) -> Iterator[tuple[SessionPlace, Manifest]]:
        """The sessions whose manifest can be read, but those of declared sources: no directory finds one of them."""
        with contextlib.suppress(StoreError):
            for place in self.all():
                if re.fullmatch(_SOURCE, place.id):
                    continue
                with contextlib.suppress(RagError, OSError):
                    manifest = SnapshotStore(OsDirectory(place.path)).manifest()
                    if manifest is not None:
                        yield place, manifest

    def _none_for(self, real: str, ancestors: list[str], files: list[str]) -> SessionNotFoundError:
        """Why a directory has no session, and what to do."""
        if files:
            return SessionNotFoundError(
                f"{len(files)} single files are indexed in {_shown(os.path.dirname(files[0]))}, none of them its index",
                f"choose one with: -s {self.of_root(files[0]).id}  (see: ragcli status --all)",
            )
        for ancestor in ancestors:
            if is_locked(self._place(ancestor).path):
                return SessionNotFoundError(
                    f"the first index of {_shown(ancestor)} is under way", "wait until it has ended, then search again"
                )
        moved = self._moved_to(ancestors)
        if moved is not None:
            return SessionNotFoundError(
                f"{_shown(moved.root)} looks like {_shown(moved.moved_from)}, which was indexed and is gone",
                f"take its index along with: ragcli index {_shown(moved.root)}",
            )
        return SessionNotFoundError(
            f"no index of {_shown(real)} or a directory above it", "run: ragcli index .  (or name a session with -s)"
        )


# So many of a moved tree's files are looked at, and so large a share must be the very files that were indexed.
_MOVED_SAMPLE = 50
_MOVED_SHARE = 0.5


def _is_moved(place: SessionPlace, manifest: Manifest, root: str) -> bool:
    """Whether a directory holds the files that were indexed, by path, inode and size.

    The directory's own inode proves nothing: file systems give the number of a deleted one to the next that is made.
    """
    from ragcli.store.stat_cache import load_stats

    cache = load_stats(OsDirectory(place.path), manifest.number)
    states = [cache.states[path].file for path in sorted(cache.states)] if cache is not None else []
    sample = states[:: max(len(states) // _MOVED_SAMPLE, 1)]
    same = 0
    for file in sample:
        base = os.path.dirname(root) if manifest.only else root
        with contextlib.suppress(OSError):
            status = os.lstat(os.path.join(base, os.path.basename(root) if manifest.only else file.path))
            same += (status.st_ino, status.st_size) == (file.inode, file.size)
    return bool(sample) and same >= _MOVED_SHARE * len(sample)


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


def _is_empty(place: SessionPlace) -> bool:
    """Whether a session's first commit has only begun; what cannot be read is for whoever opens it."""
    with contextlib.suppress(RagError, OSError):
        return SnapshotStore(OsDirectory(place.path)).current_number() == 0
    return False


def _is_readable(place: SessionPlace) -> bool:
    return os.access(place.path, os.R_OK | os.X_OK)


def _owned_by(path: str) -> str:
    """The owner of a path, or of what keeps us from it, for a message; '' where that is us or nobody knows."""
    try:
        owner = os.stat(path).st_uid
    except PermissionError:
        return _owned_by(os.path.dirname(path))
    except OSError:
        return ""
    if owner == os.getuid():
        return ""
    try:
        import pwd

        name = pwd.getpwuid(owner).pw_name
    except (ImportError, KeyError):
        name = str(owner)
    return f", owner {name}"
