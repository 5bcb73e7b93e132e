"""Join extracted pieces to one normalized text whose blocks tile it.

May not know any format.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ragcli.documents import Block, NormalizedDocument
from ragcli.model import DocumentFormat, Metadata

# Half the chunk cap of the contract: evidence stays short enough that a few results fit a prompt.
BLOCK_BYTES = 8 * 1024

# What XML lets through and our text must not hold: a BOM inside, lone surrogates (from escapes), stray controls.
_UNWANTED: dict[int, str | None] = {
    **dict.fromkeys([*range(9), *range(14, 32), 0x7F, 0xFEFF]),
    **dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}"),
    0x0B: "\n",
    0x0C: "\n",
    0x85: "\n",
    0x2028: "\n",
    0x2029: "\n",
}


class Piece(NamedTuple):
    """Lines that belong together (a section, some rows, a slide) with their provenance."""

    lines: Sequence[str]
    metadata: Metadata


def clean(text: str) -> str:
    """Normalize line ends and drop what a normalized text may not hold."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_UNWANTED)


def split_lines(lines: Sequence[str], size: int = BLOCK_BYTES) -> list[list[str]]:
    """Group lines, in order, so that no group passes `size` bytes, but for a longer line, which stands alone."""
    groups: list[list[str]] = []
    room = 0
    for line in lines:
        need = len(line.encode("utf-8", "replace")) + 1
        if not groups or need > room:
            groups.append([])
            room = size
        groups[-1].append(line)
        room -= need
    return groups


def assemble(
    pieces: Iterable[Piece], format: DocumentFormat, max_block: int, *, title: str = "", notes: Sequence[str] = ()
) -> NormalizedDocument:
    """Build the document: each piece becomes a block ended by a blank line, its lines the places to cut it at."""
    texts: list[str] = []
    blocks: list[Block] = []
    at = 0
    for piece in pieces:
        lines = [line.rstrip() for line in map(clean, piece.lines)]
        if not any(lines):
            continue
        if texts:
            texts.append("\n")
            at += 1
            blocks[-1] = blocks[-1]._replace(end=at)
        start = at
        cuts = []
        for line in lines:
            if at > start:
                cuts.append(at)
            texts.append(line + "\n")
            at += len(line) + 1
        blocks += _bounded(Block(start, at, piece.metadata, mergeable=False, cuts=tuple(cuts)), max_block - 1)
    metadata: Metadata = {"title": title} if title else {}
    return NormalizedDocument("".join(texts), tuple(blocks), format, metadata=metadata, notes=tuple(notes))


def _bounded(block: Block, size: int) -> list[Block]:
    """Split a block over the cap on one block at its last cuts that fit, else between characters."""
    parts = []
    while block.end - block.start > size:
        fitting = [cut for cut in block.cuts if block.start < cut <= block.start + size]
        at = fitting[-1] if fitting else block.start + size
        parts.append(block._replace(end=at, cuts=tuple(cut for cut in block.cuts if block.start < cut < at)))
        block = block._replace(start=at, cuts=tuple(cut for cut in block.cuts if cut > at))
    return [*parts, block]
