"""Cut a passage out of what is stored of a document: lines, a symbol, a page, sheet, slide, chapter, or one chunk.

Pure. Lines are those of the stored text, 1-based and inclusive; for text formats they are the lines of the file.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ragcli.errors import DocumentNotFoundError
from ragcli.model import SearchResult, StoredDocument

# The places of a document that have a name or a number of their own, by the key of a chunk's metadata.
PLACES = ("page", "sheet", "slide", "chapter", "cell")
_QUALIFIED = "qualified_symbol"


class Selection(NamedTuple):
    """Which part of a document is wanted; nothing set means all of it. `place` is a key of PLACES with its value.

    `neighbours` widens it on both sides: by so many lines around lines, by so many chunks around anything else.
    """

    start_line: int | None = None
    end_line: int | None = None
    symbol: str = ""
    chunk: str = ""
    place: tuple[str, str] | None = None
    neighbours: int = 0


class Passage(NamedTuple):
    """A part of a document: its lines and text, and the chunks that it touches."""

    start_line: int
    end_line: int
    text: str
    chunks: list[SearchResult]


def passage(stored: StoredDocument, selection: Selection = Selection()) -> Passage:
    """Return the selected part. DocumentNotFoundError where the document has no such line, symbol, place or chunk."""
    if selection.chunk:
        found = [c for c in stored.chunks if c.id == selection.chunk]
        return _of_chunks(stored, _chosen(stored, found, "chunk"), selection.neighbours)
    if selection.symbol:
        symbols = sorted({str(c.metadata[_QUALIFIED]) for c in stored.chunks if _QUALIFIED in c.metadata})
        hint = f"its symbols begin with: {', '.join(symbols[:5])}" if symbols else ""
        found = _chosen(stored, _of_symbol(stored.chunks, selection.symbol), f"symbol {selection.symbol}", hint)
        return _of_chunks(stored, found, selection.neighbours)
    if selection.place:
        key, value = selection.place
        values = _places(stored.chunks, key)
        named = next((known for known in values if known.casefold() == value.casefold()), "")
        if not named and key in ("sheet", "chapter") and value.isascii() and value.isdigit():
            named = (["", *values])[int(value)] if int(value) <= len(values) else ""
        found = [c for c in stored.chunks if named and str(c.metadata.get(key, "")) == named]
        hint = f"its {key}s: {_listed(values)}" if values else f"it has no {key}s"
        return _of_chunks(stored, _chosen(stored, found, f"{key} {value}", hint), selection.neighbours)
    lines = _lines(stored.text)
    first = selection.start_line or 1
    last = min(selection.end_line or len(lines), len(lines))
    if first > max(len(lines), 1) or first > max(last, 1):
        raise DocumentNotFoundError(
            f"{stored.file or stored.id} has {len(lines):,} lines, none at {first}", f"its lines are 1-{len(lines)}"
        )
    first = max(first - selection.neighbours, 1)
    last = min(last + selection.neighbours, len(lines))
    touched = [c for c in stored.chunks if c.start_line <= last and c.end_line >= first]
    return Passage(first, max(last, first), "".join(lines[first - 1 : last]), touched)


def _lines(text: str) -> list[str]:
    """Lines as an editor counts them: ended by LF alone, whatever else `str.splitlines` would take for an end."""
    *ended, rest = text.split("\n")
    return [f"{line}\n" for line in ended] + ([rest] if rest else [])


def _of_symbol(chunks: Sequence[SearchResult], symbol: str) -> list[SearchResult]:
    """The chunks of a symbol and of what is nested in it: by its qualified name, else its own, else without case.

    Else by the end of a qualified name.
    """
    for fold in (str, str.casefold):
        for key in (_QUALIFIED, "symbol"):
            found = [c for c in chunks if fold(str(c.metadata.get(key, ""))) == fold(symbol)]
            if found:
                return _with_nested(chunks, found)
    ends = (f".{symbol}", f"::{symbol}")
    return _with_nested(chunks, [c for c in chunks if str(c.metadata.get(_QUALIFIED, "")).endswith(ends)])


def _with_nested(chunks: Sequence[SearchResult], found: Sequence[SearchResult]) -> list[SearchResult]:
    """The found chunks, and those whose qualified name continues one of theirs."""
    names = {str(c.metadata[_QUALIFIED]) for c in found if c.metadata.get(_QUALIFIED)}
    beginnings = tuple(f"{name}{separator}" for name in names for separator in (".", "::"))
    keys = {id(c) for c in found}
    return [
        c for c in chunks if id(c) in keys or (names and str(c.metadata.get(_QUALIFIED, "")).startswith(beginnings))
    ]


def _places(chunks: Sequence[SearchResult], key: str) -> list[str]:
    """The different values of a place in a document's order."""
    return list(dict.fromkeys(str(c.metadata[key]) for c in chunks if c.metadata.get(key) not in (None, "")))


def _listed(values: Sequence[str]) -> str:
    """Name values: a range of numbers as its ends, of others the first."""
    if len(values) > 2 and all(value.isdigit() for value in values):
        return f"{values[0]}-{values[-1]}"
    return ", ".join(values[:5]) + (", ..." if len(values) > 5 else "")


def _chosen(stored: StoredDocument, found: list[SearchResult], what: str, hint: str = "") -> list[SearchResult]:
    if not found:
        raise DocumentNotFoundError(f"{stored.file or stored.id} has no such {what}", hint or "see: ragcli show FILE")
    return found


def _of_chunks(stored: StoredDocument, found: list[SearchResult], neighbours: int) -> Passage:
    keys = {id(c) for c in found}
    at = [number for number, c in enumerate(stored.chunks) if id(c) in keys]
    wanted = sorted({near for n in at for near in range(n - neighbours, n + neighbours + 1)})
    chunks = [stored.chunks[number] for number in wanted if 0 <= number < len(stored.chunks)]
    first = min(c.start_line for c in chunks)
    return Passage(first, max(c.end_line for c in chunks), "".join(c.content for c in chunks), chunks)
