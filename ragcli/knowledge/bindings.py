"""What a chat turn searches: a live corpus of the application, or the declared sources of a host."""

from collections.abc import Callable, Sequence

from ragcli.knowledge.values import KnowledgeUsage
from ragcli.model import KnowledgeBase, SearchResult

Search = Callable[[str, int], tuple[list[SearchResult], list[KnowledgeUsage]]]


class ChatKnowledgeBinding:
    """Sources of one owner that each turn of its chat searches. Made by `live`, `undeclared` or a host.

    A live binding holds its corpus and does not copy it: what is added later is found. It ranks by keyword, keeps no
    results, and an error of the corpus is that turn's lack of evidence, named in its usage row, never its end.
    """

    def __init__(
        self, owner: str, sources: Sequence[str], top_k: int, search: Search, *, fail_open: bool, declared: bool = True
    ) -> None:
        if not owner or not sources or not all(sources):
            raise ValueError("a binding needs an owner and the names of its sources")
        if top_k < 1:
            raise ValueError(f"top_k must be 1 or more, not {top_k}")
        self.owner = owner
        self.sources = tuple(sources)
        self.top_k = top_k
        self.fail_open = fail_open
        self.is_declared = declared
        self.revision = 0
        self.closed = False
        self._search = search

    @staticmethod
    def live(owner: str, source: str, top_k: int, knowledge_base: KnowledgeBase) -> "ChatKnowledgeBinding":
        """Bind an application's corpus to the source that the owner declares."""
        return ChatKnowledgeBinding(owner, [source], top_k, _live_search(source, knowledge_base), fail_open=True)

    @staticmethod
    def undeclared(owner: str, source: str, top_k: int, knowledge_base: KnowledgeBase) -> "ChatKnowledgeBinding":
        """Bind a corpus that nothing declares; it is given to single turns."""
        search = _live_search(source, knowledge_base)
        return ChatKnowledgeBinding(owner, [source], top_k, search, fail_open=True, declared=False)

    def is_owned_by(self, owner: str) -> bool:
        """Whether this is the exact owner."""
        return self.owner == owner

    def search(self, query: str) -> tuple[list[SearchResult], list[KnowledgeUsage]]:
        """The best results for a query, and what each source did. RuntimeError after close."""
        if self.closed:
            raise RuntimeError("the binding is closed")
        return self._search(query, self.top_k)

    def invalidate(self) -> int:
        """Say that the corpus changed; the new revision."""
        self.revision += 1
        return self.revision

    def close(self) -> None:
        """Let go of the corpus, which stays the application's."""
        self.closed = True
        self._search = _closed


def _closed(query: str, top_k: int) -> tuple[list[SearchResult], list[KnowledgeUsage]]:
    raise RuntimeError("the binding is closed")


def _live_search(source: str, knowledge_base: KnowledgeBase) -> Search:
    import time

    from ragcli.knowledge.values import CHAT, Use
    from ragcli.prompt import estimate_tokens, evidence_block

    def search(query: str, top_k: int) -> tuple[list[SearchResult], list[KnowledgeUsage]]:
        begun = time.perf_counter()
        error, found = "", []
        try:
            found = [
                result._replace(source=source, metadata={"source": source, **result.metadata})
                for result in knowledge_base.search(query, top_k)[:top_k]
            ]
        except Exception as failure:  # another's code: whatever it raises, the turn goes on without it
            error = str(failure) or type(failure).__name__
        tokens = sum(estimate_tokens(evidence_block(result)) for result in found)
        spent = (time.perf_counter() - begun) * 1000
        return found, [KnowledgeUsage(CHAT, source, Use.SEARCH.value, len(found), tokens, spent, error=error)]

    return search
