"""Streams of documents held in memory, for programs that embed the engine: BM25Stream and InMemoryKnowledgeBase.

Both are safe for threads: a search sees one generation of documents, never part of a replacement. An index on disk has
neither their cap nor their expiry.
"""

import math
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from ragcli.analysis.analyzers import QueryTerm, code_query, code_terms, english_query, english_terms
from ragcli.index.postings_builder import vector_norm
from ragcli.index.scoring import (
    bm25_idf,
    bm25_weight,
    tfidf_document_weight,
    tfidf_idf,
    tfidf_query_weights,
)
from ragcli.model import SCORE_DECIMALS, Document, KnowledgeBase, SearchResult, StreamScore

# A server's memory is shared by sessions that come and go.
MAX_DOCUMENTS = 10_000
EXPIRY_SECONDS = 3600.0


class Stream(Protocol):
    """One way of ranking documents."""

    name: str

    def search(self, query: str, top_k: int) -> list[SearchResult]: ...


class _Held(NamedTuple):
    document: Document
    counts: Mapping[str, int]
    length: int
    norm: float


Scores = dict[str, float]


class _Collection:
    """Documents by id with what scoring needs of each; an immutable value, replaced as a whole."""

    def __init__(self, held: Mapping[str, _Held]) -> None:
        self.held = dict(held)
        self.containing = Counter(term for one in self.held.values() for term in one.counts)
        self.length = sum(one.length for one in self.held.values())

    def with_documents(self, documents: Iterable[Document], terms: Callable[[str], list[str]]) -> "_Collection":
        held = dict(self.held)
        for document in documents:
            held.pop(document.id, None)
            held[document.id] = _hold(document, terms)
        return _Collection(held)

    def without(self, ids: Iterable[str]) -> "_Collection":
        gone = set(ids)
        return _Collection({id_: one for id_, one in self.held.items() if id_ not in gone})

    def bm25(self, query: Iterable[QueryTerm]) -> Scores:
        total = len(self.held)
        average = self.length / total if total else 0.0
        scores: Scores = {}
        for term in query:
            idf = bm25_idf(total, self.containing[term.term])
            for id_, one in self.held.items():
                frequency = one.counts.get(term.term, 0)
                if frequency:
                    added = term.weight * bm25_weight(idf, frequency, one.length, average)
                    scores[id_] = scores.get(id_, 0.0) + added
        return scores

    def tfidf(self, query: Sequence[QueryTerm]) -> Scores:
        finding = {term.term for term in query if term.finds}
        counts = {term.term: max(term.weight, 1.0) for term in query if self.containing[term.term]}
        total = len(self.held)
        weights = tfidf_query_weights(counts, lambda term: tfidf_idf(total, self.containing[term]))
        scores: Scores = {}
        for id_, one in self.held.items():
            shared = [(term, one.counts[term]) for term in weights if term in one.counts]
            if any(term in finding for term, _ in shared):
                scores[id_] = math.fsum(weights[term] * tfidf_document_weight(n) / one.norm for term, n in shared)
        return scores

    def best(self, scores: Scores, stream: str, top_k: int) -> list[SearchResult]:
        rounded = {id_: round(score, SCORE_DECIMALS) for id_, score in scores.items()}
        best = sorted(rounded, key=lambda id_: (-rounded[id_], *_place(self.held[id_].document)))[:top_k]
        return [_result(self.held[id_].document, stream, rank, rounded[id_]) for rank, id_ in enumerate(best, 1)]


class BM25Stream:
    """Okapi BM25 over the plain English analyzer.

    Holds at most `max_documents`, the least recently used going first, and forgets a document `expiry` seconds after
    it was last added or found (None for either: no bound). `clock` counts seconds.
    """

    name = "bm25"

    def __init__(
        self,
        max_documents: int | None = MAX_DOCUMENTS,
        expiry: float | None = EXPIRY_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_documents = max_documents
        self._expiry = expiry
        self._clock = clock
        self._lock = threading.RLock()
        self._collection = _Collection({})
        self._used: OrderedDict[str, float] = OrderedDict()

    def __len__(self) -> int:
        with self._lock:
            self._forget()
            return len(self._collection.held)

    def add_documents(self, documents: Iterable[Document]) -> None:
        """Add documents, each in place of one of the same id."""
        with self._lock:
            added = list(documents)
            self._collection = self._collection.with_documents(added, english_terms)
            self._touch(document.id for document in added)
            self._forget()

    def remove_documents(self, ids: Iterable[str]) -> None:
        """Remove documents; unknown ids are no error."""
        with self._lock:
            self._drop(list(ids))

    def replace_documents(self, documents: Iterable[Document]) -> None:
        """Put `documents` in place of all; on an error all stay as they were."""
        fresh = _Collection({}).with_documents(documents, english_terms)
        with self._lock:
            self._collection = fresh
            self._used.clear()
            self._touch(fresh.held)
            self._forget()

    def documents(self) -> list[Document]:
        """The documents held, by id."""
        with self._lock:
            self._forget()
            return [self._collection.held[id_].document for id_ in sorted(self._collection.held)]

    def search(self, query: str, top_k: int) -> list[SearchResult]:
        """The best `top_k` documents; finding one counts as its use."""
        with self._lock:
            self._forget()
            collection = self._collection
        found = collection.best(collection.bm25(english_query(query)), self.name, top_k)
        with self._lock:
            self._touch(result.id for result in found if result.id in self._used)
        return found

    def _touch(self, ids: Iterable[str]) -> None:
        now = self._clock()
        for id_ in ids:
            self._used[id_] = now
            self._used.move_to_end(id_)

    def _forget(self) -> None:
        """Drop what has expired, then the least recently used above the cap."""
        gone = []
        if self._expiry is not None:
            oldest = self._clock() - self._expiry
            gone = [id_ for id_, used in self._used.items() if used <= oldest]
        if self._max_documents is not None:
            over = len(self._used) - len(gone) - self._max_documents
            expired = set(gone)
            gone += [id_ for id_ in self._used if id_ not in expired][: max(over, 0)]
        if gone:
            self._drop(gone)

    def _drop(self, ids: list[str]) -> None:
        self._collection = self._collection.without(ids)
        for id_ in ids:
            self._used.pop(id_, None)


class InMemoryKnowledgeBase:
    """TF-IDF over the code-aware analyzer."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._collection = _Collection({})

    def __len__(self) -> int:
        return len(self._collection.held)

    def add_documents(self, documents: Iterable[Document]) -> None:
        """Add documents, each in place of one of the same id."""
        with self._lock:
            self._collection = self._collection.with_documents(documents, code_terms)

    def add_document(self, document: Document) -> str:
        """Add a document in place of one of the same id; its id."""
        self.add_documents([document])
        return document.id

    def get_document(self, id: str) -> Document | None:
        """A document by its id."""
        return next((one.document for one in [self._collection.held.get(id)] if one), None)

    def remove_document(self, id: str) -> bool:
        """Remove a document; False where there is none."""
        with self._lock:
            before = len(self)
            self.remove_documents([id])
            return len(self) < before

    @property
    def size(self) -> int:
        """How many documents there are."""
        return len(self)

    @property
    def is_empty(self) -> bool:
        """Whether there are none."""
        return not len(self)

    def remove_documents(self, ids: Iterable[str]) -> None:
        """Remove documents; unknown ids are no error."""
        with self._lock:
            self._collection = self._collection.without(ids)

    def replace_documents(self, documents: Iterable[Document]) -> None:
        """Put `documents` in place of all; on an error all stay as they were."""
        fresh = _Collection({}).with_documents(documents, code_terms)
        with self._lock:
            self._collection = fresh

    def documents(self) -> list[Document]:
        """The documents held, by id."""
        held = self._collection.held
        return [held[id_].document for id_ in sorted(held)]

    def search(self, query: str, top_k: int) -> list[SearchResult]:
        """The best `top_k` documents by cosine."""
        collection = self._collection
        return collection.best(collection.tfidf(code_query(query)), "tfidf", top_k)


class KnowledgeBaseStream:
    """A knowledge base as a stream."""

    name = "tfidf"

    def __init__(self, knowledge_base: KnowledgeBase) -> None:
        self._knowledge_base = knowledge_base

    def search(self, query: str, top_k: int) -> list[SearchResult]:
        """What the knowledge base finds."""
        return self._knowledge_base.search(query, top_k)


def replace_documents(knowledge_base: InMemoryKnowledgeBase, stream: BM25Stream, documents: Iterable[Document]) -> None:
    """Replace both; if the second fails, the first is undone."""
    documents = list(documents)
    before = knowledge_base.documents()
    knowledge_base.replace_documents(documents)
    try:
        stream.replace_documents(documents)
    except BaseException:
        knowledge_base.replace_documents(before)
        raise


def _hold(document: Document, terms: Callable[[str], list[str]]) -> _Held:
    counts = Counter(terms(document.text))
    return _Held(document, counts, counts.total(), vector_norm(counts.values()))


def _place(document: Document) -> tuple[str, int, str]:
    return str(document.metadata.get("file", "")), int(document.metadata.get("start_line", 0)), document.id


def _result(document: Document, stream: str, rank: int, score: float) -> SearchResult:
    metadata = document.metadata
    return SearchResult(
        rank=rank,
        id=document.id,
        file=str(metadata.get("file", "")),
        start_line=int(metadata.get("start_line", 1)),
        end_line=int(metadata.get("end_line", max(document.text.count("\n"), 1))),
        score=score,
        streams={stream: StreamScore(rank, score)},
        format=str(metadata.get("format", "")),
        language=str(metadata.get("language", "")),
        metadata=metadata,
        content=document.text,
    )
