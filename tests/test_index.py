"""Segments through their own doors: what is read is what was written, however it is stored, summed or merged."""

import random
import zlib
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.analysis.analyzers import code_terms, count_terms, english_terms
from ragcli.documents import Chunk
from ragcli.errors import IndexCorruptError
from ragcli.index import index_searcher as knowledge_base
from ragcli.index import term_interner as lexicon
from ragcli.index.doc_table import ChunkRow, DocumentRow, pack_rows, unpack_chunk, unpack_document
from ragcli.index.postings import MAX_FREQUENCY, pack_u32, shift_postings, unpack_u32
from ragcli.index.postings_builder import vector_norm
from ragcli.index.segment import Segment
from ragcli.index.segment_buffer import InMemorySegment, SegmentBuffer
from ragcli.index.segment_writer import SegmentBuilder
from ragcli.store.checked_file import PAGE, CheckedFile, CheckedFileWriter
from ragcli.store.directory import RamDirectory
from tests.engine import answers, index, service, write

words = st.sampled_from(
    [
        "alpha",
        "Beta",
        "ALPHA",  # other tokens of the same terms
        "responses",
        "http_HTTP",
        "getHTTPResponse",
        "snake_case_name",
        "the",
        "x",
        "C",
        "naïve",
        "ﬁne",
        "全文检索",
        "हिन्दी",
        "12.5",
        "e",
    ]
)
texts = st.lists(words, min_size=1, max_size=30).map(" ".join)


def row(path: str, source: str = "") -> DocumentRow:
    return DocumentRow(source, path, b"h" * 32, b"f" * 32, 1, 2, "TEXT", "", 10, {"title": "T"}, ("note",))


def segment_of(documents: dict[str, list[str]]) -> Segment:
    directory = RamDirectory()
    sink = CheckedFileWriter(directory)
    builder = SegmentBuilder(sink)
    for path, contents in documents.items():
        packer = SegmentBuffer()
        text = "".join(contents)
        chunks = []
        at = 0
        for number, content in enumerate(contents):
            chunks.append(Chunk(at, at + len(content), number + 1, number + 1, {"symbol": "Alpha"}))
            at += len(content)
        packer.add(row(path), text, chunks, [f"{path}-{number}" for number in range(len(chunks))])
        for batch in packer.finish():
            builder.add(batch)
    builder.finish()
    name, _ = sink.finish(".segment")
    return Segment(CheckedFile(name, directory.open(name)))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(texts, min_size=1, max_size=4), min_size=1, max_size=5))
def test_postings_lengths_and_texts_are_those_of_the_chunks(contents: list[list[str]]) -> None:
    documents = {f"f{number}.txt": chunks for number, chunks in enumerate(contents)}
    segment = segment_of(documents)

    flat = [content for chunks in contents for content in chunks]
    found: dict[bytes, dict[int, int]] = {}
    for term, count in segment.terms():
        postings = segment.postings(term)
        assert len(postings) == count
        found[term] = {posting >> 13: posting & MAX_FREQUENCY for posting in postings}
    for chunk, content in enumerate(flat):
        english, code = count_terms(content)
        for field, counts in ((b"e", english), (b"c", code)):
            stored = {t[1:].decode(): by[chunk] for t, by in found.items() if t[:1] == field and chunk in by}
            assert stored == counts
        document = segment.document(segment.document_of(chunk))
        for field, named in ((b"s", ["Alpha", "T"]), (b"p", [document.path])):
            stored = {t[1:].decode(): by[chunk] for t, by in found.items() if t[:1] == field and chunk in by}
            assert stored == Counter(term for name in named for term in code_terms(name))
        assert segment.english_lengths[chunk] == len(english_terms(content))
        assert segment.code_lengths[chunk] == len(code_terms(content))
        assert segment.norms[chunk] == vector_norm(code.values())
        assert segment.text_of(segment.document_of(chunk), segment.chunk(chunk)) == content
    assert segment.postings(b"c\xff") == () and segment.postings(b"a") == ()


def test_a_batch_of_more_words_than_sixteen_bits_count_is_in_order() -> None:
    rng = random.Random(11)
    names = [f"w{number:x}q" for number in range(70_000)]
    contents = [" ".join(rng.choices(names, k=60_000)) + "\n" for _ in range(4)]
    segment = segment_of({"f.txt": contents})

    terms = list(segment.terms())
    assert len(terms) > 1 << 17
    assert [term for term, _ in terms] == sorted(term for term, _ in terms)
    counted = [count_terms(content)[0] for content in contents]
    for name in names[::97]:
        stored = {posting >> 13: posting & MAX_FREQUENCY for posting in segment.postings(b"e" + name.encode())}
        assert stored == {chunk: counts[name] for chunk, counts in enumerate(counted) if name in counts}


@settings(max_examples=40, deadline=None)
@given(st.lists(texts, min_size=1, max_size=4), st.lists(texts, min_size=1, max_size=3))
def test_a_batch_is_packed_alike_whatever_was_packed_before(earlier: list[str], later: list[str]) -> None:
    def packed(contents: list[str]) -> list[InMemorySegment]:
        packer = SegmentBuffer()
        for number, content in enumerate(contents):
            chunks = [Chunk(0, len(content), 1, 1, {"symbol": "Alpha"})]
            packer.add(row(f"f{number}.txt"), content, chunks, [f"{number}"])
        return packer.finish()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lexicon, "MAX_BYTES", -1)  # none is kept
        lexicon.take()
        fresh = packed(later)
    packed(earlier)

    assert packed(later) == fresh


def test_sums_over_arrays_have_the_bits_of_the_loops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random.seed(7)
    vocabulary = ["alpha", "beta", "gamma", "delta", "omega", "notes", "module", "function_one"]
    for number in range(120):
        write(
            tmp_path, {f"d{number % 5}/f{number}.txt": " ".join(random.choices(vocabulary, k=number % 37 + 1)) + "\n"}
        )
    rag = service()
    index(rag, tmp_path)
    expected = answers(rag)

    monkeypatch.setattr(knowledge_base, "DENSE_POSTINGS", 0)

    assert answers(rag) == expected


@given(st.lists(st.integers(0, 2**31 - 1)), st.integers(0, 2**18 - 1))
def test_shifting_postings_adds_to_every_ordinal(postings: list[int], chunks: int) -> None:
    shifted = shift_postings(pack_u32(postings), chunks)

    assert list(unpack_u32(shifted)) == [posting + (chunks << 13) for posting in postings]


metadata = st.dictionaries(
    st.sampled_from(["symbol", "qualified_symbol", "kind", "page", "own key", "1"]),
    st.text(max_size=8) | st.integers(0, 9) | st.booleans(),
)


@given(metadata)
def test_rows_come_back_as_they_were(metadata: dict[str, object]) -> None:
    chunk = ChunkRow("id", 1, 2, 3, 4, 5, 6, b"digest", metadata)  # type: ignore[arg-type]
    (packed,) = pack_rows([chunk])
    restored = unpack_chunk(packed)
    if "symbol" not in metadata and isinstance(metadata.get("qualified_symbol"), str):
        restored = restored._replace(metadata={k: v for k, v in restored.metadata.items() if k != "symbol"})
    assert restored == chunk
    document = row("naïve\udce9.txt")

    (packed,) = pack_rows([document])
    assert unpack_document(packed) == document


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 3 * PAGE), st.data())
def test_a_blob_gives_back_any_part_and_refuses_a_flipped_bit(size: int, data: st.DataObject) -> None:
    payload = random.Random(size).randbytes(size)
    directory = RamDirectory()
    writer = CheckedFileWriter(directory)
    for start in range(0, size, 40_000):
        writer.write(payload[start : start + 40_000])
    name, whole = writer.finish(".segment")
    assert whole == len(directory.files[name])
    blob = CheckedFile(name, directory.open(name))
    start = data.draw(st.integers(0, size))
    end = data.draw(st.integers(start, size))
    assert bytes(blob.read(start, end - start)) == payload[start:end]

    at = data.draw(st.integers(0, whole - 1))
    flipped = bytearray(directory.files[name])
    flipped[at] ^= 1 << data.draw(st.integers(0, 7))
    directory.files[name] = bytes(flipped)
    with pytest.raises(IndexCorruptError):
        CheckedFile(name, directory.open(name)).verify()


def test_a_text_block_that_inflates_without_end_is_not_inflated() -> None:
    """A segment is checked by its hash, but a hostile import could be honest about a bomb."""
    segment = segment_of({"a.txt": ["alpha"]})
    bomb = zlib.compress(b"\0" * (64 << 20))
    assert len(zlib.decompressobj().decompress(bomb, 1 << 20)) == 1 << 20
    chunk = segment.chunk(0)._replace(start=1 << 21, length=10)

    with pytest.raises(IndexCorruptError):
        segment.text_of(0, chunk)
