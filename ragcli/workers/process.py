"""The parent's handle of one worker process: start it, send and receive without blocking, end it.

Knows nothing of batches or of order. The child is a plain `python -c`, so the parent's __main__ is never imported
again and nothing is forked under a thread.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from ragcli.workers.main import HEADER, LENGTH, Setup, dump

_BOOT = (
    "import sys; sys.path[:] = sys.argv[3:]; from ragcli.workers.main import main; main(int(sys.argv[1]), sys.argv[2])"
)
_ENVIRONMENT = {
    # Numeric libraries map tens of MiB of address space a thread, which would count against the document's allowance.
    "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
    # glibc would give a batch's memory back at its end and fetch it again for the next: a fifth of the system's time.
    "MALLOC_TRIM_THRESHOLD_": str(64 * 1024 * 1024), "MALLOC_MMAP_THRESHOLD_": str(32 * 1024 * 1024),
}  # fmt: skip
_PIPE_BYTES = 1024 * 1024  # the most Linux gives to a user; a worker can go on while the parent is busy
_REAP_SECONDS = 5.0  # a process in an uninterruptible read outlives SIGKILL for a while; it is left to init then


class Launch(NamedTuple):
    """What each worker of a pool starts with."""

    setup: bytes
    preload: tuple[str, ...]
    debug: bool


class Reply(NamedTuple):
    """One answer: a status of worker_main, its body, and whether the worker wants to be replaced."""

    status: int
    body: bytearray
    retire: bool


def launch(function: Callable[[tuple[Any, ...]], Any], memory: int, preload: tuple[str, ...], debug: bool) -> Launch:
    """Check that a worker can import `function` (or a functools.partial of one) and make what workers start with.

    ValueError where it cannot.
    """
    inner: Any = function
    while hasattr(inner, "func"):
        inner = inner.func
    if getattr(inner, "__module__", None) == "__main__":
        raise ValueError(f"{inner.__qualname__} is defined in __main__, where a worker cannot import it")
    return Launch(dump(Setup(function, memory)), preload, debug)


class WorkerProcess:
    """A running worker. `receive` and `flush` never block; call them when the selector says so."""

    def __init__(self, plan: Launch) -> None:
        self._process = subprocess.Popen(
            [sys.executable, *_flags(), "-c", _BOOT, str(os.getpid()), ",".join(plan.preload), *_path()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if plan.debug else subprocess.DEVNULL,
            bufsize=0,
            env={**os.environ, **_ENVIRONMENT},
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self.writer = self._process.stdin.fileno()
        self.reader = self._process.stdout.fileno()
        os.set_blocking(self.writer, False)
        os.set_blocking(self.reader, False)
        _widen(self.reader)
        self._unsent: list[memoryview] = []
        self._header = bytearray(HEADER.size)
        self._into = memoryview(self._header)
        self._reply: Reply | None = None
        self.send(plan.setup)

    def send(self, body: bytes) -> None:
        """Queue a request; `flush` moves it."""
        self._unsent += [memoryview(LENGTH.pack(len(body))), memoryview(body)]

    def flush(self) -> bool:
        """Write what the pipe takes; True when nothing is left. A dead reader is told by `receive`."""
        try:
            while self._unsent:
                self._unsent[0] = self._unsent[0][os.write(self.writer, self._unsent[0]) :]
                if not self._unsent[0]:
                    del self._unsent[0]
        except BlockingIOError:
            return False
        except BrokenPipeError:
            self._unsent.clear()
        return True

    def receive(self) -> Reply | None:
        """The next answer if it is all there, else None. Raises EOFError when the worker is gone."""
        while True:
            while self._into:
                try:
                    count = os.readv(self.reader, [self._into])
                except BlockingIOError:
                    return None
                if not count:
                    raise EOFError
                self._into = self._into[count:]
            if self._reply is None:
                self._begin_body()
            else:
                reply, self._reply, self._into = self._reply, None, memoryview(self._header)
                return reply

    def _begin_body(self) -> None:
        length, status, retire = HEADER.unpack(self._header)
        try:
            self._reply = Reply(status, bytearray(length), bool(retire))
        except (MemoryError, OverflowError) as error:  # an answer larger than memory, or no header at all
            raise EOFError from error
        self._into = memoryview(self._reply.body)

    def end(self) -> str:
        """Kill the worker, close its pipes, and say how it had ended by itself, '' if it had not."""
        code = self._process.poll()
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(_REAP_SECONDS)
        except subprocess.TimeoutExpired:
            return ""
        return "" if code is None else _told(code)

    def ended(self) -> str:
        """How a worker ended whose pipe has ended; waits a moment for its status."""
        try:
            return _told(self._process.wait(_REAP_SECONDS))
        except subprocess.TimeoutExpired:
            return "closed its pipe"


def _told(code: int) -> str:
    if code >= 0:
        return f"exit status {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _path() -> list[str]:
    """The parent's import path, absolute, so that the worker imports the same modules from any directory."""
    try:
        here = os.getcwd()
    except FileNotFoundError:
        here = os.sep
    return [os.path.join(here, entry) for entry in sys.path if isinstance(entry, str)]


def _flags() -> list[str]:
    flags = ["-W", "ignore"]
    if sys.dont_write_bytecode:
        flags.append("-B")
    if sys.flags.utf8_mode:
        flags += ["-X", "utf8"]
    return flags


def _widen(pipe: int) -> None:
    import fcntl

    if sys.platform == "linux":
        try:
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        except OSError:
            return  # over the user's allowance; the default size works too
