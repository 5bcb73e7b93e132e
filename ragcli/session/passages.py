"""Cut a passage out of what is stored of a document: lines, a symbol, a page, sheet, slide, chapter, or one chunk.

Pure. Lines are those of the stored text, 1-based and inclusive; for text formats they are the lines of the file.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ragcli.errors import DocumentNotFoundError
from ragcli.model import SearchResult, StoredDocument

# The places of a document that have a name or a number of their own, by the key of a chunk's metadata.
PLACES = ("page", "sheet", "slide", "chapter", "cell")


class Selection(NamedTuple):
    """Which part of a document is wanted; nothing set means all of it. `place` is a key of PLACES with its value."""

    start_line: int | None = None
    end_line: int | None = None
    symbol: str = ""
    chunk: str = ""
    place: tuple[str, str] | None = None


class Passage(NamedTuple):
    """A part of a document: its lines and text, and the chunks that it touches."""

    start_line: int
    end_line: int
    text: str
    chunks: list[SearchResult]


def passage(stored: StoredDocument, selection: Selection = Selection()) -> Passage:
    """Return the selected part. DocumentNotFoundError where the document has no such line, symbol, place or chunk."""
    if selection.chunk:
        return _of_chunks(stored, _chosen(stored, (c for c in stored.chunks if c.id == selection.chunk), "chunk"))
    if selection.symbol:
        return _of_chunks(stored, _chosen(stored, _of_symbol(stored.chunks, selection.symbol), "symbol"))
    if selection.place:
        key, value = selection.place
        named = (c for c in stored.chunks if str(c.metadata.get(key, "")).casefold() == value.casefold())
        return _of_chunks(stored, _chosen(stored, named, f"{key} {value}"))
    lines = _lines(stored.text)
    first = selection.start_line or 1
    last = min(selection.end_line or len(lines), len(lines))
    if first > max(len(lines), 1) or first > max(last, 1):
        raise DocumentNotFoundError(
            f"{stored.file or stored.id} has {len(lines):,} lines, none at {first}", f"its lines are 1-{len(lines)}"
        )
    touched = [c for c in stored.chunks if c.start_line <= last and c.end_line >= first]
    return Passage(first, max(last, first), "".join(lines[first - 1 : last]), touched)


def _lines(text: str) -> list[str]:
    """Lines as an editor counts them: ended by LF alone, whatever else `str.splitlines` would take for an end."""
    *ended, rest = text.split("\n")
    return [f"{line}\n" for line in ended] + ([rest] if rest else [])


def _of_symbol(chunks: Sequence[SearchResult], symbol: str) -> list[SearchResult]:
    """The chunks that define a symbol: by its qualified name, else its own, else either without regard to case."""
    keys = ("qualified_symbol", "symbol")
    for fold in (str, str.casefold):
        for key in keys:
            found = [c for c in chunks if fold(str(c.metadata.get(key, ""))) == fold(symbol)]
            if found:
                return found
    return [c for c in chunks if str(c.metadata.get("qualified_symbol", "")).endswith((f".{symbol}", f"::{symbol}"))]


def _chosen(stored: StoredDocument, found: Iterable[SearchResult], what: str) -> list[SearchResult]:
    chosen = list(found)
    if not chosen:
        names = {str(c.metadata["qualified_symbol"]) for c in stored.chunks if "qualified_symbol" in c.metadata}
        symbols = sorted(names)
        hint = f"its symbols begin with: {', '.join(symbols[:5])}" if symbols and what == "symbol" else ""
        raise DocumentNotFoundError(f"{stored.file or stored.id} has no such {what}", hint or "see: ragcli show FILE")
    return chosen


def _of_chunks(stored: StoredDocument, chunks: list[SearchResult]) -> Passage:
    ordered = sorted(chunks, key=lambda c: (c.start_line, c.end_line))
    return Passage(
        ordered[0].start_line, max(c.end_line for c in ordered), "".join(c.content for c in ordered), ordered
    )
