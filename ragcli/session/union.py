"""Several sessions searched as one: each answers from one pinned generation, all are ranked as one collection."""

import hashlib
from collections.abc import Sequence

from ragcli.config.options import QueryOptions
from ragcli.model import ContextPrompt, SearchOutcome, SearchResult
from ragcli.session.reader import SessionReader
from ragcli.session.searching import filter_notices, search


class SessionUnion:
    """Sessions as one collection; results say their `source` and `root`. Of one session it is that session."""

    def __init__(self, readers: Sequence[SessionReader]) -> None:
        self._readers = readers

    def search(self, query: str, top_k: int = 10) -> list[SearchResult]:
        """The best `top_k` chunks for a query, best first; errors as `query`."""
        return self.query(query, top_k).results

    def query(self, query: str, top_k: int = 10, options: QueryOptions = QueryOptions()) -> SearchOutcome:
        """The same with what surrounds it. `session` joins the names, `generation` is a digest of all of theirs.

        SessionNotFoundError where one of them is missing, IndexCorruptError where one is damaged.
        """
        if len(self._readers) == 1:
            return self._readers[0].query(query, top_k, options)
        pinned = [reader.pinned() for reader in self._readers]
        results, pool = search(query, top_k, options, pinned)
        names = sorted(entry.source for entry in pinned)
        digests = "".join(sorted(f"{entry.source}\0{entry.opened.manifest.corpus.digest}\n" for entry in pinned))
        notices = [f"{entry.source}: {notice}" for entry in pinned for notice in entry.notices]
        notices += filter_notices(options.where, pinned)
        generation = hashlib.sha256(digests.encode()).hexdigest()[:16]
        return SearchOutcome(query, ",".join(names), "", generation, results, pool.degraded, notices)

    def context_prompt(
        self,
        query: str,
        top_k: int = 5,
        *,
        max_tokens: int | None = None,
        options: QueryOptions = QueryOptions(),
        allow_secrets: bool = False,
    ) -> ContextPrompt:
        """The query behind fenced evidence of all sessions. UsageError where it alone is over `max_tokens`."""
        from ragcli.session.prompting import prompt_of

        return prompt_of(query, self.query(query, top_k, options), max_tokens, allow_secrets=allow_secrets)
