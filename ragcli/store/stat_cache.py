"""The stat cache of a generation: what each file looked like when it was last read, and what the run left out.

Loss or damage means hashing files again, never an error. Columns instead of rows, since it is read whole at each run.
"""

from array import array
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from ragcli.documents import Skipped, SkipReason, SourceFile
from ragcli.errors import IndexCorruptError
from ragcli.store.codec import decode, encode
from ragcli.store.directory import Directory, write_file

STAT_KIND = b"RAGSTATS"

INDEXED = "i"
FAILED = "f"
LEFT_OUT = "s"
_STATES = {INDEXED, FAILED, LEFT_OUT}

# Two writes within one tick of the file system's clock leave the same times. Kernels tick each 1 to 10 ms; a time of
# whole seconds comes from a file system that keeps no more, some only each second one.
_FINE_GRAIN = 20_000_000
_COARSE_GRAIN = 2_000_000_000


class FileState(NamedTuple):
    """A file's stat when it was read, and what became of it: INDEXED, FAILED or LEFT_OUT."""

    file: SourceFile
    state: str


class StatCache(NamedTuple):
    """`started` is when the run began, `pipeline` a digest of all settings that decide what a file becomes."""

    started: int
    pipeline: str
    states: dict[str, FileState]
    skipped: list[Skipped]

    def trusts(self, file: SourceFile) -> FileState | None:
        """The known state of a file that certainly has not changed since."""
        known = self.states.get(file.path)
        if known is None or known.file != file or self.is_racy(file):
            return None
        return known

    def is_racy(self, file: SourceFile) -> bool:
        """Whether a file's times are too near the run to tell a later change (git's racy rule)."""
        coarse = file.mtime_ns % 1_000_000_000 == 0 and file.ctime_ns % 1_000_000_000 == 0
        return max(file.mtime_ns, file.ctime_ns) >= self.started - (_COARSE_GRAIN if coarse else _FINE_GRAIN)


def load_stats(directory: Directory, number: int) -> StatCache | None:
    """The stat cache of a generation; None where it is lost, damaged or of another version."""
    name = stat_name(number)
    try:
        return _from_plain(decode(STAT_KIND, name, directory.read(name)))
    except (FileNotFoundError, IndexCorruptError, LookupError, TypeError, ValueError, AttributeError):
        return None


def save_stats(directory: Directory, number: int, cache: StatCache) -> None:
    """Put the stat cache of a generation in its place."""
    name = stat_name(number)
    write_file(directory, name, encode(STAT_KIND, name, _to_plain(cache)))


def stat_name(number: int) -> str:
    """The file that holds a generation's stat cache."""
    return f"{number}.stat"


def _to_plain(cache: StatCache) -> dict[str, Any]:
    states = [cache.states[path] for path in sorted(cache.states)]
    files = [state.file for state in states]
    return {
        "started": cache.started,
        "pipeline": cache.pipeline,
        "paths": "\0".join(file.path for file in files),
        "sizes": _pack(file.size for file in files),
        "mtimes": _pack(file.mtime_ns for file in files),
        "ctimes": _pack(file.ctime_ns for file in files),
        "inodes": _pack((file.inode for file in files), "Q"),
        "states": "".join(state.state for state in states),
        "skipped": [[s.path, s.reason.value, s.rule, s.is_dir] for s in cache.skipped],
    }


def _from_plain(plain: Any) -> StatCache:
    paths = plain["paths"].split("\0") if plain["paths"] else []
    columns = [array("q", plain[name]) for name in ("sizes", "mtimes", "ctimes")] + [array("Q", plain["inodes"])]
    files = map(SourceFile, paths, *columns)
    states = {file.path: FileState(file, state) for file, state in zip(files, plain["states"], strict=True)}
    skipped = [Skipped(path, SkipReason(reason), rule, is_dir) for path, reason, rule, is_dir in plain["skipped"]]
    if not all(type(s.path) is type(s.rule) is str and type(s.is_dir) is bool for s in skipped):
        raise TypeError("no skipped path")
    if type(plain["started"]) is not int or type(plain["pipeline"]) is not str or set(plain["states"]) - _STATES:
        raise TypeError("no stat cache")
    return StatCache(plain["started"], plain["pipeline"], states, skipped)


def _pack(values: Iterable[int], code: Literal["q", "Q"] = "q") -> bytes:
    return array(code, values).tobytes()
