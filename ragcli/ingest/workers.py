"""Run batches of work in processes that can be killed, and give the outcomes back in the order of the batches.

Knows nothing of documents: a batch is a tuple of picklable items, the work an importable function of one batch. Only
an item's failure is data here; a worker that cannot even start is an error. No threads, and nothing is left running.
"""

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ragcli.ingest.batches import Batch, BatchOutcome, FailureKind, Item, ItemFailure, Job, Result, Task
from ragcli.ingest.worker_pool import Pool
from ragcli.ingest.worker_process import Launch, launch

__all__ = ["BatchOutcome", "FailureKind", "ItemFailure", "Task", "run_batches"]

# Batches taken and not yet given back, for each worker: bounds memory, and keeps workers busy behind a slow batch.
LOOK_AHEAD = 3


def run_batches(
    function: Callable[[tuple[Item, ...]], Result],
    batches: Iterable[tuple[Item, ...]],
    *,
    workers: int,
    seconds_per_item: float = 30.0,
    batch_seconds: float = 30.0,
    memory: int = 0,
    preload: tuple[str, ...] = (),
    debug: bool = False,
) -> Iterator[BatchOutcome[Item, Result]]:
    """Call `function` on each batch in up to `workers` processes; yield the outcomes in the order of the batches.

    `function` is a module-level function, or a functools.partial of one, which carries what all batches share. A batch
    that fails or takes longer than `batch_seconds` is run again item by item, `seconds_per_item` each; what fails
    alone in a fresh worker is a failure. `memory` is the address space in bytes that a worker may take beyond what its
    `preload` modules need (0: no limit; only where the system has the limit). `debug` lets workers write to standard
    error. With no workers, and on Windows, all runs in this process, without any limit. Closing the iterator ends
    every worker.
    """
    if workers <= 0 or sys.platform == "win32":  # no selectable pipes there
        return (_run_here(function, tuple(batch)) for batch in batches)
    plan = launch(function, memory, preload, debug)
    return _run_there(plan, iter(batches), workers, seconds_per_item, batch_seconds)


def _run_there(
    plan: Launch, batches: Iterator[tuple[Any, ...]], workers: int, alone: float, together: float
) -> Iterator[BatchOutcome[Any, Any]]:
    pool = Pool(plan, workers)
    waiting: deque[Batch] = deque()
    outcome: BatchOutcome[Any, Any] | None = None
    try:
        while True:
            while len(waiting) < LOOK_AHEAD * workers and (items := next(batches, None)) is not None:
                batch = Batch(tuple(items), alone)
                waiting.append(batch)
                if batch.items:
                    pool.add(Job(batch, 0, Task(batch.items, together if len(batch.items) > 1 else alone)))
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
        pool.close()


def _run_here(function: Callable[[tuple[Any, ...]], Any], items: tuple[Any, ...]) -> BatchOutcome[Any, Any]:
    batch = Batch(items, 0.0)
    jobs = deque([Job(batch, 0, Task(items, 0.0))] if items else ())
    while jobs:
        job = jobs.popleft()
        try:
            batch.settle(job, function(job.task.items))
        except MemoryError:
            jobs.extendleft(reversed(batch.fail(job, "memory", "", final=True)))
        except Exception as error:
            jobs.extendleft(reversed(batch.fail(job, "error", type(error).__name__, final=True)))
    return batch.outcome()
