"""Measures of one ranked answer, and what many of them say: means with intervals, and paired comparisons.

Pure. Random draws are seeded from a frozen generator, so that the same answers give the same intervals.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

# The cut of NDCG and MRR, as test collections publish them.
CUT = 10
RESAMPLES = 2_000
SHUFFLES = 10_000
# With so few queries that differ, each way to swap them is tried instead of drawing some.
EXACT = 12
CONFIDENCE = 0.95


class Scores(NamedTuple):
    """How well one query was answered: NDCG@10, MRR@10, recall at a chosen cut, and whether the first is right."""

    ndcg: float
    mrr: float
    recall: float
    success: float


class Interval(NamedTuple):
    """A mean, and the bounds of its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float


class Difference(NamedTuple):
    """The mean of paired differences with its interval, and the p-value of a two-sided randomization test."""

    mean: float
    low: float
    high: float
    p: float


def score(gains: Sequence[float], found: Sequence[int], grades: Sequence[float], k: int) -> Scores:
    """Measure one answer. `gains[i]` is the grade that rank i + 1 adds, `found[i]` how many targets it is the first of.

    `grades` are those of all targets. NDCG has linear gains and a logarithmic discount, as trec_eval's ndcg_cut.
    """
    ideal = _dcg(sorted(grades, reverse=True))
    return Scores(
        ndcg=_dcg(gains) / ideal if ideal else 0.0,
        mrr=next((1.0 / rank for rank, gain in enumerate(gains[:CUT], 1) if gain > 0.0), 0.0),
        recall=sum(found[:k]) / len(grades) if grades else 0.0,
        success=1.0 if gains and gains[0] > 0.0 else 0.0,
    )


def _dcg(gains: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains[:CUT]))


def intervals(rows: Sequence[Scores]) -> tuple[Interval, ...]:
    """The mean of each measure with its bootstrap interval (percentiles of resampled means)."""
    import numpy

    values = numpy.asarray(rows, dtype=float)
    draw = numpy.random.RandomState(0)
    size = len(values)
    means = numpy.array([values[draw.randint(0, size, size)].mean(axis=0) for _ in range(RESAMPLES)])
    tail = 50.0 * (1.0 - CONFIDENCE)
    low, high = numpy.percentile(means, [tail, 100.0 - tail], axis=0)
    bounds = zip(values.mean(axis=0), low, high, strict=True)
    return tuple(Interval(*(round(float(number), 6) for number in row)) for row in bounds)


def differences(first: Sequence[Scores], second: Sequence[Scores]) -> tuple[Difference, ...]:
    """For each measure the first's mean over the second's, query by query."""
    rows = [Scores(*(a - b for a, b in zip(*pair, strict=True))) for pair in zip(first, second, strict=True)]
    return tuple(
        Difference(*interval, randomization_p([row[measure] for row in rows]))
        for measure, interval in enumerate(intervals(rows))
    )


def randomization_p(paired: Sequence[float]) -> float:
    """How often a mean at least as far from 0 arises when each pair is swapped by chance."""
    import numpy

    values = numpy.array([value for value in paired if abs(value) > 1e-12])
    if not len(values):
        return 1.0
    seen = abs(values.sum()) - 1e-9
    if len(values) <= EXACT:
        ways = 1 << len(values)
        signs = 1 - 2 * (numpy.arange(ways)[:, None] >> numpy.arange(len(values)) & 1)
        return round(float((abs(signs @ values) >= seen).sum()) / ways, 6)
    draw = numpy.random.RandomState(0)
    extreme = sum(abs((1 - 2 * draw.randint(0, 2, len(values))) @ values) >= seen for _ in range(SHUFFLES))
    return round(float(extreme + 1) / (SHUFFLES + 1), 6)
