"""Exported sessions taken apart and put together again with other contents, sound in every checksum."""

import io
import tarfile
from collections.abc import Mapping

import msgpack

from ragcli.store.checked_file import CheckedFile, CheckedFileWriter
from ragcli.store.codec import decode, encode
from ragcli.store.directory import MemorySource, RamDirectory
from ragcli.store.snapshots import MANIFEST_KIND


def members_of(data: bytes) -> dict[str, bytes]:
    """The members of an exported session."""
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]


def tarred(members: Mapping[str, bytes]) -> io.BytesIO:
    """A tar of these members, in this order."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, raw in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(raw)
            tar.addfile(member, io.BytesIO(raw))
    made.seek(0)
    return made


def payload_of(segment: bytes) -> bytes:
    """A segment without its checksums."""
    return segment[: CheckedFile("segment", MemorySource(segment)).size]


def components_of(payload: bytes) -> dict[str, tuple[int, int]]:
    """Where the parts of a segment's payload lie: offset and size by name."""
    size = int.from_bytes(payload[-4:], "little")
    header = msgpack.unpackb(payload[-4 - size : -4])
    return {name: (offset, length) for name, (offset, length) in header["components"].items()}


def checked(payload: bytes) -> tuple[str, bytes]:
    """A payload as a segment's file: its name and its bytes with checksums."""
    directory = RamDirectory()
    writer = CheckedFileWriter(directory)
    writer.write(payload)
    name, _ = writer.finish(".segment")
    return name, directory.files[name]


def forged(members: Mapping[str, bytes], name: str, payload: bytes) -> io.BytesIO:
    """An export with another payload in place of a segment's, sound in every checksum."""
    other, raw = checked(payload)
    manifest = decode(MANIFEST_KIND, "manifest", members["manifest"])
    for info in manifest["segments"]:
        if info["name"] == name:
            info |= {"name": other, "size": len(raw)}
    kept = {key: value for key, value in members.items() if key not in (name, "manifest")}
    return tarred({"manifest": encode(MANIFEST_KIND, "manifest", manifest), **kept, other: raw})
