"""HybridRetriever: several streams fused by reciprocal rank, without signals."""

import logging
from collections.abc import Sequence
from typing import NamedTuple

from ragcli.config.options import MAX_PER_FILE
from ragcli.errors import UsageError
from ragcli.memory.streams import Stream
from ragcli.model import ADDED, FILE, Candidate, ChunkKey, SearchResult, StreamScore
from ragcli.retrieval.ranking import cap_per_file, fuse


class Retrieval(NamedTuple):
    """Results, best first, and the names of the streams that failed."""

    results: list[SearchResult]
    degraded: list[str]


class HybridRetriever:
    """Asks each stream for twice as many results as are wanted, fuses, and keeps at most three chunks a file."""

    def __init__(self, streams: Sequence[tuple[Stream, float]], max_per_file: int = MAX_PER_FILE) -> None:
        if not streams:
            raise UsageError("a retriever needs at least one stream", "add one with builder().stream(stream, weight)")
        self._streams = list(streams)
        self._max_per_file = max_per_file

    @staticmethod
    def builder() -> "HybridRetrieverBuilder":
        """Start to build a retriever."""
        return HybridRetrieverBuilder()

    def retrieve(self, query: str, top_k: int = 10) -> list[SearchResult]:
        """The best `top_k` results."""
        return self.retrieve_all(query, top_k).results

    def retrieve_all(self, query: str, top_k: int = 10) -> Retrieval:
        """The same with the streams that failed: logged, left out and named."""
        found: dict[str, SearchResult] = {}
        ranks: dict[str, dict[str, StreamScore]] = {}
        weights: dict[str, float] = {}
        degraded: list[str] = []
        for number, (stream, weight) in enumerate(self._streams):
            name = stream.name if stream.name not in weights else f"{stream.name}-{number + 1}"
            weights[name] = weight
            try:
                results = stream.search(query, 2 * top_k)
            except Exception:
                logging.getLogger(__name__).warning("stream %s failed and is left out", name, exc_info=True)
                degraded.append(name)
                continue
            for rank, result in enumerate(results, 1):
                found.setdefault(result.id, result)
                ranks.setdefault(result.id, {})[name] = StreamScore(rank, result.score)
        candidates = [_candidate(number, found[id_], ranks[id_]) for number, id_ in enumerate(sorted(found))]
        ranked = cap_per_file(fuse(candidates, weights), self._max_per_file)[:top_k]
        results = [
            found[hit.candidate.id]._replace(rank=rank, score=hit.score, streams=ranks[hit.candidate.id])
            for rank, hit in enumerate(ranked, 1)
        ]
        return Retrieval(results, degraded)


class HybridRetrieverBuilder:
    """Collects streams with their weights."""

    def __init__(self) -> None:
        self._streams: list[tuple[Stream, float]] = []

    def stream(self, stream: Stream, weight: float) -> "HybridRetrieverBuilder":
        """Add a stream."""
        self._streams.append((stream, weight))
        return self

    def build(self) -> HybridRetriever:
        """The retriever; UsageError where no stream was added."""
        return HybridRetriever(self._streams)


def _candidate(number: int, result: SearchResult, streams: dict[str, StreamScore]) -> Candidate:
    """A result as fusion sees it; a document without a file is a file of its own."""
    return Candidate(
        key=ChunkKey(0, number),
        id=result.id,
        kind=FILE if result.file else ADDED,
        path=result.file or result.id,
        start_line=result.start_line,
        end_line=result.end_line,
        format=result.format,
        language=result.language,
        metadata=result.metadata,
        document=(0, number),
        digest=b"",
        streams=streams,
    )
