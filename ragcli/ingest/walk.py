"""Find the files of a tree: regular files that no rule leaves out, each with its stat, in the order of their paths.

Opens directories and ignore files only, follows no link, decides nothing about formats. Paths are ordered as strings,
code point by code point, over the whole path (so `a-b/x` comes before `a/x`). What comes and goes while the walk looks
is reported as vanished; what the system refuses is reported with its reason; only the root itself must be there.
"""

import os
import stat
import sys
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from ragcli.config.options import IndexOptions
from ragcli.documents import Skipped, SkipReason, SourceFile, Walk
from ragcli.errors import SourceRejectedError, UsageError
from ragcli.ingest.ignore import Scope, brings_back, descend, ignoring_rule
from ragcli.ingest.patterns import Selector
from ragcli.ingest.reading import BELOW_FLAGS, DIRECTORY_FLAGS, VANISHED, reason_of, source_file
from ragcli.ingest.repository import scope_above, scope_inside
from ragcli.ingest.secret_links import SecretLinks
from ragcli.ingest.secret_names import secret_path_rule, secret_rule
from ragcli.ingest.skips import COMPONENTS, DIRECTORIES, FORBIDDEN, IGNORE_FILES, NAMED_FILES, is_lock_file
from ragcli.ingest.worktrees import git_directory, is_agents_worktree, is_linked, repository_of


def walk(root: str, options: IndexOptions) -> Walk:
    """Walk the directory `root`. Raises SourceRejectedError over a cap and for a root that is not there to the end."""
    try:
        descriptor = os.open(root, DIRECTORY_FLAGS)
    except (OSError, ValueError) as error:
        raise _rejected(root, error) from error
    try:
        identity = _identity(os.fstat(descriptor))
        walker = _Walker(root, options)
        walker.run(descriptor)
        if identity != _identity(os.stat(root)):
            raise SourceRejectedError(f"{root} was replaced while it was walked", "run the command again")
    except OSError as error:
        raise _rejected(root, error) from error
    finally:
        os.close(descriptor)
    return walker.result()


def walk_file(path: str, options: IndexOptions) -> SourceFile:
    """Look at one file named outright; its path is relative to its directory, which is the root.

    It was named, so no ignore file, default skip or pattern keeps it out; secrets and ignore files are refused.

    UsageError or SourceRejectedError where it may not be indexed.
    """
    name = os.path.basename(path)
    if not options.allow_secrets and (secret_rule(name) or secret_path_rule(os.path.abspath(path))):
        raise SourceRejectedError(
            f"{path} has the name of a file that holds secrets", "give --allow-secrets to index it all the same"
        )
    if name in IGNORE_FILES or name.lower() in FORBIDDEN:
        raise SourceRejectedError(f"{path} is never indexed", "name another file, or its directory")
    try:
        status = os.lstat(path)
    except (OSError, ValueError) as error:
        raise _rejected(path, error) from error
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"{path} is {_kind(status.st_mode)}, not a regular file", "name a regular file or a directory")
    if options.limits.max_files < 1:
        raise _over("files", options.limits.max_files, "--max-files")
    return source_file(name, status)


class _Frame(NamedTuple):
    """A directory being walked. `repository` is the git directory of the repository that it lies in; `pending` holds
    the names of sub-directories still to be entered, the next one last."""

    descriptor: int
    prefix: str
    depth: int
    scope: Scope
    repository: str
    pending: list[str]


class _Walker:
    """The mutable state of one walk."""

    def __init__(self, root: str, options: IndexOptions) -> None:
        self._root = root
        self._options = options
        self._limits = options.limits
        self._selector = Selector(options.include, options.exclude)
        self._entries = 0
        self._files: list[SourceFile] = []
        self._skipped: list[Skipped] = []
        self._unreadable: list[str] = []
        self._links = SecretLinks()

    def run(self, descriptor: int) -> None:
        """Walk everything below the open root, which stays open."""
        scope: Scope = ()
        if self._options.ignore_files:
            scope, unread = scope_above(self._root, self._limits)
            self._skipped += [Skipped(path, SkipReason.UNREADABLE, reason_of(error)) for path, error in unread]
        repository = repository_of(self._root) if self._options.default_skips else ""
        stack = [self._scan(descriptor, "", 0, scope, repository)]
        try:
            while stack:
                frame = stack[-1]
                if frame.pending:
                    child = self._enter(frame, frame.pending.pop())
                    if child is not None:
                        stack.append(child)
                else:
                    stack.pop()
                    if stack:
                        os.close(frame.descriptor)
        finally:
            for frame in stack[1:]:
                os.close(frame.descriptor)

    def result(self) -> Walk:
        """Hand over what was found, sorted."""
        links = set(self._links.among(self._root, self._files))
        self._skipped += [Skipped(path, SkipReason.SECRET, "hard link") for path in links]
        files = [file for file in self._files if file.path not in links] if links else self._files
        files.sort(key=itemgetter(0))
        return Walk(files, sorted(self._skipped), sorted(self._unreadable))

    def _enter(self, frame: _Frame, name: str) -> _Frame | None:
        path = frame.prefix + name
        own = git_directory(os.path.join(self._root, path)) if self._options.default_skips else ""
        if own and own == frame.repository and is_linked(os.path.join(self._root, path)):
            self._skipped.append(Skipped(path, SkipReason.WORKTREE, "", True))
            return None
        try:
            descriptor = os.open(name, BELOW_FLAGS, dir_fd=frame.descriptor)
        except OSError as error:
            self._failed(path, error, is_dir=True)
            return None
        try:
            scope = descend(frame.scope, name)
            return self._scan(descriptor, path + "/", frame.depth + 1, scope, own or frame.repository)
        except OSError as error:
            os.close(descriptor)
            self._failed(path, error, is_dir=True)
            return None
        except BaseException:
            os.close(descriptor)
            raise

    def _scan(self, descriptor: int, prefix: str, depth: int, scope: Scope, repository: str) -> _Frame:
        """List one directory: take its files, note what is left out, and return the sub-directories to enter."""
        room = self._limits.max_entries - self._entries
        with os.scandir(descriptor) as listing:
            entries = list(islice(listing, min(room + 1, sys.maxsize)))
        if len(entries) > room:
            raise _over("entries", self._limits.max_entries, "--max-entries")
        self._entries += len(entries)
        if self._options.ignore_files:
            names = {entry.name for entry in entries}
            if not names.isdisjoint((".git", *IGNORE_FILES)):
                directory = os.path.join(self._root, prefix)
                scope, unread = scope_inside(scope, descriptor, names, prefix, directory, self._limits)
                for path, error in unread:
                    self._failed(path, error)
        pending = self._sort_out(entries, prefix, depth, scope)
        pending.sort(reverse=True)
        return _Frame(descriptor, prefix, depth, scope, repository, pending)

    def _sort_out(self, entries: list[os.DirEntry[str]], prefix: str, depth: int, scope: Scope) -> list[str]:
        directories: list[str] = []
        fits = depth < self._limits.max_depth
        for entry in entries:
            try:
                if entry.is_file(follow_symlinks=False):
                    taken = self._file(entry, prefix, scope)
                elif entry.is_dir(follow_symlinks=False):
                    taken = self._directory(entry.name, prefix, scope)
                    if taken:
                        directories.append(entry.name)
                else:
                    reason = SkipReason.LINK if entry.is_symlink() else SkipReason.SPECIAL
                    self._skipped.append(Skipped(prefix + entry.name, reason))
                    taken = False
            except OSError as error:
                self._failed(prefix + entry.name, error)
                continue
            if taken and not fits:
                raise _over("levels", self._limits.max_depth, "--max-depth")
        return directories

    def _directory(self, name: str, prefix: str, scope: Scope) -> bool:
        """Decide whether to enter a directory; note why not."""
        path = prefix + name
        lower = name.lower()
        if lower in DIRECTORIES and (
            lower in FORBIDDEN or (self._options.default_skips and not brings_back(scope, name, True))
        ):
            self._skipped.append(Skipped(path, SkipReason.DEFAULT_SKIP, lower, True))
            return False
        if self._options.default_skips and is_agents_worktree(path) and not brings_back(scope, name, True):
            self._skipped.append(Skipped(path, SkipReason.WORKTREE, "", True))
            return False
        rule = ignoring_rule(scope, name, True) if scope else None
        if rule is not None:
            self._skipped.append(Skipped(path, SkipReason.IGNORED, rule.place, True))
            return False
        pruned = self._selector.prunes(path) if self._selector else None
        if pruned is not None:
            self._skipped.append(Skipped(path, SkipReason.EXCLUDED, pruned, True))
            return False
        return True

    def _file(self, entry: os.DirEntry[str], prefix: str, scope: Scope) -> bool:
        """Take a file, or note why not."""
        name = entry.name
        path = prefix + name
        left_out = self._left_out(name, path, scope)
        if left_out is not None:
            self._skipped.append(Skipped(path, *left_out))
            if left_out[0] == SkipReason.SECRET:
                self._links.note(entry)
            return False
        status = entry.stat(follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):  # it was one when the directory was listed
            self._skipped.append(Skipped(path, SkipReason.VANISHED))
            return False
        if len(self._files) >= self._limits.max_files:
            raise _over("files", self._limits.max_files, "--max-files")
        self._files.append(source_file(path, status))
        return True

    def _left_out(self, name: str, path: str, scope: Scope) -> tuple[SkipReason, str] | None:
        if not self._options.allow_secrets and (secret := secret_rule(name) or secret_path_rule(path)):
            return SkipReason.SECRET, secret
        lower = name.lower()
        if lower in NAMED_FILES:
            named = self._named(name, lower, scope)
            if named is not None:
                return named
        if is_lock_file(name):
            return SkipReason.LOCK_FILE, ""
        rule = ignoring_rule(scope, name, False) if scope else None
        if rule is not None:
            return SkipReason.IGNORED, rule.place
        return self._selector.leaves_out(path) if self._selector else None

    def _named(self, name: str, lower: str, scope: Scope) -> tuple[SkipReason, str] | None:
        """Say whether a file's name alone leaves it out: an ignore file, a component such as `.git`."""
        if name in IGNORE_FILES:
            return SkipReason.DEFAULT_SKIP, name
        if lower in FORBIDDEN or (
            lower in COMPONENTS and self._options.default_skips and not brings_back(scope, name, False)
        ):
            return SkipReason.DEFAULT_SKIP, lower
        return None

    def _failed(self, path: str, error: OSError, is_dir: bool = False) -> None:
        """Note what the system refused: gone meanwhile, or unreadable (then what is indexed below it is kept)."""
        if error.errno in VANISHED:
            self._skipped.append(Skipped(path, SkipReason.VANISHED, "", is_dir))
            return
        self._skipped.append(Skipped(path, SkipReason.UNREADABLE, reason_of(error), is_dir))
        if is_dir:
            self._unreadable.append(path)


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _rejected(path: str, error: OSError | ValueError) -> SourceRejectedError:
    reason = reason_of(error) if isinstance(error, OSError) else str(error)  # ValueError: a NUL in the path
    return SourceRejectedError(f"cannot read {path}: {reason}", "name a directory or a file that you may read")


def _over(what: str, cap: int, flag: str) -> SourceRejectedError:
    name = flag.removeprefix("--").replace("-", "_")
    return SourceRejectedError(
        f"the tree has more than {cap} {what}, the cap {name} (flag {flag})",
        f"raise it with {flag} N, or leave directories out with --exclude or a .tnsignore file",
    )


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFDIR: "a directory",
        stat.S_IFLNK: "a symbolic link",
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(mode), "a special file")
