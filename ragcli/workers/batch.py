"""A batch of work, its outcome, and the account of its items while it is under way. Runs nothing."""

from typing import Any, Generic, Literal, NamedTuple, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
# Seconds of the clock for each second of processor time: how long a worker waits for a busy machine or a slow disk.
PATIENCE = 10.0
# "timeout" is of processor time, and comes again on the same item; "stall" is of the clock, and may not.
FailureKind = Literal["timeout", "stall", "crash", "memory", "error"]


class Work(NamedTuple, Generic[Item]):
    """What one call of the function works on, and the seconds of processor time it may take."""

    items: tuple[Item, ...]
    seconds: float


class ItemFailure(NamedTuple, Generic[Item]):
    """An item that failed alone. `detail` is an exception's type, a signal or an exit status, never a message."""

    item: Item
    kind: FailureKind
    detail: str = ""


class BatchOutcome(NamedTuple, Generic[Item, Result]):
    """What became of a batch: one result for all of it or, after a failure, one for each item that did not fail.

    Results and failures are in the order of the items.
    """

    items: tuple[Item, ...]
    results: list[Result]
    failures: list[ItemFailure[Item]]


class Batch:
    """A batch on its way, with its results and failures by the position of their first item."""

    def __init__(self, items: tuple[Any, ...], alone: float) -> None:
        self.items = items
        self._alone = alone
        self._open = 1 if items else 0
        self._results: dict[int, Any] = {}
        self._failures: dict[int, ItemFailure[Any]] = {}

    @property
    def done(self) -> bool:
        """Whether every item has a result or a failure."""
        return not self._open

    def settle(self, task: "PoolTask", result: Any) -> None:
        """Take note of a result."""
        self._results[task.position] = result
        self._open -= 1

    def fail(self, task: "PoolTask", kind: FailureKind, detail: str, final: bool) -> list["PoolTask"]:
        """Take note of a failure; return the tasks that it calls for: each item alone, or once more in a fresh worker.

        A crash or a lack of memory counts only where it is `final`, in a fresh worker: elsewhere the worker's earlier
        work may be the cause.
        """
        if len(task.work.items) > 1:
            self._open = len(self.items)
            return [PoolTask(self, at, Work((item,), self._alone)) for at, item in enumerate(self.items)]
        if not final and kind in ("crash", "memory"):
            return [task._replace(fresh=True)]
        self._failures[task.position] = ItemFailure(task.work.items[0], kind, detail)
        self._open -= 1
        return []

    def outcome(self) -> BatchOutcome[Any, Any]:
        """What became of the batch, once it is done."""
        results = [self._results[at] for at in sorted(self._results)]
        return BatchOutcome(self.items, results, [self._failures[at] for at in sorted(self._failures)])


class PoolTask(NamedTuple):
    """A task of a batch, from `position` on; `fresh` asks for a worker that has served nothing yet."""

    batch: Batch
    position: int
    work: Work[Any]
    fresh: bool = False
