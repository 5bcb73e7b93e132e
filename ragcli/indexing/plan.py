"""What an index run has to do: compare a walk with what is known of the tree. Pure, reads nothing."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ragcli.documents import Skipped, SkipReason, SourceFile, Walk
from ragcli.errors import UsageError
from ragcli.index.doc_table import DocumentRow
from ragcli.indexing.ingest_task import WorkItem
from ragcli.indexing.run import KnownFile
from ragcli.ingest import formats
from ragcli.model import DocumentFormat
from ragcli.store.stat_cache import FileState, StatCache


class DocAddress(NamedTuple):
    """A live document: where it is stored, and its row."""

    segment: str
    ordinal: int
    row: DocumentRow

    @property
    def fingerprint(self) -> bytes:
        """The document's fingerprint."""
        return self.row.fingerprint


class IndexPlan(NamedTuple):
    """`todo` must be looked at; `carried` are files that certainly have not changed; `absent` are known paths that the
    walk did not find (files that could not be read, and those below such a directory, stay)."""

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
    hidden = tuple(f"{path}/" if path else "" for path in walk.unreadable)
    refused = {entry.path for entry in walk.skipped if entry.reason == SkipReason.UNREADABLE}
    absent = []
    for path in sorted(set(known_paths) - found):
        if path not in refused and not (hidden and path.startswith(hidden)):
            absent.append(path)
        elif cache and path in cache.states:
            carried[path] = cache.states[path]
    return IndexPlan(todo, carried, absent)


def items(
    todo: Sequence[SourceFile], known: Mapping[str, KnownFile], pending: Mapping[str, KnownFile]
) -> list[WorkItem]:
    """Each file with the fingerprint of what is stored of it, `pending` before `known`."""
    stored = [pending.get(file.path) or known.get(file.path) for file in todo]
    return [WorkItem(file, at.fingerprint if at else b"") for file, at in zip(todo, stored, strict=True)]


def without(walk: Walk, root: str, directory: str) -> Walk:
    """Leave out what lies below a directory, which is named where there was something: the store in its own tree."""
    if not directory or os.path.commonpath((root, directory)) != root:
        return walk
    path = os.path.relpath(directory, root)
    below = f"{path}/"
    files = [file for file in walk.files if not file.path.startswith(below)]
    skipped = [entry for entry in walk.skipped if not entry.path.startswith(below)]
    if len(files) < len(walk.files) or len(skipped) < len(walk.skipped):
        skipped.append(Skipped(path, SkipReason.DEFAULT_SKIP, "data directory", True))
    return Walk(files, sorted(skipped), walk.unreadable)


def check_format(walk: Walk, format: DocumentFormat) -> None:
    """Refuse an explicit format that a candidate's name does not fit; TEXT takes any name.

    UsageError at the first that does not fit.
    """
    if format in (DocumentFormat.AUTO, DocumentFormat.TEXT):
        return
    wrong = [file.path for file in walk.files if not formats.accepts(format, file.path)]
    if wrong:
        raise UsageError(
            f"{len(wrong):,} files are not {format.value}, the first is {wrong[0]}",
            "leave them out with --include or --exclude, or use --format AUTO",
        )
