"""Whatever a source file holds, its blocks and chunks tile it, in order, within the limits, the same way each time."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragcli.config.options import STANDARD, STRICT, Limits
from ragcli.documents import ExtractionContext, NormalizedDocument
from ragcli.extract import registry
from ragcli.extract.source import query_scope as places
from ragcli.extract.source import symbols
from ragcli.extract.source.languages import BY_NAME, LANGUAGES, language_for
from ragcli.extract.source.symbol_blocks import SIGNATURE_CHARS
from ragcli.ingest.chunkers import NormalizedDocumentChunker
from ragcli.model import DocumentFormat

SAMPLES = Path(__file__).parent / "samples" / "source"
TEXTS = {path.name: path.read_text() for path in sorted(SAMPLES.iterdir()) if path.suffix != ".outline"}
GRAMMARS = sorted(row.name for row in LANGUAGES if row.grammar)
FAMILIES = sorted({row.family: row.name for row in LANGUAGES if not row.grammar}.values())
KEYS = {"symbol", "qualified_symbol", "kind", "signature", "symbol_start_line", "symbol_end_line", "language"}
SOUP = st.text(st.sampled_from("(){}[]<>=;,.:!&|\"'`\n\t #/*-@abcfix1é🦊\\$"), max_size=300)


def read(text: str, language: str, limits: Limits = STRICT) -> NormalizedDocument:
    context = ExtractionContext("a.code", DocumentFormat.SOURCE_CODE, limits, language_hint=language)
    return registry.extract(text.encode(), context)


def check(document: NormalizedDocument, limits: Limits = STRICT) -> None:
    at = 0
    lines = document.text.count("\n") + 1
    for block in document.blocks:
        assert block.start == at < block.end
        assert list(block.cuts) == sorted(set(block.cuts))
        assert all(block.start < cut < block.end for cut in block.cuts)
        assert ("symbol" in block.metadata) != block.mergeable
        if "symbol" in block.metadata:
            assert set(block.metadata) == KEYS
            assert 1 <= block.metadata["symbol_start_line"] <= block.metadata["symbol_end_line"] <= lines
            assert str(block.metadata["qualified_symbol"]).endswith(str(block.metadata["symbol"]))
            assert "\n" not in str(block.metadata["signature"])
            assert len(str(block.metadata["signature"])) <= SIGNATURE_CHARS
        at = block.end
    assert at == len(document.text)
    assert document.metadata["fallback"] == (document.metadata["parser"] != "tree-sitter")
    assert document.metadata["fallback"] == ("fallback_reason" in document.metadata)
    texts = [document.text[c.start : c.end] for c in NormalizedDocumentChunker().chunk(document, limits)]
    assert "".join(texts) == document.text or not document.text.strip()
    for text in texts:
        assert len(text.encode()) <= limits.max_chunk_bytes
        assert text.count("\n", 0, -1) < limits.max_chunk_lines


@st.composite
def slices(draw):
    """A stretch of a sample file, perhaps doubled, beheaded or with soup in its middle."""
    name = draw(st.sampled_from(sorted(TEXTS)))
    text = TEXTS[name]
    start = draw(st.integers(0, len(text)))
    stretch = text[start : draw(st.integers(start, len(text)))]
    middle = draw(st.integers(0, len(stretch)))
    return name, stretch[:middle] + draw(st.just("") | SOUP) + stretch[middle:] * draw(st.integers(1, 3))


@settings(max_examples=150, deadline=None)
@given(slices())
def test_slices_of_the_samples_are_tiled_within_the_limits_and_alike_each_time(case):
    name, text = case
    language = language_for(name, TEXTS[name])
    document = read(text, language)

    check(document)
    assert read(text, language) == document


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(sorted(TEXTS)), st.sampled_from(GRAMMARS))
def test_a_file_read_as_another_language_is_tiled(name, language):
    check(read(TEXTS[name], language))


@settings(max_examples=150, deadline=None)
@given(slices(), st.sampled_from(FAMILIES))
def test_the_structural_adapter_tiles_any_slice_in_any_family(case, language):
    document = read(case[1], language)

    check(document)
    assert document.metadata["parser"] != "tree-sitter"


@settings(max_examples=100, deadline=None)
@given(SOUP, st.sampled_from(GRAMMARS))
def test_character_soup_is_tiled_in_every_language(text, language):
    check(read(text, language))


@settings(max_examples=60, deadline=None)
@given(slices(), st.integers(1, 12), st.integers(16, 400))
def test_small_limits_split_symbols_and_keep_their_metadata(case, max_lines, max_bytes):
    name, text = case
    limits = STRICT._replace(max_chunk_lines=max_lines, max_chunk_bytes=max_bytes, max_chunks=65_536)

    check(read(text, language_for(name, TEXTS[name]), limits), limits)


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_each_part_of_a_symbol_that_is_split_names_it(name):
    limits = STRICT._replace(max_chunk_lines=2, max_chunks=65_536)
    document = read(TEXTS[name], language_for(name, TEXTS[name]), limits)
    chunks = NormalizedDocumentChunker().chunk(document, limits)

    for block in document.blocks:
        parts = [chunk for chunk in chunks if block.start <= chunk.start < block.end]
        if "symbol" in block.metadata and parts:
            assert {str(part.metadata.get("symbol")) for part in parts} == {block.metadata["symbol"]}


@pytest.mark.slow
@pytest.mark.parametrize("language", GRAMMARS)
def test_long_nonsense_neither_crashes_nor_hangs(language):
    for piece in ("(", "[", "{", "<", '"', "/*", "a.", "a(", "else ", "\n\t", "#if\n", "- ", "`${", "(a)", "a="):
        check(read(piece * (100_000 // len(piece)), language, STRICT._replace(max_chunks=65_536)))


def test_every_name_in_the_table_is_read_by_an_adapter():
    for row in BY_NAME.values():
        check(read("x = 1\n", row.name))


_SIMPLE = st.sampled_from(
    [
        "x = 1",
        "return x",
        "import os",
        "# note",
        "x = [  # one\n]",
        '"""text"""',
        "type A = int",
        "def g(): pass",
        "",
        "f(lambda: 0)",
    ]
).map(lambda line: [line])
_HEADS = st.sampled_from(
    ["class A:", "def f(self):", "async def g(x, y):", "@wraps\nclass B(A):", "@wraps(1)\n# why\ndef h(x):", "if x:",
     "with x as y:", "for a in b:", "while x:", "try:\n    pass\nfinally:", "match x:\n  case 1:"]
)  # fmt: skip


def _block(head, notes, body):
    inside = [f"# {note}" for note in notes] + [line for part in body for line in part] + ["pass"]
    return [*head.split("\n"), *("    " + line for part in inside for line in part.split("\n"))]


_NOTES = st.lists(st.sampled_from(["one", "two"]), max_size=2)
_PYTHON = st.lists(
    st.recursive(_SIMPLE, lambda parts: st.builds(_block, _HEADS, _NOTES, st.lists(parts, max_size=5)), max_leaves=25),
    max_size=4,
).map(lambda parts: "\n".join(line for part in parts for line in part) + "\n")
_SMALL = STANDARD._replace(max_chunk_lines=4, max_chunk_bytes=80)


def blocks_by(monkeypatch, text, limits, whole):
    if whole:
        monkeypatch.setattr(symbols, "places", lambda root, language, limits: [(root, places.ANY_DEPTH)])
    context = ExtractionContext("a.py", DocumentFormat.SOURCE_CODE, limits)
    return registry.extract(text.encode(), context)


@given(_PYTHON)
@example("class A:\n    # one\n    def f(self):\n        pass\n")
@example("def f():\n    # one\n    def g():\n        # two\n" + "        x = 1\n" * 9)
def test_looking_only_where_definitions_count_finds_what_the_whole_tree_holds(text):
    for limits in (STANDARD, _SMALL):
        with pytest.MonkeyPatch.context() as patch:
            expected = blocks_by(patch, text, limits, whole=True)
        with pytest.MonkeyPatch.context() as patch:
            assert blocks_by(patch, text, limits, whole=False) == expected


@pytest.mark.parametrize(
    "path", sorted(Path(__file__).parent.parent.glob("*/**/test_*.py"))[::5], ids=lambda path: path.name
)
def test_of_our_own_sources_too(path, monkeypatch):
    text = path.read_text()
    for limits in (STANDARD, STANDARD._replace(max_chunk_lines=12)):
        found = blocks_by(monkeypatch, text, limits, whole=False)
        with pytest.MonkeyPatch.context() as patch:
            assert found == blocks_by(patch, text, limits, whole=True)
