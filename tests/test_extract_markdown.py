"""Markdown headings are those a reader sees, and cuts leave fences whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.config.options import Limits
from ragcli.documents import ExtractionContext
from ragcli.extract.registry import extract
from ragcli.ingest.chunkers import NormalizedDocumentChunker
from ragcli.model import DocumentFormat


def read(text: str, **limits):
    return extract(text.encode(), ExtractionContext("a.md", DocumentFormat.MARKDOWN, Limits(**limits)))


def headings(text: str) -> list[str]:
    return [block.metadata.get("heading", "") for block in read(text).blocks]


@pytest.mark.parametrize("text, wanted", [
    ("# One\n\ntext\n\n## Two ##\n\ntext\n\n# Three\ntext\n", ["One", "One > Two", "Three"]),
    ("One\n===\n\ntext\n\nTwo\nlines\n---\ntext\n", ["One", "One > Two lines"]),
    ("intro\n\n# One\ntext\n", ["", "One"]),
    ("# One\n\n#hashtag\n\n####### seven\n\n    # indented\n\n\\# escaped\n", ["One"]),
    ("# One\n```bash\n# no\n```\ntext\n", ["One"]),
    ("# One\n~~~\n# no\n```\n# no\n~~~\n## Two\ntext\n", ["One", "One > Two"]),
    ("# One\n````md\n```\n# no\n```\n# no\n````\n## Two\ntext\n", ["One", "One > Two"]),
    ("# One\n```\n# no\n~~~\n# never closed\n", ["One"]),
    ("# One\n``` not a fence ```\n\n## Two\ntext\n", ["One", "One > Two"]),
    ("# One\n\n- item\n\n  ```\n  # no\n  ```\n\n## Two\ntext\n", ["One", "One > Two"]),
    ("# One\n\n1. item\n\n       # code\n   ```sh\n   # no\n   ```\n## Two\ntext\n", ["One", "One > Two"]),
    ("# One\n\n<!--\n# no\n\nNo\n---\n-->\n\n## Two\ntext\n", ["One", "One > Two"]),
    ("# One\n\n<div>\n# no\n</div>\n\n## Two\ntext\n", ["One", "One > Two"]),
    ("# One\n\n<pre>\n\n# no\n\n</pre>\n\n## Two\ntext\n", ["One", "One > Two"]),
    ("---\ntitle: T\n# no\n---\n# One\ntext\n", ["One"]),
    ("+++\ntitle = 'T'\n# no\n+++\n# One\ntext\n", ["One"]),
    ("---\n\n# One\n\n---\n\ntext\n", ["", "One"]),
    ("# One\n\n> quote\n---\n\n- item\n---\n\n| a |\n|---|\n| 1 |\n---\n\n* * *\n", ["One"]),
    ("# One\n\n- ```\n  # no\n  ```\n\na | b\n--|--\n1 | 2\n---\n\n| c |\n===\ntext\n", ["One", "| c |"]),
    ("# `code` and **bold** [link](http://x) { #id }\ntext\n", ["code and bold link"]),
    ("# snake_case __init__\ntext\n", ["snake_case __init__"]),
    ("# Part\n\n## One\ntext\n\n## Two\n\n### Three\ntext\n", ["Part > One", "Part > Two > Three"]),
    ("## Deep\ntext\n\n# Top\ntext\n", ["Deep", "Top"]),
    ("no heading at all\n", [""]),
    ("", []),
])  # fmt: skip
def test_heading_paths(text, wanted):
    assert headings(text) == wanted


def test_the_title_is_that_of_the_front_matter_else_the_first_top_heading():
    assert read("---\ntitle: 'Named here'\n---\n# One\ntext\n").metadata["title"] == "Named here"
    assert read("## Two\ntext\n# One\ntext\n").metadata["title"] == "One"
    assert "title" not in read("text\n").metadata


@pytest.mark.parametrize("fence", ["```", "~~~~", "`````"])
def test_a_fence_that_fits_a_chunk_is_never_cut(fence):
    code = f"{fence}py\n" + "".join(f"x{n} = {n}\n\n" for n in range(40)) + f"{fence}\n"
    text = "# One\n\n" + ("words of a paragraph " * 40 + "\n" + code) * 6
    document = read(text)
    chunks = NormalizedDocumentChunker().chunk(document)

    assert len(chunks) > 1
    assert all(document.text[c.start : c.end].count(fence) % 2 == 0 for c in chunks)
    assert {c.metadata["heading"] for c in chunks} == {"One"}


MARKUP = st.lists(
    st.sampled_from(["# a", "## b #", "c", "===", "---", "```", "~~~", "````", "    d", "> e", "- f", "  g", "<!--",
                     "-->", "<div>", "| h |", "", "", "\t# i", "1. j", "***"]),
    max_size=30,
).map("\n".join)  # fmt: skip


@given(MARKUP, st.integers(3, 200))
def test_any_lines_are_tiled_by_blocks_whose_cuts_lie_inside(text, most):
    document = read(text, max_block_chars=most)

    assert document.text == text
    for block in document.blocks:
        assert all(block.start <= cut < block.end for cut in block.cuts)
        assert list(block.cuts) == sorted(set(block.cuts))


@given(MARKUP)
def test_a_heading_block_begins_with_what_names_it(text):
    document = read(text)
    for block in document.blocks:
        if block.metadata.get("heading"):
            last = str(block.metadata["heading"]).split(" > ")[-1]
            assert last.split()[0] in document.text[block.start : block.end]


@pytest.mark.parametrize(
    "text", ["# " + "a*" * 300_000, "[](<a " * 200_000, "#" * 500_000, "`" * 500_000, "> " * 300_000]
)
def test_hostile_lines_are_read_in_linear_time(text):
    assert read(text).text == text
