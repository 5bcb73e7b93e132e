"""Where ignore files are: in a directory, above it up to the repository's root, and in git's own directory.

Reads ignore files and git's two pointer files (`gitdir:`, `commondir`), nothing else of the tree. git's configuration
and its global ignore file are not read.
"""

import contextlib
import errno
import os
from collections.abc import Collection, Iterable

from ragcli.config.options import Limits
from ragcli.errors import SourceRejectedError
from ragcli.ingest.ignore import RuleFile, Scope, descend, entered, read_rules
from ragcli.ingest.reading import DIRECTORY_FLAGS, read_at
from ragcli.ingest.skips import IGNORE_FILES

# All ignore files that hold in one directory may have so many times what one of them may.
IN_FORCE = 4
_POINTER_BYTES = 64 * 1024  # a `.git` or `commondir` file holds one path


Unread = list[tuple[str, OSError]]


def scope_above(root: str, limits: Limits) -> tuple[Scope, Unread]:
    """Read the ignore files above `root` that hold there: from the nearest repository's root down, else none."""
    parts = os.path.realpath(root).split("/")[1:]
    if parts == [""]:  # the root of the file system has nothing above
        return (), []
    chain = ["/" + "/".join(parts[:count]) for count in range(len(parts) + 1)]
    top = next((i for i in range(len(parts), -1, -1) if os.path.lexists(os.path.join(chain[i], ".git"))), len(parts))
    scope: Scope = ()
    unread: Unread = []
    for count in range(top, len(parts)):
        up = "../" * (len(parts) - count)
        try:
            descriptor = os.open(chain[count], DIRECTORY_FLAGS)
        except OSError as error:
            unread.append((up, error))
        else:
            names = (".git", *IGNORE_FILES) if count == top else IGNORE_FILES
            try:
                scope, failed = scope_inside(scope, descriptor, names, up, chain[count], limits)
            finally:
                os.close(descriptor)
            unread += failed
        scope = descend(scope, parts[count])
    return scope, unread


def scope_inside(
    scope: Scope, descriptor: int, names: Collection[str], prefix: str, directory: str, limits: Limits
) -> tuple[Scope, Unread]:
    """Add the ignore files among a directory's names; also return those that could not be read.

    A repository of its own (`.git` among the names) ends what `.gitignore` files above it say, as for git;
    `.tnsignore` speaks of the indexed tree and goes on. `prefix` is the directory's path from the root, with a `/`.
    """
    unread: Unread = []
    if ".git" in names:
        scope = tuple(layer for layer in scope if layer.source.ours)
        exclude = _exclude_file(directory, f"{prefix}.git/info/exclude", limits)
        if exclude is not None:
            scope = (entered(exclude), *scope)
    for name in IGNORE_FILES:
        if name in names:
            try:
                read = _read(descriptor, name, prefix + name, limits)
            except OSError as error:
                unread.append((prefix + name, error))
                continue
            if read is not None:
                scope = (entered(read), *scope)
                _check_in_force(scope, prefix + name, limits)
    return scope, unread


def _read(descriptor: int | None, name: str, origin: str, limits: Limits) -> RuleFile | None:
    """Read an ignore file; None where there is no regular file of that name (git does not follow a link either)."""
    try:
        raw, _ = read_at(descriptor, name, origin, limits.max_ignore_bytes)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise SourceRejectedError(
                f"{origin} is larger than {limits.max_ignore_bytes} bytes (cap max_ignore_bytes)",
                "shorten the ignore file, or read none with --no-ignore",
            ) from error
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO):
            return None
        raise
    return read_rules(raw, origin, limits)


def _exclude_file(directory: str, origin: str, limits: Limits) -> RuleFile | None:
    """Read `info/exclude` of a repository, of a linked worktree that of its main one; None behind a dead pointer."""
    git = os.path.join(directory, ".git")
    if not os.path.isdir(git):
        target = pointer(git)
        if not target.startswith("gitdir: "):
            return None
        git = os.path.join(directory, target.removeprefix("gitdir: "))
    common = pointer(os.path.join(git, "commondir"))
    path = os.path.realpath(os.path.join(git, common, "info", "exclude"))
    try:
        return _read(None, path, origin, limits)
    except OSError:
        return None


def pointer(path: str) -> str:
    """What one of git's pointer files says; '' where it cannot be read."""
    try:
        raw, _ = read_at(None, path, path, _POINTER_BYTES)
    except OSError:
        return ""
    return os.fsdecode(raw.split(b"\0", 1)[0].rstrip(b"\r\n"))


def ignore_files_nobody_reads(root: str, paths: Iterable[str]) -> list[str]:
    """The ignore files among these paths that are UTF-16, of which git and we read no rule."""
    found = []
    for path in paths:
        if path.rpartition("/")[2] in IGNORE_FILES:
            with contextlib.suppress(OSError), open(os.path.join(root, path), "rb") as file:
                if file.read(2) in (b"\xff\xfe", b"\xfe\xff"):
                    found.append(path)
    return found


def _check_in_force(scope: Scope, origin: str, limits: Limits) -> None:
    """SourceRejectedError where all ignore files that hold in a directory are over IN_FORCE times the caps of one.

    Each entry and each directory is held against all of them, so that what nests without end would cost without end.
    """
    rules, size = sum(len(layer.source.rules) for layer in scope), sum(layer.source.size for layer in scope)
    for what, found, cap, name in (
        ("rules", rules, limits.max_ignore_rules, "max_ignore_rules"),
        ("bytes of rules", size, limits.max_ignore_bytes, "max_ignore_bytes"),
    ):
        if found > IN_FORCE * cap:
            raise SourceRejectedError(
                f"with {origin} more than {IN_FORCE * cap:,} {what} are in force there ({IN_FORCE} times {name})",
                "shorten the ignore files, leave the directory out with --exclude, or read none with --no-ignore",
            )
