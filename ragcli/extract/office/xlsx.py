"""Read Excel workbooks (xlsx, xlsm) sheet by sheet: runs of rows with their cell range and the sheet's header row.

May not calculate formulas or run macros. Hidden sheets are read like others. Comments and text boxes follow the rows.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from openpyxl.utils.cell import get_column_letter

from ragcli.config.options import Limits
from ragcli.documents import ExtractionContext, NormalizedDocument
from ragcli.extract.builder import BLOCK_BYTES, Piece, assemble
from ragcli.extract.office.drawing import Graphics
from ragcli.extract.office.opc import Element, Package, local, relation_id
from ragcli.extract.office.packages import PackageRefused, refusal
from ragcli.extract.office.xlsx_cells import Book, Row, Style, read_styles, rich_text, rows, shared_strings
from ragcli.model import DocumentFormat, Metadata

# A run of rows that a reader takes in at once, and a prompt holds several of.
_BLOCK_ROWS = 50
# Between two cells this far apart the empty columns are not counted out.
_MAX_GAP = 8
_HEADER_WITHIN = 20
_MAX_HEADER = 500
_THREADED = "[Threaded comment]"
_NUMERIC = re.compile(r"[-+]?[0-9][0-9.,:%/ eE+-]*")


class _Sheet(NamedTuple):
    name: str
    part: str
    kind: str


class XlsxExtractor:
    """Workbooks by sheet and cell range."""

    id = "xlsx"
    version = "1"
    formats = frozenset({DocumentFormat.XLSX})

    def extract(self, raw: bytes, context: ExtractionContext) -> NormalizedDocument:
        """Read one workbook; raise DocumentProcessingError where the package is refused."""
        try:
            return _read(Package(raw, context.limits), context.limits)
        except PackageRefused as refused:
            failure = refusal(refused, context)
        raise failure


def _read(package: Package, limits: Limits) -> NormalizedDocument:
    main = package.main("xl/workbook.xml")
    if main.endswith(".bin"):
        raise PackageRefused("it is a binary workbook (.xlsb); save it as .xlsx")
    workbook = package.root(main)
    if local(workbook.tag) != "workbook":
        raise PackageRefused("it holds no workbook")
    sheets, notes = _sheets(package, main, workbook)
    book = _book(package, main, workbook)
    pieces: list[Piece] = []
    room = limits.max_text
    for sheet in sheets:
        for piece in _sheet_pieces(package, sheet, book):
            # One shared string may be shown by a million cells: the cap has to hold while the text grows.
            room -= sum(map(len, piece.lines))
            if room < 0:
                raise PackageRefused(f"more than {limits.max_text} characters of text (max_text)", is_limit=True)
            pieces.append(piece)
    return assemble(pieces, DocumentFormat.XLSX, limits.max_block_chars, title=package.title(), notes=notes)


def _sheets(package: Package, main: str, workbook: Element) -> tuple[list[_Sheet], list[str]]:
    """List the sheets in the order of their tabs, and a note for each that is not there."""
    relations = package.by_id(main)
    found: list[_Sheet] = []
    notes: list[str] = []
    seen: set[str] = set()
    for element in workbook.iter():
        if local(element.tag) != "sheet":
            continue
        identifier, name = relation_id(element), element.get("name", "")
        relation = relations.get(identifier)
        if relation is None or relation.target not in package:
            notes.append("a sheet that the workbook lists is missing")
            continue
        if identifier in seen or relation.target in seen:
            raise PackageRefused("the workbook lists one sheet twice")
        seen |= {identifier, relation.target}
        found.append(_Sheet(" ".join(name.split()), relation.target, relation.kind))
    return found, notes


def _book(package: Package, main: str, workbook: Element) -> Book:
    strings: list[str] = []
    for part in package.related(main, "sharedStrings")[:1]:
        with package.open(part) as stream:
            strings = shared_strings(stream)
    styles: list[Style] = []
    for part in package.related(main, "styles")[:1]:
        styles = read_styles(package.root(part))
    uses_1904 = any(
        local(element.tag) == "workbookPr" and element.get("date1904") in ("1", "true") for element in workbook
    )
    return Book(strings, styles, uses_1904)


def _sheet_pieces(package: Package, sheet: _Sheet, book: Book) -> Iterator[Piece]:
    empty = True
    if sheet.kind == "worksheet":
        with package.open(sheet.part) as stream:
            for piece in _row_pieces(sheet.name, rows(stream, book)):
                empty = False
                yield piece
    lines = [*_comments(package, sheet.part), *_drawn(package, sheet.part)]
    if lines:
        yield Piece([sheet.name, *lines] if empty else lines, {"sheet": sheet.name})


def _row_pieces(name: str, filled: Iterator[Row]) -> Iterator[Piece]:
    """Yield runs of rows; the first begins with the sheet's name. The header is looked for in the first rows."""
    head: list[Row] = []
    for row in filled:
        head.append(row)
        if len(head) == _HEADER_WITHIN:
            break
    header = _header(head)
    run: list[Row] = []
    lines = [name]
    size = 0
    for source in (head, filled):
        for row in source:
            line = _line(row)
            need = len(line.encode("utf-8", "replace"))
            if run and (len(run) == _BLOCK_ROWS or size + need > BLOCK_BYTES):
                yield _piece(name, lines, run, header)
                run, lines, size = [], [], 0
            run.append(row)
            lines.append(line)
            size += need
    if run:
        yield _piece(name, lines, run, header)


def _piece(name: str, lines: list[str], run: list[Row], header: str) -> Piece:
    first = min(row.cells[0][0] for row in run)
    last = max(row.cells[-1][0] for row in run)
    numbers = [row.number for row in run]
    cells = f"{get_column_letter(first)}{min(numbers)}:{get_column_letter(last)}{max(numbers)}"
    metadata: Metadata = {"sheet": name, "cells": cells}
    return Piece(lines, {**metadata, "header": header} if header else metadata)


def _header(head: list[Row]) -> str:
    """Find the header: the first row of words alone that is at least half as wide as the widest, with a row below."""
    widest = max((len(row.cells) for row in head), default=0)
    for row in head[:-1]:
        texts = [text for _, text in row.cells]
        if 2 * len(texts) < widest or len(texts) < 2:
            continue
        if not any(_NUMERIC.fullmatch(text) for text in texts):
            return _line(row)[:_MAX_HEADER]
    return ""


def _line(row: Row) -> str:
    """Join the cells of a row by bars; an empty cell between two filled ones keeps its place."""
    pieces = []
    before = row.cells[0][0]
    for column, text in row.cells:
        gap = column - before
        pieces.append(" | " * (gap if gap <= _MAX_GAP else 1) + text)
        before = column
    return "".join(pieces)


def _comments(package: Package, part: str) -> list[str]:
    """List the comments of a sheet; a threaded one replaces the placeholder that old readers are shown."""
    lines = []
    for name in package.related(part, "threadedComment"):
        for element in package.root(name).iter():
            if local(element.tag) == "threadedComment":
                text = " ".join((child.text or "") for child in element if local(child.tag) == "text")
                lines.append(f"[comment {element.get('ref', '')}] {' '.join(text.split())}")
    for name in package.related(part, "comments"):
        for element in package.root(name).iter():
            if local(element.tag) == "comment":
                text = " ".join(rich_text(child) for child in element if local(child.tag) == "text")
                if text and not (lines and text.startswith(_THREADED)):
                    lines.append(f"[comment {element.get('ref', '')}] {text}")
    return lines


def _drawn(package: Package, part: str) -> list[str]:
    """List the text boxes and chart titles over a sheet; the values of its charts stand in cells already."""
    lines: list[str] = []
    for name in package.related(part, "drawing"):
        lines += Graphics(package, name, chart_values=False).lines(package.root(name))
    return lines
