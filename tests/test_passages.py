"""What can be read of a stored document: lines, symbols, places, chunks, and the errors where there is none."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.errors import DocumentNotFoundError
from ragcli.model import SearchResult, StoredDocument
from ragcli.session.passages import Passage, Selection, passage
from tests import engine

SOURCE = (
    "import os\n\n\nclass Store:\n    def commit(self):\n        return os.sync()\n\n\ndef commit():\n    return 1\n"
)


def stored_text(text: str) -> StoredDocument:
    return StoredDocument("a.txt", "", "TEXT", "", "", text, {}, [])


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> StoredDocument:
    root = tmp_path_factory.mktemp("tree")
    (root / "store.py").write_text(SOURCE * 1 + "".join(f"\n\ndef f{n}():\n" + "    x = 1\n" * 40 for n in range(6)))
    rag = engine.service()
    engine.index(rag, Path(root))
    return rag.show("store.py")


def test_lines_are_those_of_the_file(module: StoredDocument) -> None:
    found = passage(module, Selection(4, 6))

    assert found.text == "class Store:\n    def commit(self):\n        return os.sync()\n"
    assert (found.start_line, found.end_line) == (4, 6)


def test_lines_past_the_end_stop_at_the_end(module: StoredDocument) -> None:
    assert passage(module, Selection(9, 9999)).text.startswith("def commit():\n")
    with pytest.raises(DocumentNotFoundError, match="none at 99999"):
        passage(module, Selection(99_999, None))


def test_a_symbol_is_found_by_its_own_and_by_its_qualified_name(module: StoredDocument) -> None:
    assert "return os.sync()" in passage(module, Selection(symbol="Store.commit")).text
    assert passage(module, Selection(symbol="F3")).text.startswith("def f3")
    with pytest.raises(DocumentNotFoundError) as error:
        passage(module, Selection(symbol="nosuch"))
    assert "its symbols begin with" in error.value.hint


def test_a_chunk_is_found_by_its_id(module: StoredDocument) -> None:
    chunk = module.chunks[-1]

    assert passage(module, Selection(chunk=chunk.id)).chunks == [chunk]


def test_a_page_is_found_by_its_number() -> None:
    def page(number: int, line: int) -> SearchResult:
        return SearchResult(
            0, f"p{number}", "b.pdf", line, line, 0, {}, "PDF", "", {"page": number}, f"page {number}\n"
        )

    document = StoredDocument("b.pdf", "", "PDF", "", "", "page 1\npage 2\n", {}, [page(1, 1), page(2, 2)])
    assert passage(document, Selection(place=("page", "2"))) == Passage(2, 2, "page 2\n", [page(2, 2)])


@given(st.text(alphabet="ab\n\r\x0b\u2028", max_size=30), st.integers(1, 9), st.integers(1, 9))
def test_neighbouring_passages_tile_the_text(text: str, first: int, size: int) -> None:
    """Only LF ends a line, so what an editor shows at a line is what is read there."""
    count = text.count("\n") + (not text.endswith("\n") and bool(text))
    if not first <= count:
        return
    last = min(first + size, count)
    parts = [passage(stored_text(text), Selection(a, b)).text for a, b in ((1, last), (last + 1, count)) if a <= b]
    assert "".join(parts) == text
