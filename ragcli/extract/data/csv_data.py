"""CSV and TSV: the file's own text, cut at records, with the header row beside each later block. Converts no value.

The dialect is guessed from a bounded sample by counting columns; csv.Sniffer takes minutes on unbalanced quotes. Where
records begin is found by a scan of quotes that gives up on a quote which does not close, so that no file is lost.
"""

import csv
import re
from bisect import bisect_right
from collections import Counter
from itertools import islice, pairwise

from ragcli.documents import Block, ExtractionContext, NormalizedDocument
from ragcli.extract.decode import read_text
from ragcli.extract.text import bounded_blocks
from ragcli.model import DocumentFormat, Scalar

_DELIMITERS = ",;\t|"
# Enough rows to tell a delimiter from a comma in prose; one field of the sample stays under the csv module's limit.
_SAMPLE_CHARS, _SAMPLE_ROWS = 64 * 1024, 100
_HEADER_CHARS, _HEADER_ROWS = 500, 5
# Records that share the first block with the header row.
_FIRST_CHARS, _FIRST_ROWS = 2_000, 40
# A quoted field that runs on longer than this was not meant as one.
_QUOTED_CHARS = 256 * 1024
_NUMBER_CHARS = 40
_MOST_UNCLOSED = 100
# The fields of a line up to a quoted one that does not close in it; the possessive repeats keep it linear.
_OPENED = r"""(?:(?:[ ]*"(?:[^"]|"")*+"[^MARK]*+|(?![ ]*")[^MARK]*+)MARK)*+[ ]*"(?:[^"]|"")*+\Z"""
_TO_QUOTE = re.compile(r'(?:[^"]|"")*+"')
_SEPARATOR_LINE = re.compile(r'"?sep=([,;|\t])"?[\r\n]', re.IGNORECASE)
_LINE = re.compile(r"[^\r\n]*(?:\n|\r\n?|\Z)")
_NUMBER = re.compile(r"[-+$€£]?[\d.,:/%$€£ -]*")
_YEAR = re.compile(r"(?:19|20)\d\d")


class CsvExtractor:
    """Records of delimited text; a cut is at a record's start only."""

    id = "csv"
    version = "2"
    formats = frozenset({DocumentFormat.CSV})

    def extract(self, raw: bytes, context: ExtractionContext) -> NormalizedDocument:
        text, encoding = read_text(raw, context)
        delimiter = "\t" if context.uri.lower().endswith(".tsv") else _delimiter(text)
        starts = _record_starts(text, delimiter)
        header, header_end = _header(text, starts, delimiter)
        shown: dict[str, Scalar] = {"header": header} if header else {}
        first = _first_end(text, starts, header_end) if header else len(text)
        blocks: list[Block] = []
        for block in (Block(0, first, {}), Block(first, len(text), shown)):
            cuts = tuple(start for start in starts if block.start < start < block.end)
            blocks.extend(bounded_blocks(text, block._replace(cuts=cuts), context.limits.max_block_chars))
        return NormalizedDocument(text, tuple(blocks), DocumentFormat.CSV, metadata={"encoding": encoding})


def _delimiter(text: str) -> str:
    """Return the delimiter that splits most rows of the sample into the same number of columns, a comma on doubt."""
    if named := _SEPARATOR_LINE.match(text):
        return named[1]
    sample = text[:_SAMPLE_CHARS]
    lines = re.split("[\r\n]", sample)
    if len(lines) > 1 and len(text) > len(sample):
        lines.pop()
    scores = {delimiter: _score(lines, delimiter) for delimiter in _DELIMITERS}
    return max(_DELIMITERS, key=lambda delimiter: scores[delimiter])


def _score(lines: list[str], delimiter: str) -> tuple[float, int, float]:
    """Say how evenly a delimiter splits the rows: of two that do, the one with more columns is no part of a number."""
    widths = Counter(len(row) for row in _rows(lines, delimiter) if row)
    total = widths.total()
    del widths[1]
    if not widths:
        return 0.0, 1, 0.0
    width, count = max(widths.items(), key=lambda item: (item[1], item[0]))
    return round(count / total, 1), width, count / total


def _rows(lines: list[str], delimiter: str) -> list[list[str]]:
    try:
        return list(islice(csv.reader(lines, delimiter=delimiter), _SAMPLE_ROWS))
    except csv.Error:
        return [line.split(delimiter) for line in lines[:_SAMPLE_ROWS]]


def _record_starts(text: str, delimiter: str) -> list[int]:
    """Return where each record begins; a line end inside a quoted field begins none."""
    if '"' not in text:
        return [match.start() for match in _LINE.finditer(text) if match.end() > match.start()]
    opened = re.compile(_OPENED.replace("MARK", re.escape(delimiter)))
    starts: list[int] = []
    at, unclosed = 0, 0
    while at < len(text):
        starts.append(at)
        line, at = _line(text, at)
        while '"' in line and unclosed < _MOST_UNCLOSED and opened.match(line):
            close = _TO_QUOTE.match(text, at, min(len(text), at + _QUOTED_CHARS))
            if close is None:
                unclosed += 1
                break
            line, at = _line(text, close.end())
    return starts


def _line(text: str, at: int) -> tuple[str, int]:
    """Return the rest of the line at `at` and where the next one begins."""
    match = _LINE.match(text, at)
    return (match[0], match.end()) if match else ("", len(text))


def _header(text: str, starts: list[int], delimiter: str) -> tuple[str, int]:
    """Return the header row as shown and where it ends; a title above it has no columns and is passed over."""
    edges = [*starts, len(text)]
    for start, end in pairwise(edges[: _HEADER_ROWS + 1]):
        rows = _rows(text[start : min(end, start + _SAMPLE_CHARS)].splitlines(), delimiter)
        cells = [" ".join(cell.split()) for cell in rows[0]] if rows else []
        named = [cell for cell in cells if cell]
        if len(cells) < 2 or (start == 0 and _SEPARATOR_LINE.match(text)):
            continue
        if len(named) * 2 < len(cells) or any(map(_is_number, named)):
            break
        return " | ".join(cells)[:_HEADER_CHARS], end
    return "", 0


def _is_number(cell: str) -> bool:
    """Tell whether a cell is a value rather than a name; a year names a column as often."""
    return len(cell) < _NUMBER_CHARS and bool(_NUMBER.fullmatch(cell)) and not _YEAR.fullmatch(cell)


def _first_end(text: str, starts: list[int], header_end: int) -> int:
    """Return where the block with the header row ends: a few records behind it."""
    if len(text) <= _FIRST_CHARS and len(starts) <= _FIRST_ROWS:
        return len(text)
    count = min(bisect_right(starts, _FIRST_CHARS) - 1, _FIRST_ROWS)
    return max(header_end, starts[count])
