"""Asks a session judged queries and measures its answers. Uses the door that every search uses; writes nothing."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ragcli.evaluation.judgements import JudgedQuery, Target
from ragcli.evaluation.measures import CUT, Difference, Interval, Scores, differences, intervals, score
from ragcli.model import SearchOutcome

SHOWN_ABOVE = 5

Ask = Callable[[str, int], SearchOutcome]


class Hit(NamedTuple):
    """One rank of an answer: a document, or a chunk of it where lines are judged."""

    name: str
    start_line: int
    end_line: int
    score: float


class Answer(NamedTuple):
    """How a query was answered. `places` has for each target the rank of the first hit on it, 0 for none.

    `above` are the hits before the first right one, the first `SHOWN_ABOVE` of them.
    """

    query: JudgedQuery
    scores: Scores
    places: tuple[int, ...]
    above: tuple[Hit, ...]


class Summary(NamedTuple):
    """The measures of some answers, in the order of `Scores`."""

    queries: int
    measures: tuple[Interval, ...]


class Comparison(NamedTuple):
    """One run's measures over another's, and on how many queries its NDCG is better, worse, the same."""

    differences: tuple[Difference, ...]
    better: int
    worse: int
    equal: int


def answer(query: JudgedQuery, ask: Ask, k: int, max_per_file: int) -> Answer:
    """Ask one query, and measure the answer over documents, or over chunks where a target has lines."""
    # So many chunks hold as many documents as the deepest cut needs, however many are of one.
    results = ask(query.text, max(CUT, k) * max(max_per_file, 1)).results
    hits = [Hit(result.file or result.id, result.start_line, result.end_line, result.score) for result in results]
    if not any(target.has_lines for target in query.targets):
        best: dict[str, Hit] = {}
        for hit in hits:
            best.setdefault(hit.name, hit)
        hits = list(best.values())
    return measured(query, hits, k)


def measured(query: JudgedQuery, hits: Sequence[Hit], k: int) -> Answer:
    """Measure a ranked list of hits. A target counts at the first hit on it; a hit on several, for the best of them."""
    places = [0] * len(query.targets)
    gains, found = [], []
    for rank, hit in enumerate(hits, 1):
        new = [n for n, target in enumerate(query.targets) if not places[n] and _answers(hit, target)]
        for number in new:
            places[number] = rank
        gains.append(max((query.targets[number].grade for number in new), default=0.0))
        found.append(len(new))
    first = min((place for place in places if place), default=len(hits) + 1)
    scores = score(gains, found, [target.grade for target in query.targets], k)
    return Answer(query, scores, tuple(places), tuple(hits[: min(first - 1, SHOWN_ABOVE)]))


def _answers(hit: Hit, target: Target) -> bool:
    if hit.name not in target.names:
        return False
    return not target.has_lines or (hit.start_line <= target.end and target.start <= hit.end_line)


def summarized(answers: Sequence[Answer]) -> Summary:
    """The measures of all answers."""
    return Summary(len(answers), intervals([one.scores for one in answers]))


def by_category(answers: Sequence[Answer]) -> dict[str, Summary]:
    """The measures of each category by its name; empty where no query has one."""
    names = sorted({one.query.category for one in answers})
    if names in ([], [""]):
        return {}
    return {name: summarized([one for one in answers if one.query.category == name]) for name in names}


def compared(answers: Sequence[Answer], others: Sequence[Answer]) -> Comparison:
    """The answers against others to the same queries."""
    pairs = [(one.scores.ndcg, other.scores.ndcg) for one, other in zip(answers, others, strict=True)]
    better = sum(one > other + 1e-9 for one, other in pairs)
    worse = sum(other > one + 1e-9 for one, other in pairs)
    found = differences([one.scores for one in answers], [other.scores for other in others])
    return Comparison(found, better, worse, len(pairs) - better - worse)


def worst(answers: Sequence[Answer], count: int) -> list[Answer]:
    """The answers with the lowest NDCG, worst first, none that is perfect; ties in the order asked."""
    wrong = [one for one in answers if one.scores.ndcg < 1.0 - 1e-9]
    return sorted(wrong, key=lambda one: (one.scores.ndcg, one.scores.mrr))[:count]
