"""Any tree, any query, any damage to a document: an answer that holds together, or one clear line."""

import io
import math
import os
import re
import shutil
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ragcli.config.options import STANDARD, STRICT, IndexOptions, Limits, QueryOptions, SearchFilter
from ragcli.documents import ExtractionContext, NormalizedDocument
from ragcli.errors import DocumentProcessingError, RagError
from ragcli.extract import registry
from ragcli.ingest.chunkers import NormalizedDocumentChunker
from ragcli.model import DocumentFormat
from ragcli.session.service import RagService
from tests.engine import answers, index, rebuilt, service, write
from tests.office_files import docx, inline, paragraph, pptx, shape, xlsx
from tests.pdf_files import pdf, shown
from tests.test_extract_epub import book, page

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
SAMPLES = Path(__file__).parent / "samples" / "source"

# -- documents: every format's extractor, fed with mutated sound documents

TABLE = (
    "<w:tbl><w:tr><w:tc>" + paragraph("cell one") + "</w:tc><w:tc>" + paragraph("cell two") + "</w:tc></w:tr></w:tbl>"
)
HEADING = paragraph("Heading", '<w:pStyle w:val="Heading1"/>')
NOTEBOOK = """{"cells": [{"cell_type": "markdown", "source": ["# Title\\n", "text"]}, {"cell_type": "code",
 "source": "x = 1", "outputs": [{"output_type": "stream", "text": ["out"]}], "execution_count": 1}],
 "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}"""
HTML = """<!doctype html><html><head><title>T</title><style>b{}</style><script>1</script></head><body><h1>One</h1>
<p>text &amp; more<table><tr><td>a<td>b</table><ul><li>x</ul><pre>  kept\n</pre><h2>Two</h2>
<a href=x>y</a></body></html>"""
SHEETS = {"One": f"<row r='1'>{inline('A1', 'h')}<c r='B1'><v>2</v></c></row>", "Two": ""}
DOCUMENTS: dict[DocumentFormat, list[bytes]] = {
    DocumentFormat.TEXT: ["plain text\r\nwith lines\n\nand é ü 漢字\n".encode(), "Größe\n".encode("utf-16")],
    DocumentFormat.MARKDOWN: [b"---\nt: x\n---\n# A\n\ntext\n\n```py\n# no\n```\n\nTwo\n===\n|a|b|\n|--|--|\n|1|2|\n"],
    DocumentFormat.HTML: [HTML.encode()],
    DocumentFormat.XML: [b'<?xml version="1.0"?><r xmlns:a="u"><a:i k="v">one</a:i><i>&lt;</i><![CDATA[two]]></r>'],
    DocumentFormat.JSON: [b'{"a": [1, 2.5, null, true, "x\\u00e9"], "b": {"c": {"d": []}}}', b'// c\n{"a": 1,}\n'],
    DocumentFormat.JSONL: [b'{"a": 1}\n{"a": 2}\n\n[3]\n'],
    DocumentFormat.YAML: [b"a: 1\nb:\n  - x\n  - y: &z {k: v}\nc: *z\n---\nd: |\n  text\n  more\n"],
    DocumentFormat.TOML: [b'a = 1\n[b]\nc = ["x", "y"]\n[[d]]\ne = 1979-05-27\nf = """m\nn"""\n'],
    DocumentFormat.CSV: [b'name;age\n"Do, e";3\n"x ""y""";4\n', b"a\tb\n1\t2\n"],
    DocumentFormat.NOTEBOOK: [NOTEBOOK.encode()],
    DocumentFormat.PDF: [pdf(shown("page one") + shown("more", y=680), shown("page two"))],
    DocumentFormat.DOCX: [docx(HEADING + paragraph("text one") + TABLE + paragraph("text two"))],
    DocumentFormat.XLSX: [xlsx(SHEETS, strings=["<t>s</t>"])],
    DocumentFormat.PPTX: [pptx([shape("title", placeholder="title") + shape("a", "b"), shape("c")])],
    DocumentFormat.EPUB: [book({"a": "a.xhtml", "b": "b.xhtml"}, ["a", "b"],
                               {"a.xhtml": page("<h1>One</h1><p>text</p>"), "b.xhtml": page("<p>more</p>", "B")})],
    DocumentFormat.SOURCE_CODE: [path.read_bytes() for path in sorted(SAMPLES.glob("*")) if path.suffix != ".outline"],
}  # fmt: skip
NAMES = {DocumentFormat.SOURCE_CODE: [path.name for path in sorted(SAMPLES.glob("*")) if path.suffix != ".outline"]}
ZIPPED = {DocumentFormat.DOCX, DocumentFormat.XLSX, DocumentFormat.PPTX, DocumentFormat.EPUB}
TOKENS = [
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"<", b">", b"</", b"<!--", b"<![CDATA[", b"&#0;", b"&#x110000;", b"]]>", b'"',
    b"'", b"{", b"}", b"[", b"]", b"(", b")", b"\n", b"\r", b"\t", b"\\", b"\\u", b"\\ud800", b"```", b"-1", b"0",
    b"1e999", b"999999999999999999999", b"/Length 0", b"/Kids [3 0 R]", b"endobj", b"stream\n", b"w:tbl",
    b"../../etc/passwd", b"\xed\xa0\x80", "é".encode(), "\N{ZERO WIDTH JOINER}".encode(), b"#", b"---\n", b": ", b"&a",
    b"*a", b"!!python/object:os.system",
]  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn, raw: bytes) -> bytes:
    """A few cuts, copies, flips and insertions."""
    for _ in range(draw(st.integers(1, 4))):
        if not raw:
            return draw(st.binary(max_size=20))
        start = draw(st.integers(0, len(raw) - 1))
        size = draw(st.integers(1, 40))
        match draw(st.sampled_from(["flip", "cut", "end", "insert", "copy", "token", "swap"])):
            case "flip":
                raw = raw[:start] + bytes([raw[start] ^ (1 << draw(st.integers(0, 7)))]) + raw[start + 1 :]
            case "cut":
                raw = raw[:start] + raw[start + size :]
            case "end":
                raw = raw[:start]
            case "insert":
                raw = raw[:start] + draw(st.binary(max_size=8)) + raw[start:]
            case "copy":
                raw = raw[:start] + raw[start : start + size] * draw(st.integers(2, 50)) + raw[start:]
            case "token":
                raw = raw[:start] + draw(st.sampled_from(TOKENS)) + raw[start:]
            case "swap":
                other = draw(st.integers(0, len(raw) - 1))
                raw = raw[:start] + raw[other : other + size] + raw[start + size :]
    return raw


@st.composite
def packages(draw: st.DrawFn, raw: bytes) -> bytes:
    """A package with some of its parts changed, under sound checksums; or its bytes changed as any others."""
    if draw(st.integers(0, 3)) == 0:
        return draw(mutated(raw))
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as archive, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as other:
        names = archive.namelist()
        chosen = set(draw(st.lists(st.sampled_from(names), min_size=1, max_size=2)))
        for name in names:
            content = archive.read(name)
            if name in chosen:
                if draw(st.integers(0, 9)) == 0:
                    continue
                content = draw(mutated(content))
            other.writestr(name, content)
    return made.getvalue()


def read(format: DocumentFormat, name: str, raw: bytes, limits: Limits) -> NormalizedDocument | None:
    """Extract and chunk; None where the document was refused as it should be."""
    try:
        document = registry.extract(raw, ExtractionContext(name, format, limits))
        chunks = NormalizedDocumentChunker().chunk(document, limits, uri=name)
    except DocumentProcessingError as error:
        assert error.__cause__ is None
        assert "\n" not in error.detail
        assert len(error.detail) < 300
        return None
    assert "".join(document.text[chunk.start : chunk.end] for chunk in chunks) == document.text or (
        not document.text.strip() and not chunks
    )
    for first, second in zip(document.blocks, document.blocks[1:], strict=False):
        assert first.end == second.start
    assert not re.search("[\0\ufeff\ud800-\udfff]", document.text)
    assert all(
        isinstance(value, str | int | float | bool) for block in document.blocks for value in block.metadata.values()
    )
    return document


def fuzz(format: DocumentFormat, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(DOCUMENTS[format]) - 1))
    sound = DOCUMENTS[format][number]
    raw = data.draw(packages(sound) if format in ZIPPED else mutated(sound))
    name = NAMES[format][number] if format in NAMES else f"a.{format.lower()}"
    first = read(format, name, raw, data.draw(st.sampled_from([STANDARD, STRICT])))
    assert first is None or read(format, name, raw, STANDARD) == first


@pytest.mark.parametrize("format", DOCUMENTS)
def test_each_sound_document_is_read(format: DocumentFormat) -> None:
    """Else the tests below would mutate what is refused anyway."""
    for number, raw in enumerate(DOCUMENTS[format]):
        name = NAMES[format][number] if format in NAMES else f"a.{format.lower()}"
        document = read(format, name, raw, STRICT)
        assert document is not None and document.text.strip()


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("format", DOCUMENTS)
@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
@given(data=st.data())
def test_a_mutated_document_is_read_or_refused_in_one_line(format: DocumentFormat, data: st.DataObject) -> None:
    fuzz(format, data)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("format", DOCUMENTS)
@settings(max_examples=1500, deadline=None, suppress_health_check=SLOW)
@given(data=st.data())
def test_many_mutated_documents_are_read_or_refused_in_one_line(format: DocumentFormat, data: st.DataObject) -> None:
    fuzz(format, data)


# -- trees

plain = st.sampled_from(
    ["a", "b", "src", "notes.md", "x.py", "t.json", "u.csv", "v.html", "README", "w.yaml", "z.txt", "k.xml"]
)
odd = st.binary(min_size=1, max_size=20).filter(
    lambda name: b"/" not in name and b"\0" not in name and name not in (b".", b"..")
)
components = plain.map(str.encode) | odd
texts = st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
contents = st.binary(max_size=200) | texts | st.sampled_from([raw for raws in DOCUMENTS.values() for raw in raws])
trees = st.dictionaries(st.lists(components, min_size=1, max_size=4).map(b"/".join), contents, max_size=8)


def put(root: Path, tree: dict[bytes, bytes]) -> None:
    """Write what the file system takes; a name that is a file to one path and a directory to another is left out."""
    for name, content in tree.items():
        path = os.path.join(os.fsencode(root), name)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content)
        except OSError:
            continue


def check_tree(first: dict[bytes, bytes], second: dict[bytes, bytes], query: str) -> None:
    folder = Path(tempfile.mkdtemp(prefix="ragcli-fuzz-"))
    try:
        rag = service()
        for number, tree in enumerate((first, second)):
            put(folder, tree)
            try:
                report = index(rag, folder)
            except RagError as error:
                assert "\n" not in error.message
                continue
            every = {
                os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names
            }
            told = {info.file for info in rag.list_files()} | {failure.file for failure in report.failed}
            told |= {entry.path for entry in report.skipped}
            hidden = tuple(f"{entry.path}/" for entry in report.skipped if entry.is_dir)
            assert all(name in told or name.startswith(hidden) for name in every), number
            for info in rag.list_files():
                stored = rag.show(info.file)
                assert "".join(chunk.content for chunk in stored.chunks).strip() == stored.text.strip()
        try:
            fresh = rebuilt(folder)
        except RagError:
            return
        queries = (query, "text", "a b")
        assert answers(rag, queries) == answers(fresh, queries)
    finally:
        shutil.rmtree(folder)


@settings(max_examples=40, deadline=None, suppress_health_check=SLOW)
@given(trees, trees, st.text(max_size=20))
@example({b".gitignore/x": b"a"}, {}, "a")
@example({b"\xff.md": b"# a\n", b"\xfe.md": b"# a\n"}, {}, "a")
def test_any_tree_is_indexed_file_by_file_and_nothing_is_lost_silently(
    first: dict[bytes, bytes], second: dict[bytes, bytes], query: str
) -> None:
    check_tree(first, second, query)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(max_examples=1500, deadline=None, suppress_health_check=SLOW)
@given(trees, trees, st.text(max_size=20))
def test_many_trees_are_indexed_file_by_file(first: dict[bytes, bytes], second: dict[bytes, bytes], query: str) -> None:
    check_tree(first, second, query)


# -- queries


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> RagService:
    tree = tmp_path_factory.mktemp("fuzz")
    write(tree, {f"d{number}/f{number}.txt": f"alpha beta number{number}\n" * (number + 1) for number in range(12)})
    source = DocumentFormat.SOURCE_CODE
    write(tree, dict(zip(NAMES[source], DOCUMENTS[source], strict=True)))
    rag = service()
    index(rag, tree)
    rag.add_document("added kiwi alpha", {"topic": "fruit"})
    return rag


words = st.sampled_from(
    ["alpha", "beta", "number3", "function", "class", "Sample", "--x", "test", "path:", "f3.txt", "kiwi", "é", "漢字"]
)
queries = st.text(st.characters(), max_size=40) | st.lists(words | st.text(max_size=6), max_size=8).map(" ".join)


def ask(rag: RagService, query: str, settings: QueryOptions, k: int) -> None:
    outcome = rag.query(query, k, settings)
    assert not outcome.degraded
    assert len(outcome.results) <= k
    scores = [result.score for result in outcome.results]
    assert scores == sorted(scores, reverse=True)
    assert all(math.isfinite(score) and score > 0 for score in scores)
    assert [result.rank for result in outcome.results] == list(range(1, len(scores) + 1))
    assert len({result.id for result in outcome.results}) == len(scores)
    assert rag.query(query, k, settings) == outcome
    longer = rag.query(query, k * 2, settings)
    if settings.signals:
        assert longer.results[:k] == outcome.results
    assert query in rag.build_context_prompt(query)


@settings(max_examples=100, deadline=None, suppress_health_check=SLOW)
@given(queries, st.booleans(), st.integers(1, 20), st.lists(st.text(max_size=8) | st.just("*.py"), max_size=2))
@example("\ud800", True, 5, [])
@example("\0", True, 5, [])
@example("a" * 100_000, True, 5, [])
@example("(" * 5000, False, 5, ["["])
def test_any_query_is_answered_in_order(
    searched: RagService, query: str, signals: bool, k: int, globs: list[str]
) -> None:
    """Best first, the same each time, and fewer results are the beginning of more."""
    where = SearchFilter(globs=tuple(globs))
    try:
        ask(searched, query, QueryOptions(signals=signals, where=where), k)
    except RagError as error:
        assert "\n" not in error.message


@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(max_examples=5000, deadline=None, suppress_health_check=SLOW)
@given(queries, st.booleans(), st.integers(1, 20))
def test_many_queries_are_answered_in_order(searched: RagService, query: str, signals: bool, k: int) -> None:
    ask(searched, query, QueryOptions(signals=signals), k)


def test_options_of_any_text_are_refused_or_taken(tmp_path: Path) -> None:
    tree = write(tmp_path, {"a.txt": "alpha\n"})
    for pattern in ("[", "**", "a[", "\\", "{", "\0", "\udcff", "", "/", "//", "***/**/*", "[!", "(" * 500, "*a" * 200):
        for options in (IndexOptions(include=(pattern,)), IndexOptions(exclude=(pattern,))):
            try:
                index(service(), tree, options._replace(limits=STANDARD))
            except RagError as error:
                assert "\n" not in error.message
