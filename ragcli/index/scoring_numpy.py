"""The same sums over whole arrays, for queries of common terms on large indexes. The only part of a search with numpy.

Loading numpy costs as much as 300,000 postings take without it. Every operation is the one that the loops in `scoring`
do, in their order, on the same doubles, so that the bits are the same.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragcli.index.postings import FREQUENCY_BITS, MAX_FREQUENCY
from ragcli.index.scorers import SLACK, ChunkScores, Ranges, ScoringPlan
from ragcli.index.scoring import K1, bm25_terms
from ragcli.index.segment import Segment

if TYPE_CHECKING:
    Doubles = np.ndarray[tuple[int], np.dtype[np.float64]]


def score_with_numpy(plan: ScoringPlan, segments: Sequence[Segment]) -> list[ChunkScores]:
    """The scores of a plan, segment by segment, in arrays."""
    return [DenseScores(_sum(plan, number, segment)) for number, segment in enumerate(segments)]


class DenseScores:
    """Scores of all chunks of a segment, 0 where no term is."""

    def __init__(self, scores: "Doubles") -> None:
        self._scores = scores

    def get(self, chunk: int) -> float:
        """A chunk's score."""
        return float(self._scores[chunk])

    def best(self, depth: int, allowed: Ranges | None) -> list[tuple[float, int]]:
        """At least the best `depth` of the allowed chunks, with all that tie for the last place; in no order."""
        scores = self._scores
        if allowed is not None:
            scores = np.zeros_like(self._scores)
            for start, end in allowed:
                scores[start:end] = self._scores[start:end]
        least = 0.0
        if len(scores) > depth:
            least = float(np.partition(scores, len(scores) - depth)[len(scores) - depth]) - SLACK
        chunks = np.flatnonzero((scores >= least) & (scores > 0.0))
        return list(zip(scores[chunks].tolist(), chunks.tolist(), strict=True))


def _sum(plan: ScoringPlan, number: int, segment: Segment) -> "Doubles":
    scores = np.zeros(segment.totals.chunks, dtype=np.float64)
    lengths = np.asarray(segment.norms if plan.cosine else plan.lengths(segment), dtype=np.float64)
    logs = np.array([0.0, *(1.0 + math.log(frequency) for frequency in range(1, MAX_FREQUENCY + 1))])
    for position, clause in enumerate((*plan.clauses, *plan.expansion)):
        found = np.asarray(clause.postings[number], dtype=np.uint32)
        if position >= len(plan.clauses):
            found = found[scores[(found >> np.uint32(FREQUENCY_BITS)).astype(np.int64)] > 0.0]
        if not len(found):
            continue
        chunks = (found >> np.uint32(FREQUENCY_BITS)).astype(np.int64)
        frequency = (found & np.uint32(MAX_FREQUENCY)).astype(np.int64)
        if plan.cosine:
            scores[chunks] += clause.weight * logs[frequency] / lengths[chunks]
        else:
            fixed, slope = bm25_terms(plan.average, K1, clause.b)
            scores[chunks] += clause.weight * frequency / (frequency + fixed + slope * lengths[chunks])
    return scores
