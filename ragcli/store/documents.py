"""The added documents of a session: text and metadata, in one file that every later version reads.

Segments only index them, so no rebuild, upgrade or damage to a segment loses one. The format is framed msgpack of
[[id, text, metadata], ...] sorted by id; nothing else is needed to index them anew.
"""

from ragcli.errors import IndexCorruptError
from ragcli.model import Document
from ragcli.store.codec import decode, encode
from ragcli.store.directory import Directory, write_file
from ragcli.store.snapshots import DOCUMENTS

DOCUMENTS_KIND = b"RAGDOCUM"


def load_documents(directory: Directory) -> list[Document]:
    """The added documents by id; IndexCorruptError names the file, whose bytes are left as they are."""
    try:
        raw = directory.read(DOCUMENTS)
    except FileNotFoundError:
        return []
    plain = decode(DOCUMENTS_KIND, DOCUMENTS, raw)
    try:
        return [Document(id_, text, metadata) for id_, text, metadata in plain]
    except (TypeError, ValueError) as error:
        raise IndexCorruptError(f"{DOCUMENTS} is damaged: {type(error).__name__}", DOCUMENTS_HINT) from error


def save_documents(directory: Directory, documents: list[Document]) -> None:
    """Put all added documents in place of those before, whole or not at all."""
    rows = [[document.id, document.text, dict(sorted(document.metadata.items()))] for document in sorted(documents)]
    write_file(directory, DOCUMENTS, encode(DOCUMENTS_KIND, DOCUMENTS, rows))


DOCUMENTS_HINT = "put a copy of the file back, or drop all added documents with: ragcli clear"
