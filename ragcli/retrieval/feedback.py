"""Pseudo-relevance feedback: terms of the best chunks that a query of prose did not think of. Pure over texts.

For prose only: on source code the best chunks lead away from what was asked (-0.003 on 17 repositories at any weight),
on four text collections they lead to it (NDCG@10 +2.8 %, +1.6 %, +2.7 %, +6.3 %).
"""

from collections import defaultdict
from collections.abc import Sequence

from ragcli.analysis.analyzers import QueryTerm, count_terms
from ragcli.model import Candidate
from ragcli.retrieval import weights
from ragcli.retrieval.signals import mostly_source


def best_of_prose(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The chunks to learn from: the best of the code-aware stream, or none where most candidates are source code.

    None either where there are no more candidates than that: they were not chosen from anything, and what they say
    beside the query would lift the chunk that says most of it above the one that answers best.
    """
    if len(candidates) <= weights.FEEDBACK_CHUNKS or mostly_source(candidates):
        return []
    found = [c for c in candidates if (place := c.streams.get("code")) and 0 < place.rank <= weights.FEEDBACK_CHUNKS]
    return sorted(found, key=lambda c: c.streams["code"].rank)


def expansion(scored: Sequence[tuple[float, str]]) -> list[QueryTerm]:
    """Terms to add to a query, from the scores and texts of its best chunks; sorted by term.

    A term counts by the chunks that hold it, in shares of their scores, and little more where it is repeated. Its
    rarity does not choose it: the stream weighs that anyway (choosing by it as well: +-0).
    """
    total = sum(score for score, _ in scored)
    found: defaultdict[str, float] = defaultdict(float)
    for score, text in scored if total > 0.0 else ():
        for term, times in count_terms(text)[1].items():
            if len(term) > 1:
                times = min(times, weights.FEEDBACK_TIMES)
                found[term] += score / total * times / (times + 1.2)
    best = sorted(found, key=lambda term: (-round(found[term], weights.DECIMALS), term))[: weights.FEEDBACK_TERMS]
    most = max((found[term] for term in best), default=1.0)
    return [QueryTerm(term, weights.FEEDBACK * found[term] / most) for term in sorted(best)]
