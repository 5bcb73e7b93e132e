"""A batch of documents as packed arrays: what a worker hands back, and what segments are made of.

Terms are bytes: one field byte, then UTF-8. Postings stand in the order of the sorted terms, chunk ordinals count from
the batch's first chunk. No file and no formula here, but for the norm of a chunk's vector.
"""

import zlib
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ragcli.analysis import code_terms
from ragcli.index.postings import pack_u32
from ragcli.index.rows import FILES, ChunkRow, DocumentRow, pack_row
from ragcli.index.tallies import ChunkTallies
from ragcli.model import Chunk, Metadata

# Texts are compressed a few chunks at a time, so that showing one chunk inflates no more than this and one chunk more.
TEXT_BLOCK_BYTES = 48 * 1024
# zlib's level 1 packs source text to a third at twice the speed of its default, which would save another 5 %.
COMPRESSION = 1

# Metadata whose words describe a chunk without standing in it; they are searched as its symbols are.
NAMING_KEYS = ("qualified_symbol", "symbol", "heading", "header", "sheet", "chapter", "title")


class PackedDocument(NamedTuple):
    """A document's row and how many chunks and bytes of compressed text are its own."""

    row: bytes
    chunks: int
    text: int


class PackedBatch(NamedTuple):
    """Documents, chunks and postings as flat bytes; see the segment's components of the same names."""

    documents: list[PackedDocument]
    text: bytes
    chunk_rows: bytes
    chunk_row_sizes: bytes
    english_lengths: bytes
    code_lengths: bytes
    norms: bytes
    terms: bytes
    term_counts: bytes
    postings: bytes
    text_bytes: int


class BatchPacker:
    """Collects documents with their chunks; `finish` gives the batch."""

    def __init__(self) -> None:
        self._documents: list[PackedDocument] = []
        self._text: list[bytes] = []
        self._rows: list[bytes] = []
        self._tallies = ChunkTallies()
        self._text_bytes = 0

    def add(self, row: DocumentRow, text: str, chunks: Sequence[Chunk], ids: Sequence[str]) -> None:
        """Add one document; `ids` name its chunks."""
        # An undecodable byte of a name is no letter; as a lone surrogate it could not be encoded.
        words = code_terms(row.path.encode("utf-8", "replace").decode()) if row.source == FILES else []
        path = Counter(words)
        contents = [text[chunk.start : chunk.end] for chunk in chunks]
        encoded = [content.encode("utf-8", "replace") for content in contents]
        blocks, packed = _pack_texts(encoded)
        for chunk, id_, content, raw, (block, size, start) in zip(chunks, ids, contents, encoded, blocks, strict=True):
            digest = _digest(raw)
            metadata = dict(chunk.metadata)
            lines = chunk.start_line, chunk.end_line
            self._rows.append(pack_row(ChunkRow(id_, *lines, block, size, start, len(raw), digest, metadata)))
            self._tallies.add(content, naming_terms(row.metadata, metadata), path)
        self._text += packed
        self._text_bytes += row.text_bytes
        self._documents.append(PackedDocument(pack_row(row), len(chunks), sum(map(len, packed))))

    def finish(self) -> PackedBatch:
        """The batch; the packer is spent."""
        tallied = self._tallies.finish()
        return PackedBatch(
            documents=self._documents,
            text=b"".join(self._text),
            chunk_rows=b"".join(self._rows),
            chunk_row_sizes=pack_u32(map(len, self._rows)),
            english_lengths=tallied.english_lengths,
            code_lengths=tallied.code_lengths,
            norms=tallied.norms,
            terms=tallied.terms,
            term_counts=tallied.term_counts,
            postings=tallied.postings,
            text_bytes=self._text_bytes,
        )


def naming_terms(document: Metadata, metadata: Metadata) -> list[str]:
    """Terms of the names a chunk goes by: its symbol, headings, sheet, and its document's title."""
    named = {str(metadata.get(key) or document.get(key) or "") for key in NAMING_KEYS}
    return [term for name in sorted(named) for term in code_terms(name)]


def _pack_texts(encoded: Sequence[bytes]) -> tuple[list[tuple[int, int, int]], list[bytes]]:
    """Compress chunk texts in blocks; for each chunk its block's offset and size, and its own start inside of it."""
    places: list[tuple[int, int, int]] = []
    packed: list[bytes] = []
    offset = 0
    waiting: list[bytes] = []
    starts: list[int] = []
    size = 0
    for raw in [*encoded, None]:
        if raw is None or (size and size + len(raw) > TEXT_BLOCK_BYTES):
            block = zlib.compress(b"".join(waiting), COMPRESSION) if waiting else b""
            places += [(offset, len(block), start) for start in starts]
            packed.append(block)
            offset += len(block)
            waiting, starts, size = [], [], 0
        if raw is not None:
            starts.append(size)
            waiting.append(raw)
            size += len(raw)
    return places, packed


def _digest(raw: bytes) -> bytes:
    """8 bytes that tell copies of a text; white space at its ends does not make two texts of one."""
    import hashlib

    return hashlib.blake2b(raw.strip(), digest_size=8).digest()
