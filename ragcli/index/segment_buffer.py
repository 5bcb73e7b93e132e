"""A batch of documents as packed arrays: what a worker hands back, and what segments are made of.

Postings stand in the order of their terms, chunk ordinals count from the batch's first chunk. No file and no formula
here, but for the norm of a chunk's vector.
"""

import zlib
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from ragcli.analysis.broken_words import joined_words
from ragcli.documents import Chunk
from ragcli.index.doc_table import ChunkRow, DocumentRow, pack_rows
from ragcli.index.postings import MAX_CHUNKS, PackedPostings, pack_u32
from ragcli.index.postings_builder import PostingsBuilder
from ragcli.model import FILE, DocumentFormat, Metadata

# Texts are compressed in blocks that neighbouring documents share: small files alone take a fifth more room. Showing a
# chunk inflates one block, some 0.2 ms.
TEXT_BLOCK_BYTES = 64 * 1024
# On Django's text level 1 leaves 26 %, 3 leaves 24 %, 6 leaves 21 %, at 130, 120 and 52 MB/s: 3 saves 3 % of the run.
COMPRESSION = 3

# Metadata whose words describe a chunk without standing in it; they are searched as its symbols are.
NAMING_KEYS = ("qualified_symbol", "symbol", "heading", "header", "sheet", "chapter", "title")


class PackedDocument(NamedTuple):
    """A document's place in the order of paths, its row, how many chunks are its own, and where in the batch's texts
    its blocks begin and end."""

    key: tuple[str, str]
    row: bytes
    chunks: int
    text_start: int
    text_end: int


class PackedTables(NamedTuple):
    """Rows of documents and chunks and arrays by chunk, as flat bytes; `text_size` is that of their blocks."""

    documents: list[PackedDocument]
    text_size: int
    chunk_rows: bytes
    chunk_row_sizes: bytes
    english_lengths: bytes
    code_lengths: bytes
    norms: bytes


class InMemorySegment(NamedTuple):
    """Documents with their texts and postings; see the segment's components of the same names."""

    tables: PackedTables
    text: bytes
    postings: PackedPostings
    text_bytes: int

    @property
    def chunks(self) -> int:
        """Chunks of the batch."""
        return len(self.tables.chunk_row_sizes) // 4


class SegmentBuffer:
    """Collects documents with their chunks; `finish` gives their batch, or several where a segment could not number
    all the chunks."""

    def __init__(self) -> None:
        self._done: list[InMemorySegment] = []
        self._begin()

    def _begin(self) -> None:
        self._documents: list[tuple[DocumentRow, list[ChunkRow]]] = []
        self._texts = TextBlocks()
        self._tallies = PostingsBuilder()
        self._text_bytes = 0

    def add(self, row: DocumentRow, text: str, chunks: Sequence[Chunk], ids: Sequence[str]) -> None:
        """Add one document; `ids` name its chunks."""
        if self._documents and len(self._tallies) + len(chunks) > MAX_CHUNKS:
            self._close()
            self._begin()
        # An undecodable byte of a name is no letter; as a lone surrogate it could not be encoded.
        path = row.path.encode("utf-8", "replace").decode() if row.kind == FILE else ""
        rows: list[ChunkRow] = []
        for chunk, id_ in zip(chunks, ids, strict=True):
            content = text[chunk.start : chunk.end]
            raw = content.encode("utf-8", "replace")
            block, start = self._texts.add(raw)
            metadata = {key: value for key, value in chunk.metadata.items() if value != row.metadata.get(key)}
            if metadata.get("language") == row.language:
                del metadata["language"]
            lines = chunk.start_line, chunk.end_line
            rows.append(ChunkRow(id_, *lines, block, 0, start, len(raw), _digest(raw), metadata))
            if row.format == DocumentFormat.PDF:
                content = " ".join([content, *joined_words(text, chunk.start, chunk.end)])
            self._tallies.add(content, _names(row.metadata, metadata), path)
        self._text_bytes += row.text_bytes
        self._documents.append((row, rows))

    def finish(self) -> list[InMemorySegment]:
        """The batches, none without documents; the packer is spent."""
        if self._documents:
            self._close()
        return self._done

    def _close(self) -> None:
        tallied = self._tallies.finish()
        blocks = self._texts.finish()
        documents, rows = place_texts(self._documents, blocks)
        tables = PackedTables(
            documents=documents,
            text_size=sum(map(len, blocks)),
            chunk_rows=b"".join(rows),
            chunk_row_sizes=pack_u32(map(len, rows)),
            english_lengths=tallied.english_lengths,
            code_lengths=tallied.code_lengths,
            norms=tallied.norms,
        )
        self._done.append(InMemorySegment(tables, b"".join(blocks), tallied.postings, self._text_bytes))


def _names(document: Metadata, metadata: Metadata) -> Iterable[str]:
    """The names a chunk goes by, each once: its symbol, headings, sheet, and its document's title."""
    return dict.fromkeys([str(name) for key in NAMING_KEYS if (name := metadata.get(key) or document.get(key))])


def place_texts(
    documents: Sequence[tuple[DocumentRow, Sequence[ChunkRow]]], blocks: Sequence[bytes]
) -> tuple[list[PackedDocument], list[bytes]]:
    """Packed rows for documents and chunks, from chunks whose `block` is still a block's number."""
    ends = [0, *accumulate(map(len, blocks))]
    spans = [(ends[chunks[0].block], ends[chunks[-1].block + 1]) if chunks else (0, 0) for _, chunks in documents]
    placed = [
        PackedDocument((row.kind, row.path), packed, len(chunks), *span)
        for (row, chunks), span, packed in zip(documents, spans, pack_rows(row for row, _ in documents), strict=True)
    ]
    rows = pack_rows(
        ChunkRow(id_, first, last, ends[block] - start, len(blocks[block]), at, length, digest, metadata)
        for (_, chunks), (start, _) in zip(documents, spans, strict=True)
        for id_, first, last, block, _, at, length, digest, metadata in chunks
    )
    return placed, list(rows)


class TextBlocks:
    """Texts of chunks, compressed in blocks."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._waiting: list[bytes] = []
        self._size = 0

    def add(self, raw: bytes) -> tuple[int, int]:
        """Append a text; the number of its block, and where in the inflated block it begins."""
        if self._size and self._size + len(raw) > TEXT_BLOCK_BYTES:
            self._close()
        place = len(self._blocks), self._size
        self._waiting.append(raw)
        self._size += len(raw)
        return place

    def finish(self) -> list[bytes]:
        """The blocks."""
        if self._waiting:
            self._close()
        return self._blocks

    def _close(self) -> None:
        self._blocks.append(zlib.compress(b"".join(self._waiting), COMPRESSION))
        self._waiting, self._size = [], 0


def _digest(raw: bytes) -> bytes:
    """8 bytes that tell copies of a text; white space at its ends does not make two texts of one."""
    import hashlib

    return hashlib.blake2b(raw.strip(), digest_size=8).digest()
