"""The streams of an index: a query's terms to weighted postings, and those to scores by chunk. Pure over segments.

Statistics count the live chunks of all segments. Additions go by falling weight, then field and term: an order that
the query and the corpus decide, never how the corpus is cut into segments.
"""

import heapq
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from ragcli.analysis.analyzers import QueryTerm
from ragcli.index.postings import CODE_FIELD, ENGLISH_FIELD, FREQUENCY_BITS, PATH_FIELD, SYMBOL_FIELD
from ragcli.index.scoring import K1, B, Scores, add_bm25, add_tfidf, bm25_idf, tfidf_idf, tfidf_query_weights
from ragcli.index.segment import Segment
from ragcli.model import SCORE_DECIMALS

Ranges = list[tuple[int, int]]

# What a match in the names of a chunk counts against one in its text. Sums over fields beat one BM25F frequency by
# 0.014 NDCG@10 on 17 public repositories, and cost no merging of postings.
SYMBOL_WEIGHT = 0.25
PATH_WEIGHT = 1.0
CODE_FIELDS = ((CODE_FIELD, 1.0, B), (SYMBOL_FIELD, SYMBOL_WEIGHT, 0.0), (PATH_FIELD, PATH_WEIGHT, 0.0))

# Rounding to 9 decimals may lift a score by half a unit of the last; what is nearer than this to a cut is kept.
SLACK = 2 * 10**-SCORE_DECIMALS


class Totals(NamedTuple):
    """DocAddress chunks and the sums of their lengths, over all segments."""

    chunks: int
    english_length: int
    code_length: int


class TermClause(NamedTuple):
    """A weighted term of one field with its posting list per segment; `b` = 0 disables length normalization."""

    weight: float
    field: bytes
    term: str
    postings: list[Sequence[int]]
    b: float


class ScoringPlan(NamedTuple):
    """What a stream adds up, in order. With `cosine` it is TF-IDF over norms, else BM25 over lengths.

    `expansion` clauses count only for chunks that a clause before them found: they put what holds a word of the
    query in another order, and bring in nothing that holds none.
    """

    clauses: list[TermClause]
    average: float
    expansion: Sequence[TermClause] = ()
    cosine: bool = False
    english: bool = False

    @property
    def postings(self) -> int:
        """How many additions it takes."""
        return sum(len(found) for clause in (*self.clauses, *self.expansion) for found in clause.postings)

    def lengths(self, segment: Segment) -> Sequence[int]:
        """The lengths of a segment's chunks in the terms of this stream."""
        return segment.english_lengths if self.english else segment.code_lengths


class ChunkScores(Protocol):
    """The scores of one segment's chunks in one stream."""

    def best(self, depth: int, allowed: Ranges | None) -> list[tuple[float, int]]: ...

    def get(self, chunk: int) -> float: ...


def bm25_plan(segments: Sequence[Segment], totals: Totals, terms: Iterable[QueryTerm]) -> ScoringPlan:
    """BM25 over English terms."""
    clauses = [_clause(segments, totals, ENGLISH_FIELD, term, 1.0, B) for term in terms]
    return ScoringPlan(_ordered(clauses), totals.english_length / max(totals.chunks, 1), english=True)


def code_plan(
    segments: Sequence[Segment], totals: Totals, terms: Iterable[QueryTerm], expansion: Iterable[QueryTerm] = ()
) -> ScoringPlan:
    """BM25 over code-aware terms of the text, and of the names and the path without regard to their length."""
    asked = list(terms)
    clauses, more = (
        _ordered(_clause(segments, totals, field, t, weight, b) for t in some for field, weight, b in CODE_FIELDS)
        for some in ([t for t in asked if t.finds], [*(t for t in asked if not t.finds), *expansion])
    )
    return ScoringPlan(clauses, totals.code_length / max(totals.chunks, 1), more)


def code_idf(segments: Sequence[Segment], totals: Totals, terms: Iterable[str]) -> list[float]:
    """BM25's inverse document frequency of each code-aware term, by the chunks whose text holds it."""
    return [bm25_idf(totals.chunks, sum(map(len, _postings(segments, CODE_FIELD, term)))) for term in terms]


def tfidf_plan(segments: Sequence[Segment], totals: Totals, terms: Sequence[QueryTerm]) -> ScoringPlan:
    """Cosine of TF-IDF over code-aware terms; a chunk's weights carry no idf."""
    postings = {term.term: _postings(segments, CODE_FIELD, term.term) for term in terms}
    containing = {term: sum(map(len, found)) for term, found in postings.items()}
    counts = {term.term: max(term.weight, 1.0) for term in terms if containing[term.term]}
    weights = tfidf_query_weights(counts, lambda term: tfidf_idf(totals.chunks, containing[term]))
    finding = {term.term for term in terms if term.finds}
    clauses, more = (
        _ordered(TermClause(weights[t], CODE_FIELD, t, postings[t], 0.0) for t in weights if (t in finding) is finds)
        for finds in (True, False)
    )
    return ScoringPlan(clauses, 0.0, more, cosine=True)


def holding(segment: Segment, terms: Sequence[str], within: Ranges | None) -> Ranges:
    """The ranges of the chunks of a segment, `within` others, whose text holds each of the terms of the code stream."""
    lists = sorted((segment.postings(CODE_FIELD + term.encode("utf-8", "replace")) for term in terms), key=len)
    chunks = {posting >> FREQUENCY_BITS for posting in lists[0]}
    for postings in lists[1:]:
        chunks &= {posting >> FREQUENCY_BITS for posting in postings}
    return among(sorted(chunks), within)


def among(chunks: Iterable[int], within: Ranges | None) -> Ranges:
    """Chunks as ranges, those `within` others."""
    kept: Scores = dict.fromkeys(chunks, 0.0)
    return [(chunk, chunk + 1) for chunk in sorted(kept if within is None else _within(kept, within))]


def score_clauses(plan: ScoringPlan, segments: Sequence[Segment]) -> list[ChunkScores]:
    """The scores of a plan, segment by segment, in dictionaries: right for few postings."""
    scores: list[Scores] = [{} for _ in segments]
    for clause in plan.clauses:
        for found, segment, into in zip(clause.postings, segments, scores, strict=True):
            _add(plan, clause, found, segment, into)
    for clause in plan.expansion:
        for found, segment, into in zip(clause.postings, segments, scores, strict=True):
            _add(plan, clause, [p for p in found if p >> FREQUENCY_BITS in into], segment, into)
    return [SparseScores(found) for found in scores]


def _add(plan: ScoringPlan, clause: TermClause, postings: Sequence[int], segment: Segment, into: Scores) -> None:
    if not postings:
        return
    if plan.cosine:
        add_tfidf(into, postings, segment.norms, clause.weight)
    else:
        add_bm25(into, postings, plan.lengths(segment), clause.weight, plan.average, K1, clause.b)


class SparseScores:
    """Scores of the chunks that have any."""

    def __init__(self, scores: Scores) -> None:
        self._scores = scores

    def get(self, chunk: int) -> float:
        """A chunk's score."""
        return self._scores.get(chunk, 0.0)

    def best(self, depth: int, allowed: Ranges | None) -> list[tuple[float, int]]:
        """At least the best `depth` of the allowed chunks, with all that tie for the last place; in no order."""
        scores = self._scores if allowed is None else _within(self._scores, allowed)
        if len(scores) <= depth:
            return [(score, chunk) for chunk, score in scores.items()]
        least = heapq.nlargest(depth, scores.values())[-1] - SLACK
        return [(score, chunk) for chunk, score in scores.items() if score >= least]


def _within(scores: Scores, ranges: Ranges) -> Scores:
    found: Scores = {}
    position = 0
    for chunk in sorted(scores):
        while position < len(ranges) and ranges[position][1] <= chunk:
            position += 1
        if position == len(ranges):
            break
        if ranges[position][0] <= chunk:
            found[chunk] = scores[chunk]
    return found


def _ordered(clauses: Iterable[TermClause | None]) -> list[TermClause]:
    known = [clause for clause in clauses if clause is not None]
    return sorted(known, key=lambda clause: (-clause.weight, clause.field, clause.term))


def _clause(
    segments: Sequence[Segment], totals: Totals, field: bytes, term: QueryTerm, weight: float, b: float
) -> TermClause | None:
    postings = _postings(segments, field, term.term)
    containing = sum(map(len, postings))
    if not containing:
        return None
    idf = bm25_idf(totals.chunks, containing)
    return TermClause(term.weight * weight * idf * (K1 + 1.0), field, term.term, postings, b)


def _postings(segments: Sequence[Segment], field: bytes, term: str) -> list[Sequence[int]]:
    key = field + term.encode("utf-8", "replace")
    return [segment.postings(key) for segment in segments]
