"""Pictures and keys spelt as letters are left out of every text format; lines stay where they were."""

import base64
import json
import random

import pytest

from ragcli.config.options import STANDARD
from ragcli.documents import ExtractionContext
from ragcli.extract.embedded_data import LEFT_OUT, without_embedded
from ragcli.extract.registry import extract
from ragcli.ingest.chunkers import NormalizedDocumentChunker
from ragcli.model import DocumentFormat

F = DocumentFormat
DATA = base64.b64encode(random.Random(7).randbytes(9_000)).decode()
URI = f"data:image/png;base64,{DATA}"


def wrapped(size: int, before: str = "", behind: str = "") -> str:
    return "\n".join(before + DATA[at : at + size] + behind for at in range(0, len(DATA), size))


def line_of(word: str, text: str) -> int:
    return text[: text.index(word)].count("\n") + 1


@pytest.mark.parametrize("format, name, text", [
    (F.MARKDOWN, "a.md", f"# Report\n\nIntro.\n\n![chart]({URI})\n\nlastword here.\n"),
    (F.HTML, "a.html", f"<p>first</p><pre>{URI}</pre><p>lastword</p>"),
    (F.XML, "a.svg", f'<svg xmlns="http://www.w3.org/2000/svg">\n<image href="{URI}"/>\n<text>lastword</text></svg>'),
    (F.SOURCE_CODE, "a.css", f"body {{ margin: 0 }}\n.icon {{ background: url({URI}) }}\n.lastword {{ top: 0 }}\n"),
    (F.SOURCE_CODE, "a.py", "LOGO = (\n" + wrapped(64, "    b'", "'") + "\n)\n\n\ndef lastword():\n    return 1\n"),
    (F.SOURCE_CODE, "a.js", f"const font = '{DATA}'\nfunction lastword() {{ return 1 }}\n"),
    (F.JSON, "a.json", json.dumps({"icon": URI, "raw": DATA, "name": "lastword"}, indent=1)),
    (F.JSONL, "a.jsonl", json.dumps({"icon": URI}) + "\n" + json.dumps({"name": "lastword"}) + "\n"),
    (F.YAML, "a.yaml", f"key: |\n{wrapped(76, '  ')}\nname: lastword\n"),
    (F.TOML, "a.toml", f'key = "{DATA}"\nname = "lastword"\n'),
    (F.CSV, "a.csv", f"name,icon\nx,{DATA}\nlastword,none\n"),
    (F.TEXT, "a.txt", f"-----BEGIN CERTIFICATE-----\n{wrapped(64)}\n-----END CERTIFICATE-----\nlastword\n"),
    (F.TEXT, "a.txt", f"See data:application/pdf;base64,\n{wrapped(76)}\n\nlastword\n"),
])  # fmt: skip
def test_embedded_data_is_left_out(format, name, text):
    document = extract(text.encode(), ExtractionContext(name, format, STANDARD))
    assert DATA[100:150] not in document.text and DATA[-60:-10] not in document.text
    assert LEFT_OUT in document.text
    chunks = NormalizedDocumentChunker().chunk(document, STANDARD)
    assert "".join(document.text[chunk.start : chunk.end] for chunk in chunks) == document.text
    (hit,) = {c.end_line for c in chunks if "lastword" in document.text[c.start : c.end]}
    if format != F.HTML:
        assert line_of("lastword", document.text) == line_of("lastword", text) <= hit
        assert document.text.count("\n") == text.count("\n")


@pytest.mark.parametrize("text", [
    "a data:text/plain;base64,SGVsbG8= example",
    "see data:image/png;base64, for pictures\nand the line behind it",
    "=" * 300 + "\n" + "a" * 300 + "\n" + "/usr/share/local/lib/python/site/packages/ragcli/extract/text" * 6,
    "sha " + "0123456789abcdef" * 20,
    "".join(f"{'AnotherVeryLongNameOfAClassInAnEnterpriseApplicationServerOfJava'}\n" for _ in range(9)),
    "MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSGAEKAVQVKVKALPDAQFEVVHSLAK" * 5,
])  # fmt: skip
def test_what_only_looks_like_data_stays(text):
    assert without_embedded(text) == text


def test_prose_behind_a_data_uri_stays():
    assert without_embedded(f"![a]({URI[:200]}\nSales rose in spring\n") == f"![a]({LEFT_OUT}\nSales rose in spring\n"
    svg = "url('data:image/svg+xml;charset=utf8," + "%3Csvg%20x%3D1" * 20 + "')"
    assert without_embedded(svg) == f"url('{LEFT_OUT}')"
