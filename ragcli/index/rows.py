"""The rows of a segment's document and chunk tables. Position-independent, so that a merge copies their bytes.

msgpack, because rows are read a few at a time; everything read in bulk is a flat array in the segment instead.
"""

from typing import Any, NamedTuple

import msgpack

from ragcli.model import Metadata

FILES = ""
ADDED = "added"


class DocumentRow(NamedTuple):
    """One document. `source` is FILES for files under the root, ADDED for added documents (whose path is their id)."""

    source: str
    path: str
    content_hash: bytes
    fingerprint: bytes
    size: int
    mtime_ns: int
    format: str
    language: str
    text_bytes: int
    metadata: Metadata
    notes: tuple[str, ...]


class ChunkRow(NamedTuple):
    """One chunk. Its text is bytes [start, start+length) of the inflated block at [block, block+block_length) of the
    document's texts. `digest` is 8 bytes of a hash of its text, to tell copies."""

    id: str
    start_line: int
    end_line: int
    block: int
    block_length: int
    start: int
    length: int
    digest: bytes
    metadata: Metadata


def pack_row(row: DocumentRow | ChunkRow) -> bytes:
    """A row as bytes."""
    packed: bytes = msgpack.packb(tuple(row), use_bin_type=True, unicode_errors="surrogateescape")
    return packed


def unpack_document(data: bytes | memoryview) -> DocumentRow:
    """Undo `pack_row`; ValueError or TypeError where the bytes are something else."""
    row = DocumentRow(*_unpack(data))
    return row._replace(notes=tuple(row.notes))


def unpack_chunk(data: bytes | memoryview) -> ChunkRow:
    """Undo `pack_row`; ValueError or TypeError where the bytes are something else."""
    return ChunkRow(*_unpack(data))


def _unpack(data: bytes | memoryview) -> Any:
    return msgpack.unpackb(data, raw=False, unicode_errors="surrogateescape")
