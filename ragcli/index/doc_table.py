"""The rows of a segment's document and chunk tables. Position-independent, so that a merge copies their bytes.

msgpack, because rows are read a few at a time; everything read in bulk is a flat array in the segment instead. Metadata
keys that occur in most rows are stored as small numbers: spelt out they would be a third of all rows.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgpack

from ragcli.model import Metadata, Scalar


class DocumentRow(NamedTuple):
    """One document. `kind` is FILE for a file under the root, ADDED for an added document, whose path is its id."""

    kind: str
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


# A number once given is never given again: stored rows know it.
_SHORT_KEYS = {
    "symbol": 1, "qualified_symbol": 2, "kind": 3, "signature": 4, "symbol_start_line": 5, "symbol_end_line": 6,
    "language": 7, "heading": 8, "page": 9, "sheet": 10, "cells": 11, "slide": 12, "chapter": 13, "pointer": 14,
    "cell": 15, "element": 16, "header": 17, "parser": 18, "fallback": 19, "fallback_reason": 20, "title": 21,
    "encoding": 22,
}  # fmt: skip
_LONG_KEYS: dict[Any, str] = {number: key for key, number in _SHORT_KEYS.items()}
# What rows are made of: whoever wrote them, readers get no other types.
_TEXT = frozenset((str,))
_SCALARS = frozenset((str, int, float, bool))
_DOCUMENT_TYPES = (str, str, bytes, bytes, int, int, str, str, int, dict, list)
_CHUNK_TYPES = [str, int, int, int, int, int, int, bytes, dict]
_DOCUMENT_METADATA = DocumentRow._fields.index("metadata")


def pack_rows(rows: Iterable[DocumentRow | ChunkRow]) -> Iterator[bytes]:
    """Rows as bytes; setting up the packer for each would take longer than packing."""
    packer = msgpack.Packer(use_bin_type=True, unicode_errors="surrogateescape")
    for row in rows:
        values = list(row)
        values[_DOCUMENT_METADATA if isinstance(row, DocumentRow) else -1] = _short(row.metadata)
        yield packer.pack(values)


def _short(metadata: Metadata) -> dict[int | str, Scalar]:
    name = _last_name(metadata)
    return {_SHORT_KEYS.get(key, key): v for key, v in metadata.items() if key != "symbol" or v != name}


def unpack_document(data: bytes | memoryview) -> DocumentRow:
    """Undo `pack_rows` for one row; ValueError or TypeError where the bytes are something else."""
    values = _unpack(data)
    if tuple(map(type, values)) != _DOCUMENT_TYPES or not _TEXT.issuperset(map(type, values[-1])):
        raise TypeError("no document row")
    values[_DOCUMENT_METADATA] = _spelt(values[_DOCUMENT_METADATA])
    values[-1] = tuple(values[-1])
    return DocumentRow(*values)


def unpack_chunk(data: bytes | memoryview) -> ChunkRow:
    """Undo `pack_rows` for one row; ValueError or TypeError where the bytes are something else."""
    values = _unpack(data)
    if [*map(type, values)] != _CHUNK_TYPES:
        raise TypeError("no chunk row")
    values[-1] = _spelt(values[-1])
    return ChunkRow(*values)


def _spelt(metadata: dict[Any, Any]) -> dict[str, Any]:
    spelt = {_LONG_KEYS.get(key, key): value for key, value in metadata.items()}
    types = {*map(type, spelt.values())}
    if not types <= _SCALARS or (float in types and not all(map(math.isfinite, filter(_is_float, spelt.values())))):
        raise TypeError("no metadata")
    "".join(spelt)  # TypeError where a key is no text, at less cost than any other way to tell
    name = _last_name(spelt)
    return spelt if name is None or "symbol" in spelt else {"symbol": name, **spelt}


def _is_float(value: object) -> bool:
    return type(value) is float


def _last_name(metadata: Metadata) -> str | None:
    """What a symbol is called when its qualified name is dotted, as nearly all are; it need not be stored."""
    qualified = metadata.get("qualified_symbol")
    return qualified.rpartition(".")[2] if isinstance(qualified, str) else None


def _unpack(data: bytes | memoryview) -> Any:
    return msgpack.unpackb(data, raw=False, strict_map_key=False, unicode_errors="surrogateescape")
