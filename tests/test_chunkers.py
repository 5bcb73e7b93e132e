"""Chunks tile the text, keep the limits, and carry exact lines."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.config.options import STANDARD, Limits
from ragcli.documents import Block, Chunk, NormalizedDocument
from ragcli.errors import DocumentProcessingError, FailureCode, UsageError
from ragcli.ingest.chunkers import CodeChunker, NormalizedDocumentChunker, chunk_ids
from ragcli.model import DocumentFormat

CHUNKER = NormalizedDocumentChunker()
TEXTS = st.text(st.sampled_from("ab .\n\n\r\f\u2028é漢😀\u0301"), max_size=400)
LIMITS = st.builds(
    lambda lines, size: Limits(max_chunk_lines=lines, max_chunk_bytes=size, max_chunks=10_000),
    st.integers(1, 8),
    st.integers(4, 120),
)


def plain(text: str, **values) -> NormalizedDocument:
    blocks = (Block(0, len(text), {}),) if text else ()
    return NormalizedDocument(text, blocks, values.pop("format", DocumentFormat.TEXT))


@st.composite
def documents(draw):
    text = draw(TEXTS)
    borders = sorted(draw(st.sets(st.integers(1, max(1, len(text) - 1)), max_size=6))) if len(text) > 1 else []
    edges = [0, *borders, len(text)]
    blocks = []
    for start, end in pairwise(edges):
        if start < end:
            cuts = tuple(sorted(draw(st.sets(st.integers(start, end), max_size=4))))
            metadata = draw(st.sampled_from([{}, {"symbol": "f"}, {"heading": "A"}]))
            blocks.append(Block(start, end, metadata, draw(st.booleans()), cuts))
    return NormalizedDocument(text, tuple(blocks), DocumentFormat.TEXT)


def lines_of(text: str, chunk: Chunk) -> tuple[int, int]:
    """Of the first character and of the last that is no white space (of the last of all where there is none)."""
    content = text[chunk.start : chunk.end]
    last = chunk.start + len(content.rstrip() or content) - 1
    return text.count("\n", 0, chunk.start) + 1, text.count("\n", 0, last) + 1


@given(documents(), LIMITS)
def test_chunks_tile_the_text_within_the_limits_with_exact_lines(document, limits):
    chunks = CHUNKER.chunk(document, limits)

    if not document.text.strip():
        assert chunks == []
        return
    assert "".join(document.text[c.start : c.end] for c in chunks) == document.text
    assert [c.start for c in chunks] == [0, *[c.end for c in chunks][:-1]]
    for chunk in chunks:
        piece = document.text[chunk.start : chunk.end]
        assert (chunk.start_line, chunk.end_line) == lines_of(document.text, chunk)
        assert chunk.end_line - chunk.start_line < limits.max_chunk_lines
        assert len(piece.encode()) <= limits.max_chunk_bytes


@given(documents(), LIMITS)
def test_every_chunk_has_the_metadata_of_a_block_it_lies_in(document, limits):
    for chunk in CHUNKER.chunk(document, limits):
        inside = [b.metadata for b in document.blocks if b.start < chunk.end and chunk.start < b.end]
        assert chunk.metadata in inside


def test_blank_blocks_that_fit_nowhere_keep_their_own_metadata():
    blocks = tuple(Block(at, at + 1, {"page": at}) for at in range(3))
    document = NormalizedDocument("a\n ", blocks, DocumentFormat.TEXT)

    chunks = CHUNKER.chunk(document, STANDARD._replace(max_chunk_lines=1))

    assert [chunk.metadata for chunk in chunks] == [{"page": 0}, {"page": 1}, {"page": 2}]


@given(documents(), LIMITS)
def test_the_same_document_gives_the_same_chunks_and_ids(document, limits):
    first, second = CHUNKER.chunk(document, limits), CHUNKER.chunk(document, limits)

    assert first == second
    assert chunk_ids("a", document.text, first) == chunk_ids("a", document.text, second)


@given(documents(), LIMITS)
def test_ids_of_one_document_are_distinct(document, limits):
    ids = chunk_ids("a", document.text, CHUNKER.chunk(document, limits))

    assert len(set(ids)) == len(ids)


def test_ids_depend_on_path_symbol_and_content_and_count_repeats():
    text = "same\nsame\n"
    chunks = [Chunk(0, 5, 1, 1, {}), Chunk(5, 10, 2, 2, {}), Chunk(0, 5, 1, 1, {"symbol": "f"})]
    ids = chunk_ids("a", text, chunks)

    assert ids[1] == f"{ids[0]}-2"
    assert ids[2] != ids[0]
    assert chunk_ids("b", text, chunks)[0] != ids[0]
    assert len(ids[0]) == 16


def test_over_the_cap_on_chunks_the_document_fails_and_names_the_cap():
    with pytest.raises(DocumentProcessingError, match="max_chunks") as caught:
        CHUNKER.chunk(plain("a\n" * 10), Limits(max_chunk_lines=1, max_chunks=9), uri="x.txt")

    assert caught.value.code == FailureCode.LIMIT
    assert caught.value.uri == "x.txt"


def test_a_text_that_fits_the_caps_only_in_large_chunks_is_cut_large():
    text = ("word " * 20 + "\n") * 1_000
    chunks = CHUNKER.chunk(plain(text), Limits(max_chunks=12))

    assert len(chunks) <= 12


@pytest.mark.parametrize("values", [{"max_chunk_lines": 0}, {"max_chunk_bytes": 3}, {"max_chunks": 0}])
def test_limits_that_cannot_advance_are_refused(values):
    with pytest.raises(UsageError, match=next(iter(values))):
        CHUNKER.chunk(plain("text"), Limits(**values))


def test_a_symbol_at_the_caps_stays_whole_and_one_line_more_is_halved():
    metadata = {"symbol": "f", "kind": "function"}
    whole, over = "x = 1\n" * 100, "x = 1\n" * 101

    assert len(CHUNKER.chunk(NormalizedDocument(whole, (Block(0, len(whole), metadata, False),), "SOURCE_CODE"))) == 1
    parts = CHUNKER.chunk(NormalizedDocument(over, (Block(0, len(over), metadata, False),), "SOURCE_CODE"))
    assert [(c.start_line, c.end_line, c.metadata) for c in parts] == [(1, 50, metadata), (51, 101, metadata)]


def test_prose_is_cut_at_paragraphs():
    paragraph = "A sentence of this paragraph is here. " * 15
    text = "\n\n".join([paragraph] * 12)
    chunks = CHUNKER.chunk(plain(text))

    assert len(chunks) > 1
    assert all(text[c.start - 2 : c.start] == "\n\n" for c in chunks[1:])


def test_an_asked_for_cut_is_taken_before_any_other():
    text = "one\n\ntwo\nthree\n\nfour\n"
    cut = text.index("three")
    document = NormalizedDocument(text, (Block(0, len(text), {}, True, (cut,)),), DocumentFormat.TEXT)

    chunks = CHUNKER.chunk(document, Limits(max_chunk_lines=4))
    assert chunks[0].end == cut


@pytest.mark.parametrize("unit", ["é", "e\u0301", "👩\u200d🚀", "漢", "👍🏽"])
def test_a_line_without_blanks_is_cut_between_whole_characters(unit):
    text = unit * 5_000
    chunks = CHUNKER.chunk(plain(text), Limits(max_chunk_bytes=1_000))

    assert all((c.end - c.start) % len(unit) == 0 for c in chunks)


def test_a_blank_block_joins_its_neighbour_and_never_makes_a_symbol_overflow():
    symbol = "x\n" * 100
    text = symbol + "\n\n" + "y\n"
    blocks = (
        Block(0, len(symbol), {"symbol": "f"}, False),
        Block(len(symbol), len(symbol) + 2, {}),
        Block(len(symbol) + 2, len(text), {"symbol": "g"}, False),
    )
    chunks = CHUNKER.chunk(NormalizedDocument(text, blocks, DocumentFormat.SOURCE_CODE))

    assert [(c.start_line, c.end_line, c.metadata["symbol"]) for c in chunks] == [(1, 100, "f"), (101, 103, "g")]


@pytest.mark.parametrize("text", ["", " ", "\n \t\n\f", "\u2028"])
def test_white_space_alone_has_no_chunks(text):
    assert CHUNKER.chunk(plain(text)) == []


def test_source_text_is_cut_at_its_symbols():
    text = "import os\n\n\ndef first():\n    return 1\n\n\ndef second():\n    return 2\n"
    chunks = CodeChunker().chunk(text, "a.py")

    assert "".join(text[c.start : c.end] for c in chunks) == text
    assert [c.metadata.get("symbol") for c in chunks] == [None, "first", "second"]
