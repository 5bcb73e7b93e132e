"""An immutable segment as a reader sees it: terms to postings, ordinals to rows and texts. Reads through PagedBytes.

Everything is loaded when first asked for. What passed its checksum and still makes no sense is IndexCorruptError.
"""

import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import msgpack

from ragcli.errors import REBUILD_HINT, IndexCorruptError
from ragcli.index.doc_table import ChunkRow, DocumentRow, unpack_chunk, unpack_document
from ragcli.index.postings import FREQUENCY_BITS, unpack_f64, unpack_u32, unpack_u64
from ragcli.index.segment_format import HEADER_SIZE, SegmentTotals
from ragcli.index.text_blocks import joined_blocks

# A block holds TEXT_BLOCK_BYTES and at most one chunk more; this is far above what an honest writer makes.
MAX_BLOCK_BYTES = 1 << 20
# 4,096 numbers: 16 KiB, a quarter of a page.
_RUN_BITS = 12


class PagedBytes(Protocol):
    """Checked bytes by position."""

    name: str
    size: int

    def read(self, offset: int, count: int) -> bytes | memoryview: ...

    def close(self) -> None: ...


class Segment:
    """One segment, with the ordinals of its deleted documents (gone or replaced since it was written)."""

    def __init__(self, blob: PagedBytes, deleted: Collection[int] = ()) -> None:
        self._blob = blob
        self.name = blob.name
        self.deleted = frozenset(deleted)
        self._last_block = (-1, b"")
        self._runs: dict[tuple[str, int], Sequence[int]] = {}
        try:
            (size,) = HEADER_SIZE.unpack(blob.read(blob.size - HEADER_SIZE.size, HEADER_SIZE.size))
            header = msgpack.unpackb(blob.read(blob.size - HEADER_SIZE.size - size, size), raw=False)
            self._components: dict[str, tuple[int, int]] = {
                name: (place[0], place[1]) for name, place in header["components"].items()
            }
            self.totals = SegmentTotals(*header["totals"])
            numbers = (*self.totals, *(number for place in self._components.values() for number in place))
            if any(type(number) is not int or number < 0 for number in numbers):
                raise TypeError("no number")
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, msgpack.UnpackException) as error:
            raise self._damaged("header") from error

    @property
    def file_size(self) -> int:
        """Bytes of the payload."""
        return self._blob.size

    def with_deletes(self, deleted: Collection[int]) -> None:
        """Name other deleted documents; only a writer does, before it commits them."""
        self.deleted = frozenset(deleted)
        self.__dict__.pop("deleted_ranges", None)

    # -- terms and postings

    def postings(self, term: bytes) -> Sequence[int]:
        """The term's postings of live documents, ascending; empty where the term is unknown."""
        block = bisect_right(self._term_block_firsts, term) - 1
        if block < 0:
            return ()
        terms, counts = self._term_block(block)
        at = bisect_left(terms, term)
        if at == len(terms) or terms[at] != term:
            return ()
        start = unpack_u32(self._part("term_block_starts", 4 * block, 4))[0] + sum(counts[:at])
        return self._living(unpack_u32(self._part("postings", 4 * start, 4 * counts[at])))

    def _living(self, postings: Sequence[int]) -> Sequence[int]:
        if not self.deleted_ranges:
            return postings
        live = array("I")
        position = 0
        for start, end in self.deleted_ranges:
            cut = bisect_left(postings, start << FREQUENCY_BITS, position)
            live.extend(postings[position:cut])
            position = bisect_left(postings, end << FREQUENCY_BITS, cut)
        live.extend(postings[position:])
        return live

    @cached_property
    def deleted_ranges(self) -> list[tuple[int, int]]:
        """The chunk ordinals [start, end) of deleted documents, neighbours joined."""
        ranges: list[tuple[int, int]] = []
        chunks = self._document_chunks if self.deleted else ()
        for ordinal in sorted(self.deleted):
            start, end = chunks[ordinal], chunks[ordinal + 1]
            if ranges and ranges[-1][1] == start:
                ranges[-1] = ranges[-1][0], end
            elif start < end:
                ranges.append((start, end))
        return ranges

    def terms(self) -> Iterator[tuple[bytes, int]]:
        """Every term with its number of postings, ascending; for merging."""
        for block in range(len(self._term_block_firsts)):
            yield from zip(*self._term_block(block), strict=True)

    def _term_block(self, block: int) -> tuple[list[bytes], Sequence[int]]:
        ends = self._part("term_block_ends", 4 * max(block - 1, 0), 8 if block else 4)
        bounds = unpack_u32(ends)
        begin, end = (bounds[0], bounds[1]) if block else (0, bounds[0])
        try:
            raw = zlib.decompressobj().decompress(self._part("terms", begin, end - begin), MAX_BLOCK_BYTES)
        except zlib.error as error:
            raise self._damaged("dictionary") from error
        count = int.from_bytes(raw[:4], "little")
        terms = raw[4 + 4 * count :].split(b"\n")
        if len(terms) != count:
            raise self._damaged("dictionary")
        return terms, unpack_u32(raw[4 : 4 + 4 * count])

    @cached_property
    def _term_block_firsts(self) -> list[bytes]:
        firsts = bytes(self._whole("term_block_firsts"))
        return firsts.split(b"\n") if firsts else []

    # -- arrays by chunk

    @cached_property
    def english_lengths(self) -> Sequence[int]:
        """English terms of each chunk."""
        return unpack_u32(self._whole("english_lengths"))

    @cached_property
    def code_lengths(self) -> Sequence[int]:
        """Code terms of each chunk."""
        return unpack_u32(self._whole("code_lengths"))

    @cached_property
    def norms(self) -> Sequence[float]:
        """Length of each chunk's vector of code terms."""
        return unpack_f64(self._whole("norms"))

    # -- documents and chunks

    def document_of(self, chunk: int) -> int:
        """The ordinal of the document that a chunk belongs to."""
        return self._number("chunk_documents", chunk)

    def path_ord(self, document: int) -> int:
        """The place of a document among this segment's by source and path."""
        if "document_ords" not in self._components:
            return document
        return self._number("document_ords", document)

    def document(self, ordinal: int) -> DocumentRow:
        """A document's row."""
        try:
            return unpack_document(self._row("document_rows", "document_row_ends", ordinal))
        except (ValueError, TypeError, IndexError, msgpack.UnpackException) as error:
            raise self._damaged("document table") from error

    def documents(self) -> Iterator[tuple[int, DocumentRow]]:
        """The live documents with their ordinals."""
        for ordinal in self.live_docs():
            yield ordinal, self.document(ordinal)

    def live_docs(self) -> Iterator[int]:
        """The ordinals of live documents."""
        return (ordinal for ordinal in range(self.totals.documents) if ordinal not in self.deleted)

    def document_row(self, ordinal: int) -> bytes:
        """A document's row as stored; for merging."""
        return bytes(self._row("document_rows", "document_row_ends", ordinal))

    def chunk_range(self, document: int) -> range:
        """The ordinals of a document's chunks."""
        return range(self._number("document_chunks", document), self._number("document_chunks", document + 1))

    def chunk(self, ordinal: int) -> ChunkRow:
        """A chunk's row."""
        try:
            return unpack_chunk(self._row("chunk_rows", "chunk_row_ends", ordinal))
        except (ValueError, TypeError, IndexError, msgpack.UnpackException) as error:
            raise self._damaged("chunk table") from error

    def text_of(self, document: int, row: ChunkRow) -> str:
        """A chunk's text."""
        try:
            return self.raw_text(document, row).decode("utf-8")
        except UnicodeDecodeError as error:
            raise self._damaged("text") from error

    def raw_text(self, document: int, row: ChunkRow) -> bytes:
        """A chunk's text as UTF-8."""
        begin, end = self.text_span(document)
        if min(row.block, row.block_length, row.start, row.length) < 0 or row.block + row.block_length > end - begin:
            raise self._damaged("text")
        raw = self._inflated_block(begin + row.block, row.block_length)
        if row.start + row.length > len(raw):
            raise self._damaged("text")
        return raw[row.start : row.start + row.length]

    def span_text(self, begin: int, end: int) -> bytes:
        """The text of all blocks of a `text_span` as UTF-8."""
        try:
            return joined_blocks(self._part("text", begin, end - begin), MAX_BLOCK_BYTES)
        except zlib.error as error:
            raise self._damaged("text") from error

    def _inflated_block(self, offset: int, size: int) -> bytes:
        """A text block; the last one asked for is kept, since neighbours share it."""
        kept, raw = self._last_block
        if kept != offset:
            try:
                raw = zlib.decompressobj().decompress(self._part("text", offset, size), MAX_BLOCK_BYTES)
            except zlib.error as error:
                raise self._damaged("text") from error
            self._last_block = offset, raw
        return raw

    def part(self, name: str, start: int, end: int, width: int = 1) -> bytes:
        """Elements [start, end) of a component as stored; for merging."""
        return bytes(self._part(name, start * width, (end - start) * width))

    @property
    def posting_count(self) -> int:
        """Postings of all terms, those of deleted documents too."""
        return self._place("postings")[1] // 4

    def chunk_rows(self, chunks: range) -> tuple[bytes, list[int]]:
        """The rows of neighbouring chunks as stored, and their sizes; for merging."""
        if not chunks:
            return b"", []
        before = chunks.start - 1 if chunks.start else 0
        ends = list(unpack_u32(self._part("chunk_row_ends", 4 * before, 4 * (chunks.stop - before))))
        bounds = ends if chunks.start else [0, *ends]
        rows = bytes(self._part("chunk_rows", bounds[0], bounds[-1] - bounds[0]))
        return rows, [end - start for start, end in pairwise(bounds)]

    @property
    def text_size(self) -> int:
        """Bytes of all compressed texts."""
        return self._place("text")[1]

    def text_span(self, document: int) -> tuple[int, int]:
        """Where a document's compressed blocks begin and end; neighbours may share one."""
        begin, end = unpack_u64(self._part("document_texts", 16 * document, 16))
        return begin, end

    def close(self) -> None:
        """Give the file back."""
        self._blob.close()

    @cached_property
    def _document_chunks(self) -> Sequence[int]:
        return unpack_u32(self._whole("document_chunks"))

    def _row(self, rows: str, ends: str, ordinal: int) -> bytes | memoryview:
        begin = self._number(ends, ordinal - 1) if ordinal else 0
        return self._part(rows, begin, self._number(ends, ordinal) - begin)

    def _number(self, name: str, at: int) -> int:
        """One u32 of an array, by way of runs that are kept: rows that are read are often neighbours."""
        run = self._runs.get((name, at >> _RUN_BITS))
        if run is None:
            start = at >> _RUN_BITS << _RUN_BITS
            size = self._place(name)[1] // 4
            run = unpack_u32(self._part(name, 4 * start, 4 * (min(start + (1 << _RUN_BITS), size) - start)))
            self._runs[name, at >> _RUN_BITS] = run
        try:
            return run[at & ((1 << _RUN_BITS) - 1)]
        except IndexError:
            raise self._damaged(name) from None

    def _whole(self, name: str) -> bytes | memoryview:
        offset, size = self._place(name)
        return self._blob.read(offset, size)

    def _part(self, name: str, start: int, count: int) -> bytes | memoryview:
        offset, size = self._place(name)
        if start < 0 or count < 0 or start + count > size:
            raise self._damaged(name)
        return self._blob.read(offset + start, count)

    def _place(self, name: str) -> tuple[int, int]:
        try:
            return self._components[name]
        except KeyError:
            raise self._damaged(name) from None

    def _damaged(self, what: str) -> IndexCorruptError:
        return IndexCorruptError(f"{self.name} is damaged: invalid {what}", REBUILD_HINT)
