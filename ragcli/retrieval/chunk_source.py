"""What retrieval wants of a store of chunks. One round trip a call, so that a distant one can implement it too."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ragcli.analysis.analyzers import QueryTerm
from ragcli.model import CandidatePool, ChunkKey


class ChunkSource(Protocol):
    """Chunks that can be searched. `where` is a predicate over document rows."""

    def candidates(
        self,
        query: str,
        depths: Mapping[str, int],
        where: Any = None,
        expansion: Sequence[QueryTerm] = ...,
    ) -> CandidatePool: ...

    def idf(self, terms: Sequence[str]) -> Sequence[float]: ...

    def text(self, key: ChunkKey) -> str: ...
