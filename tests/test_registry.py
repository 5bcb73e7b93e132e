"""The wall around parsers: a document within the limits, or one error without its words."""

import importlib
import pickle
import subprocess
import sys
from itertools import pairwise
from typing import NamedTuple

import pytest

from ragcli.config.options import Limits
from ragcli.documents import Block, ExtractionContext, NormalizedDocument
from ragcli.errors import DocumentProcessingError, FailureCode
from ragcli.extract.registry import SPECS, ContentExtractorRegistry, ExtractorSpec, extract, spec_for
from ragcli.model import DocumentFormat

TEXT = DocumentFormat.TEXT


class Own(NamedTuple):
    """An extractor made of a function."""

    read: object
    id: str = "own"
    version: str = "1"
    formats: frozenset = frozenset({TEXT})

    def extract(self, raw, context):
        return self.read(raw, context)


def context(format=TEXT, **limits) -> ExtractionContext:
    return ExtractionContext("a/b.txt", format, Limits(**limits))


def run(read, **limits) -> NormalizedDocument:
    registry = ContentExtractorRegistry(())
    registry.register(Own(read))
    return registry.extract(b"secret words", context(**limits))


def document(text="secret words", *borders, metadata=None) -> NormalizedDocument:
    edges = [0, *borders, len(text)]
    blocks = tuple(Block(a, b, metadata or {}) for a, b in pairwise(edges))
    return NormalizedDocument(text, blocks, TEXT)


def raising(error):
    def read(raw, context):
        raise error

    return read


@pytest.mark.parametrize("error, code, detail", [
    (ValueError("secret words"), FailureCode.EXTRACTION, "own failed: ValueError"),
    (RecursionError(), FailureCode.EXTRACTION, "own failed: RecursionError"),
    (MemoryError(), FailureCode.EXTRACTION, "out of memory"),
    (ModuleNotFoundError("no", name="pypdf"), FailureCode.UNSUPPORTED_FORMAT, "pypdf is missing"),
])  # fmt: skip
def test_whatever_a_parser_raises_is_one_of_our_errors_without_text_or_cause(error, code, detail):
    with pytest.raises(DocumentProcessingError) as caught:
        run(raising(error))

    assert caught.value.code == code
    assert detail in caught.value.detail
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert pickle.loads(pickle.dumps(caught.value)).detail == caught.value.detail


def test_an_error_of_ours_keeps_code_and_detail_and_learns_its_place():
    error = DocumentProcessingError(FailureCode.LIMIT, "", "", "", "more than 3 pages (max_pdf_pages)")
    with pytest.raises(DocumentProcessingError, match=r"a/b\.txt: more than 3 pages") as caught:
        run(raising(error))

    assert caught.value.code == FailureCode.LIMIT


@pytest.mark.parametrize("limits", [{"max_text": 11}, {"max_blocks": 1}, {"max_block_chars": 10}])
def test_a_document_over_a_limit_fails_and_names_the_cap(limits):
    with pytest.raises(DocumentProcessingError, match=next(iter(limits))) as caught:
        run(lambda raw, context: document("secret words", 1), **limits)

    assert caught.value.code == FailureCode.LIMIT


@pytest.mark.parametrize("blocks", [(), (Block(0, 5, {}),), (Block(1, 12, {}),), (Block(0, 7, {}), Block(6, 12, {}))])
def test_blocks_that_do_not_tile_the_text_are_an_extraction_error(blocks):
    with pytest.raises(DocumentProcessingError, match="tile"):
        run(lambda raw, context: NormalizedDocument("secret words", blocks, TEXT))


def test_a_parser_that_returns_nothing_is_an_extraction_error():
    with pytest.raises(DocumentProcessingError, match="own failed"):
        run(lambda raw, context: None)


def test_nul_and_lone_surrogates_are_replaced_one_for_one():
    found = run(lambda raw, context: document("a\0b\ud83dc", 3, metadata={"heading": "\ud83d"}))

    assert found.text == "a\ufffdb\ufffdc"
    assert [b.metadata["heading"] for b in found.blocks] == ["\ufffd", "\ufffd"]


@pytest.mark.parametrize("broken", [
    object(),
    Own(document, id=""),
    Own(document, version=1),
    Own(document, formats=frozenset()),
    Own(document, formats=frozenset({DocumentFormat.AUTO})),
    Own(document, formats=frozenset({"TEXT"})),
    Own(document, id="text", formats=frozenset({DocumentFormat.TEXT})),
    Own(document, id="mine", formats=frozenset({DocumentFormat.TEXT})),
])  # fmt: skip
def test_a_broken_or_duplicate_extractor_is_refused(broken):
    with pytest.raises(DocumentProcessingError) as caught:
        ContentExtractorRegistry().register(broken)

    assert caught.value.code == FailureCode.VALIDATION


def test_a_format_that_no_one_reads_is_unsupported():
    with pytest.raises(DocumentProcessingError) as caught:
        ContentExtractorRegistry(()).extract(b"", context())
    assert caught.value.code == FailureCode.UNSUPPORTED_FORMAT

    with pytest.raises(DocumentProcessingError) as caught:
        extract(b"", context(DocumentFormat.AUTO))
    assert caught.value.code == FailureCode.UNSUPPORTED_FORMAT


def test_a_missing_extractor_module_is_unsupported():
    registry = ContentExtractorRegistry([ExtractorSpec("x", "1", frozenset({TEXT}), "ragcli_no_such_module", "X")])
    with pytest.raises(DocumentProcessingError, match="ragcli_no_such_module is missing") as caught:
        registry.extract(b"", context())

    assert caught.value.code == FailureCode.UNSUPPORTED_FORMAT


def test_each_format_but_auto_has_one_extractor():
    assert {format for format in DocumentFormat if spec_for(format)} == set(DocumentFormat) - {DocumentFormat.AUTO}
    assert len({spec.id for spec in SPECS}) == len(SPECS)


def test_a_plain_text_is_read_by_the_module_door():
    found = extract(b"one\r\ntwo\n", context())

    assert found.text == "one\ntwo\n"
    assert found.metadata["encoding"] == "utf-8"


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.id)
def test_the_table_says_what_each_extractor_says_of_itself(spec):
    kind = getattr(importlib.import_module(spec.module), spec.attribute)
    extractor = kind()

    assert (extractor.id, extractor.version, frozenset(extractor.formats)) == (spec.id, spec.version, spec.formats)
    ContentExtractorRegistry(()).register(extractor)


def test_the_table_imports_no_parser():
    code = "import sys, ragcli.extract.registry; print(sorted(set(sys.argv[1:]) & set(sys.modules)))"
    parsers = [
        "yaml",
        "bs4",
        "lxml",
        "pypdf",
        "docx",
        "pptx",
        "openpyxl",
        "ebooklib",
        "tree_sitter",
        "charset_normalizer",
    ]
    done = subprocess.run([sys.executable, "-c", code, *parsers], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
