"""What the store writes is its owner's alone, and what the system refuses is told in one line."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from ragcli.errors import StoreError


def make_private(path: str) -> str:
    """Make a directory and those above it that are missing, each for its owner alone.

    os.makedirs gives its mode to the last one only, and the names of sessions show in the one above.
    """
    if not os.path.isdir(path):
        make_private(os.path.dirname(path) or os.curdir)
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            if not os.path.isdir(path):  # else another process was faster
                raise
    return path


@contextmanager
def explained(path: str) -> Iterator[None]:
    """Turn an OSError of the store into a StoreError: one line that says what cannot be written and where."""
    try:
        yield
    except OSError as error:
        hint = "choose another with --data-dir DIR or RAGCLI_DATA_DIR"
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            hint = "make room, then run the command again; the previous index still answers"
        raise StoreError(f"cannot write {path}: {error.strerror or type(error).__name__}", hint) from error


def check_private(data_directory: str, session: str) -> None:
    """StoreError where others could change what is stored: by owning its directory, a link in its place, or its mode.

    The data directory itself may be a link that its user made.
    """
    if os.name == "nt":  # pragma: no cover  (access is not told by modes there)
        return
    for path in (data_directory, os.path.dirname(session), session):
        try:
            found = os.lstat(path)
            if path == data_directory and stat.S_ISLNK(found.st_mode) and _is_ours(found):
                found = os.stat(path)
        except OSError:
            continue  # it will be made, or the first use says why not
        reason = _objection(found)
        if reason:
            raise StoreError(f"{path} is not used: {reason}", "choose another with --data-dir DIR or RAGCLI_DATA_DIR")


def _objection(found: os.stat_result) -> str:
    if stat.S_ISLNK(found.st_mode):
        return "it is a symbolic link"
    if not _is_ours(found):
        return "it belongs to another user"
    if found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
        return "every user of this machine can write to it (chmod o-w)"
    return ""


def _is_ours(found: os.stat_result) -> bool:
    """Also for root, which a container often runs as over another's files."""
    return os.geteuid() in (0, found.st_uid)
