"""Turn the cells of a worksheet into text as a reader sees them: values and dates, never serial numbers or blanks.

May not open packages nor group rows. A formula shows its cached value; one that was never calculated, its own text.
"""

import re
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import IO, NamedTuple

from lxml import etree
from openpyxl.styles.numbers import BUILTIN_FORMATS, is_date_format, is_timedelta_format
from openpyxl.utils.cell import column_index_from_string
from openpyxl.utils.datetime import MAC_EPOCH, WINDOWS_EPOCH, from_excel

from ragcli.extract.office.opc import Element, local
from ragcli.extract.office.packages import STREAM_WINDOW, PackageRefused

_BUFFER = 256 * 1024
# Built-in formats that are dates in Chinese, Japanese and Korean editions (ECMA-376 part 1, 18.8.30).
_EAST_ASIAN_DATES = frozenset([*range(27, 37), *range(50, 59)])
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_FUTURE = re.compile(r"\b_xl(?:fn|ws|pm|udf)\.")
_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_QUOTED = re.compile(r'"[^"]*"|\\.')


class Style(NamedTuple):
    """What a cell's number format says about its number."""

    is_date: bool = False
    is_duration: bool = False
    is_percent: bool = False


_PLAIN = Style()


class Book(NamedTuple):
    """What all sheets of a workbook share."""

    strings: list[str]
    styles: list[Style]
    uses_1904: bool


class Row(NamedTuple):
    """A row with something in it: its number, and (column, text) of its filled cells in order; columns from 1."""

    number: int
    cells: list[tuple[int, str]]


def rows(stream: IO[bytes], book: Book) -> Iterator[Row]:
    """Yield the filled rows of a worksheet as it is read; positions are counted where references are missing."""
    number = 0
    for element in _elements(stream, "row"):
        given = element.get("r", "")
        number = int(given) if given.isdecimal() and len(given) < 8 else number + 1
        cells: list[tuple[int, str]] = []
        column = 0
        for cell in element:
            if local(cell.tag) != "c":
                continue
            reference = _REFERENCE.match(cell.get("r", "").upper())
            column = column_index_from_string(reference[1]) if reference else column + 1
            text = cell_text(cell, book)
            if text:
                cells.append((column, text))
        if cells:
            yield Row(number, cells)


def shared_strings(stream: IO[bytes]) -> list[str]:
    """Read the shared strings, plain and rich, without phonetic readings."""
    return [rich_text(item) for item in _elements(stream, "si")]


def rich_text(item: Element) -> str:
    """Join the text runs of a string item (si, is, text) to one line."""
    pieces = []
    for child in item:
        name = local(child.tag)
        if name == "t":
            pieces.append(child.text or "")
        elif name == "r":
            pieces += [inner.text or "" for inner in child if local(inner.tag) == "t"]
    return _one_line("".join(pieces))


def cell_text(cell: Element, book: Book) -> str:
    """Return the text of one cell, '' for a blank one."""
    value: str | None = None
    formula = inline = ""
    for child in cell:
        name = local(child.tag)
        if name == "v":
            value = child.text or ""
        elif name == "f":
            formula = child.text or ""
        elif name == "is":
            inline = rich_text(child)
    if inline:
        return inline
    if value is None:
        return _one_line("=" + _FUTURE.sub("", formula)) if formula.strip() else ""
    return _value_text(value, cell.get("t", "n"), cell.get("s", ""), book)


def read_styles(root: Element) -> list[Style]:
    """List the number formats of the cell styles, in the order that cells refer to them."""
    codes: dict[str, str] = {str(number): code for number, code in BUILTIN_FORMATS.items()}
    styles: list[Style] = []
    for element in root.iter():
        name = local(element.tag)
        if name == "numFmt":
            codes[element.get("numFmtId", "")] = element.get("formatCode", "")
        elif name == "cellXfs":
            # numFmts stand before cellXfs in the schema, and in every file.
            styles = [_style(xf.get("numFmtId", "0"), codes) for xf in element if local(xf.tag) == "xf"]
    return styles


def _style(number: str, codes: dict[str, str]) -> Style:
    code = codes.get(number, "")
    if not code:
        return Style(is_date=number.isdecimal() and int(number[:4]) in _EAST_ASIAN_DATES)
    style = Style(bool(is_date_format(code)), bool(is_timedelta_format(code)), "%" in _QUOTED.sub("", code))
    return _PLAIN if style == _PLAIN else style


def _elements(stream: IO[bytes], name: str) -> Iterator[Element]:
    """Yield each element of one name when it is complete, and free it afterwards; memory holds one at a time."""
    parser = etree.XMLPullParser(
        events=("end",), tag="{*}" + name, resolve_entities=False, no_network=True, huge_tree=True,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    since = 0
    while data := stream.read(_BUFFER):
        try:
            parser.feed(data)
        except etree.XMLSyntaxError:
            raise PackageRefused("an XML part is not well-formed") from None
        since += len(data)
        for _, element in parser.read_events():
            since = 0
            yield element
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
        if since > STREAM_WINDOW:
            raise PackageRefused(f"more than {STREAM_WINDOW} bytes in one row of a sheet", is_limit=True)


def _value_text(value: str, kind: str, style: str, book: Book) -> str:
    value = value.strip() if kind != "str" else value
    if kind == "s":
        at = int(value) if value.isdecimal() and len(value) < 10 else len(book.strings)
        return book.strings[at] if at < len(book.strings) else ""
    if kind == "b":
        return {"1": "TRUE", "true": "TRUE", "0": "FALSE", "false": "FALSE"}.get(value, value)
    if kind == "d":
        return _iso_date(value)
    if kind == "n":
        at = int(style) if style.isdecimal() and len(style) < 10 else len(book.styles)
        return _number_text(value, book.styles[at] if at < len(book.styles) else _PLAIN, book.uses_1904)
    return _one_line(value)


def _number_text(value: str, style: Style, uses_1904: bool) -> str:
    if style is _PLAIN and value.isascii() and value.isdecimal() and value[0] != "0":
        return value
    try:
        number = float(value)
    except ValueError:
        return _one_line(value)
    if style.is_duration or style.is_date:
        moment = _moment(number, style.is_duration, uses_1904)
        if moment:
            return moment
    if number != number or number in (float("inf"), float("-inf")):
        return ""
    if style.is_percent:
        return f"{number * 100:.10g}%"
    # 15 digits are what Excel itself keeps and shows: 0.1 + 0.2 is 0.3.
    return value if value.isdecimal() and value[0] != "0" else f"{number:.15g}"


def _moment(number: float, is_duration: bool, uses_1904: bool) -> str:
    try:
        moment = from_excel(number, MAC_EPOCH if uses_1904 else WINDOWS_EPOCH, timedelta=is_duration)
    except (ValueError, OverflowError):
        return ""
    if isinstance(moment, timedelta):
        seconds = round(moment.total_seconds())
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return _moment_text(moment)


def _moment_text(moment: datetime | date | time) -> str:
    if isinstance(moment, datetime):
        moment = moment.replace(tzinfo=None)
        if moment.microsecond >= 500_000 and moment.year < 9999:
            moment += timedelta(seconds=1)
        moment = moment.replace(microsecond=0)
        return moment.date().isoformat() if moment.time() == time() else moment.isoformat(" ")
    return moment.replace(microsecond=0).isoformat() if isinstance(moment, time) else moment.isoformat()


def _iso_date(value: str) -> str:
    try:
        return _moment_text(datetime.fromisoformat(value))
    except ValueError:
        return _one_line(value)


def _one_line(text: str) -> str:
    """Undo _xHHHH_ escapes and fold white space: a cell is part of one line."""
    if "_x" in text:
        text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    return " ".join(text.split())
