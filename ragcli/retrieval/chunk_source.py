"""What retrieval wants of a store of chunks. One round trip a call, so that a distant one can implement it too."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from ragcli.analysis.analyzers import QueryTerm
from ragcli.config.options import SearchFilter
from ragcli.model import Candidate, CandidatePool, ChunkKey


class TextMatch(Protocol):
    """What a text must hold."""

    def __call__(self, text: str) -> bool:
        """Whether the text of a chunk matches."""
        ...

    def in_document(self, raw: bytes) -> bool:
        """Whether a chunk of a document may match, by all its text in UTF-8."""
        ...


class ChunkSource(Protocol):
    """Chunks that can be searched.

    A candidate brings whatever ranking and results need of its chunk and its file; only texts are asked for later.
    """

    def candidates(
        self,
        query: str,
        depths: Mapping[str, int],
        where: SearchFilter = ...,
        expansion: Sequence[QueryTerm] = ...,
        per_document: int = ...,
    ) -> CandidatePool:
        """The best chunks of each stream, to its depth, of the documents that `where` lets through.

        With `per_document` half as many of each stream also come with at most so many of one document, so that long
        documents shut no other out.

        `expansion` are further terms for the stream `code`, which rank what holds a term of the query.
        """
        ...

    def idf(self, terms: Sequence[str]) -> Sequence[float]:
        """The inverse document frequency of each term of the stream `code`."""
        ...

    def texts(self, keys: Sequence[ChunkKey]) -> list[str]:
        """The texts of chunks, in the order of their keys."""
        ...

    def scan(self, matches: TextMatch, where: SearchFilter, most: int) -> list[Candidate]:
        """The first `most` chunks by path and line whose text matches, of the documents that `where` lets through.

        They have no place in any stream. It reads every text until then.
        """
        ...
