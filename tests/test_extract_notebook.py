"""Notebooks: sources and text outputs under the number of their cell; no pictures, no escapes, no base64."""

import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.config.options import Limits
from ragcli.documents import ExtractionContext, NormalizedDocument
from ragcli.errors import DocumentProcessingError, FailureCode
from ragcli.extract.registry import extract
from ragcli.model import DocumentFormat

PICTURE = base64.b64encode(bytes(range(256)) * 40).decode()


def read_raw(raw: bytes) -> NormalizedDocument:
    return extract(raw, ExtractionContext("a.ipynb", DocumentFormat.NOTEBOOK, Limits()))


def read(*cells: object, **more: object) -> NormalizedDocument:
    return read_raw(json.dumps({"nbformat": 4, "cells": cells, **more}).encode())


def code(source: object, *outputs: object) -> dict[str, object]:
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def markdown(source: str) -> dict[str, object]:
    return {"cell_type": "markdown", "source": source}


def cells(document: NormalizedDocument) -> list[tuple[object, str]]:
    return [(block.metadata["cell"], document.text[block.start : block.end].strip()) for block in document.blocks]


def test_each_cell_is_a_block_under_its_number_and_empty_cells_count():
    document = read(markdown("words"), code(""), code(["x = 1\n", "x"]), {"cell_type": "raw", "source": "as is"})

    assert cells(document) == [(1, "words"), (3, "x = 1\nx"), (4, "as is")]


@pytest.mark.parametrize("output, text", [
    ({"output_type": "stream", "text": ["one\n", "two\n"]}, "one\ntwo"),
    ({"output_type": "stream", "text": "\x1b[1;31mred\x1b[0m \x1b]0;title\x07end"}, "red end"),
    ({"output_type": "stream", "text": "10%\r50%\rdone\nnext"}, "done\nnext"),
    ({"output_type": "execute_result", "data": {"text/plain": ["42"], "text/html": "<b>42</b>"}}, "42"),
    ({"output_type": "display_data", "data": {"text/html": ["<table><tr><td>a", "<td>b</table>"]}}, "a\tb"),
    ({"output_type": "display_data", "data": {"image/png": PICTURE, "text/plain": "<Figure>"}}, "<Figure>"),
    ({"output_type": "error", "ename": "KeyError", "evalue": "'k'", "traceback": []}, "KeyError: 'k'"),
    ({"output_type": "error", "ename": "E", "traceback": ["\x1b[31mKeyError\x1b[0m: 'k'"]}, "KeyError: 'k'"),
    ({"output_type": "pyout", "text": ["old form"], "png": PICTURE}, "old form"),
])  # fmt: skip
def test_outputs_are_kept_as_plain_text(output, text):
    assert cells(read(code("run()", output))) == [(1, f"run()\n\n{text}")]


@pytest.mark.parametrize("cell", [
    code("x", {"data": {"image/png": PICTURE}}),
    code("x", {"output_type": "stream", "text": PICTURE}),
    code(f"x = '{PICTURE}'"),
    markdown(f"x ![picture](data:image/png;base64,{PICTURE})"),
    {"cell_type": "markdown", "source": "x", "attachments": {"a.png": {"image/png": PICTURE}}},
    code("x", {"data": {"text/html": f'x<img src="data:image/png;base64,{PICTURE}">'}}),
])  # fmt: skip
def test_pictures_never_reach_the_text(cell):
    text = read(cell).text

    assert "x" in text
    assert PICTURE[:40] not in text and len(text) < 200


def test_a_ruler_of_one_letter_is_not_taken_for_a_picture():
    assert "a" * 300 in read(code("# " + "a" * 300)).text


def test_a_long_output_is_shortened_and_noted():
    document = read(code("x", {"output_type": "stream", "text": "start " + "line\n" * 20_000 + "end"}))

    assert len(document.text) < 20_000
    assert "start" in document.text and document.text.rstrip().endswith("end")
    assert document.notes == ("long outputs of 1 cells shortened",)


def test_old_notebooks_keep_cells_in_worksheets():
    sheet = {"cells": [{"cell_type": "code", "input": ["y = 1"], "language": "Python", "outputs": []},
                       {"cell_type": "heading", "level": 2, "source": "Part"}, markdown("words")]}  # fmt: skip

    document = read_raw(json.dumps({"nbformat": 3, "worksheets": [sheet, sheet]}).encode())

    assert cells(document)[:3] == [(1, "y = 1"), (2, "## Part"), (3, "words")]
    assert document.blocks[2].metadata["heading"] == "Part"
    assert len(document.blocks) == 6 and document.language == "python"


def test_markdown_headings_name_the_cells_below_them():
    fenced = "```\n# no heading\n```"

    document = read(markdown("# A\ntext"), code("x"), markdown(f"## B\n{fenced}"), code("y"), markdown("# C"))

    assert [block.metadata.get("heading") for block in document.blocks] == ["A", "A", "A > B", "A > B", "C"]


def test_the_language_is_that_of_the_kernel():
    assert read(code("x"), metadata={"kernelspec": {"language": "julia"}}).language == "julia"
    assert read(code("x"), metadata={"language_info": {"name": "R"}}).language == "r"


@pytest.mark.parametrize("raw", [
    b"", b"{}", b"[]", b'{"cells": 3}', b'{"cells": [{"source": "secret', b"[" * 100_000, b"\x89PNG\r\n\x1a\n\0\0",
    b"null",
])  # fmt: skip
def test_what_is_no_notebook_is_refused_in_one_line_without_its_words(raw):
    with pytest.raises(DocumentProcessingError) as caught:
        read_raw(raw)

    assert caught.value.code == FailureCode.EXTRACTION
    assert "notebook" in caught.value.detail and "secret" not in caught.value.detail


def test_numbers_too_long_for_an_integer_do_not_cost_the_cells():
    raw = b'{"cells": [{"source": "words", "execution_count": ' + b"9" * 10_000 + b"}]}"

    assert cells(read_raw(raw)) == [(1, "words")]


def test_a_notebook_without_words_is_empty():
    assert read().text == read(code("")).text == ""


odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["cell_type", "source", "outputs", "data", "text", "text/html"]), inner),
    max_leaves=20,
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(odd, max_size=5))
def test_cells_of_any_shape_give_a_document_whose_blocks_tile_it(shapes):
    document = read(*shapes)

    assert "".join(document.text[block.start : block.end] for block in document.blocks) == document.text
    assert "\x1b" not in document.text
