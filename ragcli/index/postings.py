"""How a posting is packed, and flat arrays of numbers as bytes. No file, no formula.

A posting is a u32: 19 bits of chunk ordinal, 13 bits of term frequency. A chunk holds at most 16 KiB, so at most 5,462
terms of the plain analyzer (two characters and a space each); the code analyzer's count is capped at 8,191.
All arrays are little-endian on disk.
"""

import sys
from array import array
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

FREQUENCY_BITS = 13
MAX_FREQUENCY = (1 << FREQUENCY_BITS) - 1
MAX_CHUNKS = 1 << 19

# The byte before each term of the dictionary.
ENGLISH_FIELD = b"e"
CODE_FIELD = b"c"
SYMBOL_FIELD = b"s"
PATH_FIELD = b"p"
FIELDS = (CODE_FIELD, ENGLISH_FIELD, PATH_FIELD, SYMBOL_FIELD)  # as they sort
# A batch names a term by a u32: two bits of field, 30 of its word's place among the batch's sorted words.
WORD_BITS = 30
WORD_MASK = (1 << WORD_BITS) - 1


class PackedPostings(NamedTuple):
    """A batch's postings: its words joined by LF, its terms ascending, how many postings each has, and these."""

    words: bytes
    terms: bytes
    counts: bytes
    postings: bytes


def shift_postings(packed: bytes, chunks: int) -> bytes:
    """Add `chunks` to the chunk ordinal of every posting in `packed`.

    One addition of two long integers does it: no ordinal passes 19 bits, so no lane carries into the next. That is
    some fifty times faster than a loop, and needs no array library in a merge.
    """
    if not chunks or not packed:
        return packed
    step = (chunks << FREQUENCY_BITS).to_bytes(4, "little") * (len(packed) // 4)
    return (int.from_bytes(packed, "little") + int.from_bytes(step, "little")).to_bytes(len(packed), "little")


def pack_u32(values: Iterable[int]) -> bytes:
    """Little-endian u32."""
    return _pack("I", values)


def pack_u64(values: Iterable[int]) -> bytes:
    """Little-endian u64."""
    return _pack("Q", values)


def unpack_u32(data: bytes | memoryview) -> Sequence[int]:
    """The numbers of `pack_u32`, without copying where the machine is little-endian."""
    numbers: Sequence[int] = _unpack("I", data)
    return numbers


def unpack_u64(data: bytes | memoryview) -> Sequence[int]:
    """The numbers of `pack_u64`."""
    numbers: Sequence[int] = _unpack("Q", data)
    return numbers


def unpack_f64(data: bytes | memoryview) -> Sequence[float]:
    """The numbers of little-endian IEEE doubles."""
    numbers: Sequence[float] = _unpack("d", data)
    return numbers


def _pack(code: str, values: Iterable[int]) -> bytes:
    packed: array[int] = array(code, values)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def _unpack(code: Any, data: bytes | memoryview) -> Any:
    if sys.byteorder == "big":  # pragma: no cover  (no such machine to run on)
        swapped: array[int] = array(code, bytes(data))
        swapped.byteswap()
        return swapped
    return memoryview(data).cast("B").cast(code)
