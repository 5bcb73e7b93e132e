"""A session as one tar file: exactly the files that its current generation names, each checked on the way in.

The tar is plain, so nothing in it inflates. Import trusts no name and no byte: members are recognised by what a
manifest names, segments by the hash that is their name, and all parts have to fit each other before anything is
committed. Where the tree was and with which options it was indexed is not taken over.
"""

import contextlib
import hashlib
import io
import tarfile
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from ragcli.config.options import STANDARD, IndexOptions
from ragcli.errors import IndexCorruptError, RagError, SessionNotFoundError, UsageError
from ragcli.index.check_index import check_segment
from ragcli.index.manifest import OLD_DOCUMENTS, SEGMENT_SUFFIX, UNKNOWN, Manifest, SegmentInfo, to_plain
from ragcli.index.manifest_check import read_manifest
from ragcli.index.segment import Segment
from ragcli.indexing.added_documents import ids_digest, make_document
from ragcli.indexing.index_writer import corpus_of
from ragcli.model import ADDED, Document
from ragcli.session.export_reader import HINT, Content, Member, members, refused
from ragcli.session.locator import SessionPlace
from ragcli.store.checked_file import file_size
from ragcli.store.codec import decode, encode
from ragcli.store.directory import Directory
from ragcli.store.document_file import load_documents, packed_documents, parse_documents, save_documents
from ragcli.store.snapshots import MANIFEST_KIND, SnapshotStore

MANIFEST = "manifest"
# The member of that name holds the added documents, whatever the file was called.
DOCUMENTS = OLD_DOCUMENTS
# A manifest grows with segments, deleted documents and failures; an honest one is far below this. Unpacked a byte can
# take twenty, and documents some ten.
MAX_MANIFEST_BYTES = 8 * 1024 * 1024
MAX_DOCUMENTS_BYTES = 64 * 1024 * 1024
_PIECE = 1 << 20


class _Parts(NamedTuple):
    manifest: Manifest
    documents: list[Document]


def export_session(directory: Directory, target: BinaryIO) -> None:
    """Write manifest, added documents and segments of the current generation; same generation, same bytes.

    SessionNotFoundError where there is none, UsageError where it has more added documents than an import takes.
    """
    store = SnapshotStore(directory)
    generation = store.open()
    if generation is None:
        raise SessionNotFoundError("there is nothing to export", "make an index first with: ragcli index")
    try:
        manifest = generation.manifest
        documents = load_documents(directory, manifest.documents)
        packed = packed_documents(DOCUMENTS, documents)
        if len(packed) > MAX_DOCUMENTS_BYTES:
            raise UsageError(
                f"the added documents are over {MAX_DOCUMENTS_BYTES // 1024**2} MiB, too many for one file"
            )
        manifest = manifest._replace(documents=DOCUMENTS if documents else "")
        # This form writes sizes beyond 8 GiB into the header itself.
        with tarfile.open(fileobj=target, mode="w|", format=tarfile.GNU_FORMAT) as tar:
            _put(tar, MANIFEST, encode(MANIFEST_KIND, MANIFEST, to_plain(manifest)))
            if documents:
                _put(tar, DOCUMENTS, packed)
            for info in sorted(manifest.segments):
                _put(tar, info.name, directory.read(info.name))
    finally:
        generation.close()


def import_session(directory: Directory, place: SessionPlace, source: BinaryIO, wait: float) -> None:
    """Replace a session by an exported one. UsageError for what is no export, IndexCorruptError for a damaged one."""
    with directory.lock(wait):
        store = SnapshotStore(directory)
        try:
            manifest, documents = _read_members(source, directory, store)
            number = store.last_number() + 1
            store.commit(
                manifest._replace(
                    number=number,
                    session=place.name or place.id,
                    name=place.name,
                    root="",
                    root_key=(0, 0),
                    only="",
                    options=IndexOptions(limits=STANDARD),
                    documents=save_documents(store, number, documents),
                )
            )
        except RagError:
            with contextlib.suppress(IndexCorruptError):  # a session that was damaged before
                store.collect()
            raise
        store.gc()


def _read_members(source: BinaryIO, directory: Directory, store: SnapshotStore) -> _Parts:
    stream = members(source)
    first = next(stream, None)
    if first is None or first.name != MANIFEST or first.size > MAX_MANIFEST_BYTES:
        raise refused("it does not begin with a manifest")
    manifest = read_manifest(MANIFEST, decode(MANIFEST_KIND, MANIFEST, first.content.read(first.size), few=True))
    documents: list[Document] | None = None
    wanted = {info.name: info for info in manifest.segments}
    found: list[SegmentInfo] = []
    for member in stream:
        if member.name == DOCUMENTS and documents is None:
            documents = _read_documents(member)
        elif member.name in wanted:
            found.append(_read_segment(directory, store, wanted.pop(member.name), member))
        else:
            raise refused(f"it holds {member.name!r}, which nothing names")
    if wanted:
        raise refused("it is not whole")
    manifest = manifest._replace(segments=tuple(sorted(found)))
    _check_whole(store, manifest, documents or [])
    return _Parts(manifest, documents or [])


def _read_documents(member: Member) -> list[Document]:
    if member.size > MAX_DOCUMENTS_BYTES:
        raise refused(f"its added documents are over {MAX_DOCUMENTS_BYTES // 1024**2} MiB")
    documents = parse_documents(DOCUMENTS, member.content.read(member.size))
    for document in documents:
        with contextlib.suppress(UsageError):
            if make_document(document.text, document.metadata) == document:
                continue
        raise IndexCorruptError("an added document in the file is not the one that its id names", HINT)
    return documents


def _read_segment(directory: Directory, store: SnapshotStore, info: SegmentInfo, member: Member) -> SegmentInfo:
    """Store a segment under its name, once its bytes have the hash that the name is, and see whether it makes sense."""
    if member.size not in (info.size, file_size(info.size)):  # versions before 1.1 sometimes gave the payload's
        raise IndexCorruptError(f"{info.name} has another size in the file than the manifest says", HINT)
    draft = directory.draft()
    try:
        if _copied(member.content, draft.write) + SEGMENT_SUFFIX != info.name:
            raise IndexCorruptError(f"{info.name} is damaged in the file", "export the session again")
        draft.publish(info.name)
    except BaseException:
        draft.discard()
        raise
    blob = store.open_file(info.name)
    try:
        blob.verify()
        check_segment(Segment(blob), info)
        if info.check not in (UNKNOWN, blob.check):
            raise IndexCorruptError(f"{info.name} is another segment than the manifest says", HINT)
        return info._replace(size=blob.file_size, check=blob.check)
    finally:
        blob.close()


def _copied(content: Content, write: Callable[[bytes], None]) -> str:
    """Pass a member's bytes on; the beginning of their hash, as segments are called."""
    digest = hashlib.sha256()
    while piece := content.read(_PIECE):
        digest.update(piece)
        write(piece)
    return digest.hexdigest()[:32]


def _check_whole(store: SnapshotStore, manifest: Manifest, documents: list[Document]) -> None:
    """Hold what a manifest sums up against what segments and documents hold; each document lives once."""
    with _open_segments(store, manifest) as segments:
        corpus = corpus_of(segments)
        rows = [(row.kind, row.path) for segment in segments for _, row in segment.documents()]
    added = sorted(path for kind, path in rows if kind == ADDED)
    if corpus != manifest.corpus or len(set(rows)) != len(rows):
        raise IndexCorruptError("the segments in the file are not what its manifest sums up", HINT)
    if added != sorted(document.id for document in documents) or manifest.added not in _digests(documents):
        raise IndexCorruptError("the added documents in the file are not those that its index holds", HINT)


def _digests(documents: list[Document]) -> tuple[str, ...]:
    return (ids_digest(documents), "") if not documents else (ids_digest(documents),)


@contextlib.contextmanager
def _open_segments(store: SnapshotStore, manifest: Manifest) -> Iterator[list[Segment]]:
    with contextlib.ExitStack() as stack:
        segments = []
        for info in manifest.segments:
            segment = Segment(store.open_segment(info), info.deleted)
            stack.callback(segment.close)
            segments.append(segment)
        yield segments


def _put(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    member.mode = 0o600
    tar.addfile(member, io.BytesIO(data))
