"""Large files with checked reads: a payload in 16 KiB pages, each with a crc32 that is verified when first touched.

    payload · u32 crc32 per page · trailer: 8 bytes "RAGBLOB1" · u16 major · u16 minor · u64 payload bytes
                                            · u32 crc32 of the page checksums · u32 crc32 of the trailer before it

Reading is by position, never a memory map: a file cut short under a reader is IndexCorruptError, never SIGBUS.
"""

import struct
import sys
import zlib
from array import array

from ragcli.errors import REBUILD_HINT, IndexCorruptError
from ragcli.store.codec import FORMAT_MAJOR, FORMAT_MINOR, check_version
from ragcli.store.directory import ByteSource, Directory

# Rows of candidates lie all over a segment: pages of 64 KiB would have a query read and check four times the bytes,
# and take 8 % longer on Django.
PAGE = 16 * 1024
_TRAILER = struct.Struct("<8sHHQI")
_CRC = struct.Struct("<I")
_MAGIC = b"RAGBLOB1"
# 64 MiB: what one long-lived reader may keep of verified pages before it starts afresh.
_MAX_CACHED_PAGES = 4096


def file_size(payload: int) -> int:
    """Bytes of a file with so many bytes of payload."""
    return payload + 4 * -(-payload // PAGE) + _TRAILER.size + _CRC.size


class CheckedFile:
    """An open file's payload, each page verified before any byte of it is used.

    `check` is the crc32 of its page checksums, which tells two sound files apart; `size` counts the payload,
    `file_size` all of it.
    """

    def __init__(self, name: str, source: ByteSource) -> None:
        self.name = name
        self._source = source
        self._pages: dict[int, bytes] = {}
        tail_size = _TRAILER.size + _CRC.size
        tail = source.pread(max(source.size - tail_size, 0), tail_size)
        if len(tail) < tail_size or not tail.startswith(_MAGIC):
            raise self._damaged("it does not end as it should")
        _magic, major, _, self.size, sums_crc = _TRAILER.unpack_from(tail)
        if zlib.crc32(tail[: _TRAILER.size]) != _CRC.unpack_from(tail, _TRAILER.size)[0]:
            raise self._damaged("its trailer's checksum differs")
        check_version(name, major)
        if source.size != file_size(self.size):
            raise self._damaged("its length differs")
        sums = source.pread(self.size, 4 * -(-self.size // PAGE))
        if zlib.crc32(sums) != sums_crc:
            raise self._damaged("its page checksums are damaged")
        self.check = sums_crc
        self.file_size = source.size
        self._sums = array("I", sums)
        if sys.byteorder == "big":
            self._sums.byteswap()

    def read(self, offset: int, count: int) -> bytes | memoryview:
        """`count` bytes at `offset`; IndexCorruptError where they are not there or not what was written."""
        if offset < 0 or count < 0 or offset + count > self.size:
            raise self._damaged("it points outside of itself")
        if count == 0:
            return b""
        first, last = offset // PAGE, (offset + count - 1) // PAGE
        if last == first:
            page = self._pages.get(first) or self._load(first)
            start = offset - first * PAGE
            return page[start : start + count]
        raw = self._source.pread(first * PAGE, min((last + 1) * PAGE, self.size) - first * PAGE)
        view = memoryview(raw)
        for number in range(first, last + 1):
            self._verify(number, view[(number - first) * PAGE : (number - first + 1) * PAGE])
        start = offset - first * PAGE
        return view[start : start + count]

    def verify(self) -> None:
        """Check every page; IndexCorruptError at the first that differs."""
        for start in range(0, self.size, 256 * PAGE):
            self.read(start, min(256 * PAGE, self.size - start))

    def close(self) -> None:
        """Give the file back."""
        self._source.close()

    def _load(self, number: int) -> bytes:
        page = self._source.pread(number * PAGE, min(PAGE, self.size - number * PAGE))
        self._verify(number, page)
        if len(self._pages) >= _MAX_CACHED_PAGES:
            self._pages.clear()
        self._pages[number] = page
        return page

    def _verify(self, number: int, page: bytes | memoryview) -> None:
        expected = min(PAGE, self.size - number * PAGE)
        if len(page) != expected or zlib.crc32(page) != self._sums[number]:
            raise self._damaged(f"page {number} differs from its checksum")

    def _damaged(self, what: str) -> IndexCorruptError:
        return IndexCorruptError(f"{self.name} is damaged: {what}", REBUILD_HINT)


class CheckedFileWriter:
    """Writes a payload of unknown length in bounded memory; its name is the hash of its bytes."""

    def __init__(self, directory: Directory) -> None:
        import hashlib  # 2 ms that a search, which only reads, need not pay

        self._draft = directory.draft()
        self._hash = hashlib.sha256()
        self._sums = array("I")
        self._buffer = bytearray()
        self.position = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Append to the payload."""
        self._buffer += data
        self.position += len(data)
        if len(self._buffer) >= 64 * PAGE:
            self._flush(len(self._buffer) // PAGE * PAGE)

    def finish(self, suffix: str) -> tuple[str, int]:
        """Publish the file as `<hash><suffix>`; its name and size."""
        self._flush(len(self._buffer))
        sums = self._sums
        if sys.byteorder == "big":
            sums.byteswap()
        packed = sums.tobytes()
        trailer = _TRAILER.pack(_MAGIC, FORMAT_MAJOR, FORMAT_MINOR, self.position, zlib.crc32(packed))
        tail = packed + trailer + _CRC.pack(zlib.crc32(trailer))
        self._hash.update(tail)
        self._draft.write(tail)
        name = self._hash.hexdigest()[:32] + suffix
        self._draft.publish(name)
        return name, self.position + len(tail)

    def discard(self) -> None:
        """Give up; leaves nothing behind."""
        self._draft.discard()

    def _flush(self, count: int) -> None:
        with memoryview(self._buffer) as view:
            for start in range(0, count, PAGE):
                self._sums.append(zlib.crc32(view[start : min(start + PAGE, count)]))
            data = bytes(view[:count])
        del self._buffer[:count]
        self._hash.update(data)
        self._draft.write(data)
