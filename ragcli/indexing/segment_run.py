"""An index run over a session's segments on this machine. A Run."""

from collections.abc import Sequence

from ragcli.analysis.analyzers import ANALYZERS
from ragcli.index.manifest import Manifest
from ragcli.index.segment_buffer import InMemorySegment, SegmentBuffer
from ragcli.indexing.added_documents import ids_digest, reconcile
from ragcli.indexing.base_generation import base_generation
from ragcli.indexing.index_writer import IndexWriter
from ragcli.indexing.plan import DocAddress
from ragcli.indexing.recovery import kept_documents, stored_files
from ragcli.indexing.request import IndexRequest
from ragcli.indexing.run import Base, Published
from ragcli.indexing.run_summary import RunSummary, pipeline_digest
from ragcli.store.document_file import save_documents
from ragcli.store.snapshots import SnapshotStore
from ragcli.store.stat_cache import StatCache, save_stats

# Every run checks the pages of this much index; more of it only with --verify.
VERIFY_BYTES = 256 * 1024 * 1024


class SegmentRun:
    """One run over a SnapshotStore. The writer is opened with the first question that needs it."""

    packer = SegmentBuffer

    def __init__(self, store: SnapshotStore, request: IndexRequest) -> None:
        self._store = store
        self._request = request
        self._pipeline = pipeline_digest(request.options)
        sound = base_generation(store, request, self._pipeline, VERIFY_BYTES)
        manifest = self._manifest = sound.manifest
        kept = kept_documents(store)
        self._documents, self._documents_name = kept.documents, kept.name
        mended = [*sound.notices, *([kept.notice] if kept.notice else [])]
        self._mended = bool(mended)
        corpus = manifest.corpus
        outdated = bool(manifest.segments) and manifest.analyzers != ANALYZERS
        self.base = Base(
            generation=corpus.digest,
            files=corpus.files,
            chunks=corpus.chunks,
            failures=manifest.failures,
            cache=sound.cache,
            settled=(
                not self._mended and manifest.analyzers == ANALYZERS and manifest.added == ids_digest(self._documents)
            ),
            notices=[
                *mended,
                *(["the analyzers changed: stored texts are analyzed again"] if outdated else []),
            ],
        )
        self._outdated = outdated
        self._writer: IndexWriter | None = None
        self._files: dict[str, DocAddress] = {}
        self._added: dict[str, DocAddress] = {}
        self._pending: dict[str, DocAddress] = {}

    # -- reading

    def known(self) -> dict[str, DocAddress]:
        self._open()
        return self._files

    def pending(self) -> dict[str, DocAddress]:
        self._pending = self._open().pending()
        return self._pending

    @property
    def new_text_bytes(self) -> int:
        return self._open().new_text_bytes

    def text_bytes(self) -> int:
        return self._open().live_text_bytes()

    # -- writing

    def add(self, packed: InMemorySegment) -> None:
        self._open().add(packed)

    def reuse(self, path: str) -> None:
        self._open().reuse(self._pending[path])

    def drop(self, paths: Sequence[str]) -> None:
        writer = self._open()
        for path in paths:
            if path in self._files:
                writer.delete(self._files[path])

    def publish(self, started: int, summary: RunSummary) -> Published:
        base = self._manifest
        if self._request.run.rebuild:
            # A document that fails keeps what is stored of it, here as in any other run.
            for batch in stored_files(self._store, self._request.root, summary.unread()):
                self._open().add(batch)
        if self._writer is not None:
            reconcile(self._writer, self._documents, self._added)
            if self._outdated:
                self._writer.reanalyze()
        cache = StatCache(started, self._pipeline, summary.states, summary.sorted_skipped())
        if self._is_unchanged(summary):
            self._save_unchanged(cache)
            self._store.gc()
            return Published(base.corpus.digest, base.corpus.chunks, committed=False)
        number = max(base.number, self._store.last_number()) + 1
        # Before the commit, so that a disk that is full for it leaves the previous generation and not half a run.
        save_stats(self._store.directory, number, cache)
        if self._writer is None:
            self._writer = IndexWriter(self._store, base)
        name = self._documents_name
        if self._documents and not name:
            name = save_documents(self._store, number, self._documents)
        done = self._writer.commit(self._next(number, started, summary)._replace(documents=name))
        self._store.gc()
        return Published(done.corpus.digest, done.corpus.chunks, committed=True)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    # -- private

    def _open(self) -> IndexWriter:
        if self._writer is None:
            self._writer = IndexWriter(self._store, self._manifest, reuse_pending=not self._request.run.rebuild)
            self._files, self._added = self._writer.live_documents()
        return self._writer

    def _is_unchanged(self, summary: RunSummary) -> bool:
        request, base = self._request, self._manifest
        stored = (base.root, base.root_key, base.only, base.options)
        return (
            bool(base.number)
            and self.base.settled
            and (self._writer is None or not self._writer.changed)
            and tuple(summary.sorted_failures()) == base.failures
            and stored == (request.root, request.root_key, request.only, request.options)
            and not (request.run.verify and self._open().corpus() != base.corpus)
        )

    def _save_unchanged(self, cache: StatCache) -> None:
        """Keep what was seen of the files; where none was opened, only what was left out can be new."""
        known = self.base.cache
        if self._writer is None and known is not None:
            if cache.skipped == known.skipped:
                return
            cache = cache._replace(started=known.started)
        save_stats(self._store.directory, self._manifest.number, cache)

    def _next(self, number: int, started: int, summary: RunSummary) -> Manifest:
        request = self._request
        return Manifest(
            number=number,
            session=request.session,
            name=request.name,
            root=request.root,
            root_key=request.root_key,
            only=request.only,
            options=request.options,
            analyzers=ANALYZERS,
            added=ids_digest(self._documents),
            last_indexed=started / 1e9,
            failures=tuple(summary.sorted_failures()),
            skipped=summary.skipped_counts(),
        )
