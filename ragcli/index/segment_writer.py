"""Packed batches to one immutable segment, in a single pass over a sink. Knows bytes, never a file.

    text · document and chunk tables · arrays by chunk · postings · terms · header (msgpack) · u32 header bytes

Every component is named in the header with its offset and length: a reader ignores names it does not know.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Protocol

import msgpack

from ragcli.index.postings import MAX_CHUNKS, pack_u32, pack_u64, unpack_u32
from ragcli.index.postings_merger import PostingsMerger
from ragcli.index.segment_buffer import InMemorySegment, PackedTables
from ragcli.index.segment_format import HEADER_SIZE, TERM_BLOCK, SegmentTotals

# Of the dictionary's blocks, some 2 KB each: setting up the usual window of 32 KiB takes a third longer.
COMPRESSION, WINDOW_BITS = 4, 12


class Sink(Protocol):
    """Where a segment's bytes go, in order."""

    position: int

    def write(self, data: bytes | bytearray | memoryview) -> None: ...


class SegmentBuilder:
    """Collects batches, writing their texts through and keeping the rest until `finish`."""

    def __init__(self, sink: Sink) -> None:
        self._writer = ComponentWriter(sink)
        self._tables = TableWriter()
        self._postings = PostingsMerger()
        self._row_bytes = 0
        self.chunks = 0
        self.documents = 0
        self._writer.begin("text")

    def room_for(self, batch: InMemorySegment) -> bool:
        """Whether the batch's chunks still have ordinals in this segment."""
        return self.chunks + batch.chunks <= MAX_CHUNKS

    def add(self, batch: InMemorySegment) -> None:
        """Append a batch; its chunks follow those already here."""
        self._writer.write(batch.text)
        self._postings.add(batch.postings, self.chunks)
        self._tables.add(batch.tables)
        self.chunks += batch.chunks
        self.documents += len(batch.tables.documents)
        self._row_bytes += len(batch.tables.chunk_rows)

    @property
    def packed_bytes(self) -> int:
        """About what the batches take in memory."""
        return self._postings.memory + self._row_bytes

    def finish(self) -> SegmentTotals:
        """Write tables, postings, terms and header; the builder is spent."""
        self._tables.write(self._writer)
        terms, counts, pieces = self._postings.finish()
        self._writer.begin("postings")
        for piece in pieces:
            self._writer.write(piece)
        blocks = _TermBlocks()
        for start in range(0, len(terms), TERM_BLOCK):
            blocks.close(terms[start : start + TERM_BLOCK], counts[start : start + TERM_BLOCK])
        blocks.write(self._writer)
        totals = self._tables.totals()
        self._writer.finish(totals)
        return totals


class ComponentWriter:
    """Names runs of a sink's bytes, and writes the header that says where they are."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._components: dict[str, list[int]] = {}
        self._current = ""

    def begin(self, name: str) -> None:
        """Start the component `name`; the one before it ends here."""
        self._end()
        self._components[name] = [self._sink.position, 0]
        self._current = name

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Append to the current component."""
        self._sink.write(data)

    def component(self, name: str, data: bytes) -> None:
        """Write a whole component."""
        self.begin(name)
        self._sink.write(data)

    def finish(self, totals: SegmentTotals) -> None:
        """Write the header."""
        self._end()
        header: dict[str, Any] = {"components": self._components, "totals": list(totals)}
        packed = msgpack.packb(header, use_bin_type=True)
        self._sink.write(packed)
        self._sink.write(HEADER_SIZE.pack(len(packed)))

    def _end(self) -> None:
        if self._current:
            start = self._components[self._current][0]
            self._components[self._current][1] = self._sink.position - start


class TableWriter:
    """The document and chunk tables and the arrays by chunk, in the order documents were added."""

    def __init__(self) -> None:
        self._keys: list[tuple[str, str]] = []
        self._document_rows: list[bytes] = []
        self._document_chunks = [0]
        self._document_texts: list[int] = []
        self._text_base = 0
        self._chunk_rows: list[bytes] = []
        self._chunk_row_sizes: list[bytes] = []
        self._english_lengths: list[bytes] = []
        self._code_lengths: list[bytes] = []
        self._norms: list[bytes] = []

    def add(self, tables: PackedTables) -> None:
        """Append documents and chunks."""
        for document in tables.documents:
            self._keys.append(document.key)
            self._document_rows.append(document.row)
            self._document_chunks.append(self._document_chunks[-1] + document.chunks)
            self._document_texts += (self._text_base + document.text_start, self._text_base + document.text_end)
        self._text_base += tables.text_size
        self._chunk_rows.append(tables.chunk_rows)
        self._chunk_row_sizes.append(tables.chunk_row_sizes)
        self._english_lengths.append(tables.english_lengths)
        self._code_lengths.append(tables.code_lengths)
        self._norms.append(tables.norms)

    def write(self, writer: ComponentWriter) -> None:
        """Write all tables as components."""
        writer.component("document_rows", b"".join(self._document_rows))
        writer.component("document_row_ends", pack_u32(accumulate(map(len, self._document_rows))))
        writer.component("document_chunks", pack_u32(self._document_chunks))
        writer.component("document_texts", pack_u64(self._document_texts))
        order = sorted(range(len(self._keys)), key=self._keys.__getitem__)
        if any(ordinal != place for place, ordinal in enumerate(order)):
            writer.component("document_ords", pack_u32(_inverse(order)))
        writer.component("chunk_rows", b"".join(self._chunk_rows))
        sizes = unpack_u32(b"".join(self._chunk_row_sizes))
        writer.component("chunk_row_ends", pack_u32(accumulate(sizes)))
        writer.component("chunk_documents", _documents_of_chunks(self._document_chunks))
        writer.component("english_lengths", b"".join(self._english_lengths))
        writer.component("code_lengths", b"".join(self._code_lengths))
        writer.component("norms", b"".join(self._norms))

    def totals(self) -> SegmentTotals:
        """Documents, chunks and the sums of their lengths."""
        return SegmentTotals(
            len(self._document_rows),
            self._document_chunks[-1],
            sum(unpack_u32(b"".join(self._english_lengths))),
            sum(unpack_u32(b"".join(self._code_lengths))),
        )


def _inverse(order: Sequence[int]) -> list[int]:
    ranks = [0] * len(order)
    for place, ordinal in enumerate(order):
        ranks[ordinal] = place
    return ranks


def write_postings(writer: ComponentWriter, ordered: Iterable[tuple[bytes, bytes]]) -> None:
    """Write postings by ascending term, then the dictionary that finds them."""
    blocks = _TermBlocks()
    writer.begin("postings")
    for run in _runs(_noted(ordered, blocks)):
        writer.write(run)
    blocks.write(writer)


class _TermBlocks:
    """The dictionary, in blocks: how many terms, how many postings of each, the terms joined by LF; compressed."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._starts: list[int] = []
        self._firsts: list[bytes] = []
        self._postings = 0

    def close(self, terms: Sequence[bytes], counts: Sequence[int]) -> None:
        """Append a block."""
        self._firsts.append(terms[0])
        self._starts.append(self._postings)
        raw = pack_u32([len(counts), *counts]) + b"\n".join(terms)
        self._blocks.append(zlib.compress(raw, COMPRESSION, wbits=WINDOW_BITS))
        self._postings += sum(counts)

    def write(self, writer: ComponentWriter) -> None:
        """Write the blocks, where each ends, the number of postings before each, and the first term of each."""
        writer.component("terms", b"".join(self._blocks))
        writer.component("term_block_ends", pack_u32(accumulate(map(len, self._blocks))))
        writer.component("term_block_starts", pack_u32(self._starts))
        writer.component("term_block_firsts", b"\n".join(self._firsts))


def _noted(ordered: Iterable[tuple[bytes, bytes]], blocks: _TermBlocks) -> Iterator[bytes]:
    """The postings of each term, while `blocks` take note of the terms that pass."""
    terms: list[bytes] = []
    counts: list[int] = []
    for term, packed in ordered:
        terms.append(term)
        counts.append(len(packed) // 4)
        if len(terms) == TERM_BLOCK:
            blocks.close(terms, counts)
            terms, counts = [], []
        yield packed
    if terms:
        blocks.close(terms, counts)


def _runs(pieces: Iterable[bytes], size: int = 1 << 20) -> Iterator[bytes]:
    """Join small pieces to runs of about `size` bytes; millions of terms would be as many calls."""
    waiting: list[bytes] = []
    held = 0
    for piece in pieces:
        waiting.append(piece)
        held += len(piece)
        if held >= size:
            yield b"".join(waiting)
            waiting, held = [], 0
    yield b"".join(waiting)


def _documents_of_chunks(document_chunks: Sequence[int]) -> bytes:
    """For each chunk its document's ordinal, from each document's first chunk."""
    return b"".join(
        ordinal.to_bytes(4, "little") * (document_chunks[ordinal + 1] - document_chunks[ordinal])
        for ordinal in range(len(document_chunks) - 1)
    )
