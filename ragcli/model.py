"""The values that walk between rooms, and the protocols two rooms share. No behaviour, no imports of ours but errors.

Paths are `str` relative to the root with `/`, undecodable bytes as surrogate escapes (PEP 383). Offsets count
characters of the normalized text; lines are 1-based and inclusive. Times are nanoseconds since the epoch.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

Scalar = str | int | float | bool
Metadata = Mapping[str, Scalar]

# The kinds of documents: a file of the indexed tree, and a document that was added by hand.
FILE = ""
ADDED = "added"

# Scores are rounded to so many decimals before anything is ranked by them.
SCORE_DECIMALS = 9

# Times are stored in 64 bits; a file may claim any year, and one that claims 2262 or later counts as of then.
MAX_TIME_NS = (1 << 63) - 1


class DocumentFormat(StrEnum):
    """What a document is read as; AUTO is decided file by file."""

    AUTO = "AUTO"
    TEXT = "TEXT"
    MARKDOWN = "MARKDOWN"
    HTML = "HTML"
    XML = "XML"
    JSON = "JSON"
    JSONL = "JSONL"
    YAML = "YAML"
    TOML = "TOML"
    CSV = "CSV"
    NOTEBOOK = "NOTEBOOK"
    PDF = "PDF"
    DOCX = "DOCX"
    XLSX = "XLSX"
    PPTX = "PPTX"
    EPUB = "EPUB"
    RTF = "RTF"
    SOURCE_CODE = "SOURCE_CODE"


class Failure(NamedTuple):
    """A document that could not be processed in the last run that tried."""

    file: str
    code: str
    reason: str


class StreamScore(NamedTuple):
    """A result's place in one stream; rank starts at 1 as shown."""

    rank: int
    score: float


class SearchResult(NamedTuple):
    """One ranked chunk. `file` is relative to the root, '' for an added document, whose own metadata are `metadata`.

    For files `metadata` holds symbol, qualified_symbol, kind, signature, heading, page, sheet, cells, slide, chapter,
    pointer, parser, fallback, fallback_reason ... where they apply. `parts` is each signal's share of the score.
    `source` and `root` name the session that it came from and its tree, where several were searched as one.
    `line` is where the text begins that was asked for exactly.
    """

    rank: int
    id: str
    file: str
    start_line: int
    end_line: int
    score: float
    streams: Mapping[str, StreamScore]
    format: str
    language: str
    metadata: Metadata
    content: str
    stale: bool | None = None
    parts: Mapping[str, float] = {}
    source: str = ""
    root: str = ""
    line: int | None = None


class SearchOutcome(NamedTuple):
    """All that one search answers, from one generation."""

    query: str
    session: str
    root: str
    generation: str
    results: list[SearchResult]
    degraded: list[str]
    notices: list[str]


class ContextPrompt(NamedTuple):
    """A prompt ready for an LLM, its estimated tokens, and the results it quotes (content as quoted).

    `notices` are those of the search.
    """

    query: str
    prompt: str
    tokens: int
    evidence: list[SearchResult]
    notices: Sequence[str] = ()


class Document(NamedTuple):
    """An added document."""

    id: str
    text: str
    metadata: Metadata


class KnowledgeBase(Protocol):
    """Documents that can be searched and changed: in memory, or a session's added documents beside its files."""

    def add_document(self, document: Document) -> str:
        """Add a document in place of one of the same id; the id it is kept under."""
        ...

    def add_documents(self, documents: Iterable[Document]) -> None:
        """Add several."""
        ...

    def get_document(self, id: str) -> Document | None:
        """A document by its id."""
        ...

    def remove_document(self, id: str) -> bool:
        """Remove a document; False where there is none."""
        ...

    def replace_documents(self, documents: Iterable[Document]) -> None:
        """Put documents in place of all; on an error all stay as they were."""
        ...

    def search(self, query: str, top_k: int) -> list[SearchResult]:
        """The best `top_k` results, best first."""
        ...

    @property
    def size(self) -> int:
        """How many documents there are."""
        ...

    @property
    def is_empty(self) -> bool:
        """Whether there are none."""
        ...


class ChatHost(Protocol):
    """What can ground its chat on a live corpus."""

    def bind_live(self, source: str, top_k: int, knowledge_base: KnowledgeBase) -> None:
        """Search the corpus in each turn, as the memory knowledge that `source` declares."""
        ...


class DocumentInfo(NamedTuple):
    """An added document in a listing; `preview` is its first 100 characters."""

    id: str
    preview: str
    content_length: int
    metadata: Metadata


class FileInfo(NamedTuple):
    """A file in a listing; status is indexed, failed or skipped."""

    file: str
    format: str
    language: str
    chunks: int
    status: str
    code: str = ""
    reason: str = ""


class StoredDocument(NamedTuple):
    """What is stored of one file or added document. Each chunk is a SearchResult without rank and score."""

    file: str
    id: str
    format: str
    language: str
    fingerprint: str
    text: str
    metadata: Metadata
    chunks: list[SearchResult]


class IndexStatus(NamedTuple):
    """A session at a glance. Sizes in bytes; `last_indexed` in seconds since the epoch, 0 before the first run.

    `problem` says why a session in a listing cannot be read; nothing else is known of it then.
    """

    session: str
    root: str
    files: int
    chunks: int
    documents: int
    last_indexed: float
    generation: str
    bytes: int
    text_bytes: int
    without_text: int
    failed: list[Failure]
    skipped: Mapping[str, int]
    formats: Mapping[str, int]
    languages: Mapping[str, int]
    problem: str = ""


class ChunkKey(NamedTuple):
    """Where a chunk is in one opened generation."""

    segment: int
    chunk: int


class Candidate(NamedTuple):
    """A chunk that at least one stream ranks high, as signals see it: rows, no text.

    `kind` is FILE or ADDED (an added document's path is its id), `source` the session that holds the chunk where
    several are searched as one. `document` is a key equal for chunks of one document; `digest` tells copies of a text.
    A stream's rank is 0 where it did not rank the chunk. `size` (bytes), `mtime_ns` and `document_metadata` are those
    of the file.
    """

    key: ChunkKey
    id: str
    kind: str
    path: str
    start_line: int
    end_line: int
    format: str
    language: str
    metadata: Metadata
    document: tuple[int, int]
    digest: bytes
    streams: Mapping[str, StreamScore]
    source: str = ""
    size: int = 0
    mtime_ns: int = 0
    document_metadata: Mapping[str, Scalar] = {}


def place_of(candidate: Candidate) -> tuple[str, str, str, int, str]:
    """Where ties end: source, kind, path, line, id."""
    return candidate.source, candidate.kind, candidate.path, candidate.start_line, candidate.id


class CandidatePool(NamedTuple):
    """What a chunk source answers: candidates by (path, line), and the streams that failed."""

    candidates: list[Candidate]
    degraded: list[str]
