"""How small files are framed: kind, format version, checksum, msgpack. Nothing unchecked is ever unpacked.

    8 bytes kind ("RAGMANIF", "RAGSTATS", ...) · u16 major · u16 minor · u32 crc32 of name + payload · payload

The checksum covers the version and the file's name too: a flipped version is damage, and so is a file copied over
another. The frame itself stays the same in every version, so that a version can be told before anything is unpacked.
A reader takes any minor version of its own major one.
"""

import struct
import zlib
from collections.abc import Callable
from typing import Any

import msgpack

from ragcli.errors import REBUILD_HINT, IndexCorruptError, IndexVersionError

FORMAT_MAJOR = 1
# 1.1: added documents belong to a generation, segments are told apart by a checksum of their checksums.
FORMAT_MINOR = 1

MAX_CONTAINERS = 1_000_000

_FRAME = struct.Struct("<8sHHI")


def encode(kind: bytes, name: str, value: Any) -> bytes:
    """Frame `value` (plain msgpack types) as the file `name`."""
    payload: bytes = msgpack.packb(value, use_bin_type=True, unicode_errors="surrogateescape")
    checksum = _checksum(name, FORMAT_MAJOR, FORMAT_MINOR, payload)
    return _FRAME.pack(kind, FORMAT_MAJOR, FORMAT_MINOR, checksum) + payload


def decode(kind: bytes, name: str, raw: bytes, *, few: bool = False) -> Any:
    """Undo `encode`; IndexCorruptError where a bit differs, IndexVersionError for another major version.

    With `few`, also where there are more lists and maps than MAX_CONTAINERS: of one byte each they take seventy.
    """
    if len(raw) < _FRAME.size:
        raise IndexCorruptError(f"{name} is damaged: it is cut short", REBUILD_HINT)
    found, major, minor, checksum = _FRAME.unpack_from(raw)
    if found != kind:
        raise IndexCorruptError(f"{name} is damaged: it does not begin as it should", REBUILD_HINT)
    payload = raw[_FRAME.size :]
    if checksum != _checksum(name, major, minor, payload):
        raise IndexCorruptError(f"{name} is damaged: its checksum differs", REBUILD_HINT)
    check_version(name, major)
    return unpack(name, payload, _counting(name) if few else None)


def check_version(name: str, major: int) -> None:
    """Refuse another major version, naming both. IndexVersionError for another one."""
    if major != FORMAT_MAJOR:
        raise IndexVersionError(
            f"{name} was written in index format {major}, this ragcli reads format {FORMAT_MAJOR}", REBUILD_HINT
        )


def unpack(name: str, payload: bytes, seen: Callable[[Any], Any] | None = None) -> Any:
    """Unpack bytes that passed their checksum; damage that kept the checksum is IndexCorruptError too.

    `seen` is given each list and map.
    """
    try:
        return msgpack.unpackb(
            payload, raw=False, strict_map_key=False, unicode_errors="surrogateescape", list_hook=seen, object_hook=seen
        )
    except (ValueError, TypeError, RecursionError, msgpack.UnpackException) as error:  # TypeError: a list as a key
        raise IndexCorruptError(f"{name} is damaged: {type(error).__name__}", REBUILD_HINT) from error


def _counting(name: str) -> Callable[[Any], Any]:
    count = 0

    def seen(value: Any) -> Any:
        nonlocal count
        count += 1
        if count > MAX_CONTAINERS:
            raise IndexCorruptError(f"{name} is damaged: it holds too many parts", REBUILD_HINT)
        return value

    return seen


def _checksum(name: str, major: int, minor: int, payload: bytes) -> int:
    head = f"{major}.{minor} {name}".encode("utf-8", "surrogateescape")
    return zlib.crc32(payload, zlib.crc32(head))
