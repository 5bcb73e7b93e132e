"""The formulas of the streams, and the loops that add them up over postings. Pure arithmetic, no file.

The order of additions is fixed by the query, never by how the corpus is cut into segments, so that an incremental index
and a rebuilt one give the same bits. Scores are rounded to 9 decimals before anything is ranked.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from ragcli.index.postings import FREQUENCY_BITS, MAX_FREQUENCY

# Okapi BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) with the usual constants.
K1 = 1.2
B = 0.75

Scores = dict[int, float]


def bm25_idf(total: int, containing: int) -> float:
    """ln(1 + (N - n + 0.5) / (n + 0.5)): positive however common the term is."""
    return math.log(1.0 + (total - containing + 0.5) / (containing + 0.5))


def bm25_weight(idf: float, frequency: float, length: float, average: float, k1: float = K1, b: float = B) -> float:
    """idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / average))."""
    return idf * frequency * (k1 + 1.0) / (frequency + k1 * (1.0 - b + b * length / average))


def tfidf_idf(total: int, containing: int) -> float:
    """ln(1 + N / n)."""
    return math.log(1.0 + total / containing)


def tfidf_document_weight(frequency: int) -> float:
    """1 + ln(tf). It carries no idf, so that a chunk's norm does not change with the rest of the corpus."""
    return 1.0 + math.log(frequency)


def tfidf_query_weights(counts: Mapping[str, float], idf: Callable[[str], float]) -> dict[str, float]:
    """Unit vector of (1 + ln qtf) * idf over the query's terms, in the order of `counts`."""
    weights = {term: (1.0 + math.log(count)) * idf(term) for term, count in counts.items()}
    norm = math.sqrt(math.fsum(weight * weight for weight in weights.values()))
    return {term: weight / norm for term, weight in weights.items()} if norm else weights


def add_bm25(
    scores: Scores, postings: Iterable[int], lengths: Sequence[int], weight: float, average: float, k1: float, b: float
) -> None:
    """Add weight * tf / (tf + k1 * (1 - b + b * length / average)) for each posting; weight is idf * (k1 + 1)."""
    get = scores.get
    fixed, slope = bm25_terms(average, k1, b)
    for posting in postings:
        chunk = posting >> FREQUENCY_BITS
        frequency = posting & MAX_FREQUENCY
        scores[chunk] = get(chunk, 0.0) + weight * frequency / (frequency + fixed + slope * lengths[chunk])


def bm25_terms(average: float, k1: float, b: float) -> tuple[float, float]:
    """What does not depend on the chunk: k1 * (1 - b), and k1 * b / average."""
    return k1 * (1.0 - b), k1 * b / average if average else 0.0


def add_tfidf(scores: Scores, postings: Iterable[int], norms: Sequence[float], weight: float) -> None:
    """Add weight * (1 + ln tf) / norm for each posting."""
    get, log = scores.get, math.log
    for posting in postings:
        chunk = posting >> FREQUENCY_BITS
        scores[chunk] = get(chunk, 0.0) + weight * (1.0 + log(posting & MAX_FREQUENCY)) / norms[chunk]
