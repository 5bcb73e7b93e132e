"""How many megabytes a second each extractor reads: of the file's bytes, and of the text that comes out."""

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from ragcli.config.options import STANDARD
from ragcli.documents import ExtractionContext
from ragcli.extract.registry import SPECS, extract
from ragcli.model import DocumentFormat
from tests import office_files, pdf_files
from tests.benchmarks.made import NAMES, Prose, markdown, records, source

pytestmark = pytest.mark.benchmark
F = DocumentFormat
CHARS = 700_000
SOURCE_FILES, SOURCE_CHARS = 16, 12_000
COLUMNS = "ABCDEFGH"


def text_file(prose: Prose) -> bytes:
    return "\n\n".join(prose.paragraphs(CHARS)).encode()


def markdown_file(prose: Prose) -> bytes:
    return markdown(prose, CHARS).encode()


def html_file(prose: Prose) -> bytes:
    parts = []
    for number, paragraph in enumerate(prose.paragraphs(CHARS)):
        if number % 4 == 0:
            parts.append(f"<h{1 + number // 4 % 3}>{prose.words(3)}</h{1 + number // 4 % 3}>")
        if number % 8 == 5:
            parts.append(f"<ul>{''.join(f'<li>{prose.words(5)}</li>' for _ in range(4))}</ul>")
        parts.append(f'<p class="body">{paragraph} <a href="#x{number}">{prose.words(2)}</a> &amp; <b>so</b></p>')
    return f"<!doctype html><html><head><title>Made</title></head><body>{''.join(parts)}</body></html>".encode()


def xml_file(prose: Prose) -> bytes:
    rows = (
        f'<item id="{row["id"]}"><name>{row["name"]}</name><text>{row["text"]}</text></item>\n'
        for row in records(prose, 2 * CHARS)
    )
    return f'<?xml version="1.0"?>\n<catalog>\n{"".join(rows)}</catalog>\n'.encode()


def json_file(prose: Prose) -> bytes:
    return json.dumps(records(prose, CHARS), indent=2).encode()


def json_lines_file(prose: Prose) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in records(prose, CHARS)).encode()


def yaml_file(prose: Prose) -> bytes:
    lines = []
    for number, row in enumerate(records(prose, 2 * CHARS)):
        lines.append(f"entry{number}:\n  id: {row['id']}\n  name: {row['name']}\n  text: {row['text']}\n  tags:\n")
        lines += [f"    - {tag}\n" for tag in str(row["name"]).split()]
    return "".join(lines).encode()


def toml_file(prose: Prose) -> bytes:
    return "".join(
        f'[entry{number}]\nid = {row["id"]}\nname = "{row["name"]}"\ntext = "{row["text"]}"\n\n'
        for number, row in enumerate(records(prose, 2 * CHARS))
    ).encode()


def csv_file(prose: Prose) -> bytes:
    rows = (f'{row["id"]},{row["name"]},"{row["text"]}",{prose.number(999)}\n' for row in records(prose, 2 * CHARS))
    return ("id,name,text,amount\n" + "".join(rows)).encode()


def notebook_file(prose: Prose) -> bytes:
    cells: list[dict[str, Any]] = []
    for paragraph in prose.paragraphs(CHARS // 2):
        code = [f"{prose.words(1)} = {prose.number(99)}\n" for _ in range(8)]
        output = {"output_type": "stream", "name": "stdout", "text": [prose.sentence() + "\n"]}
        cells.append({"cell_type": "markdown", "metadata": {}, "source": [f"## {prose.words(3)}\n", paragraph]})
        cells.append({"cell_type": "code", "metadata": {}, "execution_count": 1, "source": code, "outputs": [output]})
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1).encode()


def pdf_file(prose: Prose) -> bytes:
    pages = (
        "".join(pdf_files.shown(prose.words(9), y=740 - 14 * line) for line in range(48))
        for _ in range(CHARS // 2 // (48 * 100))
    )
    return pdf_files.pdf(*pages)


def docx_file(prose: Prose) -> bytes:
    body = []
    for number, paragraph in enumerate(prose.paragraphs(2 * CHARS)):
        if number % 6 == 0:
            body.append(office_files.paragraph(prose.words(3), '<w:pStyle w:val="Heading1"/>'))
        body.append(office_files.paragraph(paragraph))
    return office_files.docx("".join(body))


def xlsx_file(prose: Prose) -> bytes:
    sheets = {}
    for name in ("First", "Second", "Third"):
        rows = (
            f'<row r="{n}">'
            + "".join(office_files.inline(f"{column}{n}", prose.words(2)) for column in COLUMNS[:4])
            + "".join(f'<c r="{column}{n}"><v>{prose.number(99_999)}</v></c>' for column in COLUMNS[4:])
            + "</row>"
            for n in range(1, 5_001)
        )
        sheets[name] = "".join(rows)
    return office_files.xlsx(sheets)


def pptx_file(prose: Prose) -> bytes:
    return office_files.pptx([
        office_files.shape(prose.words(4), placeholder="title")
        + office_files.shape(*(prose.sentence() for _ in range(12)))
        for _ in range(400)
    ])  # fmt: skip


def epub_file(prose: Prose) -> bytes:
    names = [f"c{number:03}" for number in range(40)]
    items = "".join(f'<item id="{n}" href="{n}.xhtml" media-type="application/xhtml+xml"/>' for n in names)
    spine = "".join(f'<itemref idref="{n}"/>' for n in names)
    root = '<rootfile full-path="book.opf" media-type="application/oebps-package+xml"/>'
    space = "urn:oasis:names:tc:opendocument:xmlns:container"
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": f'<container version="1.0" xmlns="{space}"><rootfiles>{root}</rootfiles></container>',
        "book.opf": '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata/>'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
    }
    for name in names:
        body = "".join(f"<p>{paragraph}</p>" for paragraph in prose.paragraphs(2 * CHARS // len(names)))
        parts[f"{name}.xhtml"] = f'<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>{name}</h1>{body}</body></html>'
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return out.getvalue()


MAKERS: dict[DocumentFormat, Callable[[Prose], bytes]] = {
    F.TEXT: text_file,
    F.MARKDOWN: markdown_file,
    F.HTML: html_file,
    F.XML: xml_file,
    F.JSON: json_file,
    F.JSONL: json_lines_file,
    F.YAML: yaml_file,
    F.TOML: toml_file,
    F.CSV: csv_file,
    F.NOTEBOOK: notebook_file,
    F.PDF: pdf_file,
    F.DOCX: docx_file,
    F.XLSX: xlsx_file,
    F.PPTX: pptx_file,
    F.EPUB: epub_file,
}
FORMATS = [format for spec in SPECS for format in sorted(spec.formats) if format is not F.SOURCE_CODE]


@pytest.fixture(scope="module")
def prose() -> Prose:
    return Prose()


def measure(benchmark: Any, raws: list[bytes], context: ExtractionContext) -> dict[str, object]:
    """Extract all, three times after once; name the benchmark by what it gave. The last document's metadata."""

    def run() -> list[Any]:
        return [extract(raw, context) for raw in raws]

    documents = benchmark.pedantic(run, rounds=3, warmup_rounds=1)
    size, text = sum(map(len, raws)), sum(len(document.text) for document in documents)
    benchmark.extra_info.update(raw_bytes=size, text_chars=text)
    if benchmark.stats:  # none with --benchmark-disable
        seconds = benchmark.stats.stats.median
        rate = f"{size / 1e6 / seconds:.1f} MB/s"
        benchmark.extra_info.update(raw=rate, text=f"{text / 1e6 / seconds:.1f} MB/s")
        benchmark.stats.name += f" {rate}"
    assert text
    return documents[-1].metadata


@pytest.mark.parametrize("format", FORMATS)
def test_extractor(benchmark: Any, prose: Prose, format: DocumentFormat) -> None:
    """One document of 0.3 to 1.2 MB."""
    context = ExtractionContext(f"a.{format.lower()}", format, STANDARD)

    measure(benchmark, [MAKERS[format](prose)], context)


@pytest.mark.parametrize("name", NAMES)
def test_source(benchmark: Any, prose: Prose, name: str) -> None:
    """Sixteen files of 12 KB of one language, each read by its grammar."""
    raws = [source(name, prose, SOURCE_CHARS).encode() for _ in range(SOURCE_FILES)]

    metadata = measure(benchmark, raws, ExtractionContext(name, F.SOURCE_CODE, STANDARD))

    assert metadata["parser"] == "tree-sitter"
