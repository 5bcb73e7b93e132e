"""Words that a line or page end of a PDF breaks are found whole and in their parts."""

from pathlib import Path

import pytest

from ragcli.analysis.broken_words import joined_words
from tests.engine import index, service, write
from tests.pdf_files import pdf, shown

PAPER = pdf(
    "".join(
        shown(line, y=700 - 14 * row)
        for row, line in enumerate(["We measured the photosyn-", "thesis rate near well-", "known rivers, electro-"])
    ),
    shown("magnetic waves go on."),
)


@pytest.mark.parametrize(
    "query", ["photosynthesis", "photosyn", "thesis", "well-known", "wellknown", "electromagnetic", "magnetic"]
)
def test_a_broken_word_of_a_pdf_is_found_joined_and_in_parts(query: str, tmp_path: Path) -> None:
    rag = service()
    index(rag, write(tmp_path, {"paper.pdf": PAPER, "plain.txt": "something else\n"}))

    found = rag.query(query).results

    assert [result.file for result in found[:1]] == ["paper.pdf"]
    assert "photosyn-\nthesis" in "".join(result.content for result in rag.query("photosyn").results)


def test_a_word_that_begins_in_a_chunk_and_ends_in_the_next_belongs_to_the_first() -> None:
    text = "the experi-\nmental plots"
    border = text.index("mental")

    assert joined_words(text, 0, border) == ["experimental"]
    assert joined_words(text, border, len(text)) == []


@pytest.mark.parametrize("text", ["Smith-\nJones", "pages 12-\n34", "a dash -\nand more", "one-" + "\n" * 11 + "far"])
def test_what_is_no_broken_word_is_not_joined(text: str) -> None:
    assert joined_words(text, 0, len(text)) == []
