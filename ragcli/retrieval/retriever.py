"""A query to ranked candidates of one knowledge base, by the order of `ranking.rank`."""

from collections.abc import Callable
from typing import Any

from ragcli.analysis import QueryTerm
from ragcli.model import CandidatePool
from ragcli.retrieval.feedback import best_of_prose, expansion
from ragcli.retrieval.knowledge_base import KnowledgeBase
from ragcli.retrieval.ranking import Ranked, rank
from ragcli.settings import SearchSettings

# The pool that signals see: at least this many of each stream. 400 changed no figure of the benchmarks, 100 some.
POOL = 200


def retrieve(
    knowledge_base: KnowledgeBase,
    query: str,
    top_k: int,
    settings: SearchSettings,
    where: Callable[[Any], bool] | None = None,
) -> tuple[list[Ranked], CandidatePool]:
    """The best `top_k` chunks, best first, and the pool they were chosen from.

    The pool does not depend on `top_k` up to 100, so that a shorter list is the beginning of a longer one. Without
    signals it is the seed's: two streams, each asked for twice `top_k`.
    """
    if settings.signals:
        depth = max(POOL, 2 * top_k)
        pool = knowledge_base.candidates(query, depth, where)
        if added := _feedback(knowledge_base, pool):
            pool = knowledge_base.candidates(query, depth, where, expansion=added)
    else:
        pool = knowledge_base.candidates(query, 2 * top_k, where, ("bm25", "tfidf"))
    return rank(query, pool.candidates, settings, knowledge_base.text)[:top_k], pool


def _feedback(knowledge_base: KnowledgeBase, pool: CandidatePool) -> list[QueryTerm]:
    best = best_of_prose(pool.candidates)
    return expansion([(c.streams["code"].score, knowledge_base.text(c.key)) for c in best])
