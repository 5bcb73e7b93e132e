"""FileIndexer: walk, plan, ingest, segment, commit. A document's failure is data; the store's failure ends the run.

Until the last step readers see the previous generation, and any error leaves it as it was.
"""

import os
import time
from collections.abc import Iterator, Sequence
from functools import partial

from ragcli.analysis.analyzers import ANALYZERS
from ragcli.config.keys import available_workers
from ragcli.documents import IndexProgress, IndexReport, ProgressCallback, SkipReason, Walk
from ragcli.errors import SourceRejectedError
from ragcli.index.manifest import Manifest
from ragcli.indexing.added_documents import ids_digest, reconcile
from ragcli.indexing.base_generation import base_generation
from ragcli.indexing.index_writer import IndexWriter
from ragcli.indexing.ingest_task import FAILED, NEW, SAME, FileOutcome, IngestJob, WorkItem, batches, is_small, process
from ragcli.indexing.plan import DocAddress, IndexPlan, check_format, items, plan, without
from ragcli.indexing.request import IndexRequest
from ragcli.indexing.run_summary import (
    RunSummary,
    failed_outcome,
    nothing_usable,
    pipeline_digest,
    strict_failure,
    unused_patterns,
)
from ragcli.ingest.chunkers import check_limits
from ragcli.ingest.walk import walk, walk_file
from ragcli.model import Document
from ragcli.store.document_file import load_documents
from ragcli.store.snapshots import SnapshotStore
from ragcli.store.stat_cache import StatCache, save_stats
from ragcli.workers.pool import WorkerPool

Addresses = dict[str, DocAddress]
# What a worker has imported before its first batch, so that no document's time pays for it.
PRELOAD = ("ragcli.indexing.ingest_task",)
# Every run checks the pages of this much index; more of it only with --verify.
VERIFY_BYTES = 256 * 1024 * 1024


class FileIndexer:
    """Brings a session's index up to date with its tree, one generation at a time."""

    def __init__(self, store: SnapshotStore) -> None:
        self._store = store

    def index(self, request: IndexRequest, progress: ProgressCallback | None = None) -> IndexReport:
        """Run once, under the session's lock.

        SourceRejectedError, UsageError, StrictError or StoreError leave the previous generation.
        """
        began = time.monotonic()
        check_limits(request.options.limits)
        run = _Run(self._store, request, progress)
        try:
            return run.go()._replace(seconds=round(time.monotonic() - began, 3))
        finally:
            run.close()


class _Run:
    """The state of one run."""

    def __init__(self, store: SnapshotStore, request: IndexRequest, progress: ProgressCallback | None) -> None:
        self._store = store
        self._request = request
        self._progress = progress
        self._notices: list[str] = []
        self._started = time.time_ns()
        self._pipeline = pipeline_digest(request.options)
        self._writer: IndexWriter | None = None
        self._pool: WorkerPool | None = None
        self._documents: list[Document] = []

    def close(self) -> None:
        try:
            if self._pool is not None:
                self._pool.close()
        finally:
            if self._writer is not None:
                self._writer.close()

    def go(self) -> IndexReport:
        request = self._request
        sound = base_generation(self._store, request, self._pipeline, VERIFY_BYTES)
        base, cache = sound.manifest, sound.cache
        self._notices += sound.notices
        self._documents = load_documents(self._store.directory)
        found = self._walk(base)
        check_format(found, request.options.format)
        if cache is not None and not request.run.verify and self._is_settled(base):
            planned = plan(found, cache, cache.states, verify=False)
            if not planned.todo and not planned.absent:
                return self._idle(base, found, planned, cache)
        return self._work(base, found, cache)

    # -- walking

    def _is_settled(self, base: Manifest) -> bool:
        """Whether the generation holds just the added documents, in terms of today's analyzers."""
        return base.analyzers == ANALYZERS and base.added == ids_digest(self._documents)

    def _walk(self, base: Manifest) -> Walk:
        request = self._request
        if request.only:
            return Walk([walk_file(os.path.join(request.root, request.only), request.options)], [], [])
        found = without(walk(request.root, request.options), request.root, request.store)
        self._notices += unused_patterns(request.options, found)
        if not found.files:
            self._check_empty(base, found)
        return found

    def _check_empty(self, base: Manifest, found: Walk) -> None:
        if base.corpus.files and not self._request.run.allow_empty:
            raise SourceRejectedError(
                f"{self._request.root} had {base.corpus.files:,} files and now has none",
                "mount it again, or give --allow-empty if that is right",
            )
        chosen = [e for e in found.skipped if e.reason not in (SkipReason.DEFAULT_SKIP, SkipReason.SECRET)]
        if chosen and not self._request.run.dry_run:
            raise nothing_usable(self._request.root, chosen)
        self._notices.append(f"{self._request.root} holds no files: 0 files indexed")

    # -- unchanged and changed trees

    def _idle(self, base: Manifest, found: Walk, planned: IndexPlan, cache: StatCache) -> IndexReport:
        """Nothing changed: no file is opened and no generation made."""
        summary = RunSummary(found.skipped)
        summary.carry(planned.carried, base.failures, cache.skipped)
        if summary.failures and self._request.run.strict:
            raise strict_failure(summary.sorted_failures())
        if self._request.run.dry_run:
            return self._report(base, summary, committed=False)
        if self._is_same_tree(base):
            if summary.sorted_skipped() != cache.skipped:
                save_stats(self._store.directory, base.number, self._cache(summary)._replace(started=cache.started))
            self._store.gc()
            return self._report(base, summary, committed=False)
        return self._commit(IndexWriter(self._store, base), base, summary)

    def _work(self, base: Manifest, found: Walk, cache: StatCache | None) -> IndexReport:
        writer = self._writer = IndexWriter(self._store, base, reuse_pending=not self._request.run.rebuild)
        if base.segments and base.analyzers != ANALYZERS:
            self._notices.append("the analyzers changed: stored texts are analyzed again")
            writer.reanalyze()
        files, added = writer.live_documents()
        planned = plan(found, cache, [*files, *(cache.states if cache else ())], self._request.run.verify)
        summary = RunSummary(found.skipped)
        summary.carry(planned.carried, base.failures, cache.skipped if cache else ())
        if self._request.run.dry_run:
            return self._forecast(base, planned, files, summary)
        self._ingest(writer, planned, files, summary)
        gone = [files[path] for path in planned.absent if path in files]
        for address in gone:
            writer.delete(address)
        summary.gone(len(gone))
        reconcile(writer, self._documents, added)
        self._check(summary, found)
        return self._commit(writer, base, summary)

    def _forecast(self, base: Manifest, plan: IndexPlan, files: Addresses, summary: RunSummary) -> IndexReport:
        """What a run would do, as far as names and times tell; nothing is read or written."""
        for file in plan.todo:
            summary.count(FileOutcome(file, NEW), file.path in files)
        summary.gone(sum(path in files for path in plan.absent))
        return self._report(base, summary, committed=False)

    # -- documents

    def _ingest(self, writer: IndexWriter, planned: IndexPlan, files: Addresses, summary: RunSummary) -> None:
        pending = writer.pending()
        todo = items(planned.todo, files, pending)
        total = len(planned.todo) + len(planned.carried)
        done = len(planned.carried)
        limit = self._request.options.limits.max_total_text
        for outcome in self._outcomes(writer, todo):
            path = outcome.file.path
            self._apply(writer, outcome, files.get(path), pending.get(path))
            summary.count(outcome, path in files)
            done += 1
            if self._progress is not None:
                self._progress(IndexProgress(done, total, path))
            if writer.new_text_bytes > limit:
                break
        if writer.live_text_bytes() > limit:
            raise SourceRejectedError(
                f"{self._request.root} holds more than {limit:,} bytes of text", "raise it with --max-total-text BYTES"
            )

    def _outcomes(self, writer: IndexWriter, todo: Sequence[WorkItem]) -> Iterator[FileOutcome]:
        workers = self._request.run.workers
        if workers is None:
            workers = 0 if is_small(todo) else available_workers()
        self._pool = self._new_pool(workers)
        for outcome in self._pool.run(batches(todo)):
            for result in outcome.results:
                for batch in result.packed:
                    writer.add(batch)
                yield from result.outcomes
            yield from map(failed_outcome, outcome.failures)

    def _new_pool(self, workers: int) -> WorkerPool:
        limits = self._request.options.limits
        return WorkerPool(
            partial(process, IngestJob(self._request.root, self._request.options)),
            workers=workers,
            seconds_per_item=limits.extraction_seconds,
            batch_seconds=limits.extraction_seconds,
            memory=limits.extraction_memory,
            preload=PRELOAD,
        )

    def _apply(
        self, writer: IndexWriter, outcome: FileOutcome, stored: DocAddress | None, pending: DocAddress | None
    ) -> None:
        """Replace, keep or drop what is stored of a file. A document that failed or cannot be read keeps it."""
        if outcome.kind == SAME and pending is not None:
            writer.reuse(pending)
        elif outcome.kind in (SAME, FAILED) or outcome.code == SkipReason.UNREADABLE.value:
            return
        if stored is not None:
            writer.delete(stored)

    def _check(self, summary: RunSummary, found: Walk) -> None:
        if summary.failures and self._request.run.strict:
            raise strict_failure(summary.sorted_failures())
        if found.files and not summary.usable:
            raise nothing_usable(os.path.join(self._request.root, self._request.only), summary.skipped)

    # -- commit

    def _commit(self, writer: IndexWriter, base: Manifest, summary: RunSummary) -> IndexReport:
        self._writer = writer
        failures = tuple(summary.sorted_failures())
        if (
            base.number
            and self._is_settled(base)
            and not writer.changed
            and failures == base.failures
            and self._is_same_tree(base)
        ):
            save_stats(self._store.directory, base.number, self._cache(summary))
            self._store.gc()
            return self._report(base, summary, committed=False)
        request = self._request
        number = max(base.number, self._store.last_number()) + 1
        # Before the commit, so that a disk that is full for it leaves the previous generation and not half a run.
        save_stats(self._store.directory, number, self._cache(summary))
        manifest = writer.commit(
            Manifest(
                number=number,
                session=request.session,
                name=request.name,
                root=request.root,
                root_key=request.root_key,
                only=request.only,
                options=request.options,
                analyzers=ANALYZERS,
                added=ids_digest(self._documents),
                last_indexed=self._started / 1e9,
                failures=failures,
                skipped=summary.skipped_counts(),
            )
        )
        self._store.gc()
        return self._report(manifest, summary, committed=True)

    def _is_same_tree(self, base: Manifest) -> bool:
        request = self._request
        stored = (base.root, base.root_key, base.only, base.options)
        return stored == (request.root, request.root_key, request.only, request.options)

    def _cache(self, summary: RunSummary) -> StatCache:
        return StatCache(self._started, self._pipeline, summary.states, summary.sorted_skipped())

    def _report(self, manifest: Manifest, summary: RunSummary, committed: bool) -> IndexReport:
        return IndexReport(
            session=self._request.session,
            root=self._request.root,
            generation=manifest.corpus.digest,
            files=summary.counts(),
            chunks=manifest.corpus.chunks,
            seconds=0.0,
            failed=summary.sorted_failures(),
            skipped=summary.sorted_skipped(),
            notices=[*self._notices, *summary.notices],
            committed=committed,
        )
