"""Run batches of work in processes that can be killed, and give the outcomes back in the order of the batches.

Knows nothing of documents: a batch is a tuple of picklable items, the work an importable function of one batch. Only
an item's failure is data here; a worker that cannot even start is an error. No threads, and nothing is left running.
"""

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ragcli.workers.batch import PATIENCE, Batch, BatchOutcome, FailureKind, ItemFailure, PoolTask, Work
from ragcli.workers.process import launch
from ragcli.workers.scheduler import Scheduler

__all__ = ["BatchOutcome", "FailureKind", "ItemFailure", "Work", "WorkerPool"]

# Batches taken and not yet given back, for each worker: bounds memory, and keeps workers busy behind a slow batch.
LOOK_AHEAD = 3


class WorkerPool:
    """Workers for one run of batches. They may start before the batches are known; `close` ends them.

    `function` is a module-level function, or a functools.partial of one, which carries what all batches share. A batch
    that fails or takes more than `batch_seconds` of processor time is run again item by item, `seconds_per_item` each;
    what fails alone in a fresh worker is a failure. `patience` times as long by the clock ends it too. `memory` is the
    address space in bytes that a worker may take beyond what its `preload` modules need (0: no limit; only where the
    system has the limit). `debug` lets workers write to standard error. With no workers, and on Windows, all runs in
    this process, without any limit.
    """

    def __init__(
        self,
        function: Callable[[tuple[Any, ...]], Any],
        *,
        workers: int,
        seconds_per_item: float = 30.0,
        batch_seconds: float = 30.0,
        memory: int = 0,
        preload: tuple[str, ...] = (),
        debug: bool = False,
        patience: float = PATIENCE,
    ) -> None:
        self._function = function
        self._workers = workers
        self._alone = seconds_per_item
        self._together = batch_seconds
        self._pool: Scheduler | None = None
        if workers > 0 and sys.platform != "win32":  # no selectable pipes there
            self._pool = Scheduler(launch(function, memory, preload, debug), workers, patience)

    def start(self) -> None:
        """Start the workers now."""
        if self._pool is not None:
            self._pool.start()

    def close(self) -> None:
        """End every worker. A second call does nothing."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def run(self, batches: Iterable[tuple[Any, ...]]) -> Iterator[BatchOutcome[Any, Any]]:
        """Call the function on each batch and yield the outcomes in their order; at its end the crew is closed."""
        if self._pool is None:
            return (_run_here(self._function, tuple(batch)) for batch in batches)
        return self._run_there(self._pool, iter(batches))

    def _run_there(self, pool: Scheduler, batches: Iterator[tuple[Any, ...]]) -> Iterator[BatchOutcome[Any, Any]]:
        waiting: deque[Batch] = deque()
        outcome: BatchOutcome[Any, Any] | None = None
        try:
            while True:
                while len(waiting) < LOOK_AHEAD * self._workers and (items := next(batches, None)) is not None:
                    batch = Batch(tuple(items), self._alone)
                    waiting.append(batch)
                    if batch.items:
                        seconds = self._together if len(batch.items) > 1 else self._alone
                        pool.add(PoolTask(batch, 0, Work(batch.items, seconds)))
                if outcome:  # only now, so that the workers are busy while the caller is
                    yield outcome
                    outcome = None
                elif not waiting:
                    return
                elif waiting[0].done:
                    outcome = waiting.popleft().outcome()
                else:
                    pool.advance()
        finally:
            self.close()


def _run_here(function: Callable[[tuple[Any, ...]], Any], items: tuple[Any, ...]) -> BatchOutcome[Any, Any]:
    batch = Batch(items, 0.0)
    tasks = deque([PoolTask(batch, 0, Work(items, 0.0))] if items else ())
    while tasks:
        task = tasks.popleft()
        try:
            batch.settle(task, function(task.work.items))
        except MemoryError:
            tasks.extendleft(reversed(batch.fail(task, "memory", "", final=True)))
        except Exception as error:
            tasks.extendleft(reversed(batch.fail(task, "error", type(error).__name__, final=True)))
    return batch.outcome()
