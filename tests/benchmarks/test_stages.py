"""What each stage of an index run and of a search costs, on a made source tree or on that of RAGCLI_BENCH_TREE.

Nothing is asserted about time. Segments are written to memory, so that no figure is the disk's.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ragcli.config.options import STANDARD, IndexOptions
from ragcli.documents import ExtractionContext, SourceFile
from ragcli.extract.registry import extract
from ragcli.index.doc_table import DocumentRow
from ragcli.index.manifest import SEGMENT_SUFFIX
from ragcli.index.merging import merge_segments
from ragcli.index.segment import Segment
from ragcli.index.segment_buffer import InMemorySegment, SegmentBuffer
from ragcli.index.segment_writer import SegmentBuilder
from ragcli.indexing.ingest_task import WorkItem, batches
from ragcli.ingest.chunkers import NormalizedDocumentChunker, chunk_ids
from ragcli.ingest.ingestion_service import FileIngestionService, Ingested
from ragcli.ingest.reading import TreeReader
from ragcli.ingest.walk import walk
from ragcli.model import FILE
from ragcli.session.manager import SessionManager
from ragcli.store.directory import RamDirectory
from ragcli.store.snapshots import SnapshotStore
from tests.benchmarks.made import write_tree

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(600)]
OPTIONS = IndexOptions(limits=STANDARD)
SEGMENTS = 4
DEAD_SHARE = 10
QUERIES = ("harbour", "open the harbour and dock a ship", "parseConfigFile")


class Prepared(NamedTuple):
    """The tree with what each stage hands to the next; `groups` are the documents of each batch."""

    root: str
    files: list[SourceFile]
    raws: dict[str, bytes]
    groups: list[list[Ingested]]
    batches: list[InMemorySegment]

    @property
    def documents(self) -> Iterator[Ingested]:
        """All documents."""
        return (document for group in self.groups for document in group)


def row_of(found: Ingested) -> DocumentRow:
    """The row of a document."""
    file, document = found.file, found.document
    return DocumentRow(
        FILE, file.path, found.content, found.fingerprint, file.size, file.mtime_ns, document.format.value,
        document.language, len(document.text.encode()), dict(document.metadata), document.notes,
    )  # fmt: skip


def packed(documents: Iterable[Ingested]) -> InMemorySegment:
    """One batch."""
    packer = SegmentBuffer()
    for found in documents:
        packer.add(row_of(found), found.document.text, found.chunks, found.ids)
    (batch,) = packer.finish()
    return batch


def written(store: SnapshotStore, parts: Sequence[InMemorySegment]) -> str:
    """The name of a segment of these batches."""
    sink = store.segment_writer()
    builder = SegmentBuilder(sink)
    for part in parts:
        builder.add(part)
    builder.finish()
    return sink.finish(SEGMENT_SUFFIX)[0]


def told(benchmark: Any, what: str, size: int) -> None:
    """Put the rate into the benchmark's name and extra information."""
    if benchmark.stats:  # none with --benchmark-disable
        rate = f"{size / 1e6 / benchmark.stats.stats.median:.1f} MB/s of {what}"
        benchmark.extra_info.update(bytes=size, rate=rate)
        benchmark.stats.name += f" {rate}"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    root = os.environ.get("RAGCLI_BENCH_TREE") or str(write_tree(tmp_path_factory.mktemp("tree")))
    files = walk(root, OPTIONS).files
    service = FileIngestionService(STANDARD, OPTIONS)
    with TreeReader(root) as reader:
        groups = [
            [found for item in group if isinstance(found := service.ingest(reader, item.file), Ingested)]
            for group in batches(WorkItem(file, b"") for file in files)
        ]
        groups = [group for group in groups if group]
        raws = {f.file.path: reader.read(f.file, STANDARD.max_raw_binary)[0] for group in groups for f in group}
    return Prepared(root, files, raws, groups, [packed(group) for group in groups])


@pytest.fixture(scope="module")
def sessions(prepared: Prepared, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with the tree indexed."""
    data = tmp_path_factory.mktemp("data")
    SessionManager(data).get_rag("stages").index_directory(prepared.root, options=OPTIONS)
    return data


def test_walk(prepared: Prepared, benchmark: Any) -> None:
    """Find the files."""
    assert len(benchmark(walk, prepared.root, OPTIONS).files) == len(prepared.files)


def test_read(prepared: Prepared, benchmark: Any) -> None:
    """Read the files; they are in the system's cache."""
    files = [found.file for found in prepared.documents]

    def read_all() -> int:
        with TreeReader(prepared.root) as reader:
            return sum(len(reader.read(file, STANDARD.max_raw_binary)[0]) for file in files)

    size = benchmark.pedantic(read_all, rounds=5, warmup_rounds=1)

    told(benchmark, "files", size)
    assert size == sum(map(len, prepared.raws.values()))


def test_extract_and_chunk(prepared: Prepared, benchmark: Any) -> None:
    """Bytes to documents, chunks and their ids."""
    chunker = NormalizedDocumentChunker()

    def extract_all() -> int:
        total = 0
        for found in prepared.documents:
            path = found.file.path
            context = ExtractionContext(path, found.document.format, STANDARD)
            document = extract(prepared.raws[path], context)
            total += len(chunk_ids(path, document.text, chunker.chunk(document, STANDARD, uri=path)))
        return total

    chunks = benchmark.pedantic(extract_all, rounds=3, warmup_rounds=1)

    told(benchmark, "files", sum(map(len, prepared.raws.values())))
    assert chunks == sum(len(found.chunks) for found in prepared.documents)


def test_pack(prepared: Prepared, benchmark: Any) -> None:
    """Analyze and pack the batches as a run cuts them."""
    found = benchmark.pedantic(lambda: [packed(group) for group in prepared.groups], rounds=3, warmup_rounds=1)

    told(benchmark, "text", sum(batch.text_bytes for batch in found))
    assert found == prepared.batches


def test_segment(prepared: Prepared, benchmark: Any) -> None:
    """Add all batches to one segment and finish it."""
    name = benchmark.pedantic(
        lambda: written(SnapshotStore(RamDirectory()), prepared.batches), rounds=5, warmup_rounds=1
    )

    told(benchmark, "text", sum(batch.text_bytes for batch in prepared.batches))
    assert name.endswith(SEGMENT_SUFFIX)


@pytest.mark.parametrize("dead", [False, True], ids=["all alive", "a tenth dead"])
def test_merge(prepared: Prepared, benchmark: Any, dead: bool) -> None:
    """Merge four segments."""
    store = SnapshotStore(RamDirectory())
    names = [written(store, [packed(list(prepared.documents)[number::SEGMENTS])]) for number in range(SEGMENTS)]

    def opened() -> tuple[tuple[list[Segment]], dict[str, object]]:
        segments = []
        for name in names:
            segment = Segment(store.open_segment(name))
            count = segment.totals.documents
            segments.append(Segment(store.open_segment(name), range(0, count, DEAD_SHARE)) if dead else segment)
        return (segments,), {}

    def merge(segments: list[Segment]) -> int:
        sink = store.segment_writer()
        totals = merge_segments(segments, sink)
        sink.finish(SEGMENT_SUFFIX)
        return totals.documents

    documents = benchmark.pedantic(merge, setup=opened, rounds=3)

    told(benchmark, "text", sum(batch.text_bytes for batch in prepared.batches))
    assert documents == sum(len(list(segment.living())) for segment in opened()[0][0])


@pytest.mark.parametrize("query", QUERIES)
def test_first_query(sessions: Path, benchmark: Any, query: str) -> None:
    """Open the session and ask it once."""
    outcome = benchmark.pedantic(lambda: SessionManager(sessions).get_rag("stages").query(query), rounds=10)

    assert not outcome.degraded


@pytest.mark.parametrize("query", QUERIES)
def test_query(sessions: Path, benchmark: Any, query: str) -> None:
    """Ask a session that is open."""
    rag = SessionManager(sessions).get_rag("stages")
    rag.query(query)

    assert not benchmark.pedantic(rag.query, (query,), rounds=20).degraded


def test_status(sessions: Path, benchmark: Any) -> None:
    """Open the session for its status: its manifest alone."""
    assert benchmark(lambda: SessionManager(sessions).get_rag("stages").get_status()).chunks
