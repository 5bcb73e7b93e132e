"""More than a batch, a segment or a process has room for: chunks are cut apart, postings gathered piece by piece."""

import random
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.config.options import STANDARD, IndexOptions
from ragcli.documents import Chunk
from ragcli.errors import RagError
from ragcli.index import postings_builder as tallies
from ragcli.index import postings_merger as gathering
from ragcli.index import segment_buffer as packing
from ragcli.index import segment_writer
from ragcli.index.postings import FIELDS, MAX_CHUNKS, WORD_BITS, PackedPostings, pack_u32, unpack_u32
from ragcli.index.postings_merger import PostingsMerger
from ragcli.index.segment_buffer import SegmentBuffer
from ragcli.session.manager import SessionManager
from tests.engine import index, service, write
from tests.test_index import row


def test_documents_of_more_chunks_than_a_segment_numbers_become_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (packing, tallies, segment_writer):
        monkeypatch.setattr(module, "MAX_CHUNKS", 5)
    sheets = {f"a{number}.css": "".join(f"x{number}n{rule} {{}}\n" for rule in range(3)) for number in range(4)}
    write(tmp_path, sheets)
    rag = service()
    report = index(rag, tmp_path)

    assert (report.files.new, report.chunks, report.failed) == (4, 12, [])
    for number in range(4):
        for rule in range(3):
            first = rag.query(f"x{number}n{rule}", 1).results[0]
            assert (first.file, first.start_line) == (f"a{number}.css", rule + 1)


def test_a_batch_of_more_chunks_than_a_posting_tells_apart_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tallies, "MAX_CHUNKS", 2)
    counted = tallies.PostingsBuilder()
    for _ in range(3):
        counted.add("alpha", (), "")

    with pytest.raises(OverflowError):
        counted.finish()


def test_a_packer_closes_a_batch_before_its_chunks_run_out_of_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "MAX_CHUNKS", 5)
    packer = SegmentBuffer()
    for number in range(4):
        chunks = [Chunk(at, at + 1, 1, 1, {}) for at in range(number)]
        packer.add(row(f"{number}.txt"), "abc", chunks, [f"{number}-{at}" for at in range(number)])

    found = packer.finish()

    assert [(batch.chunks, len(batch.tables.documents)) for batch in found] == [(3, 3), (3, 1)]


def test_an_empty_packer_makes_no_batch_and_a_document_without_chunks_one() -> None:
    assert SegmentBuffer().finish() == []

    packer = SegmentBuffer()
    packer.add(row("empty.txt"), "", [], [])
    (batch,) = packer.finish()

    assert (batch.chunks, len(batch.tables.documents)) == (0, 1)


def packed(postings: dict[tuple[int, str], list[int]]) -> PackedPostings:
    words = sorted({word for _, word in postings})
    ordered = sorted((field << WORD_BITS | words.index(word), own) for (field, word), own in postings.items())
    return PackedPostings(
        "\n".join(words).encode(),
        pack_u32(term for term, _ in ordered),
        pack_u32(len(own) for _, own in ordered),
        pack_u32(posting for _, own in ordered for posting in own),
    )


def test_a_batch_without_chunks_may_follow_a_full_segment() -> None:
    gatherer = PostingsMerger()
    gatherer.add(packed({(0, "alpha"): [1, 9]}), 0)
    gatherer.add(packed({}), MAX_CHUNKS)

    gathered = gatherer.finish()
    assert (gathered.terms, list(gathered.counts)) == ([b"calpha"], [2])
    assert b"".join(gathered.pieces) == pack_u32([1, 9])


terms = st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", "ab", "z", "é", "漢"]))
batches = st.lists(
    st.dictionaries(terms, st.lists(st.integers(0, 2**13 - 1), min_size=1, max_size=5).map(sorted)), max_size=6
)


@settings(deadline=None)
@given(batches, st.integers(1, 9))
def test_gathered_postings_are_those_of_the_batches_one_after_the_other(
    found: list[dict[tuple[int, str], list[int]]], piece: int
) -> None:
    expected: defaultdict[bytes, list[int]] = defaultdict(list)
    gatherer = PostingsMerger()
    for number, postings in enumerate(found):
        gatherer.add(packed(postings), number)
        for (field, word), own in postings.items():
            expected[FIELDS[field] + word.encode()] += [posting + (number << 13) for posting in own]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gathering, "PIECE", piece)
        gathered = gatherer.finish()
        whole = unpack_u32(b"".join(gathered.pieces))

    assert gathered.terms == sorted(expected)
    assert list(gathered.counts) == [len(expected[term]) for term in gathered.terms]
    assert list(whole) == [posting for term in gathered.terms for posting in expected[term]]


def test_a_small_tree_needs_no_process_and_a_large_one_says_that_none_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nowhere"))
    options = IndexOptions(limits=STANDARD)
    manager = SessionManager(str(tmp_path / "data"))
    small = write(tmp_path / "small", {"a.txt": "alpha\n"})
    words = " ".join(random.Random(3).choices(["alpha", "beta", "gamma"], k=100_000))
    large = write(tmp_path / "large", {"a.txt": words + "\n", "b.txt": words + "\n"})

    assert manager.get_rag("small").index_directory(small, options=options).files.new == 1
    with pytest.raises(RagError, match="cannot start a worker process") as refused:
        manager.get_rag("large").index_directory(large, options=options)
    assert "workers" in (refused.value.hint or "")
