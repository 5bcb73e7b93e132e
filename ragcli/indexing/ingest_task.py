"""What runs in a worker: files to documents to what the engine stores, and what became of each file.

It writes nothing itself; the packer is the engine's.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from ragcli.config.options import IndexOptions
from ragcli.documents import Chunk, SourceFile
from ragcli.extract.registry import OUT_OF_MEMORY
from ragcli.index.doc_table import DocumentRow
from ragcli.ingest import formats
from ragcli.ingest.ingestion_service import Failed, FileIngestionService, Ingested, LeftOut, Outcome, Unchanged
from ragcli.ingest.reading import TreeReader
from ragcli.model import FILE, DocumentFormat
from ragcli.store.stat_cache import FAILED as FAILED
from ragcli.store.stat_cache import LEFT_OUT as LEFT_OUT
from ragcli.workers.timer import untimed

# A batch is a unit of work, of retry and of memory: a second or two of one core's work at most. It is one part in SHARE
# of what is left, so that the last ones are small and all cores end at about the same time.
MAX_BATCH_BYTES = 4 * 1024 * 1024
MIN_BATCH_BYTES = 256 * 1024
SHARE = 6
BATCH_FILES = 400
SMALL_BYTES = 256 * 1024
# Formats whose reading runs no third-party parser over hostile bytes: a small run of them needs no process of its own.
SAFE_FORMATS = frozenset(
    {DocumentFormat.TEXT, DocumentFormat.MARKDOWN, DocumentFormat.JSON, DocumentFormat.JSONL, DocumentFormat.CSV}
)


NEW = "new"
SAME = "same"


class Packer(Protocol):
    """Collects the documents of one batch, in a worker, as what the engine stores."""

    def add(self, row: DocumentRow, text: str, chunks: Sequence[Chunk], ids: Sequence[str]) -> None:
        """Add one file's document; `ids` name its chunks."""
        ...

    def finish(self) -> Sequence[Any]:
        """What `Run.add` gets, one call for each element; they are pickled."""
        ...


class IngestJob(NamedTuple):
    """What all batches of a run share; `packer` makes what collects a batch's documents (`Run.packer`)."""

    root: str
    options: IndexOptions
    packer: Callable[[], Packer]


class WorkItem(NamedTuple):
    """A file to look at, and the fingerprint of what is stored of it (b'' for nothing)."""

    file: SourceFile
    known: bytes


class FileOutcome(NamedTuple):
    """What became of a file: kind is NEW, SAME, FAILED or LEFT_OUT; `code` and `reason` say why."""

    file: SourceFile
    kind: str
    code: str = ""
    reason: str = ""
    notes: tuple[str, ...] = ()


class BatchResult(NamedTuple):
    """Outcomes in the order of the items; what the packer made holds the new documents in that order too."""

    outcomes: list[FileOutcome]
    packed: Sequence[Any]


def process(job: IngestJob, items: Sequence[WorkItem]) -> BatchResult:
    """Ingest and pack files, one after the other."""
    service = FileIngestionService(job.options.limits, job.options)
    packer = job.packer()
    outcomes = []
    with TreeReader(job.root) as reader:
        for item in items:
            outcome = service.ingest(reader, item.file, item.known)
            if isinstance(outcome, Failed) and outcome.reason == OUT_OF_MEMORY:
                # Earlier documents may have filled this process: the pool tries once more in a fresh one.
                raise MemoryError
            if isinstance(outcome, Ingested):
                with untimed():  # the limit is the extraction's; counting terms is bounded by the text
                    packer.add(_row(outcome), outcome.document.text, outcome.chunks, outcome.ids)
            outcomes.append(_told(outcome))
    with untimed():
        return BatchResult(outcomes, packer.finish())


def batches(items: Iterable[WorkItem]) -> Iterator[tuple[WorkItem, ...]]:
    """Cut items into batches by bytes and count; a document in a binary format is a batch of its own.

    The cuts depend on the items alone, so that any number of workers writes the same segments.
    """
    items = list(items)
    left = sum(item.file.size for item in items)
    most = _batch_bytes(left)
    waiting: list[WorkItem] = []
    size = 0
    for item in items:
        format = formats.detect(item.file.path, None)
        alone = format is not None and formats.is_binary_format(format)
        if waiting and (alone or size + item.file.size > most or len(waiting) >= BATCH_FILES):
            yield tuple(waiting)
            left -= size
            most = _batch_bytes(left)
            waiting, size = [], 0
        waiting.append(item)
        size += item.file.size
        if alone:
            yield tuple(waiting)
            waiting, size = [], 0
    if waiting:
        yield tuple(waiting)


def _batch_bytes(left: int) -> int:
    return min(max(left // SHARE, MIN_BATCH_BYTES), MAX_BATCH_BYTES)


def is_small(items: Sequence[WorkItem]) -> bool:
    """Whether the work is less than starting a worker, and safe to do in this process."""
    return sum(item.file.size for item in items) <= SMALL_BYTES and all(
        formats.detect(item.file.path, None) in SAFE_FORMATS for item in items
    )


def _told(outcome: Outcome) -> FileOutcome:
    match outcome:
        case Ingested():
            return FileOutcome(outcome.file, NEW, notes=outcome.document.notes)
        case Unchanged():
            return FileOutcome(outcome.file, SAME)
        case Failed():
            return FileOutcome(outcome.file, FAILED, outcome.code.value, outcome.reason)
        case LeftOut():
            return FileOutcome(outcome.file, LEFT_OUT, outcome.reason.value, outcome.detail)


def _row(ingested: Ingested) -> DocumentRow:
    file, document = ingested.file, ingested.document
    return DocumentRow(
        kind=FILE,
        path=file.path,
        content_hash=ingested.content,
        fingerprint=ingested.fingerprint,
        size=file.size,
        mtime_ns=file.mtime_ns,
        format=document.format.value,
        language=document.language,
        text_bytes=len(document.text.encode("utf-8", "replace")),
        metadata=dict(document.metadata),
        notes=document.notes,
    )
