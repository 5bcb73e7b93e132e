"""The values of the writing arm: files, blocks, documents, chunks, and what a run reports. No behaviour.

A search loads none of them. Units are those of `ragcli.model`.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, Protocol

from ragcli.config.options import Limits
from ragcli.model import DocumentFormat, Failure, Metadata


class SourceFile(NamedTuple):
    """A regular file that the walk found, with the stat it had then; times are within +-MAX_TIME_NS."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


class SkipReason(StrEnum):
    """Why the walk or the format check left a path out."""

    IGNORED = "ignored"
    DEFAULT_SKIP = "default-skip"
    SECRET = "secret"
    LINK = "link"
    SPECIAL = "special-file"
    TOO_LARGE = "too-large"
    UNREADABLE = "unreadable"
    EXCLUDED = "excluded"
    NOT_INCLUDED = "not-included"
    UNSUPPORTED = "unsupported"
    BINARY = "binary"
    VANISHED = "vanished"
    LOCK_FILE = "lock-file"
    APPLE_DOUBLE = "apple-double"
    LFS_POINTER = "lfs-pointer"
    WORKTREE = "worktree"


class Skipped(NamedTuple):
    """A path that was left out; a directory stands for all below it. `rule` names the rule where one did it."""

    path: str
    reason: SkipReason
    rule: str = ""
    is_dir: bool = False


class Walk(NamedTuple):
    """What a walk found: files by path, paths left out, directories that could not be read (kept as they were)."""

    files: list[SourceFile]
    skipped: list[Skipped]
    unreadable: list[str]


class Block(NamedTuple):
    """A contiguous run of a document's text with one provenance (a section, page, sheet range, symbol ...).

    The chunker merges neighbours whose `mergeable` is set and whose metadata are equal, and splits a block over the
    chunk limits, at the last of `cuts` (offsets in the document's text, ascending) that fits, else at a blank line,
    a line end, or between characters.
    """

    start: int
    end: int
    metadata: Metadata
    mergeable: bool = True
    cuts: tuple[int, ...] = ()


class NormalizedDocument(NamedTuple):
    """A document as text: line ends are LF, no NUL, no BOM, no lone surrogate; `blocks` tile `text` in order.

    `metadata` holds document-level keys (parser, fallback, fallback_reason, title, encoding ...); `notes` are short
    remarks for the report (a missing part, pages without text).
    """

    text: str
    blocks: tuple[Block, ...]
    format: DocumentFormat
    language: str = ""
    metadata: Metadata = {}  # noqa: RUF012  (never mutated; a proxy would not cross a process)
    notes: tuple[str, ...] = ()


class Chunk(NamedTuple):
    """What is searched and shown: a contiguous range of a document's text."""

    start: int
    end: int
    start_line: int
    end_line: int
    metadata: Metadata


class ExtractionContext(NamedTuple):
    """What an extractor may know beside the bytes."""

    uri: str
    format: DocumentFormat
    limits: Limits
    source: str = ""
    language_hint: str = ""


class ContentExtractor(Protocol):
    """Bytes to a NormalizedDocument. `id` and `version` are part of the fingerprint: change `version` when text or
    blocks change. Raises DocumentProcessingError; anything else counts as EXTRACTION."""

    id: str
    version: str
    formats: frozenset[DocumentFormat]

    def extract(self, raw: bytes, context: ExtractionContext) -> NormalizedDocument: ...


class IndexProgress(NamedTuple):
    """Where an index run is; `total_files` grows to its final value when the walk is done."""

    indexed_files: int
    total_files: int
    current_file: str


ProgressCallback = Callable[[IndexProgress], None]


class FileCounts(NamedTuple):
    """Files of one index run, each counted once."""

    new: int = 0
    changed: int = 0
    kept: int = 0
    gone: int = 0
    failed: int = 0
    skipped: int = 0


class IndexReport(NamedTuple):
    """What an index run did. `generation` is a digest of what is indexed."""

    session: str
    root: str
    generation: str
    files: FileCounts
    chunks: int
    seconds: float
    failed: list[Failure]
    skipped: list[Skipped]
    notices: list[str]
    committed: bool
