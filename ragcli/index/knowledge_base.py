"""One pinned generation as a knowledge base: candidates by stream, texts of the shown few. Reads segments, no disk.

Statistics count the living chunks of all segments, so that scores do not depend on how the corpus is cut into them.
"""

import heapq
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ragcli.analysis import QueryTerm, code_query, english_query
from ragcli.errors import RagError
from ragcli.index.packing import CODE_FIELD, ENGLISH_FIELD, PATH_FIELD, SYMBOL_FIELD
from ragcli.index.postings import FREQUENCY_BITS, MAX_FREQUENCY
from ragcli.index.rows import ChunkRow, DocumentRow
from ragcli.index.scoring import (
    DECIMALS,
    K1,
    B,
    Scores,
    add_bm25,
    add_bm25_fields,
    add_tfidf,
    bm25_idf,
    tfidf_idf,
    tfidf_query_weights,
)
from ragcli.index.segment import Segment
from ragcli.model import Candidate, CandidatePool, ChunkKey, StreamScore

DocumentFilter = Callable[[DocumentRow], bool]


class Totals(NamedTuple):
    """Living chunks and the sums of their lengths, over all segments."""

    chunks: int
    english_length: int
    code_length: int


class FieldWeights(NamedTuple):
    """How often a term of a name counts, against once in the text (BM25F)."""

    symbol: float = 3.0
    path: float = 1.5
    k1: float = K1
    b: float = B


class IndexKnowledgeBase:
    """The chunks of some segments as one collection."""

    def __init__(self, segments: Sequence[Segment], totals: Totals, fields: FieldWeights = FieldWeights()) -> None:
        self._segments = segments
        self._totals = totals
        self._fields = fields
        self._documents: dict[tuple[int, int], DocumentRow] = {}

    def candidates(
        self,
        query: str,
        depth: int,
        where: DocumentFilter | None = None,
        streams: Sequence[str] = ("bm25", "tfidf", "code"),
    ) -> CandidatePool:
        """The union of the best `depth` chunks of each stream, with their scores in all of them.

        A stream that raises is left out and named; damage and I/O errors are not a stream's failure and are raised.
        """
        rank: dict[str, Callable[[str], list[Scores]]] = {"bm25": self._bm25, "tfidf": self._tfidf, "code": self._code}
        allowed = [self._allowed(number, where) for number in range(len(self._segments))]
        scores: dict[str, list[Scores]] = {}
        rankings: dict[str, dict[ChunkKey, StreamScore]] = {}
        degraded = []
        for stream in streams:
            try:
                scores[stream] = rank[stream](query)
                rankings[stream] = self._ranking(scores[stream], allowed, depth)
            except (RagError, OSError):
                raise
            except Exception:
                logging.getLogger(__name__).exception("stream %s failed", stream)
                degraded.append(stream)
        keys = sorted({key for ranking in rankings.values() for key in ranking})
        found = [self._candidate(key, scores, rankings) for key in keys]
        return CandidatePool(sorted(found, key=lambda c: (c.source, c.path, c.start_line, c.id)), degraded)

    def text(self, key: ChunkKey) -> str:
        """A chunk's text."""
        segment = self._segments[key.segment]
        return segment.text_of(segment.document_of(key.chunk), segment.chunk(key.chunk))

    def document(self, document: tuple[int, int]) -> DocumentRow:
        """The row of a candidate's document."""
        row = self._documents.get(document)
        if row is None:
            row = self._documents[document] = self._segments[document[0]].document(document[1])
        return row

    # -- streams: for each segment, chunk ordinal -> score

    def _bm25(self, query: str) -> list[Scores]:
        average = self._totals.english_length / self._totals.chunks if self._totals.chunks else 0.0
        weighted = []
        for term in english_query(query):
            lists = self._postings(ENGLISH_FIELD, term.term)
            containing = self._living(lists)
            if containing:
                weighted.append(
                    (term.weight * bm25_idf(self._totals.chunks, containing) * (K1 + 1.0), term.term, lists)
                )
        scores: list[Scores] = [{} for _ in self._segments]
        for weight, _, lists in sorted(weighted, key=_heaviest):
            for number, postings in enumerate(lists):
                if postings:
                    add_bm25(scores[number], postings, self._segments[number].english_lengths, weight, average, K1, B)
        return scores

    def _tfidf(self, query: str) -> list[Scores]:
        lists = {term.term: self._postings(CODE_FIELD, term.term) for term in code_query(query)}
        counts = {term.term: max(term.weight, 1.0) for term in code_query(query)}
        containing = {term: self._living(found) for term, found in lists.items()}
        known = {term: count for term, count in counts.items() if containing[term]}
        weights = tfidf_query_weights(known, lambda term: tfidf_idf(self._totals.chunks, containing[term]))
        scores: list[Scores] = [{} for _ in self._segments]
        for weight, term in sorted(((weight, term) for term, weight in weights.items()), key=_heaviest):
            for number, postings in enumerate(lists[term]):
                if postings:
                    add_tfidf(scores[number], postings, self._segments[number].norms, weight)
        return scores

    def _code(self, query: str) -> list[Scores]:
        average = self._totals.code_length / self._totals.chunks if self._totals.chunks else 0.0
        k1, b = self._fields.k1, self._fields.b
        weighted = []
        for term in code_query(query):
            frequencies = self._field_frequencies(term)
            containing = sum(
                len(found) - _count_dead(found, segment)
                for found, segment in zip(frequencies, self._segments, strict=True)
            )
            if containing:
                idf = bm25_idf(self._totals.chunks, containing)
                weighted.append((term.weight * idf * (k1 + 1.0), term.term, frequencies))
        scores: list[Scores] = [{} for _ in self._segments]
        for weight, _, frequencies in sorted(weighted, key=_heaviest):
            for number, found in enumerate(frequencies):
                if found:
                    add_bm25_fields(scores[number], found, self._segments[number].code_lengths, weight, average, k1, b)
        return scores

    def _field_frequencies(self, term: QueryTerm) -> list[dict[int, float]]:
        found: list[dict[int, float]] = []
        for segment in self._segments:
            frequencies: dict[int, float] = {}
            for field, times in (
                (CODE_FIELD, 1.0),
                (SYMBOL_FIELD, self._fields.symbol),
                (PATH_FIELD, self._fields.path),
            ):
                for posting in segment.postings(field + term.term.encode()):
                    chunk = posting >> FREQUENCY_BITS
                    frequencies[chunk] = frequencies.get(chunk, 0.0) + times * (posting & MAX_FREQUENCY)
            found.append(frequencies)
        return found

    def _postings(self, field: bytes, term: str) -> list[Sequence[int]]:
        key = field + term.encode("utf-8", "replace")
        return [segment.postings(key) for segment in self._segments]

    def _living(self, lists: Sequence[Sequence[int]]) -> int:
        return sum(segment.living_count(found) for segment, found in zip(self._segments, lists, strict=True) if found)

    # -- from scores to candidates

    def _allowed(self, number: int, where: DocumentFilter | None) -> list[tuple[int, int]] | None:
        """The chunk ranges that may be shown; None for all of them."""
        segment = self._segments[number]
        if where is None and not segment.dead_ranges:
            return None
        ranges: list[tuple[int, int]] = []
        for ordinal in range(segment.totals.documents):
            if ordinal in segment.dead or (where is not None and not where(self.document((number, ordinal)))):
                continue
            chunks = segment.chunk_range(ordinal)
            if ranges and ranges[-1][1] == chunks.start:
                ranges[-1] = ranges[-1][0], chunks.stop
            elif chunks:
                ranges.append((chunks.start, chunks.stop))
        return ranges

    def _ranking(
        self, scores: Sequence[Scores], allowed: Sequence[list[tuple[int, int]] | None], depth: int
    ) -> dict[ChunkKey, StreamScore]:
        """The best `depth` of a stream: by score, then path and line."""
        living = [_restrict(found, ranges) for found, ranges in zip(scores, allowed, strict=True)]
        best = heapq.nlargest(depth, (score for found in living for score in found.values()))
        # A little below the last one's score, since rounding may lift others to it.
        least = best[-1] - 2 * 10**-DECIMALS if len(best) == depth else 0.0
        hits = [
            (round(score, DECIMALS), ChunkKey(number, chunk))
            for number, found in enumerate(living)
            for chunk, score in found.items()
            if score >= least
        ]
        hits.sort(key=lambda hit: (-hit[0], *self._place(hit[1])))
        return {key: StreamScore(rank, score) for rank, (score, key) in enumerate(hits[:depth], 1) if score > 0.0}

    def _place(self, key: ChunkKey) -> tuple[str, str, int]:
        row = self.document((key.segment, self._segments[key.segment].document_of(key.chunk)))
        return row.source, row.path, key.chunk

    def _candidate(
        self,
        key: ChunkKey,
        scores: Mapping[str, Sequence[Scores]],
        rankings: Mapping[str, Mapping[ChunkKey, StreamScore]],
    ) -> Candidate:
        segment = self._segments[key.segment]
        document = (key.segment, segment.document_of(key.chunk))
        row = self.document(document)
        chunk: ChunkRow = segment.chunk(key.chunk)
        streams = {}
        for stream, ranking in rankings.items():
            score = round(scores[stream][key.segment].get(key.chunk, 0.0), DECIMALS)
            streams[stream] = ranking.get(key) or StreamScore(0, score)
        return Candidate(
            key, chunk.id, row.source, row.path, chunk.start_line, chunk.end_line, row.format, row.language,
            chunk.metadata, document, chunk.digest, streams,
        )  # fmt: skip


def _heaviest(weighted: tuple[float, str] | tuple[float, str, object]) -> tuple[float, str]:
    return -weighted[0], weighted[1]


def _count_dead(found: Mapping[int, float], segment: Segment) -> int:
    return sum(chunk in found for start, end in segment.dead_ranges for chunk in range(start, end))


def _restrict(scores: Scores, ranges: list[tuple[int, int]] | None) -> Scores:
    """The scores of chunks within the ranges."""
    if ranges is None:
        return scores
    return dict(_within(scores, ranges))


def _within(scores: Scores, ranges: list[tuple[int, int]]) -> Iterator[tuple[int, float]]:
    position = 0
    for chunk in sorted(scores):
        while position < len(ranges) and ranges[position][1] <= chunk:
            position += 1
        if position == len(ranges):
            return
        if ranges[position][0] <= chunk:
            yield chunk, scores[chunk]
