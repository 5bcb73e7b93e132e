"""Give tasks to worker processes, watch their time, replace the ones that fail. Knows no order; only what is ready."""

import selectors
import time
from collections import deque

import ragcli.workers.main as wire
from ragcli.errors import RagError
from ragcli.workers.batch import FailureKind, PoolTask
from ragcli.workers.process import Launch, Reply, WorkerProcess

START_SECONDS = 60.0  # importing on a cold, busy disk
START_ATTEMPTS = 3
# Time counts against a worker only while the pool waits for it: not while the caller works on an outcome, not while the
# whole program is stopped (Ctrl-Z). So a wait counts for no more than was asked, and little is asked at a time.
TICK = 0.5
OUT_OF_TIME = "SIGPROF"  # the signal of the timer that a worker sets itself
NO_WORKERS = "to work in this process only, set workers to 0"


class _Slot:
    """A worker and what it does now. `deadline` is a time of the pool's clock."""

    def __init__(self, process: WorkerProcess, deadline: float) -> None:
        self.process = process
        self.deadline = deadline
        self.ready = False
        self.served = 0
        self.tasks: deque[PoolTask] = deque()  # the one under way, then the one that lies ready in the pipe

    def takes(self, task: PoolTask) -> bool:
        """Whether `task` may lie ready behind the one under way, for the time in which nobody watches the pool.

        Only batches do: a single document may take long, and must neither wait behind another nor keep one waiting.
        """
        return self.ready and not task.fresh and all(len(one.work.items) > 1 for one in (task, *self.tasks))


class Scheduler:
    """Jobs in, settled batches out. Workers start when there is work for them, unless `start` is called before."""

    def __init__(self, plan: Launch, workers: int, patience: float) -> None:
        self._plan = plan
        self._patience = patience
        self._workers = workers
        self._jobs: deque[PoolTask] = deque()
        self._slots: list[_Slot] = []
        self._selector = selectors.DefaultSelector()
        self._clock = 0.0
        self._failed_starts = 0

    def start(self) -> None:
        """Start all workers, for work that is sure to come."""
        while len(self._slots) < self._workers:
            self._start()

    def add(self, task: PoolTask) -> None:
        """Queue a task behind the others and start it now if a worker is free."""
        self._jobs.append(task)
        self._assign()

    def advance(self) -> None:
        """Wait until something happens, act on it, and set the workers going that have become free."""
        busy = [slot.deadline for slot in self._slots if slot.tasks]
        patience = max(0.0, min(*busy, self._clock + TICK) - self._clock)
        before = time.monotonic()
        events = self._selector.select(patience)
        self._clock += min(time.monotonic() - before, patience)
        for key, mask in events:
            slot: _Slot = key.data
            if slot in self._slots and mask & selectors.EVENT_WRITE:
                self._flush(slot)
            if slot in self._slots and mask & selectors.EVENT_READ:
                self._receive(slot)
        for slot in [slot for slot in self._slots if slot.tasks and slot.deadline <= self._clock]:
            self._lose(slot, "stall")
        self._assign()

    def close(self) -> None:
        """Kill every worker."""
        for slot in list(self._slots):
            self._end(slot)
        self._selector.close()

    def _assign(self) -> None:
        """Give the first tasks to idle workers, starting or replacing workers where that helps."""
        while self._jobs:
            slot = self._free(self._jobs[0].fresh) or self._behind(self._jobs[0])
            if slot is None:
                return
            task = self._jobs.popleft()
            slot.tasks.append(task)
            if slot.ready and len(slot.tasks) == 1:
                slot.deadline = self._clock + self._patience * task.work.seconds
            slot.process.send(wire.dump((task.work.items, task.work.seconds)))
            self._flush(slot)

    def _free(self, fresh: bool) -> _Slot | None:
        idle = [slot for slot in self._slots if not slot.tasks]
        for slot in idle:
            if not fresh or not slot.served:
                return slot
        if len(self._slots) < self._workers:
            return self._start()
        if idle:
            self._end(idle[0])
            return self._start()
        return None

    def _behind(self, task: PoolTask) -> _Slot | None:
        return next((slot for slot in self._slots if len(slot.tasks) == 1 and slot.takes(task)), None)

    def _start(self) -> _Slot:
        try:
            process = WorkerProcess(self._plan)
        except OSError as error:
            raise RagError(f"cannot start a worker process: {error.strerror}", NO_WORKERS) from error
        slot = _Slot(process, self._clock + START_SECONDS)
        self._slots.append(slot)
        self._selector.register(process.reader, selectors.EVENT_READ, slot)
        return slot

    def _end(self, slot: _Slot) -> None:
        """Kill a worker; what it had not begun is first in line again."""
        self._jobs.extendleft(reversed(slot.tasks))
        self._slots.remove(slot)
        for pipe in (slot.process.reader, slot.process.writer):
            if pipe in self._selector.get_map():
                self._selector.unregister(pipe)
        slot.process.end()

    def _flush(self, slot: _Slot) -> None:
        sent = slot.process.flush()
        registered = slot.process.writer in self._selector.get_map()
        if sent and registered:
            self._selector.unregister(slot.process.writer)
        elif not sent and not registered:
            self._selector.register(slot.process.writer, selectors.EVENT_WRITE, slot)

    def _receive(self, slot: _Slot) -> None:
        try:
            reply = slot.process.receive()
        except EOFError:
            self._lose(slot, "crash")
            return
        if reply is None:
            return
        if reply.status == wire.READY:
            slot.ready = True
            self._failed_starts = 0
            self._begin(slot)
        elif reply.status == wire.BROKEN:
            raise RagError(f"a worker process could not start: {reply.body.decode(errors='replace')}", NO_WORKERS)
        elif slot.tasks:
            self._settle(slot, reply)
        else:  # an answer nobody asked for
            self._end(slot)

    def _begin(self, slot: _Slot) -> None:
        if slot.tasks:
            slot.deadline = self._clock + self._patience * slot.tasks[0].work.seconds

    def _settle(self, slot: _Slot, reply: Reply) -> None:
        task = slot.tasks.popleft()
        fresh, slot.served = not slot.served, slot.served + 1
        if reply.retire or reply.status == wire.MEMORY:
            self._end(slot)
        else:
            self._begin(slot)
        if reply.status == wire.DONE:
            self._accept(task, reply, fresh)
        elif reply.status == wire.MEMORY:
            self._retry(task, "memory", "", fresh)
        else:
            self._retry(task, "error", reply.body.decode(errors="replace"), fresh)

    def _accept(self, task: PoolTask, reply: Reply, fresh: bool) -> None:
        try:
            result = wire.load(reply.body)
        except Exception as error:  # a value that pickles and does not come back is the function's failure
            self._retry(task, "error", type(error).__name__, fresh)
        else:
            task.batch.settle(task, result)

    def _lose(self, slot: _Slot, kind: FailureKind) -> None:
        """A worker died or overran: kill it and see to its task."""
        detail = slot.process.ended() if kind == "crash" else ""
        if detail == OUT_OF_TIME:
            kind, detail = "timeout", ""
        task = slot.tasks.popleft() if slot.ready and slot.tasks else None
        self._end(slot)
        if task:
            self._retry(task, kind, detail, not slot.served)
        if slot.ready:
            return
        self._failed_starts += 1
        if self._failed_starts >= START_ATTEMPTS:
            raise RagError(f"worker processes do not start ({detail or kind})", NO_WORKERS)

    def _retry(self, task: PoolTask, kind: FailureKind, detail: str, fresh: bool) -> None:
        # Before all others: the oldest batch holds up the outcomes.
        self._jobs.extendleft(reversed(task.batch.fail(task, kind, detail, final=fresh)))
