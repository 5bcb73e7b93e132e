"""One file to a document with its chunks: read, recognised, extracted, cut. Opens user files read-only, writes nothing.

What goes wrong with a file is a value in the answer, never the end of the run.
"""

import errno
from collections.abc import Iterable
from typing import NamedTuple

from ragcli.config.options import STRICT, IndexOptions, Limits
from ragcli.documents import Chunk, ExtractionContext, NormalizedDocument, SkipReason, SourceFile, Walk
from ragcli.errors import DocumentProcessingError, FailureCode
from ragcli.extract import registry
from ragcli.extract.decode import looks_binary
from ragcli.ingest import formats
from ragcli.ingest.chunkers import NormalizedDocumentChunker, chunk_ids
from ragcli.ingest.fingerprint import content_hash, fingerprint
from ragcli.ingest.reading import VANISHED, TreeReader, reason_of
from ragcli.ingest.secret_names import holds_key
from ragcli.ingest.skips import stand_in
from ragcli.ingest.walk import walk
from ragcli.model import DocumentFormat
from ragcli.text.secrets import told

# What detection may look at: a shebang, a BOM, the share of control characters.


class Ingested(NamedTuple):
    """A document read anew; `file` carries the stat that belongs to the bytes read."""

    file: SourceFile
    content: bytes
    fingerprint: bytes
    document: NormalizedDocument
    chunks: list[Chunk]
    ids: list[str]


class Unchanged(NamedTuple):
    """A file whose fingerprint is the known one: what is stored of it still holds."""

    file: SourceFile
    fingerprint: bytes


class LeftOut(NamedTuple):
    """A file that is no document of ours, or cannot be read now."""

    file: SourceFile
    reason: SkipReason
    detail: str = ""


class Failed(NamedTuple):
    """A document that could not be processed."""

    file: SourceFile
    code: FailureCode
    reason: str


Outcome = Ingested | Unchanged | LeftOut | Failed


class FileIngestionService:
    """Discovery and ingestion under one set of limits; `FileIngestionService()` has the strict ones."""

    def __init__(self, limits: Limits = STRICT, options: IndexOptions | None = None) -> None:
        self.options = (options or IndexOptions())._replace(limits=limits)
        self._chunker = NormalizedDocumentChunker()

    def discover(self, root: str) -> Walk:
        """Walk a directory; SourceRejectedError over a walk cap."""
        return walk(root, self.options)

    def ingest_all(self, root: str, files: Iterable[SourceFile]) -> list[Outcome]:
        """Ingest files one after the other, in this process."""
        with TreeReader(root) as reader:
            return [self.ingest(reader, file) for file in files]

    def ingest(self, reader: TreeReader, file: SourceFile, known: bytes = b"") -> Outcome:
        """Read one file; `known` is the fingerprint of what is stored of it, b'' for nothing."""
        by_name = self._format_by_name(file.path)
        try:
            raw, file = reader.read(file, self._cap(by_name))
        except OSError as error:
            return _unread(file, error)
        if not self.options.allow_secrets and holds_key(file.path, raw):
            return LeftOut(file, SkipReason.SECRET, "private key")
        other = stand_in(file.path.rpartition("/")[2], raw)
        if other is not None:
            return LeftOut(file, other)
        format = by_name or formats.detect(file.path, raw[: formats.HEAD_BYTES])
        if format is None:
            return LeftOut(file, SkipReason.BINARY if looks_binary(raw) else SkipReason.UNSUPPORTED)
        return self._ingest(file, raw, format, known)

    def _ingest(self, file: SourceFile, raw: bytes, format: DocumentFormat, known: bytes) -> Outcome:
        spec = registry.spec_for(format)
        extractor = f"{spec.id}/{spec.version}" if spec else ""
        content = content_hash(raw)
        print_ = fingerprint("", file.path, content, format, extractor, self.options)
        if print_ == known:
            return Unchanged(file, print_)
        limits = self.options.limits
        try:
            document = registry.extract(raw, ExtractionContext(file.path, format, limits))
            chunks = self._chunker.chunk(document, limits, uri=file.path)
        except DocumentProcessingError as error:
            # What reads text refuses a binary before all else; nobody else needs to look for its marks.
            if not formats.is_binary_format(format) and looks_binary(raw):
                return LeftOut(file, SkipReason.BINARY)
            return Failed(file, error.code, error.detail)
        found = "" if self.options.allow_secrets else told(document.text)
        if found:
            document = document._replace(notes=(*document.notes, found))
        return Ingested(file, content, print_, document, chunks, chunk_ids(file.path, document.text, chunks))

    def _format_by_name(self, path: str) -> DocumentFormat | None:
        if self.options.format != DocumentFormat.AUTO:
            return self.options.format
        return formats.detect(path, None)

    def _cap(self, format: DocumentFormat | None) -> int:
        limits = self.options.limits
        return limits.max_raw_binary if format and formats.is_binary_format(format) else limits.max_raw_text


def _unread(file: SourceFile, error: OSError) -> LeftOut:
    if error.errno == errno.EFBIG:
        return LeftOut(file, SkipReason.TOO_LARGE, reason_of(error))
    if error.errno in VANISHED:
        return LeftOut(file, SkipReason.VANISHED)
    return LeftOut(file, SkipReason.UNREADABLE, reason_of(error))
