"""Jupyter notebooks (formats 3 and 4): each cell's source and text outputs. Never pictures, never terminal colours.

Reads JSON only: runs no code and renders no output.
"""

import json
import re
from typing import Any, NamedTuple

from ragcli.documents import Block, ExtractionContext, NormalizedDocument
from ragcli.extract.decode import looks_binary, normalize
from ragcli.extract.embedded_data import without_embedded
from ragcli.extract.heading_path import SEPARATOR, HeadingPath, under
from ragcli.extract.refusal import refused
from ragcli.extract.text import bounded_blocks
from ragcli.extract.web.html_text import render
from ragcli.model import DocumentFormat, Scalar

# A table of results is worth finding; a training log of megabytes is not, and hides the code it belongs to.
_MAX_OUTPUT = 16 * 1024  # characters of one output
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])"  # terminal colours and titles
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
)
_HEADING = re.compile(r"(#{1,6})[ \t]+(.+)")
_FENCE = re.compile(r"[ \t]{0,3}(```|~~~)")
# Richest readable form first; the same output usually comes as plain text too.
_TEXT_FORMS = ("text/plain", "text/markdown", "text/latex", "text")


class _Cell(NamedTuple):
    kind: str
    source: str
    outputs: list[str]


class NotebookExtractor:
    """One block a cell: its source, then what it printed. Cells are numbered from 1 as they stand."""

    id = "notebook"
    version = "2"
    formats = frozenset({DocumentFormat.NOTEBOOK})

    def extract(self, raw: bytes, context: ExtractionContext) -> NormalizedDocument:
        book = _load(raw, context)
        cells = _raw_cells(book)
        if cells is None:
            raise refused(context, "not a notebook: it has neither cells nor worksheets")
        language = _language(book, cells)
        pieces: list[str] = []
        blocks: list[Block] = []
        shortened = 0
        path: HeadingPath = ()
        for number, raw_cell in enumerate(cells, 1):
            cell, cut = _cell(raw_cell)
            shortened += cut
            if cell.kind == "markdown":
                path = _headings(cell.source, path)
            text = normalize("\n\n".join(part for part in (cell.source, *cell.outputs) if part)).strip("\n")
            if not text.strip():
                continue
            text += "\n\n"
            shown = _shown(number, path)
            blocks += bounded_blocks(text, Block(0, len(text), shown), context.limits.max_block_chars)
            pieces.append(text)
        return _document(pieces, blocks, context, language, shortened)


def _document(
    pieces: list[str], blocks: list[Block], context: ExtractionContext, language: str, shortened: int
) -> NormalizedDocument:  # fmt: skip
    """Put the cells one after another; each piece's blocks still count from its own start."""
    text = "".join(pieces)
    placed: list[Block] = []
    base = end = 0
    for block in blocks:
        if block.start == 0:
            base = end
        end = base + block.end
        placed.append(block._replace(start=base + block.start, end=end))
    notes = (f"long outputs of {shortened} cells shortened",) if shortened else ()
    return NormalizedDocument(text, tuple(placed), context.format, language, {"encoding": "utf-8"}, notes)


def _load(raw: bytes, context: ExtractionContext) -> dict[str, Any]:
    if looks_binary(raw):
        raise refused(context, "not a notebook: the bytes look like a binary format")
    problem = "it is not valid JSON"
    try:
        # Numbers are kept as text: a number of 5,000 digits is no reason to lose the cells.
        book = json.loads(raw.decode(json.detect_encoding(raw), "replace"), parse_int=str, parse_float=str)
        if isinstance(book, dict):
            return book
        problem = "its JSON is not an object"
    except RecursionError:
        problem = "its JSON is nested too deeply"
    except ValueError:
        pass
    raise refused(context, f"not a readable notebook: {problem}")


def _raw_cells(book: dict[str, Any]) -> list[Any] | None:
    """Give the cells of a notebook of format 4, or of all worksheets of format 3; None where there is no such list."""
    if isinstance(book.get("cells"), list):
        return list(book["cells"])
    sheets = book.get("worksheets")
    if not isinstance(sheets, list):
        return None
    found = [sheet["cells"] for sheet in sheets if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list)]
    return [cell for cells in found for cell in cells]


def _language(book: dict[str, Any], cells: list[Any]) -> str:
    metadata = book.get("metadata")
    places = []
    if isinstance(metadata, dict):
        places = [(metadata.get("kernelspec"), "language"), (metadata.get("language_info"), "name")]
    places += [(cell, "language") for cell in cells[:100]]
    for place, key in places:
        name = place.get(key) if isinstance(place, dict) else None
        if isinstance(name, str) and 0 < len(name) <= 40:
            return name.lower()
    return ""


def _cell(raw: Any) -> tuple[_Cell, bool]:
    """Read one cell; also whether an output of it is shortened."""
    if not isinstance(raw, dict):
        return _Cell("", "", []), False
    kind = raw.get("cell_type")
    kind = kind if kind in ("code", "markdown", "raw", "heading") else "raw"
    source = _clean(_joined(raw.get("source", raw.get("input"))))
    if kind == "heading":
        level = str(raw.get("level", "1"))
        source = "#" * (int(level) if level in "123456" and level else 1) + " " + source
        kind = "markdown"
    listed = raw.get("outputs")
    outputs = [output for output in listed if isinstance(output, dict)] if isinstance(listed, list) else []
    texts = [text for output in outputs if (text := _clean(_output(output)).strip("\n")).strip()]
    return _Cell(kind, source, [_shortened(text) for text in texts]), any(len(text) > _MAX_OUTPUT for text in texts)


def _output(output: dict[str, Any]) -> str:
    """Give the text of an output: a stream, an error, or the plain form of a result."""
    if output.get("output_type") in ("error", "pyerr"):
        trace = output.get("traceback")
        lines = "\n".join(line for line in trace if isinstance(line, str)) if isinstance(trace, list) else ""
        return lines or ": ".join(_joined(output.get(key)) for key in ("ename", "evalue"))
    data = output.get("data")
    forms = data if isinstance(data, dict) else output
    for form in _TEXT_FORMS:
        text = _joined(forms.get(form))
        if text:
            return text
    page = _joined(forms.get("text/html", forms.get("html")))
    return render(page).text if page else ""


def _joined(value: Any) -> str:
    """Join a text that a notebook keeps as one string or as a list of lines."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return ""


def _clean(text: str) -> str:
    text = text.replace("\r\n", "\n")
    if "\r" in text:  # a progress bar writes over its own line; the last state is what was seen
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return without_embedded(_ESCAPES.sub("", text))


def _shortened(text: str) -> str:
    if len(text) <= _MAX_OUTPUT:
        return text
    half = _MAX_OUTPUT // 2
    return f"{text[:half]}\n[...]\n{text[-half:]}"


def _headings(source: str, path: HeadingPath) -> HeadingPath:
    """Follow the headings of a markdown cell."""
    fenced = False
    for line in source.split("\n"):
        fenced ^= _FENCE.match(line) is not None
        match = None if fenced else _HEADING.match(line)
        if match is not None:
            title = match[2].strip().rstrip("#").strip()[:200]
            path = under(path, len(match[1]), title)
    return path


def _shown(number: int, path: HeadingPath) -> dict[str, Scalar]:
    shown: dict[str, Scalar] = {"cell": number}
    if path:
        shown["heading"] = SEPARATOR.join(title for _, title in path)
    return shown
