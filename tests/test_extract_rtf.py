"""RTF: what a reader of the document would see, and nothing of its control words."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.config.options import Limits
from ragcli.documents import ExtractionContext, NormalizedDocument
from ragcli.errors import DocumentProcessingError, FailureCode
from ragcli.extract.registry import extract
from ragcli.model import DocumentFormat
from tests.engine import index, service, write

HEAD = rb"{\rtf1\ansi\ansicpg1250{\fonttbl{\f0 Arial;}}{\info{\author Nobody}}"


def read(raw: bytes, **limits: int) -> NormalizedDocument:
    return extract(raw, ExtractionContext("a.rtf", DocumentFormat.RTF, Limits(**limits)))


def test_the_text_is_read_without_control_words_fonts_and_pictures():
    document = read(HEAD + rb"\b First\b0  paragraph.\par Second {\pict\pngblip 89504e470d0a}one.\par}")

    assert document.text == "First paragraph.\nSecond one.\n"


def test_escapes_are_letters_of_the_code_page_that_the_file_names_and_unicode():
    assert read(HEAD + rb"\'b9 and \u8364? and \'8ci}").text == "ą and € and Śi\n"


@pytest.mark.parametrize("raw", [b"", b"plain words", b"PK\x03\x04"])
def test_what_is_no_rtf_is_refused(raw):
    with pytest.raises(DocumentProcessingError) as caught:
        read(raw)

    assert caught.value.code == FailureCode.EXTRACTION


def test_deep_nesting_ends_with_the_text():
    assert "inside" in read(HEAD + b"{" * 200_000 + b"inside" + b"}" * 200_000 + b"}").text


def test_more_text_than_the_cap_is_refused():
    with pytest.raises(DocumentProcessingError) as caught:
        read(HEAD + b"words " * 50 + b"}", max_text=100)

    assert caught.value.code == FailureCode.LIMIT


SOUND = HEAD + rb"\b First\b0  paragraph.\par \'b9 \u8364? {\*\generator x;}end\par}"


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(SOUND) - 1), st.binary(min_size=1, max_size=8), st.booleans())
def test_damage_gives_a_document_or_a_refusal_and_nothing_else(at, patch, cut):
    damaged = SOUND[:at] + patch + (b"" if cut else SOUND[at + len(patch) :])

    try:
        document = read(damaged)
    except DocumentProcessingError as error:
        assert "\n" not in error.detail
    else:
        assert "".join(document.text[block.start : block.end] for block in document.blocks) == document.text


def test_an_rtf_file_is_found_by_its_words_and_not_by_its_control_words(tmp_path):
    rag = service()
    index(rag, write(tmp_path, {"letter.rtf": HEAD + rb" The kettle boils.\par}"}))

    assert [result.file for result in rag.query("kettle").results] == ["letter.rtf"]
    assert rag.query("ansicpg1250").results == []
