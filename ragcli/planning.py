"""What an index run has to do: compare a walk with what is known of the tree. Pure, reads nothing."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ragcli.errors import UsageError
from ragcli.index.rows import DocumentRow
from ragcli.ingest import formats
from ragcli.model import DocumentFormat, SourceFile, Walk
from ragcli.pipeline import Item
from ragcli.store.stats import FAILED, INDEXED, FileState, StatCache


class Living(NamedTuple):
    """A living document: where it is stored, and its row."""

    segment: str
    ordinal: int
    row: DocumentRow


class IndexPlan(NamedTuple):
    """`todo` must be looked at; `carried` are files that certainly have not changed; `absent` are known paths that the
    walk did not find (those below a directory that could not be read stay)."""

    todo: list[SourceFile]
    carried: dict[str, FileState]
    absent: list[str]


def plan(walk: Walk, cache: StatCache | None, known_paths: Iterable[str], verify: bool) -> IndexPlan:
    """Sort the walk's files by what the stat cache says of them; without a cache, or to verify, all are to do."""
    todo: list[SourceFile] = []
    carried: dict[str, FileState] = {}
    found = set()
    for file in walk.files:
        found.add(file.path)
        state = cache.trusts(file) if cache and not verify else None
        if state is None:
            todo.append(file)
        else:
            carried[file.path] = state
    hidden = tuple(f"{path}/" for path in walk.unreadable)
    absent = []
    for path in sorted(set(known_paths) - found):
        if not (hidden and path.startswith(hidden)):
            absent.append(path)
        elif cache and path in cache.states:
            carried[path] = cache.states[path]
    return IndexPlan(todo, carried, absent)


def items(todo: Sequence[SourceFile], *known: Mapping[str, Living]) -> list[Item]:
    """Each file with the fingerprint of what the last of `known` stores of it."""
    prints: dict[str, bytes] = {}
    for documents in known:
        prints |= {path: living.row.fingerprint for path, living in documents.items()}
    return [Item(file, prints.get(file.path, b"")) for file in todo]


def is_idle(plan: IndexPlan) -> bool:
    """Whether nothing at all needs a look."""
    return not plan.todo and not plan.absent


def kept_paths(plan: IndexPlan) -> list[str]:
    """Paths whose documents stay as they are."""
    return [path for path, state in plan.carried.items() if state.state == INDEXED]


def failed_before(plan: IndexPlan) -> list[str]:
    """Paths whose documents failed when they were last read, and have not changed since."""
    return [path for path, state in plan.carried.items() if state.state == FAILED]


def check_format(walk: Walk, format: DocumentFormat) -> None:
    """Refuse an explicit format that a candidate's name does not fit; TEXT takes any name."""
    if format in (DocumentFormat.AUTO, DocumentFormat.TEXT):
        return
    wrong = [file.path for file in walk.files if formats.detect(file.path, None) != format]
    if wrong:
        raise UsageError(
            f"{len(wrong):,} files are not {format.value}, the first is {wrong[0]}",
            "leave them out with --include or --exclude, or use --format AUTO",
        )
