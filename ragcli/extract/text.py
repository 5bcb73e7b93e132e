"""Plain text: the decoded file itself, in blocks of bounded size. Knows no structure but lines."""

import re
from bisect import bisect_left
from collections.abc import Iterator

from ragcli.documents import Block, ExtractionContext, NormalizedDocument
from ragcli.extract.decode import read_text
from ragcli.model import DocumentFormat, Metadata, Scalar

_LINE_END = re.compile("\n")


class TextExtractor:
    """Any text file; the text is the file's own, so that line numbers are an editor's."""

    id = "text"
    version = "2"
    formats = frozenset({DocumentFormat.TEXT})

    def extract(self, raw: bytes, context: ExtractionContext) -> NormalizedDocument:
        text, encoding = read_text(raw, context)
        return plain_document(text, context, {"encoding": encoding})


def plain_document(
    text: str, context: ExtractionContext, metadata: Metadata, shown: Metadata | None = None
) -> NormalizedDocument:
    """Make a document of plain blocks; `shown` is the metadata of each block (none by default)."""
    blocks = tuple(bounded_blocks(text, Block(0, len(text), shown or {}), context.limits.max_block_chars))
    unreadable = text.count("\ufffd")
    notes = (f"unreadable characters, shown as U+FFFD: {unreadable:,}",) if unreadable else ()
    return NormalizedDocument(text, blocks, context.format, metadata=metadata, notes=notes)


def fallback_document(text: str, context: ExtractionContext, encoding: str, reason: str) -> NormalizedDocument:
    """Make plain blocks of a structured file that its own parser cannot read; says so in document and blocks."""
    shown: dict[str, Scalar] = {"parser": "text", "fallback": True, "fallback_reason": reason}
    return plain_document(text, context, {"encoding": encoding, **shown}, shown)


def line_starts(text: str) -> list[int]:
    """List the offset at which each line begins, the first being 0. The last line may be empty.

    Only LF ends a line here: str.splitlines also breaks at form feeds, U+2028 and more.
    """
    return [0, *map(re.Match.end, _LINE_END.finditer(text))]


def bounded_blocks(text: str, block: Block, max_chars: int) -> Iterator[Block]:
    """Tile a block with blocks of at most `max_chars`, cut after a line where one ends in time; none if it is empty."""
    first, start = 0, block.start
    while start < block.end:
        stop = block.end
        if stop - start > max_chars:
            line_end = text.rfind("\n", start, start + max_chars) + 1
            stop = line_end if line_end > start else start + max_chars
        last = bisect_left(block.cuts, stop, first)
        yield block._replace(start=start, end=stop, cuts=block.cuts[first:last])
        first, start = last, stop
