"""Plain text is the file itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.config.options import Limits
from ragcli.documents import Block, ExtractionContext
from ragcli.errors import DocumentProcessingError, FailureCode
from ragcli.extract.registry import extract
from ragcli.extract.text import bounded_blocks
from ragcli.ingest.chunkers import NormalizedDocumentChunker
from ragcli.model import DocumentFormat


def read(raw: bytes, **limits):
    return extract(raw, ExtractionContext("a.txt", DocumentFormat.TEXT, Limits(**limits)))


def lines_with(raw: bytes, word: str) -> list[tuple[int, int]]:
    document = read(raw)
    chunks = NormalizedDocumentChunker().chunk(document, Limits(max_chunk_lines=1))
    return [(c.start_line, c.end_line) for c in chunks if word in document.text[c.start : c.end]]


@pytest.mark.parametrize("raw, line", [
    (b"1\r\n2\r\n3\r\n4\r\n5 word\r\n", 5),
    (b"1\x0c\x0b\n2\x1c\n3 word\n", 3),
    ("1\u2028\u2029\x85\n2 a\rb\n3 word".encode(), 3),
    (b"1\r2\r3 word\r", 3),
    (b"1\n2 word", 2),
])  # fmt: skip
def test_line_numbers_are_those_of_an_editor(raw, line):
    assert lines_with(raw, "word") == [(line, line)]


def test_a_binary_under_a_text_name_is_refused():
    with pytest.raises(DocumentProcessingError, match="binary") as caught:
        read(b"\x89PNG\r\n\x1a\n" + bytes(100))

    assert caught.value.code == FailureCode.EXTRACTION


@given(st.text(st.sampled_from("ab\n"), max_size=60), st.integers(1, 20), st.data())
def test_bounded_blocks_tile_a_range_and_keep_its_cuts(text, most, data):
    cuts = tuple(sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=5))))
    cuts = tuple(cut for cut in cuts if cut < len(text))
    blocks = list(bounded_blocks(text, Block(0, len(text), {"k": 1}, True, cuts), most))

    assert "".join(text[b.start : b.end] for b in blocks) == text
    assert all(0 < b.end - b.start <= most for b in blocks)
    assert tuple(cut for b in blocks for cut in b.cuts) == cuts


def test_a_text_over_the_block_limit_is_several_blocks_cut_at_lines():
    document = read(b"line of text\n" * 1_000, max_block_chars=1_000)

    assert len(document.blocks) > 10
    assert all(document.text[b.end - 1] == "\n" for b in document.blocks)


@pytest.mark.parametrize("raw", [b"", b"\xef\xbb\xbf", b" \n\t\n"])
def test_nothing_and_white_space_are_documents_without_chunks(raw):
    document = read(raw)

    assert NormalizedDocumentChunker().chunk(document) == []
