"""Stored rows as what a search shows: results, whether their files changed since, and which documents may answer.

Reads a file's size and time, never its bytes.
"""

import os
from collections.abc import Callable, Mapping

from ragcli.config.options import SearchFilter
from ragcli.index.doc_table import ChunkRow, DocumentRow
from ragcli.model import FILE, MAX_TIME_NS, Candidate, SearchResult, StreamScore


class Freshness:
    """Whether the shown files are still what was indexed, by size and time.

    `touched` gives size and time in nanoseconds of each file as the last run saw it, by path: one that was touched and
    not changed keeps what is stored of it. It is called where a file differs from its candidate, and once.
    """

    def __init__(self, root: str, touched: Callable[[], Mapping[str, tuple[int, int]]]) -> None:
        self._root = root
        self._there = bool(root) and os.path.isdir(root)
        self._load = touched
        self._touched: Mapping[str, tuple[int, int]] | None = None

    def is_stale(self, candidate: Candidate) -> bool | None:
        """None where the tree is absent, or the document has no file."""
        if not self._there or candidate.kind != FILE:
            return None
        try:
            status = os.lstat(os.path.join(self._root, candidate.path))
        except OSError:
            return True
        now = status.st_size, max(-MAX_TIME_NS, min(status.st_mtime_ns, MAX_TIME_NS))
        if now == (candidate.size, candidate.mtime_ns):
            return False
        if self._touched is None:
            self._touched = self._load()
        return now != self._touched.get(candidate.path)


def search_result(
    rank: int, candidate: Candidate, score: float, text: str, stale: bool | None, parts: Mapping[str, float], root: str
) -> SearchResult:
    """A ranked candidate as it is shown. `root` is told where several sessions were searched as one."""
    return SearchResult(
        rank=rank,
        id=candidate.id if candidate.kind == FILE else candidate.path,
        file=candidate.path if candidate.kind == FILE else "",
        start_line=candidate.start_line,
        end_line=candidate.end_line,
        score=score,
        streams={name: place for name, place in candidate.streams.items() if place.rank},
        format=candidate.format,
        language=candidate.language,
        metadata={**candidate.document_metadata, **candidate.metadata},
        content=text,
        stale=stale,
        parts=parts,
        source=candidate.source,
        root=root if candidate.source else "",
    )


def stored_chunk(chunk: ChunkRow, row: DocumentRow, text: str) -> SearchResult:
    """A chunk as stored: no rank, no score."""
    streams: dict[str, StreamScore] = {}
    return SearchResult(
        0, chunk.id, row.path if row.kind == FILE else "", chunk.start_line, chunk.end_line, 0.0, streams,
        row.format, row.language, {**row.metadata, **chunk.metadata}, text,
    )  # fmt: skip


def document_filter(where: SearchFilter) -> Callable[[DocumentRow], bool] | None:
    """A predicate for what a search may answer from; added documents have no path, language or format to choose.

    A language is one of the table, a format in lower case, or an extension as `.rst`.
    """
    if where == SearchFilter():
        return None
    from ragcli.ingest.patterns import GlobFilter

    globs = GlobFilter(where.globs) if where.globs else None
    languages = {language.lower() for language in where.languages}
    endings = tuple(language for language in languages if language.startswith("."))
    formats = {format.upper() for format in where.formats}

    def allowed(row: DocumentRow) -> bool:
        if row.kind != FILE:
            return False
        of_type = row.language.lower() in languages or row.format.lower() in languages
        if languages and not of_type and not row.path.lower().endswith(endings):
            return False
        return (not formats or row.format in formats) and (globs is None or globs(row.path))

    return allowed
