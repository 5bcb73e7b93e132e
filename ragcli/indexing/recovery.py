"""Puts a damaged or lost file of added documents right from what the index still holds of them. Guesses nothing.

A document's id is the hash of its text and metadata, so that what was read back proves itself.
"""

import contextlib

from ragcli.errors import IndexCorruptError, IndexVersionError
from ragcli.index.manifest import Manifest
from ragcli.index.segment import Segment
from ragcli.indexing.added_documents import ids_digest, make_document
from ragcli.indexing.index_writer import stored_chunks
from ragcli.model import ADDED, Document
from ragcli.store.document_file import DOCUMENTS_HINT, is_kept, load_documents, save_documents
from ragcli.store.snapshots import DOCUMENTS, SnapshotStore


def mend_documents(store: SnapshotStore) -> str:
    """Restore the added documents where their file is damaged or gone; a notice of it, '' where all is well.

    Used under the lock. IndexCorruptError where the index does not hold all of them: then nothing is touched.
    """
    manifest = None
    with contextlib.suppress(IndexCorruptError):
        manifest = store.manifest()
    damage = _damage(store, manifest)
    if damage is None:
        return ""
    found = _read_back(store, manifest) if manifest is not None else []
    if manifest is None or ids_digest(found) != manifest.added:
        raise damage
    save_documents(store.directory, found)
    return f"{damage.message}; {len(found):,} added documents were read back from the index"


def check_kept(store: SnapshotStore, manifest: Manifest) -> None:
    """IndexCorruptError where the file of added documents is gone and the index holds some."""
    if manifest.corpus.added and not is_kept(store.directory):
        raise IndexCorruptError(f"{DOCUMENTS} is missing", DOCUMENTS_HINT)


def _damage(store: SnapshotStore, manifest: Manifest | None) -> IndexCorruptError | None:
    try:
        load_documents(store.directory)
        if manifest is not None:
            check_kept(store, manifest)
    except IndexVersionError:
        raise
    except IndexCorruptError as error:
        return error
    return None


def _read_back(store: SnapshotStore, manifest: Manifest) -> list[Document]:
    """The added documents of a generation whose ids fit what was read; damaged segments give none."""
    found = []
    for info in manifest.segments:
        with contextlib.suppress(IndexCorruptError, FileNotFoundError):
            segment = Segment(store.open_segment(info.name), info.deleted)
            try:
                for ordinal, row in segment.documents():
                    if row.kind == ADDED:
                        text = "".join(text for _, text in stored_chunks(segment, ordinal))
                        found.append(make_document(text, row.metadata))
            finally:
                segment.close()
    return found
