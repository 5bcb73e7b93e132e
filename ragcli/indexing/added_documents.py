"""Added documents as documents of the index: identity, and bringing segments in line with the documents file.

The file is the truth; what segments hold of it is derived, and put right by the next writer whatever happened.
"""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping

from ragcli.config.options import STANDARD
from ragcli.documents import Block, NormalizedDocument
from ragcli.errors import UsageError
from ragcli.index.doc_table import DocumentRow
from ragcli.index.segment_buffer import SegmentBuffer
from ragcli.indexing.index_writer import IndexWriter
from ragcli.indexing.plan import DocAddress
from ragcli.ingest.chunkers import NormalizedDocumentChunker, chunk_ids
from ragcli.model import ADDED, Document, DocumentFormat, Metadata

ID_LENGTH = 12


def make_document(text: str, metadata: Metadata) -> Document:
    """A document named by the hash of its text and metadata, so that adding twice is adding once.

    UsageError for a key or value that cannot be stored.
    """
    if not text.strip():
        raise UsageError("the document has no text", "give some text, or - to read it from standard input")
    if not isinstance(metadata, Mapping):
        raise UsageError("the metadata are no mapping of keys to values", "give a dictionary")
    for key, value in metadata.items():
        if not isinstance(key, str) or not isinstance(value, str | int | float | bool):
            raise UsageError(
                f"the metadata value of {key!r} is of type {type(value).__name__}",
                "give texts, numbers, true or false, under keys that are texts",
            )
    if "file" in metadata:
        raise UsageError("the metadata key 'file' is kept for indexed files", "use another key, such as source")
    if any(isinstance(value, float) and not math.isfinite(value) for value in metadata.values()):
        raise UsageError("a number of the metadata is not finite", "give it as a text")
    own = {str(key): value for key, value in sorted(metadata.items())}
    text = _clean(text)
    identity = json.dumps([text, own], sort_keys=True, ensure_ascii=False)
    digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()
    return Document(digest[:ID_LENGTH], text, own)


def ids_digest(documents: Iterable[Document]) -> str:
    """A digest of the ids, for a manifest to tell whether it indexes just these documents."""
    return hashlib.sha256("\n".join(sorted(document.id for document in documents)).encode()).hexdigest()[:16]


def reconcile(writer: IndexWriter, documents: Iterable[Document], live: Mapping[str, DocAddress]) -> None:
    """Index the documents that segments lack, and drop what is no longer among them."""
    wanted = {document.id: document for document in documents}
    for id_, stored in sorted(live.items()):
        if id_ not in wanted:
            writer.delete(stored)
    missing = [wanted[id_] for id_ in sorted(wanted) if id_ not in live]
    if not missing:
        return
    packer = SegmentBuffer()
    for document in missing:
        _pack(packer, document)
    for batch in packer.finish():
        writer.add(batch)


def _pack(packer: SegmentBuffer, document: Document) -> None:
    text = document.text
    normalized = NormalizedDocument(text, (Block(0, len(text), {}),), DocumentFormat.TEXT)
    chunks = NormalizedDocumentChunker().chunk(normalized, STANDARD, uri=document.id)
    raw = text.encode("utf-8")
    content = hashlib.sha256(raw).digest()
    row = DocumentRow(
        kind=ADDED,
        path=document.id,
        content_hash=content,
        fingerprint=hashlib.sha256(document.id.encode() + content).digest(),
        size=len(raw),
        mtime_ns=0,
        format=DocumentFormat.TEXT.value,
        language="",
        text_bytes=len(raw),
        metadata=dict(document.metadata),
        notes=(),
    )
    packer.add(row, text, chunks, chunk_ids(document.id, text, chunks))


def _clean(text: str) -> str:
    """Text as it can be stored: line ends are LF, no NUL, no lone surrogate."""
    text = text.replace("\r\n", "\n").replace("\0", "\N{REPLACEMENT CHARACTER}")
    return text.encode("utf-8", "replace").decode("utf-8")
