"""Give jobs to worker processes, watch their time, replace the ones that fail. Knows no order; only what is ready."""

import selectors
import time
from collections import deque

import ragcli.workers.main as wire
from ragcli.errors import RagError
from ragcli.workers.batch import FailureKind, Job
from ragcli.workers.process import Launch, Reply, WorkerProcess

START_SECONDS = 60.0  # importing on a cold, busy disk
START_ATTEMPTS = 3
# Time counts against a worker only while the pool waits for it: not while the caller works on an outcome, not while the
# whole program is stopped (Ctrl-Z). So a wait counts for no more than was asked, and little is asked at a time.
TICK = 0.5
NO_WORKERS = "to work in this process only, set workers to 0"


class _Slot:
    """A worker and what it does now. `deadline` is a time of the pool's clock."""

    def __init__(self, process: WorkerProcess, deadline: float) -> None:
        self.process = process
        self.deadline = deadline
        self.ready = False
        self.served = 0
        self.jobs: deque[Job] = deque()  # the one under way, then the one that lies ready in the pipe

    def takes(self, job: Job) -> bool:
        """Whether `job` may lie ready behind the one under way, for the time in which nobody watches the pool.

        Only batches do: a single document may take long, and must neither wait behind another nor keep one waiting.
        """
        return self.ready and not job.fresh and all(len(one.task.items) > 1 for one in (job, *self.jobs))


class Pool:
    """Jobs in, settled batches out. Workers start when there is work for them, unless `start` is called before."""

    def __init__(self, plan: Launch, workers: int) -> None:
        self._plan = plan
        self._workers = workers
        self._jobs: deque[Job] = deque()
        self._slots: list[_Slot] = []
        self._selector = selectors.DefaultSelector()
        self._clock = 0.0
        self._failed_starts = 0

    def start(self) -> None:
        """Start all workers, for work that is sure to come."""
        while len(self._slots) < self._workers:
            self._start()

    def add(self, job: Job) -> None:
        """Queue a job behind the others and start it now if a worker is free."""
        self._jobs.append(job)
        self._assign()

    def advance(self) -> None:
        """Wait until something happens, act on it, and set the workers going that have become free."""
        busy = [slot.deadline for slot in self._slots if slot.jobs]
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
        for slot in [slot for slot in self._slots if slot.jobs and slot.deadline <= self._clock]:
            self._lose(slot, "timeout")
        self._assign()

    def close(self) -> None:
        """Kill every worker."""
        for slot in list(self._slots):
            self._end(slot)
        self._selector.close()

    def _assign(self) -> None:
        """Give the first jobs to idle workers, starting or replacing workers where that helps."""
        while self._jobs:
            slot = self._free(self._jobs[0].fresh) or self._behind(self._jobs[0])
            if slot is None:
                return
            job = self._jobs.popleft()
            slot.jobs.append(job)
            if slot.ready and len(slot.jobs) == 1:
                slot.deadline = self._clock + job.task.seconds
            slot.process.send(wire.dump(job.task.items))
            self._flush(slot)

    def _free(self, fresh: bool) -> _Slot | None:
        idle = [slot for slot in self._slots if not slot.jobs]
        for slot in idle:
            if not fresh or not slot.served:
                return slot
        if len(self._slots) < self._workers:
            return self._start()
        if idle:
            self._end(idle[0])
            return self._start()
        return None

    def _behind(self, job: Job) -> _Slot | None:
        return next((slot for slot in self._slots if len(slot.jobs) == 1 and slot.takes(job)), None)

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
        self._jobs.extendleft(reversed(slot.jobs))
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
        elif slot.jobs:
            self._settle(slot, reply)
        else:  # an answer nobody asked for
            self._end(slot)

    def _begin(self, slot: _Slot) -> None:
        if slot.jobs:
            slot.deadline = self._clock + slot.jobs[0].task.seconds

    def _settle(self, slot: _Slot, reply: Reply) -> None:
        job = slot.jobs.popleft()
        fresh, slot.served = not slot.served, slot.served + 1
        if reply.retire or reply.status == wire.MEMORY:
            self._end(slot)
        else:
            self._begin(slot)
        if reply.status == wire.DONE:
            self._accept(job, reply, fresh)
        elif reply.status == wire.MEMORY:
            self._retry(job, "memory", "", fresh)
        else:
            self._retry(job, "error", reply.body.decode(errors="replace"), fresh)

    def _accept(self, job: Job, reply: Reply, fresh: bool) -> None:
        try:
            result = wire.load(reply.body)
        except Exception as error:  # a value that pickles and does not come back is the function's failure
            self._retry(job, "error", type(error).__name__, fresh)
        else:
            job.batch.settle(job, result)

    def _lose(self, slot: _Slot, kind: FailureKind) -> None:
        """A worker died or overran: kill it and see to its job."""
        detail = slot.process.ended() if kind == "crash" else ""
        job = slot.jobs.popleft() if slot.ready and slot.jobs else None
        self._end(slot)
        if job:
            self._retry(job, kind, detail, not slot.served)
        if slot.ready:
            return
        self._failed_starts += 1
        if self._failed_starts >= START_ATTEMPTS:
            raise RagError(f"worker processes do not start ({detail or kind})", NO_WORKERS)

    def _retry(self, job: Job, kind: FailureKind, detail: str, fresh: bool) -> None:
        # Before all others: the oldest batch holds up the outcomes.
        self._jobs.extendleft(reversed(job.batch.fail(job, kind, detail, final=fresh)))
