"""The added documents of a generation: text and metadata, in one file that every later version reads.

A manifest names the file, so that documents change with CURRENT and never without it. Segments only index them: no
rebuild, upgrade or damage to a segment loses one. The format is framed msgpack of [[id, text, metadata], ...] sorted by
id; nothing else is needed to index them anew.
"""

import contextlib
import math
from collections.abc import Iterable
from typing import Any

from ragcli.errors import IndexCorruptError, IndexVersionError
from ragcli.index.manifest import OLD_DOCUMENTS
from ragcli.model import Document
from ragcli.store.codec import decode, encode
from ragcli.store.directory import Directory, write_file
from ragcli.store.snapshots import DOCUMENTS_SUFFIX, SnapshotStore

DOCUMENTS_KIND = b"RAGDOCUM"
DOCUMENTS_HINT = (
    "run: ragcli index, which reads them back where the index still has them; or put a copy of the file back, or drop "
    "them with: ragcli clear"
)
_MOST = 10**15
VERSION_HINT = "use the version that wrote them, or drop all added documents with: ragcli clear"


def load_documents(directory: Directory, name: str) -> list[Document]:
    """The documents of that file by id, none where `name` is ''.

    IndexCorruptError names the file where it is damaged or gone; its bytes are left as they are. The one of versions
    before 1.1 came with the first added document: that it is not there is no damage by itself.
    """
    if not name:
        return []
    try:
        return parse_documents(name, directory.read(name))
    except FileNotFoundError:
        if name == OLD_DOCUMENTS:
            return []
        raise IndexCorruptError(f"{name} is missing from the index", DOCUMENTS_HINT) from None


def parse_documents(name: str, raw: bytes) -> list[Document]:
    """The documents of such a file's bytes; IndexCorruptError where they are none, IndexVersionError for others'."""
    try:
        plain = decode(DOCUMENTS_KIND, name, raw)
        if not isinstance(plain, list):
            raise TypeError("no list")
        return [_document(row) for row in plain]
    except IndexVersionError as error:
        raise IndexVersionError(error.message, VERSION_HINT) from None
    except IndexCorruptError as error:
        raise IndexCorruptError(error.message, DOCUMENTS_HINT) from None
    except (TypeError, ValueError) as error:
        raise IndexCorruptError(f"{name} is damaged: it holds no documents", DOCUMENTS_HINT) from error


def _document(row: Any) -> Document:
    id_, text, metadata = row
    values = metadata.values() if isinstance(metadata, dict) else [None]
    if not (type(id_) is type(text) is str and all(type(value) in (str, int, float, bool) for value in values)):
        raise TypeError("no document")
    if not all(type(key) is str for key in metadata):
        raise TypeError("no document")
    if not all(math.isfinite(value) for value in values if type(value) is float):
        raise ValueError("no number")
    f"{id_}{text}".encode()  # UnicodeEncodeError, which is a ValueError, for what no file holds
    return Document(id_, text, metadata)


def packed_documents(name: str, documents: Iterable[Document]) -> bytes:
    """Added documents as the bytes of a file of that name."""
    rows = [[document.id, document.text, dict(sorted(document.metadata.items()))] for document in sorted(documents)]
    return encode(DOCUMENTS_KIND, name, rows)


def save_documents(store: SnapshotStore, number: int, documents: list[Document]) -> str:
    """Write the added documents of the generation that will be `number`; the name for its manifest.

    None are written down too: the newest file up to a generation is the one that its manifest names, or named.
    """
    name = f"{number}{DOCUMENTS_SUFFIX}"
    write_file(store.directory, name, packed_documents(name, documents))
    return name


def documents_name(store: SnapshotStore) -> str:
    """The file with the added documents, for a writer: as CURRENT's manifest says, else as can be told without it."""
    number = _MOST
    try:
        manifest = store.manifest()
        # Without a generation: as versions before 1.1 left it where they were killed at the first document.
        return OLD_DOCUMENTS if manifest is None else manifest.documents
    except IndexCorruptError:
        with contextlib.suppress(IndexCorruptError):
            number = store.current_number()
    if number == _MOST:
        newest = store.last_readable()
        if newest is not None:
            return newest.documents
    names = set(store.directory.list())
    written = [n for n in store.numbers() if n <= number and f"{n}{DOCUMENTS_SUFFIX}" in names]
    return f"{max(written)}{DOCUMENTS_SUFFIX}" if written else OLD_DOCUMENTS
