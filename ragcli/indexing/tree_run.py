"""Bring a store up to date with a tree: walk, plan, ingest in workers, publish. The same for every engine.

A document's failure is data, the store's failure ends the run. Until the last step readers see the previous
generation, and any error leaves it as it was.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from ragcli.config.keys import available_workers
from ragcli.documents import IndexProgress, IndexReport, ProgressCallback, SkipReason, Walk
from ragcli.errors import SourceRejectedError
from ragcli.indexing.ingest_task import FAILED, NEW, SAME, FileOutcome, IngestJob, WorkItem, batches, is_small, process
from ragcli.indexing.plan import IndexPlan, check_format, items, plan, without
from ragcli.indexing.request import IndexRequest
from ragcli.indexing.run import KnownFile, Published, Run
from ragcli.indexing.run_summary import RunSummary, failed_outcome, nothing_usable, strict_failure, unused_patterns
from ragcli.ingest.chunkers import check_limits
from ragcli.ingest.repository import ignore_files_nobody_reads
from ragcli.ingest.walk import walk, walk_file
from ragcli.store.stat_cache import StatCache
from ragcli.workers.pool import WorkerPool

# What a worker has imported before its first batch, so that no document's time pays for it.
PRELOAD = ("ragcli.indexing.ingest_task",)


def index_tree(
    begin: Callable[[IndexRequest], Run], request: IndexRequest, progress: ProgressCallback | None = None
) -> IndexReport:
    """Do one run, under the session's lock; `begin` opens the store for it.

    SourceRejectedError, UsageError, StrictError or StoreError leave the previous generation.
    """
    began = time.monotonic()
    check_limits(request.options.limits)
    started = time.time_ns()
    run = _TreeRun(begin(request), request, started, progress)
    try:
        return run.go()._replace(seconds=round(time.monotonic() - began, 3))
    finally:
        run.close()


class _TreeRun:
    """The state of one run."""

    def __init__(self, run: Run, request: IndexRequest, started: int, progress: ProgressCallback | None) -> None:
        self._run = run
        self._request = request
        self._started = started
        self._progress = progress
        self._notices: list[str] = list(run.base.notices)
        self._pool: WorkerPool | None = None

    def close(self) -> None:
        try:
            if self._pool is not None:
                self._pool.close()
        finally:
            self._run.close()

    def go(self) -> IndexReport:
        request, base = self._request, self._run.base
        cache = base.cache
        found = self._walk()
        check_format(found, request.options.format)
        if cache is not None and not request.run.verify and base.settled:
            planned = plan(found, cache, cache.states, verify=False)
            if not planned.todo and not planned.absent:
                return self._idle(found, planned, cache)
        return self._work(found)

    # -- walking

    def _walk(self) -> Walk:
        request = self._request
        if request.only:
            return Walk([walk_file(os.path.join(request.root, request.only), request.options)], [], [])
        found = without(walk(request.root, request.options), request.root, request.store)
        self._notices += unused_patterns(request.options, found)
        for path in ignore_files_nobody_reads(request.root, [entry.path for entry in found.skipped]):
            self._notices.append(f"{path} is UTF-16, so no rule of it holds; save it as UTF-8")
        if not found.files:
            self._check_empty(found)
        return found

    def _check_empty(self, found: Walk) -> None:
        files = self._run.base.files
        chosen = [e for e in found.skipped if e.reason not in (SkipReason.DEFAULT_SKIP, SkipReason.SECRET)]
        if files and not self._request.run.allow_empty:
            if chosen:  # the tree is there, and its options leave nothing of it
                raise nothing_usable(self._request.root, chosen)
            raise SourceRejectedError(
                f"{self._request.root} had {files:,} files and now has none",
                "mount it again, or give --allow-empty if that is right",
            )
        if chosen and not self._request.run.dry_run:
            raise nothing_usable(self._request.root, chosen)
        self._notices.append(f"{self._request.root} holds no files: 0 files indexed")

    # -- unchanged and changed trees

    def _idle(self, found: Walk, planned: IndexPlan, cache: StatCache) -> IndexReport:
        """No file changed: none is opened."""
        summary = RunSummary(found.skipped)
        summary.carry(planned.carried, self._run.base.failures, cache.skipped)
        if summary.failures and self._request.run.strict:
            raise strict_failure(summary.sorted_failures())
        return self._published(summary)

    def _work(self, found: Walk) -> IndexReport:
        base = self._run.base
        cache = base.cache
        known = self._run.known()
        planned = plan(found, cache, [*known, *(cache.states if cache else ())], self._request.run.verify)
        summary = RunSummary(found.skipped)
        summary.carry(planned.carried, base.failures, cache.skipped if cache else ())
        gone = [path for path in planned.absent if path in known]
        if self._request.run.dry_run:
            # What would be, as far as names and times tell.
            for file in planned.todo:
                summary.count(FileOutcome(file, NEW), file.path in known)
        else:
            self._ingest(planned, known, summary)
            self._run.drop(gone)
        summary.gone(len(gone))
        if not self._request.run.dry_run:
            self._check(summary, found)
        return self._published(summary)

    # -- documents

    def _ingest(self, planned: IndexPlan, known: Mapping[str, KnownFile], summary: RunSummary) -> None:
        run = self._run
        pending = run.pending()
        todo = items(planned.todo, known, pending)
        total = len(planned.todo) + len(planned.carried)
        done = len(planned.carried)
        limit = self._request.options.limits.max_total_text
        for outcome in self._outcomes(todo):
            path = outcome.file.path
            self._apply(outcome, path in pending)
            summary.count(outcome, path in known)
            done += 1
            if self._progress is not None:
                self._progress(IndexProgress(done, total, path))
            if run.new_text_bytes > limit:
                break
        if run.text_bytes() > limit:
            raise SourceRejectedError(
                f"{self._request.root} holds more than {limit:,} bytes of text", "raise it with --max-total-text BYTES"
            )

    def _outcomes(self, todo: Sequence[WorkItem]) -> Iterator[FileOutcome]:
        workers = self._request.run.workers
        if workers is None:
            workers = 0 if is_small(todo) else available_workers()
        self._pool = self._new_pool(workers)
        for outcome in self._pool.run(batches(todo)):
            for result in outcome.results:
                for packed in result.packed:
                    self._run.add(packed)
                yield from result.outcomes
            limits = self._request.options.limits
            yield from (failed_outcome(failure, limits) for failure in outcome.failures)

    def _new_pool(self, workers: int) -> WorkerPool:
        limits = self._request.options.limits
        packer = self._run.packer
        return WorkerPool(
            partial(process, IngestJob(self._request.root, self._request.options, packer)),
            workers=workers,
            seconds_per_item=limits.extraction_seconds,
            batch_seconds=limits.extraction_seconds,
            memory=limits.extraction_memory,
            preload=(*PRELOAD, getattr(packer, "func", packer).__module__),
        )

    def _apply(self, outcome: FileOutcome, is_pending: bool) -> None:
        """Replace, keep or drop what is stored of a file. A document that failed or cannot be read keeps it."""
        path = outcome.file.path
        if outcome.kind == SAME and is_pending:
            self._run.reuse(path)
        elif outcome.kind in (SAME, FAILED) or outcome.code == SkipReason.UNREADABLE.value:
            return
        self._run.drop([path])

    def _check(self, summary: RunSummary, found: Walk) -> None:
        if summary.failures and self._request.run.strict:
            raise strict_failure(summary.sorted_failures())
        if found.files and not summary.usable:
            raise nothing_usable(os.path.join(self._request.root, self._request.only), summary.skipped)

    # -- report

    def _published(self, summary: RunSummary) -> IndexReport:
        base = self._run.base
        published = Published(base.generation, base.chunks, committed=False)
        if not self._request.run.dry_run:
            published = self._run.publish(self._started, summary)
        return IndexReport(
            session=self._request.session,
            root=self._request.root,
            generation=published.generation,
            files=summary.counts(),
            chunks=published.chunks,
            seconds=0.0,
            failed=summary.sorted_failures(),
            skipped=summary.sorted_skipped(),
            notices=[*self._notices, *summary.notices],
            committed=published.committed,
        )
