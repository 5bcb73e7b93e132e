"""Search the segments of pinned generations: candidates by stream, texts of the shown few. Reads segments, no disk.

Statistics count the live chunks of all segments, so that scores do not depend on how the corpus is cut into them, nor
on how many sessions it is spread over.
"""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Protocol

from ragcli.analysis.analyzers import QueryTerm, code_query, english_query
from ragcli.config.options import SearchFilter
from ragcli.errors import REBUILD_HINT, IndexCorruptError, RagError
from ragcli.index.doc_table import ChunkRow, DocumentRow
from ragcli.index.scorers import (
    ChunkScores,
    Ranges,
    ScoringPlan,
    Totals,
    among,
    bm25_plan,
    code_idf,
    code_plan,
    holding,
    score_clauses,
    tfidf_plan,
)
from ragcli.index.segment import Segment
from ragcli.model import SCORE_DECIMALS, Candidate, CandidatePool, ChunkKey, StreamScore, place_of


class TextMatch(Protocol):
    """What a text must hold: `in_document` tells by all of a document whether a chunk of it may match."""

    def __call__(self, text: str) -> bool: ...

    def in_document(self, raw: bytes) -> bool: ...


DocumentFilter = Callable[[DocumentRow], bool]
EVERYTHING = SearchFilter()

# From here on loading numpy is cheaper than a loop (58 ms against 0.2 µs a posting, on two cores with Python 3.11).
DENSE_POSTINGS = 300_000


class IndexSearcher:
    """The chunks of some segments as one collection.

    `predicates` makes the test of a document row that a filter stands for. `sources` names, for each segment, the
    session that it belongs to, where several are searched as one.
    """

    def __init__(
        self,
        segments: Sequence[Segment],
        totals: Totals,
        predicates: Callable[[SearchFilter], DocumentFilter | None] = lambda where: None,
        sources: Sequence[str] = (),
    ) -> None:
        self._segments = segments
        self._totals = totals
        self._predicates = predicates
        self._sources = sources or [""] * len(segments)
        self._documents: dict[tuple[int, int], DocumentRow] = {}

    def candidates(
        self,
        query: str,
        depths: Mapping[str, int],
        where: SearchFilter = EVERYTHING,
        expansion: Sequence[QueryTerm] = (),
        per_document: int = 0,
    ) -> CandidatePool:
        """The union of the best chunks of each stream, as many as its depth, with their scores in all of these streams.

        With `per_document` also the best half as many of those with at most so many of one document.
        `expansion` are further terms for the stream `code`; they rank what holds a term of the query, and find nothing
        by themselves. A stream that raises is left out and named; damage and I/O errors are not a stream's failure:
        IndexCorruptError and OSError are raised.
        """
        plans, degraded = self._plans(query, list(depths), expansion)
        add = score_clauses
        if sum(plan.postings for plan in plans.values()) > DENSE_POSTINGS:
            from ragcli.index.scoring_numpy import score_with_numpy as add
        allowed = self._allowed(where)
        scores = {stream: add(plan, self._segments) for stream, plan in plans.items()}
        rankings = {
            stream: self._ranking(found, allowed, depths[stream], per_document) for stream, found in scores.items()
        }
        keys = sorted({key for ranking in rankings.values() for key in ranking})
        found = [self._candidate(key, scores, rankings) for key in keys]
        return CandidatePool(sorted(found, key=place_of), degraded)

    def idf(self, terms: Sequence[str]) -> list[float]:
        """The inverse document frequency of each term of the stream `code` in the texts, as BM25 weighs it."""
        return code_idf(self._segments, self._totals, terms)

    def texts(self, keys: Sequence[ChunkKey]) -> list[str]:
        """The texts of chunks, in the order of their keys."""
        return [self._text(key) for key in keys]

    def scan(self, matches: TextMatch, where: SearchFilter, most: int) -> list[Candidate]:
        """The first `most` chunks by path and line whose text matches; reads every text until then."""
        found: list[Candidate] = []
        allowed = self._allowed(where)
        likely: dict[tuple[int, int, int], bool] = {}  # small documents share a block of text
        documents = [(number, ordinal) for number, one in enumerate(self._segments) for ordinal in one.live_docs()]
        for number, ordinal in sorted(documents, key=self._document_place):
            segment = self._segments[number]
            chunks = among(segment.chunk_range(ordinal), allowed[number])
            span = segment.text_span(ordinal)
            if chunks and (number, *span) not in likely:
                likely[number, *span] = matches.in_document(segment.span_text(*span))
            if chunks and likely[number, *span]:
                keys = [ChunkKey(number, chunk) for first, end in chunks for chunk in range(first, end)]
                found += (self._candidate(key, {}, {}) for key in keys if matches(self._text(key)))
            if len(found) >= most:
                break
        return found[:most]

    def _text(self, key: ChunkKey) -> str:
        segment = self._segments[key.segment]
        return segment.text_of(segment.document_of(key.chunk), segment.chunk(key.chunk))

    def _document(self, document: tuple[int, int]) -> DocumentRow:
        """The row of a candidate's document."""
        row = self._documents.get(document)
        if row is None:
            row = self._documents[document] = self._segments[document[0]].document(document[1])
        return row

    # -- from scores to candidates

    def _plans(
        self, query: str, streams: Sequence[str], expansion: Sequence[QueryTerm]
    ) -> tuple[dict[str, ScoringPlan], list[str]]:
        make: dict[str, Callable[[], ScoringPlan]] = {
            "bm25": lambda: bm25_plan(self._segments, self._totals, english_query(query)),
            "tfidf": lambda: tfidf_plan(self._segments, self._totals, code_query(query)),
            "code": lambda: code_plan(self._segments, self._totals, code_query(query), expansion),
        }
        plans: dict[str, ScoringPlan] = {}
        degraded: list[str] = []
        for stream in streams:
            try:
                plans[stream] = make[stream]()
            except (RagError, OSError):
                raise
            except Exception:
                import logging  # 5 ms that only a failure pays

                logging.getLogger(__name__).warning("stream %s failed and is left out", stream, exc_info=True)
                degraded.append(stream)
        return plans, degraded

    def _allowed(self, where: SearchFilter) -> list[Ranges | None]:
        """For each segment the chunk ranges that may be shown; None for all of them."""
        documents = where._replace(terms=(), keys=None)
        predicate = None if documents == EVERYTHING else self._predicates(documents)
        allowed: list[Ranges | None] = []
        for number, segment in enumerate(self._segments):
            ranges = None if predicate is None else self._of_documents(number, predicate)
            if where.keys is not None:
                ranges = among(sorted(key.chunk for key in where.keys if key.segment == number), ranges)
            allowed.append(holding(segment, where.terms, ranges) if where.terms else ranges)
        return allowed

    def _of_documents(self, number: int, where: DocumentFilter) -> Ranges:
        segment = self._segments[number]
        ranges: Ranges = []
        for ordinal in range(segment.totals.documents):
            if ordinal in segment.deleted or not where(self._document((number, ordinal))):
                continue
            chunks = segment.chunk_range(ordinal)
            if ranges and ranges[-1][1] == chunks.start:
                ranges[-1] = ranges[-1][0], chunks.stop
            elif chunks:
                ranges.append((chunks.start, chunks.stop))
        return ranges

    def _ranking(
        self, scores: Sequence[ChunkScores], allowed: Sequence[Ranges | None], depth: int, per_document: int
    ) -> dict[ChunkKey, StreamScore]:
        """The best `depth` of a stream, and half as many with at most `per_document` of one document: by score, then
        path and line.

        Each segment is cut by the order it keeps its own documents in, so that rows are read only for what is left.
        """
        hits: list[tuple[float, ChunkKey]] = []
        for number, (segment, found, ranges) in enumerate(zip(self._segments, scores, allowed, strict=True)):
            best = _best(segment, found, ranges, depth, per_document)
            hits += ((score, ChunkKey(number, chunk)) for score, chunk in best)
        hits.sort(key=lambda hit: (-hit[0], *self._place(hit[1])))
        documents = [(key.segment, self._segments[key.segment].document_of(key.chunk)) for _, key in hits]
        kept = (hits[position] for position in _kept(documents, depth, per_document)[0])
        return {key: StreamScore(rank, score) for rank, (score, key) in enumerate(kept, 1) if score > 0.0}

    def _place(self, key: ChunkKey) -> tuple[str, str, str, int]:
        document = key.segment, self._segments[key.segment].document_of(key.chunk)
        return *self._document_place(document), key.chunk

    def _document_place(self, document: tuple[int, int]) -> tuple[str, str, str]:
        row = self._document(document)
        return self._sources[document[0]], row.kind, row.path

    def _candidate(
        self,
        key: ChunkKey,
        scores: Mapping[str, Sequence[ChunkScores]],
        rankings: Mapping[str, Mapping[ChunkKey, StreamScore]],
    ) -> Candidate:
        segment = self._segments[key.segment]
        document = (key.segment, segment.document_of(key.chunk))
        row = self._document(document)
        chunk: ChunkRow = segment.chunk(key.chunk)
        streams = {}
        for stream, ranking in rankings.items():
            score = round(scores[stream][key.segment].get(key.chunk), SCORE_DECIMALS)
            if not isfinite(score):  # norms or lengths that no writer of ours wrote
                raise IndexCorruptError(f"{segment.name} is damaged: it gives no score", REBUILD_HINT)
            streams[stream] = ranking.get(key) or StreamScore(0, score)
        return Candidate(
            key, chunk.id, row.kind, row.path, chunk.start_line, chunk.end_line, row.format, row.language,
            chunk.metadata, document, chunk.digest, streams, self._sources[key.segment], row.size, row.mtime_ns,
            row.metadata,
        )  # fmt: skip


def _best(
    segment: Segment, found: ChunkScores, ranges: Ranges | None, depth: int, per_document: int
) -> list[tuple[float, int]]:
    """What `_kept` keeps of one segment's chunks; looks deeper where the best of them are of few documents."""
    reach = depth
    while True:
        best = [(round(score, SCORE_DECIMALS), chunk) for score, chunk in found.best(reach, ranges)]
        if len(best) < depth:
            return best
        best.sort(key=lambda hit: (-hit[0], segment.path_ord(segment.document_of(hit[1])), hit[1]))
        kept, enough = _kept([segment.document_of(chunk) for _, chunk in best], depth, per_document)
        if enough or len(best) < reach:
            return [best[position] for position in kept]
        reach *= 4


def _kept(documents: Sequence[object], depth: int, per_document: int) -> tuple[list[int], bool]:
    """The first `depth` positions of a ranking, and the first half as many with at most `per_document` of a document.

    `documents` are those of the ranked chunks, in order. Also tells whether there are as many.
    """
    kept = list(range(min(depth, len(documents))))
    if per_document < 1:
        return kept, len(kept) == depth
    seen: dict[object, int] = {}
    capped = 0
    for position, document in enumerate(documents):
        if capped >= depth // 2:
            break
        seen[document] = seen.get(document, 0) + 1
        if seen[document] <= per_document:
            capped += 1
            if position >= depth:
                kept.append(position)
    return kept, capped >= depth // 2
