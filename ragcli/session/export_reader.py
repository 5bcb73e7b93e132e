"""Reads an exported session's members one after the other: plain tar headers and nothing that a header could unfold.

tarfile would follow extended headers of any size and fill sparse files with zeros (10 KB became 3.6 GB of memory); an
export of ours needs neither.
"""

import tarfile
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from ragcli.errors import UsageError

HINT = "it must be a file that `ragcli export` wrote"
_BLOCK = tarfile.BLOCKSIZE
_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE)


class Member(NamedTuple):
    """A regular file of the tar; its content can be read until the next member is asked for."""

    name: str
    size: int
    content: "Content"


class Content:
    """The next `left` bytes of a stream; UsageError where it ends before that."""

    def __init__(self, source: BinaryIO, left: int) -> None:
        self._source = source
        self.left = left

    def read(self, count: int) -> bytes:
        """At most `count` bytes, b'' at the end."""
        wanted = min(count, self.left)
        data = _exactly(self._source, wanted)
        if len(data) < wanted:
            raise refused("it is cut short")
        self.left -= wanted
        return data


def members(source: BinaryIO) -> Iterator[Member]:
    """Every member up to the end of the tar. UsageError for what is no tar, or holds anything but regular files."""
    first = True
    while True:
        head = _exactly(source, _BLOCK)
        if not head.strip(b"\0") and (head or not first):
            return
        try:
            header = tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
        except tarfile.TarError as error:
            raise refused(str(error)) from None
        if header.type not in _FILES:
            raise refused(f"{header.name!r} is no regular file")
        if header.size < 0:
            raise refused(f"{header.name!r} has no size")
        first = False
        content = Content(source, header.size)
        yield Member(header.name, header.size, content)
        while content.read(1 << 20):
            pass
        _exactly(source, -header.size % _BLOCK)


def refused(why: str) -> UsageError:
    """What is said of a file that cannot be imported."""
    return UsageError(f"the file cannot be imported: {why}", HINT)


def _exactly(source: BinaryIO, count: int) -> bytes:
    """`count` bytes, fewer only at the end: a pipe gives what it has."""
    pieces = []
    while count > 0 and (piece := source.read(count)):
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)
