"""Scores worked out by hand, and what the in-memory streams promise: cap, expiry, atomic replacement."""

import threading
from collections.abc import Iterable
from pathlib import Path

import pytest

from ragcli.analysis.analyzers import STOP_WORDS, english_terms
from ragcli.config.options import QueryOptions
from ragcli.errors import UsageError
from ragcli.memory.hybrid import HybridRetriever
from ragcli.memory.streams import BM25Stream, InMemoryKnowledgeBase, KnowledgeBaseStream, replace_documents
from ragcli.model import Document, SearchResult
from tests.engine import index, service, write

# Lengths 3, 2 and 4, so 3 on average; N = 3.
CATS = [
    Document("1", "cat cat dog", {"file": "1.txt"}),
    Document("2", "dog bird", {"file": "2.txt"}),
    Document("3", "fish fish fish bird", {"file": "3.txt"}),
]


def scores(results: Iterable[SearchResult]) -> dict[str, float]:
    return {result.id: result.score for result in results}


def test_bm25_is_as_worked_out_by_hand() -> None:
    stream = BM25Stream()
    stream.add_documents(CATS)

    # cat: n 1, idf = ln(1 + 2.5/1.5) = ln(8/3); tf 2 at the average length: 2 * 2.2 / (2 + 1.2) = 1.375.
    assert scores(stream.search("cat", 3)) == {"1": 1.348640223}
    # bird: n 2, idf = ln(1 + 1.5/2.5) = ln 1.6; tf 1: 2.2 / (1 + 1.2 * (0.25 + 0.75 * length / 3)), length 2 and 4.
    assert scores(stream.search("bird", 3)) == {"2": 0.544214729, "3": 0.413603194}


def test_tfidf_is_as_worked_out_by_hand() -> None:
    knowledge_base = InMemoryKnowledgeBase()
    knowledge_base.add_documents(CATS)

    # One term: the query's vector is 1. cat: weight 1 + ln 2, norm sqrt((1 + ln 2)^2 + 1^2).
    assert scores(knowledge_base.search("cat", 3)) == {"1": 0.861036996}
    # Two: idf ln(1 + 3/1) and ln(1 + 3/2), made a unit vector; norms as above, sqrt 2, sqrt((1 + ln 3)^2 + 1).
    assert scores(knowledge_base.search("cat bird", 3)) == {
        "1": 0.718311052,
        "2": 0.389900306,
        "3": 0.237194126,
    }


def test_an_index_on_disk_scores_as_the_streams_in_memory(tmp_path: Path) -> None:
    rag = service()
    index(rag, write(tmp_path, {f"{document.id}.txt": document.text for document in CATS}))
    stream = BM25Stream()
    stream.add_documents(CATS)
    knowledge_base = InMemoryKnowledgeBase()
    knowledge_base.add_documents(CATS)

    for query in ("cat", "bird dog", "fish bird cat"):
        results = rag.query(query, 10, QueryOptions(signals=False)).results
        for name, memory in (("bm25", stream), ("tfidf", knowledge_base)):
            on_disk = {r.file.removesuffix(".txt"): r.streams[name].score for r in results if name in r.streams}
            assert on_disk == scores(memory.search(query, 10))


def test_fusion_is_as_worked_out_by_hand() -> None:
    """0.6 / (60 + rank + 1) + 0.4 / (60 + rank + 1), ranks from 0."""

    class Fixed:
        def __init__(self, name: str, ids: str) -> None:
            self.name = name
            self.ids = ids

        def search(self, query: str, top_k: int) -> list[SearchResult]:
            return [SearchResult(1, id_, f"{id_}.txt", 1, 1, 1.0, {}, "TEXT", "", {}, id_) for id_ in self.ids[:top_k]]

    retriever = HybridRetriever.builder().stream(Fixed("bm25", "abc"), 0.6).stream(Fixed("tfidf", "ba"), 0.4).build()

    found = scores(retriever.retrieve("anything", 10))

    assert found == {
        "a": round(0.6 / 61 + 0.4 / 62, 9),
        "b": round(0.6 / 62 + 0.4 / 61, 9),
        "c": round(0.6 / 63, 9),
    }
    assert found["a"] == 0.016287678


def test_a_stream_that_raises_is_left_out_and_named() -> None:
    class Broken:
        name = "broken"

        def search(self, query: str, top_k: int) -> list[SearchResult]:
            raise RuntimeError

    stream = BM25Stream()
    stream.add_documents(CATS)
    retrieval = HybridRetriever.builder().stream(Broken(), 0.5).stream(stream, 0.5).build().retrieve_all("cat", 3)

    assert [result.id for result in retrieval.results] == ["1"]
    assert retrieval.degraded == ["broken"]


def test_a_retriever_without_streams_cannot_be_built() -> None:
    with pytest.raises(UsageError, match="at least one stream"):
        HybridRetriever.builder().build()


def test_at_most_three_chunks_of_a_file_are_kept_unless_it_is_all_there_is() -> None:
    many = [Document(f"m{n}", "cat " * (9 - n), {"file": "many.txt", "start_line": n}) for n in range(6)]
    stream = BM25Stream()
    stream.add_documents(many)
    retriever = HybridRetriever.builder().stream(stream, 1.0).build()
    assert len(retriever.retrieve("cat", 10)) == 6

    stream.add_documents([Document("other", "cat dog bird", {"file": "other.txt"})])

    files = [result.file for result in retriever.retrieve("cat", 10)]
    assert files.count("many.txt") == 3
    assert files.count("other.txt") == 1


def test_there_are_56_stop_words_and_none_is_a_term() -> None:
    assert len(STOP_WORDS) == 56
    assert english_terms(" ".join(sorted(STOP_WORDS))) == []


def test_the_stream_forgets_the_least_recently_used_above_its_cap() -> None:
    stream = BM25Stream(max_documents=2)
    stream.add_documents(CATS[:2])
    stream.search("cat", 1)

    stream.add_documents(CATS[2:])

    assert [document.id for document in stream.documents()] == ["1", "3"]


def test_a_document_expires_an_hour_after_its_last_use() -> None:
    now = [0.0]
    stream = BM25Stream(clock=lambda: now[0])
    stream.add_documents(CATS)
    now[0] = 3599.0
    assert scores(stream.search("cat", 1)).keys() == {"1"}

    now[0] = 3600.0
    assert [document.id for document in stream.documents()] == ["1"]
    now[0] = 3599.0 + 3600.0
    assert stream.documents() == []


def test_a_replacement_that_fails_halfway_is_undone() -> None:
    class Failing(BM25Stream):
        def replace_documents(self, documents: Iterable[Document]) -> None:
            raise RuntimeError("no")

    knowledge_base = InMemoryKnowledgeBase()
    knowledge_base.add_documents(CATS)

    with pytest.raises(RuntimeError):
        replace_documents(knowledge_base, Failing(), [Document("4", "new cat", {})])

    assert [document.id for document in knowledge_base.documents()] == ["1", "2", "3"]


@pytest.mark.parametrize("made", [BM25Stream, InMemoryKnowledgeBase])
def test_no_search_sees_part_of_a_replacement(made: type[BM25Stream] | type[InMemoryKnowledgeBase]) -> None:
    stream = made()
    generations = [[Document(f"{g}{n}", "cat", {"generation": g}) for n in range(40)] for g in "ab"]
    stream.replace_documents(generations[0])
    done = threading.Event()
    mixed: list[set[object]] = []

    def search() -> None:
        while not done.is_set():
            seen = {result.metadata["generation"] for result in stream.search("cat", 100)}
            if len(seen) != 1:
                mixed.append(seen)

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for turn in range(60):
        stream.replace_documents(generations[turn % 2])
    done.set()
    for thread in threads:
        thread.join()

    assert mixed == []


def test_a_knowledge_base_is_a_stream() -> None:
    knowledge_base = InMemoryKnowledgeBase()
    knowledge_base.add_documents(CATS)

    assert KnowledgeBaseStream(knowledge_base).search("cat", 3) == knowledge_base.search("cat", 3)


def test_a_shorter_list_is_the_beginning_of_a_longer_one(tmp_path: Path) -> None:
    words = ("alpha", "beta", "gamma", "delta", "omega")
    files = {f"d{n % 7}/f{n:02}.txt": " ".join(words[n % 5 :] * (n % 3 + 1)) + f" {n}\n" for n in range(60)}
    rag = service()
    index(rag, write(tmp_path, files))

    for query in ("alpha", "beta gamma", "omega delta alpha"):
        longest = rag.search(query, 40)
        for top_k in (1, 5, 10, 25):
            assert rag.search(query, top_k) == longest[:top_k]
