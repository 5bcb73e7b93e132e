"""The added documents of a session: text and metadata, in one file that every later version reads.

Segments only index them, so no rebuild, upgrade or damage to a segment loses one. The format is framed msgpack of
[[id, text, metadata], ...] sorted by id; nothing else is needed to index them anew.
"""

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager

from ragcli.errors import IndexCorruptError, IndexVersionError, RagError
from ragcli.model import Document
from ragcli.store.codec import decode, encode
from ragcli.store.directory import Directory, write_file
from ragcli.store.snapshots import DOCUMENTS, SnapshotStore

DOCUMENTS_KIND = b"RAGDOCUM"


def load_documents(directory: Directory) -> list[Document]:
    """The added documents by id; IndexCorruptError names the file, whose bytes are left as they are."""
    try:
        raw = directory.read(DOCUMENTS)
    except FileNotFoundError:
        return []
    return parse_documents(raw)


def parse_documents(raw: bytes) -> list[Document]:
    """The documents of such a file's bytes, as `load_documents` gives them.

    IndexCorruptError where they are damaged, IndexVersionError for another version.
    """
    try:
        found = [Document(id_, text, dict(metadata)) for id_, text, metadata in decode(DOCUMENTS_KIND, DOCUMENTS, raw)]
        if not all(isinstance(document.id, str) and isinstance(document.text, str) for document in found):
            raise TypeError("not text")
        return found
    except IndexVersionError as error:
        raise IndexVersionError(error.message, VERSION_HINT) from None
    except IndexCorruptError as error:
        raise IndexCorruptError(error.message, DOCUMENTS_HINT) from None
    except (TypeError, ValueError) as error:
        raise IndexCorruptError(f"{DOCUMENTS} is damaged: {type(error).__name__}", DOCUMENTS_HINT) from error


def is_kept(directory: Directory) -> bool:
    """Whether the file is there; it is from the first added document on, also when it holds none."""
    return DOCUMENTS in directory.list()


def save_documents(directory: Directory, documents: list[Document]) -> None:
    """Put all added documents in place of those before, whole or not at all."""
    rows = [[document.id, document.text, dict(sorted(document.metadata.items()))] for document in sorted(documents)]
    write_file(directory, DOCUMENTS, encode(DOCUMENTS_KIND, DOCUMENTS, rows))


@contextmanager
def replaced_documents(store: SnapshotStore, documents: list[Document]) -> Iterator[None]:
    """Save documents, then commit the generation that indexes them, in the block.

    Where that fails before the commit, the documents are again what they were.
    """
    number = _number(store)
    before = None
    with contextlib.suppress(IndexCorruptError):
        before = load_documents(store.directory)
    try:
        save_documents(store.directory, documents)
        yield
    except RagError:
        with contextlib.suppress(RagError):
            if before is not None and _number(store) == number:
                save_documents(store.directory, before)
        raise


def _number(store: SnapshotStore) -> int:
    """The committed generation; -1 where that cannot be told."""
    try:
        return store.current_number()
    except IndexCorruptError:
        return -1


DOCUMENTS_HINT = (
    "run: ragcli index, which reads them back where the index still has them; or put a copy of the file back, or drop "
    "them with: ragcli clear"
)
VERSION_HINT = "use the version that wrote them, or drop all added documents with: ragcli clear"
