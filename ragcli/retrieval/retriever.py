"""A query to ranked candidates of a chunk source, by the order of `ranking.rank`."""

from ragcli.analysis.analyzers import QueryTerm
from ragcli.config.options import QueryOptions
from ragcli.model import CandidatePool, place_of
from ragcli.retrieval.chunk_source import ChunkSource
from ragcli.retrieval.feedback import best_of_prose, expansion
from ragcli.retrieval.ranking import Ranked, rank

# The pool that signals see: at least this many of the stream that they start from, and a quarter of it of the others.
# As many of the others cost a third of the query's time and gave -0.001.
POOL = 200


def retrieve(
    chunks: ChunkSource,
    query: str,
    top_k: int,
    options: QueryOptions,
) -> tuple[list[Ranked], CandidatePool]:
    """The best `top_k` chunks, best first, and the pool they were chosen from.

    The pool does not depend on `top_k` up to 100, so that a shorter list is the beginning of a longer one. Without
    signals it is that of the plain fusion: two streams, each asked for twice `top_k`. Half as many chunks of each
    stream come with the cap per file applied, so that `top_k` are left of it wherever as many match.
    """
    most = options.max_per_file
    if options.signals:
        pool, depth = _varied_pool(chunks, query, max(POOL, 2 * top_k), options)
        if added := _feedback(chunks, pool):
            pool = _merged(pool, chunks.candidates(query, {"code": depth}, options.where, added, most))
    else:
        pool = chunks.candidates(query, {"bm25": 2 * top_k, "tfidf": 2 * top_k}, options.where, per_document=most)
    return rank(query, pool.candidates, options, chunks.texts)[:top_k], pool


def _varied_pool(chunks: ChunkSource, query: str, wanted: int, options: QueryOptions) -> tuple[CandidatePool, int]:
    """A pool in which at least half as many texts as `wanted` differ, if so many match, and how deep that is.

    Where copies fill the best places, a deeper one is asked for, 16 times as deep at the most.
    """
    for depth in (wanted, 4 * wanted, 16 * wanted):
        depths = {"bm25": depth // 4, "tfidf": depth // 4, "code": depth}
        pool = chunks.candidates(query, depths, options.where, per_document=options.max_per_file)
        texts = {candidate.digest for candidate in pool.candidates}
        if len(texts) >= wanted // 2 or len(pool.candidates) < depth:
            break
    return pool, depth


def _feedback(chunks: ChunkSource, pool: CandidatePool) -> list[QueryTerm]:
    best = best_of_prose(pool.candidates)
    texts = chunks.texts([c.key for c in best])
    return expansion([(c.streams["code"].score, text) for c, text in zip(best, texts, strict=True)], chunks.idf)


def _merged(pool: CandidatePool, again: CandidatePool) -> CandidatePool:
    """The pool with the stream `code` as a second pass ranks it."""
    known = {c.key: c for c in pool.candidates}
    found = {}
    for candidate in again.candidates:
        before = known.get(candidate.key)
        found[candidate.key] = candidate._replace(streams={**(before.streams if before else {}), **candidate.streams})
    for candidate in pool.candidates:
        if candidate.key not in found and any(
            place.rank for name, place in candidate.streams.items() if name != "code"
        ):
            streams = {
                name: place._replace(rank=0) if name == "code" else place for name, place in candidate.streams.items()
            }
            found[candidate.key] = candidate._replace(streams=streams)
    candidates = sorted(found.values(), key=place_of)
    return CandidatePool(candidates, sorted({*pool.degraded, *again.degraded}))
