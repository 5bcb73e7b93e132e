"""A session as one tar file: exactly the files that its current generation names, each checked on the way in.

The tar is plain, so nothing in it inflates. Import trusts no name and no byte: members are recognised by what a
manifest names, segments by the hash that is their name, everything by its checksums, before anything is committed.
"""

import hashlib
import io
import tarfile
from collections.abc import Callable
from typing import BinaryIO

from ragcli.errors import IndexCorruptError, RagError, SessionNotFoundError, UsageError
from ragcli.index.check_index import check_segment
from ragcli.index.manifest import SEGMENT_SUFFIX, Manifest, SegmentInfo, from_plain, to_plain
from ragcli.index.segment import Segment
from ragcli.model import Document
from ragcli.session.locator import SessionPlace
from ragcli.store.codec import decode, encode
from ragcli.store.directory import Directory
from ragcli.store.document_file import load_documents, parse_documents, replaced_documents
from ragcli.store.snapshots import DOCUMENTS, MANIFEST_KIND, SnapshotStore

MANIFEST = "manifest"
# A manifest grows with segments, dead documents and failures; an honest one is far below this.
MAX_MANIFEST_BYTES = 256 * 1024 * 1024
_PIECE = 1 << 20
_HINT = "it must be a file that `ragcli export` wrote"


def export_session(directory: Directory, target: BinaryIO) -> None:
    """Write manifest, added documents and segments of the current generation; same generation, same bytes.

    SessionNotFoundError where there is none.
    """
    store = SnapshotStore(directory)
    generation = store.open()
    if generation is None:
        raise SessionNotFoundError("there is nothing to export", "make an index first with: ragcli index")
    try:
        manifest = generation.manifest
        with tarfile.open(fileobj=target, mode="w|", format=tarfile.PAX_FORMAT) as tar:
            _put(tar, MANIFEST, encode(MANIFEST_KIND, MANIFEST, to_plain(manifest)))
            if load_documents(directory):
                _put(tar, DOCUMENTS, directory.read(DOCUMENTS))
            for info in sorted(manifest.segments):
                _put(tar, info.name, directory.read(info.name))
    finally:
        generation.close()


def import_session(directory: Directory, place: SessionPlace, source: BinaryIO, wait: float) -> None:
    """Replace a session by an exported one. UsageError for what is no export, IndexCorruptError for a damaged one."""
    with directory.lock(wait):
        store = SnapshotStore(directory)
        try:
            with tarfile.open(fileobj=source, mode="r|") as tar:
                manifest, documents = _read_members(tar, directory, store)
        except (tarfile.TarError, EOFError) as error:
            store.collect()
            raise UsageError(f"the file cannot be imported: {error}", _HINT) from None
        except RagError:
            store.collect()
            raise
        number = store.last_number() + 1
        with replaced_documents(store, documents):
            store.commit(manifest._replace(number=number, session=place.name or place.id, name=place.name))
        store.gc()


def _read_members(tar: tarfile.TarFile, directory: Directory, store: SnapshotStore) -> tuple[Manifest, list[Document]]:
    manifest: Manifest | None = None
    documents: bytes | None = None
    wanted: dict[str, SegmentInfo] = {}
    for member in tar:
        if not member.isreg():
            raise UsageError(f"the file cannot be imported: {member.name!r} is no regular file", _HINT)
        content = tar.extractfile(member)
        if content is None:
            raise UsageError("the file cannot be imported: it is cut short", _HINT)
        if manifest is None:
            manifest = _read_manifest(member, content.read(MAX_MANIFEST_BYTES + 1))
            wanted = {info.name: info for info in manifest.segments}
        elif member.name == DOCUMENTS and documents is None:
            documents = content.read()
        elif member.name in wanted:
            _read_segment(directory, store, wanted.pop(member.name), content.read)
        else:
            raise UsageError(f"the file cannot be imported: it holds {member.name!r}, which nothing names", _HINT)
    if manifest is None or wanted:
        raise UsageError("the file cannot be imported: it is not whole", _HINT)
    return manifest, parse_documents(documents) if documents is not None else []


def _read_manifest(member: tarfile.TarInfo, raw: bytes) -> Manifest:
    if member.name != MANIFEST or len(raw) > MAX_MANIFEST_BYTES:
        raise UsageError("the file cannot be imported: it does not begin with a manifest", _HINT)
    manifest = from_plain(MANIFEST, decode(MANIFEST_KIND, MANIFEST, raw))
    for info in manifest.segments:
        stem = info.name.removesuffix(SEGMENT_SUFFIX)
        if stem + SEGMENT_SUFFIX != info.name or len(stem) != 32 or set(stem) - set("0123456789abcdef"):
            raise IndexCorruptError(f"the file names a segment {info.name!r}", _HINT)
    return manifest


def _read_segment(directory: Directory, store: SnapshotStore, info: SegmentInfo, read: Callable[[int], bytes]) -> None:
    """Store a segment under its name, once its bytes have the hash that the name is, and see whether it makes sense."""
    name = info.name
    draft = directory.draft()
    digest = hashlib.sha256()
    try:
        while piece := read(_PIECE):
            digest.update(piece)
            draft.write(piece)
        if digest.hexdigest()[:32] + SEGMENT_SUFFIX != name:
            raise IndexCorruptError(f"{name} is damaged in the file", "export the session again")
        draft.publish(name)
    except BaseException:
        draft.discard()
        raise
    blob = store.open_segment(name)
    try:
        blob.verify()
        check_segment(Segment(blob), info)
    finally:
        blob.close()


def _put(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    member.mode = 0o600
    tar.addfile(member, io.BytesIO(data))
