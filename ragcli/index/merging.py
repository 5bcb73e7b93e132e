"""Merge several segments into one without their deleted documents.

Rows and texts are copied as bytes where a segment has no deletes, its texts packed anew where it has; postings are
shifted, terms merged.

Documents keep their order within a segment, segments theirs in the merge. Memory holds tables and terms, never texts
or postings; nothing is analyzed again.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge as merge_sorted
from typing import NamedTuple

from ragcli.index.doc_table import ChunkRow, DocumentRow
from ragcli.index.postings import FREQUENCY_BITS, MAX_FREQUENCY, pack_u32, shift_postings
from ragcli.index.segment import Segment
from ragcli.index.segment_buffer import PackedDocument, PackedTables, TextBlocks, place_texts
from ragcli.index.segment_format import SegmentTotals
from ragcli.index.segment_writer import ComponentWriter, Sink, TableWriter, write_postings

# 1 MiB of postings read and shifted at a time.
_WINDOW = 1 << 18
_TEXT_PIECE = 1 << 20
_REPACKED_DOCUMENTS = 200


def merge_segments(segments: Sequence[Segment], sink: Sink) -> SegmentTotals:
    """Write the live documents of `segments` as one segment to `sink`."""
    writer = ComponentWriter(sink)
    tables = TableWriter()
    writer.begin("text")
    bases: list[int] = []
    chunks = 0
    for segment in segments:
        bases.append(chunks)
        for start, end in _living_runs(segment):
            batch, texts = (_repacked if segment.deleted else _copied)(segment, start, end)
            for piece in texts:
                writer.write(piece)
            tables.add(batch)
            chunks += len(batch.chunk_row_sizes) // 4
    tables.write(writer)
    write_postings(writer, _merged_postings(segments, bases))
    totals = tables.totals()
    writer.finish(totals)
    return totals


def _living_runs(segment: Segment) -> Iterator[tuple[int, int]]:
    """Runs [start, end) of live documents; not too long where their texts are packed anew in memory."""
    start = 0
    for gap in [*sorted(segment.deleted), segment.totals.documents]:
        step = _REPACKED_DOCUMENTS if segment.deleted else max(gap - start, 1)
        for begin in range(start, gap, step):
            yield begin, min(begin + step, gap)
        start = gap + 1


def _copied(segment: Segment, start: int, end: int) -> tuple[PackedTables, Iterable[bytes]]:
    """A whole segment's tables and texts, as they are."""
    chunks = range(segment.chunk_range(start).start, segment.chunk_range(end - 1).stop)
    documents = [
        PackedDocument(
            segment.document(ordinal)[:2],
            segment.document_row(ordinal),
            len(segment.chunk_range(ordinal)),
            *segment.text_span(ordinal),
        )
        for ordinal in range(start, end)
    ]
    rows, sizes = segment.chunk_rows(chunks)
    return _tables(segment, chunks, documents, segment.text_size, rows, sizes), _pieces(segment)


def _repacked(segment: Segment, start: int, end: int) -> tuple[PackedTables, Iterable[bytes]]:
    """The tables and texts of a run of documents among deleted ones, which no longer share their blocks."""
    chunks = range(segment.chunk_range(start).start, segment.chunk_range(end - 1).stop)
    texts = TextBlocks()
    found: list[tuple[DocumentRow, list[ChunkRow]]] = []
    for ordinal in range(start, end):
        own = []
        for chunk in segment.chunk_range(ordinal):
            row = segment.chunk(chunk)
            block, position = texts.add(segment.raw_text(ordinal, row))
            own.append(row._replace(block=block, start=position))
        found.append((segment.document(ordinal), own))
    blocks = texts.finish()
    documents, rows = place_texts(found, blocks)
    sizes = list(map(len, rows))
    return _tables(segment, chunks, documents, sum(map(len, blocks)), b"".join(rows), sizes), blocks


def _tables(
    segment: Segment, chunks: range, documents: list[PackedDocument], text_size: int, rows: bytes, sizes: list[int]
) -> PackedTables:
    return PackedTables(
        documents=documents,
        text_size=text_size,
        chunk_rows=rows,
        chunk_row_sizes=pack_u32(sizes),
        english_lengths=segment.part("english_lengths", chunks.start, chunks.stop, 4),
        code_lengths=segment.part("code_lengths", chunks.start, chunks.stop, 4),
        norms=segment.part("norms", chunks.start, chunks.stop, 8),
    )


def _pieces(segment: Segment) -> Iterator[bytes]:
    """A segment's compressed texts, a piece at a time."""
    for position in range(0, segment.text_size, _TEXT_PIECE):
        yield segment.part("text", position, min(position + _TEXT_PIECE, segment.text_size))


def _merged_postings(segments: Sequence[Segment], bases: Sequence[int]) -> Iterator[tuple[bytes, bytes]]:
    """Terms ascending, each with its live postings in the new segment; terms without any are left out."""
    placed = zip(segments, bases, strict=True)
    streams = [_postings_of(segment, number, base) for number, (segment, base) in enumerate(placed)]
    current: bytes | None = None
    pieces: list[bytes] = []
    for term, _, packed in merge_sorted(*streams):
        if term != current:
            if current is not None and pieces:
                yield current, b"".join(pieces)
            current, pieces = term, []
        if packed:
            pieces.append(packed)
    if current is not None and pieces:
        yield current, b"".join(pieces)


def _postings_of(segment: Segment, number: int, base: int) -> Iterator[tuple[bytes, int, bytes]]:
    """A segment's terms with their postings as they will stand in the merged one."""
    moved = _new_ordinals(segment, base) if segment.deleted_ranges else None
    window = _Window(b"", [0])
    window_start = position = 0
    for term, count in segment.terms():
        if position + count > window_start + window.postings:
            window_start = position
            end = min(position + max(count, _WINDOW), segment.posting_count)
            raw = segment.part("postings", position, end, 4)
            window = _Window(shift_postings(raw, base), None) if moved is None else _moved(raw, moved)
        yield term, number, window.part(position - window_start, count)
        position += count


class _Window(NamedTuple):
    """Postings as they will stand; `before` counts the live ahead of each old one, None where all are alive."""

    packed: bytes
    before: Sequence[int] | None

    @property
    def postings(self) -> int:
        """How many old postings the window covers."""
        return len(self.packed) // 4 if self.before is None else len(self.before) - 1

    def part(self, start: int, count: int) -> bytes:
        """What is left of `count` old postings from `start` on."""
        if self.before is None:
            return self.packed[4 * start : 4 * (start + count)]
        return self.packed[4 * self.before[start] : 4 * self.before[start + count]]


def _new_ordinals(segment: Segment, base: int) -> "array[int]":
    """For each chunk its ordinal in the merged segment, -1 for deleted documents."""
    moved = array("i", [-1]) * segment.totals.chunks
    position = base
    start = 0
    for dead_start, dead_end in [*segment.deleted_ranges, (segment.totals.chunks, 0)]:
        moved[start:dead_start] = array("i", range(position, position + dead_start - start))
        position += dead_start - start
        start = dead_end
    return moved


def _moved(packed: bytes, moved: "array[int]") -> _Window:
    """Drop the postings of deleted documents and renumber the others, all at once."""
    import numpy as np

    old = np.frombuffer(packed, dtype="<u4").astype(np.int64)
    new = np.frombuffer(moved, dtype=np.int32).astype(np.int64)[old >> FREQUENCY_BITS]
    alive = new >= 0
    postings = (new[alive] << FREQUENCY_BITS) | (old[alive] & MAX_FREQUENCY)
    before = np.concatenate(([0], np.cumsum(alive)))
    return _Window(postings.astype("<u4").tobytes(), before.tolist())
