"""One pinned generation as a knowledge base: candidates by stream, texts of the shown few. Reads segments, no disk.

Statistics count the living chunks of all segments, so that scores do not depend on how the corpus is cut into them.
"""

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence

from ragcli.analysis import QueryTerm, code_query, english_query
from ragcli.errors import RagError
from ragcli.index.rows import ChunkRow, DocumentRow
from ragcli.index.scoring import DECIMALS, Scores
from ragcli.index.segment import Segment
from ragcli.index.streams import Totals, bm25_scores, code_scores, tfidf_scores
from ragcli.model import Candidate, CandidatePool, ChunkKey, StreamScore

DocumentFilter = Callable[[DocumentRow], bool]


STREAMS = ("bm25", "tfidf", "code")


class IndexKnowledgeBase:
    """The chunks of some segments as one collection."""

    def __init__(self, segments: Sequence[Segment], totals: Totals) -> None:
        self._segments = segments
        self._totals = totals
        self._documents: dict[tuple[int, int], DocumentRow] = {}

    def candidates(
        self,
        query: str,
        depth: int,
        where: DocumentFilter | None = None,
        streams: Sequence[str] = STREAMS,
        expansion: Sequence[QueryTerm] = (),
    ) -> CandidatePool:
        """The union of the best `depth` chunks of each stream, with their scores in all of them.

        `expansion` are further terms for the stream `code`. A stream that raises is left out and named; damage and
        I/O errors are not a stream's failure and are raised.
        """
        rank: dict[str, Callable[[], list[Scores]]] = {
            "bm25": lambda: bm25_scores(self._segments, self._totals, english_query(query)),
            "tfidf": lambda: tfidf_scores(self._segments, self._totals, code_query(query)),
            "code": lambda: code_scores(self._segments, self._totals, [*code_query(query), *expansion]),
        }
        allowed = [self._allowed(number, where) for number in range(len(self._segments))]
        scores: dict[str, list[Scores]] = {}
        rankings: dict[str, dict[ChunkKey, StreamScore]] = {}
        degraded = []
        for stream in streams:
            try:
                scores[stream] = rank[stream]()
                rankings[stream] = self._ranking(scores[stream], allowed, depth)
            except (RagError, OSError):
                raise
            except Exception:
                import logging  # 5 ms that only a failure pays

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
