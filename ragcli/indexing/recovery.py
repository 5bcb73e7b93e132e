"""What a writer goes on with of what is stored: added documents whose file is lost, read back from the index, and
in a rebuild the files that cannot be read this time.

An added document's id is the hash of its text and metadata, so that what was read back proves itself. Guesses nothing.
"""

import contextlib
from collections.abc import Collection, Iterator
from typing import NamedTuple

from ragcli.errors import IndexCorruptError, IndexVersionError
from ragcli.index.manifest import OLD_DOCUMENTS, Manifest
from ragcli.index.segment import Segment
from ragcli.index.segment_buffer import InMemorySegment
from ragcli.indexing.added_documents import ids_digest, make_document
from ragcli.indexing.index_writer import repacked, stored_chunks
from ragcli.model import ADDED, FILE, Document
from ragcli.store.document_file import DOCUMENTS_HINT, documents_name, load_documents
from ragcli.store.snapshots import SnapshotStore


class KeptDocuments(NamedTuple):
    """The added documents of a session. `name` is the file that a manifest can name for them, '' where they have to be
    written first; `notice` says what was mended."""

    documents: list[Document]
    name: str
    notice: str


def kept_documents(store: SnapshotStore) -> KeptDocuments:
    """Read the added documents. Used under the lock.

    IndexCorruptError where they are damaged and the index does not hold all of them: then nothing is touched.
    """
    manifest = None
    with contextlib.suppress(IndexCorruptError):
        manifest = store.manifest()
    name = documents_name(store)
    try:
        documents = load_documents(store.directory, name)
        if manifest is not None:
            check_kept(store, manifest, documents)
    except IndexVersionError:
        raise
    except IndexCorruptError as damage:
        found = _read_back(store, manifest) if manifest is not None else []
        if manifest is None or ids_digest(found) != manifest.added:
            raise
        notice = f"{damage.message}; {len(found):,} added documents were read back from the index"
        return KeptDocuments(found, "", notice)
    return KeptDocuments(documents, "" if name == OLD_DOCUMENTS else name, "")


def stored_files(store: SnapshotStore, root: str, paths: Collection[str]) -> Iterator[InMemorySegment]:
    """What the current generation holds of some files of the tree at `root`, and of all below where a path is that of a
    directory, analyzed anew. What is damaged is left out."""
    manifest = None
    if paths:
        with contextlib.suppress(IndexCorruptError, IndexVersionError):
            manifest = store.manifest()
    if manifest is None or manifest.root != root:
        return
    below = tuple(f"{path}/" for path in paths)
    seen: set[str] = set()
    for info in manifest.segments:
        with contextlib.suppress(IndexCorruptError, IndexVersionError, FileNotFoundError):
            segment = Segment(store.open_segment(info), info.deleted)
            try:
                for ordinal, row in segment.documents():
                    asked = row.path in paths or row.path.startswith(below)
                    if row.kind == FILE and asked and row.path not in seen:
                        yield from repacked(segment, ordinal)
                        seen.add(row.path)
            finally:
                segment.close()


def check_kept(store: SnapshotStore, manifest: Manifest, documents: list[Document]) -> None:
    """IndexCorruptError where these are not the documents of the generation.

    Before 1.1 a run that was killed could leave others than those that are indexed: that is for a writer to put right.
    """
    if manifest.documents == OLD_DOCUMENTS:
        if manifest.corpus.added and OLD_DOCUMENTS not in store.directory.list():
            raise IndexCorruptError(f"{OLD_DOCUMENTS} is missing", DOCUMENTS_HINT)
    elif manifest.added not in ("", ids_digest(documents)) or (documents and not manifest.added):
        raise IndexCorruptError(f"{manifest.documents} is damaged: it is of another generation", DOCUMENTS_HINT)


def _read_back(store: SnapshotStore, manifest: Manifest) -> list[Document]:
    """The added documents of a generation whose ids fit what was read; damaged segments give none."""
    found = []
    for info in manifest.segments:
        with contextlib.suppress(IndexCorruptError, FileNotFoundError):
            segment = Segment(store.open_segment(info), info.deleted)
            try:
                for ordinal, row in segment.documents():
                    if row.kind == ADDED:
                        text = "".join(text for _, text in stored_chunks(segment, ordinal))
                        found.append(make_document(text, row.metadata))
            finally:
                segment.close()
    return found
