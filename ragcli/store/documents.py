"""The added documents of a session: text and metadata, in one file that every later version reads.

Segments only index them, so no rebuild, upgrade or damage to a segment loses one. The format is framed msgpack of
[[id, text, metadata], ...] sorted by id; nothing else is needed to index them anew.
"""

from ragcli.errors import IndexCorruptError, IndexVersionError
from ragcli.model import Document
from ragcli.store.codec import decode, encode
from ragcli.store.directory import Directory, write_file
from ragcli.store.snapshots import DOCUMENTS

DOCUMENTS_KIND = b"RAGDOCUM"


def load_documents(directory: Directory) -> list[Document]:
    """The added documents by id; IndexCorruptError names the file, whose bytes are left as they are."""
    try:
        plain = decode(DOCUMENTS_KIND, DOCUMENTS, directory.read(DOCUMENTS))
        return [Document(id_, text, metadata) for id_, text, metadata in plain]
    except FileNotFoundError:
        return []
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


DOCUMENTS_HINT = (
    "run: ragcli index, which reads them back where the index still has them; or put a copy of the file back, or drop "
    "them with: ragcli clear"
)
VERSION_HINT = "use the version that wrote them, or drop all added documents with: ragcli clear"
