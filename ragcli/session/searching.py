"""Search pinned generations, one session's or several as one collection, and show what was found."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ragcli.config.options import QueryOptions, SearchFilter
from ragcli.errors import UsageError
from ragcli.index.index_searcher import IndexSearcher
from ragcli.index.manifest import Manifest
from ragcli.index.scorers import Totals
from ragcli.index.segment import Segment
from ragcli.model import CandidatePool, SearchResult
from ragcli.retrieval.chunk_source import ChunkSource
from ragcli.retrieval.retriever import retrieve
from ragcli.session import filters
from ragcli.session.results import Freshness, document_filter, search_result
from ragcli.store.snapshots import Generation


class OpenGeneration(NamedTuple):
    """One generation, ready to be searched: `searcher` over its own `segments` alone."""

    generation: Generation
    segments: list[Segment]
    searcher: IndexSearcher

    @property
    def manifest(self) -> Manifest:
        """The generation's manifest."""
        return self.generation.manifest


class Pinned(NamedTuple):
    """A generation that a search answers from: the session's name, its tree, and what tells stale files."""

    source: str
    root: str
    opened: OpenGeneration
    freshness: Freshness
    notices: list[str]


class Home(NamedTuple):
    """Where the files of a source are, and what tells which of them changed."""

    root: str
    freshness: Freshness


def open_generation(generation: Generation) -> OpenGeneration:
    """Make a generation searchable."""
    infos = generation.manifest.segments
    segments = [Segment(blob, info.deleted) for blob, info in zip(generation.blobs, infos, strict=True)]
    return OpenGeneration(generation, segments, IndexSearcher(segments, _totals([generation]), document_filter))


def search(
    query: str, top_k: int, options: QueryOptions, pinned: Sequence[Pinned]
) -> tuple[list[SearchResult], CandidatePool]:
    """The best `top_k` chunks of the generations as one collection, best first, and the pool they were chosen from.

    Results of several generations name their source and root. UsageError where two of them have one name, or where a
    filter asks for a language or format that nobody knows.
    """
    options = options._replace(where=filters.settled(options.where, *_kinds(pinned)))
    searcher = pinned[0].opened.searcher if len(pinned) == 1 else _union(pinned)
    homes = {entry.source if len(pinned) > 1 else "": Home(entry.root, entry.freshness) for entry in pinned}
    return answer(searcher, query, top_k, options, homes)


def filter_notices(where: SearchFilter, pinned: Sequence[Pinned]) -> list[str]:
    """What of a filter meets no file of the generations."""
    segments = (segment for entry in pinned for segment in entry.opened.segments)
    rows = (row for segment in segments for _, row in segment.documents())
    return filters.notices(where, *_kinds(pinned), rows)


def _kinds(pinned: Sequence[Pinned]) -> tuple[Counter[str], Counter[str]]:
    """How many files the generations have of each language and of each format."""
    languages: Counter[str] = Counter()
    formats: Counter[str] = Counter()
    for entry in pinned:
        languages.update(entry.opened.manifest.corpus.languages)
        formats.update(entry.opened.manifest.corpus.formats)
    return languages, formats


def answer(
    chunks: ChunkSource, query: str, top_k: int, options: QueryOptions, homes: Mapping[str, Home]
) -> tuple[list[SearchResult], CandidatePool]:
    """The best `top_k` chunks of any store, best first, and the pool they were chosen from.

    `homes` are by the candidates' source, which is '' where there is one.
    """
    line_of: Callable[[str], int] | None = None
    if options.exact is None:
        ranked, pool = retrieve(chunks, query, top_k, options)
    else:
        from ragcli.retrieval.exact_text import ExactMatcher, retrieve_exact

        ranked, pool = retrieve_exact(chunks, top_k, options, options.exact)
        line_of = ExactMatcher(options.exact).first_line
    texts = chunks.texts([entry.candidate.key for entry in ranked])
    results = []
    for number, (entry, text) in enumerate(zip(ranked, texts, strict=True), 1):
        candidate = entry.candidate
        home = homes[candidate.source]
        parts = entry.parts if options.explain else {}
        stale = home.freshness.is_stale(candidate)
        result = search_result(number, candidate, entry.score, text, stale, parts, home.root)
        results.append(result if line_of is None else result._replace(line=result.start_line + line_of(text)))
    return results, pool


def _union(pinned: Sequence[Pinned]) -> IndexSearcher:
    names = [entry.source for entry in pinned]
    if len(set(names)) < len(names):
        raise UsageError(f"a session is named twice: {', '.join(names)}", "name each session once")
    segments = [segment for entry in pinned for segment in entry.opened.segments]
    sources = [entry.source for entry in pinned for _ in entry.opened.segments]
    totals = _totals([entry.opened.generation for entry in pinned])
    return IndexSearcher(segments, totals, document_filter, sources)


def _totals(generations: Sequence[Generation]) -> Totals:
    infos = [info for generation in generations for info in generation.manifest.segments]
    return Totals(
        sum(info.chunks for info in infos),
        sum(info.english_length for info in infos),
        sum(info.code_length for info in infos),
    )
