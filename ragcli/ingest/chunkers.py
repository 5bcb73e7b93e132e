"""Documents to chunks that tile their text. Reads no bytes and no files; knows blocks, not formats' insides.

Chunks never overlap: each starts where the one before it ended, so their texts joined are the document's text. Their
lines end at the last one that is not blank.
"""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property

from ragcli.config.options import STRICT, Limits
from ragcli.documents import Block, Chunk, ExtractionContext, NormalizedDocument
from ragcli.errors import DocumentProcessingError, FailureCode, UsageError
from ragcli.extract import registry
from ragcli.extract.decode import well_formed
from ragcli.extract.text import line_starts
from ragcli.model import DocumentFormat
from ragcli.text.graphemes import joins

# Characters of a chunk of prose, about 350 words: a page's worth of paragraphs ranks and reads better than the 16 KiB
# that the caps allow. A run up to half as long again stays whole, pieces are of equal size.
TARGET_CHARS = 2_000
# Formats whose extractor has packed its blocks by itself.
_PACKED = frozenset({DocumentFormat.JSON})
# A cut that leaves less than this share of the wanted piece is worth it only where the extractor asked for it.
_LEAST_SHARE = 0.4
_BLANK_LINE = re.compile(r"\n(?:[ \t\r\f\v]*\n)+")
_MAX_CLUSTER = 32
_SMALLEST_CHUNK_BYTES = 4  # one character of UTF-8


class NormalizedDocumentChunker:
    """Cuts documents at their blocks, and long blocks at the best place within the limits."""

    id = "normalized"
    version = "1"

    def chunk(
        self, document: NormalizedDocument, limits: Limits = STRICT, *, uri: str = "", source: str = ""
    ) -> list[Chunk]:
        """Return chunks that tile the text, none for a text of white space; over max_chunks raise LIMIT.

        DocumentProcessingError with LIMIT over max_chunks.
        """
        check_limits(limits)
        if not document.text or document.text.isspace():
            return []
        runs = _join_blank(document.text, _join(document.blocks), limits)
        target = 0 if document.format in _PACKED else TARGET_CHARS
        chunks = _Cutter(document.text, limits).chunks(runs, target)
        if len(chunks) > limits.max_chunks:
            chunks = _Cutter(document.text, limits).chunks(runs, 0)
        if len(chunks) > limits.max_chunks:
            detail = f"more than {limits.max_chunks:,} chunks (max_chunks)"
            raise DocumentProcessingError(FailureCode.LIMIT, source, uri, document.format, detail)
        return chunks


class CodeChunker:
    """Cuts the text of a source file at its symbols."""

    id = "code"
    version = "1"

    def chunk(self, text: str, path: str, limits: Limits = STRICT) -> list[Chunk]:
        """Return the chunks of source text; offsets count its normalized form, `path` tells its language."""
        context = ExtractionContext(uri=path, format=DocumentFormat.SOURCE_CODE, limits=limits)
        document = registry.extract(well_formed(text).encode(), context)
        return NormalizedDocumentChunker().chunk(document, limits, uri=path)


def chunk_ids(path: str, text: str, chunks: Sequence[Chunk]) -> list[str]:
    """Return an id for each chunk: a hash of path, symbol and content, with -2, -3 … for repeats in order."""
    seen: dict[str, int] = {}
    ids = []
    beginning = hashlib.sha256(path.encode("utf-8", "surrogateescape") + b"\0")
    for start, end, _, _, metadata in chunks:
        symbol = f"{metadata.get('symbol', '')}\0"
        hashed = beginning.copy()
        hashed.update((symbol + text[start:end]).encode("utf-8", "replace"))
        id = hashed.hexdigest()[:16]
        count = seen[id] = seen.get(id, 0) + 1
        ids.append(id if count == 1 else f"{id}-{count}")
    return ids


def check_limits(limits: Limits) -> None:
    """Raise UsageError for limits under which no cut can advance."""
    if limits.max_chunk_lines < 1 or limits.max_chunk_bytes < _SMALLEST_CHUNK_BYTES or limits.max_chunks < 1:
        raise UsageError(
            f"chunks cannot be cut with max_chunk_lines={limits.max_chunk_lines}, "
            f"max_chunk_bytes={limits.max_chunk_bytes}, max_chunks={limits.max_chunks}",
            f"use at least 1 line, {_SMALLEST_CHUNK_BYTES} bytes and 1 chunk",
        )


def _join(blocks: Sequence[Block]) -> list[Block]:
    """Join mergeable neighbours of equal metadata; the borders between them become cuts."""
    runs: list[Block] = []
    at = 0
    while at < len(blocks):
        run = blocks[at]
        at += 1
        if run.mergeable and at < len(blocks) and _joins(run, blocks[at]):
            end, cuts = run.end, list(run.cuts)
            while at < len(blocks) and _joins(run, blocks[at]):
                start, end, _, _, inside = blocks[at]
                cuts.append(start)
                cuts.extend(inside)
                at += 1
            run = run._replace(end=end, cuts=tuple(cuts))
        runs.append(run)
    return runs


def _joins(run: Block, block: Block) -> bool:
    return block.mergeable and run.metadata == block.metadata


def _join_blank(text: str, runs: list[Block], limits: Limits) -> list[Block]:
    """Give white space between two blocks to the one before it, else to the one after it, where it fits."""
    joined: list[Block] = []
    blank: list[Block] = []
    for run in runs:
        if text[run.start : run.end].isspace():
            blank.append(run)
            continue
        if blank:
            if joined and _fits(text, joined[-1].start, run.start, limits):
                joined[-1] = joined[-1]._replace(end=run.start)
            elif _fits(text, blank[0].start, run.end, limits):
                run = run._replace(start=blank[0].start)
            else:
                joined += blank
            blank = []
        joined.append(run)
    if blank and joined and _fits(text, joined[-1].start, blank[-1].end, limits):
        joined[-1] = joined[-1]._replace(end=blank[-1].end)
    else:
        joined += blank
    return joined


def _fits(text: str, start: int, end: int, limits: Limits) -> bool:
    if end - start > limits.max_chunk_bytes:
        return False
    piece = text[start:end]
    lines = piece.count("\n", 0, len(piece) - 1) + 1
    return lines <= limits.max_chunk_lines and len(piece.encode()) <= limits.max_chunk_bytes


class _Cutter:
    """Cuts the runs of one text, which tile it. Where its lines start is found only when it is asked."""

    def __init__(self, text: str, limits: Limits) -> None:
        self._text = text
        self._limits = limits
        self._ascii = text.isascii()
        # So many characters are within the cap on bytes whatever they are.
        self._short = limits.max_chunk_bytes if self._ascii else limits.max_chunk_bytes // 4

    def chunks(self, runs: Sequence[Block], target: int) -> list[Chunk]:
        """Cut each run; `target` is the wanted size of a chunk without symbol in characters, 0 for as large as fits."""
        text, most_lines = self._text, self._limits.max_chunk_lines
        found = []
        line = 1
        for run in runs:
            start, metadata = run.start, run.metadata
            wanted = 0 if "symbol" in metadata else target
            # Most runs are one chunk, which a look at their size and lines tells.
            whole = min(self._short, wanted + wanted // 2) if wanted else self._short
            while start < run.end:
                end = run.end
                if end - start > whole or (breaks := text.count("\n", start, end)) >= most_lines:
                    end = self._next(run, start, wanted)
                    breaks = text.count("\n", start, end)
                # Blank lines at its end belong to the chunk's text, but nobody cites them.
                shown = start + len(text[start:end].rstrip())
                shown = shown if shown > start else end - 1
                found.append(Chunk(start, end, line, line + breaks - text.count("\n", shown, end), metadata))
                line += breaks
                start = end
        return found

    def _next(self, run: Block, at: int, target: int) -> int:
        """Return where the chunk that begins at `at` ends."""
        end, cuts = run.end, run.cuts
        # Where no place is asked for, no cut is looked for beyond twice the target: weigh no more bytes than that.
        farthest = self._farthest(at, end if cuts or not target else min(end, at + 2 * target))
        whole = target + target // 2 if target else end - at
        if farthest == end and end - at <= whole:
            return end
        return self._cut(at, self._goal(at, end, farthest, target), farthest, cuts)

    @cached_property
    def _line_starts(self) -> list[int]:
        return line_starts(self._text)

    def _farthest(self, at: int, end: int) -> int:
        """Return the last offset where a chunk from `at` may end: the caps on lines and bytes, but one character."""
        limits, starts = self._limits, self._line_starts
        line = bisect_right(starts, at) + limits.max_chunk_lines - 1
        if line < len(starts):
            end = min(end, starts[line])
        if end - at > limits.max_chunk_bytes:
            end = at + limits.max_chunk_bytes
        if self._ascii or (end - at) * 4 <= limits.max_chunk_bytes:
            return end
        encoded = self._text[at:end].encode()
        if len(encoded) <= limits.max_chunk_bytes:
            return end
        return at + max(1, len(encoded[: limits.max_chunk_bytes].decode("utf-8", "ignore")))

    def _goal(self, at: int, end: int, farthest: int, target: int) -> int:
        """Return where the next cut is wanted: pieces of equal size, no larger than the target and the caps."""
        size = min(target, farthest - at) if target else farthest - at
        count = -(-(end - at) // size)
        return min(farthest, at - (-(end - at) // count))

    def _cut(self, at: int, goal: int, farthest: int, cuts: Sequence[int]) -> int:
        """Return the offset in (at, farthest] where to cut: an asked-for place, a blank line, a line end, a blank."""
        asked = _nearest(cuts, at, goal, farthest)
        if asked:
            return asked
        text, least = self._text, at + int((goal - at) * _LEAST_SHARE)
        farther = min(farthest, goal + (goal - least))
        after = [match.end() for match in _BLANK_LINE.finditer(text, least, farther)]
        paragraph = _nearest(after, least, goal, farther)
        if paragraph:
            return paragraph
        for mark in ("\n", ". ", "。", " "):
            before = text.rfind(mark, least, goal) + len(mark)
            if before >= least + len(mark):
                return before
            behind = text.find(mark, goal, farther) + len(mark)
            if behind >= goal + len(mark):
                return behind
        return _between_characters(text, at, goal)


def _nearest(places: Sequence[int], after: int, goal: int, last: int) -> int:
    """Return the place in (after, last] nearest to the goal, the earlier of two, 0 where there is none."""
    index = bisect_right(places, goal)
    before = places[index - 1] if index and after < places[index - 1] <= last else 0
    behind = places[index] if index < len(places) and after < places[index] <= last else 0
    if before and behind:
        return before if goal - before <= behind - goal else behind
    return before or behind


def _between_characters(text: str, at: int, cut: int) -> int:
    """Move a cut back to where no combining sequence is torn, if that is near."""
    for place in range(cut, max(at, cut - _MAX_CLUSTER), -1):
        if place >= len(text) or not _continues(text[place - 1], text[place]):
            return place
    return cut


def _continues(before: str, char: str) -> bool:
    """Tell whether `char` belongs to the character before it: a mark, a variation selector, a joined emoji."""
    return joins(char) or (before == "\u200d" and char >= "\u0300")
