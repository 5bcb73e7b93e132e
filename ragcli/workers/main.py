"""What runs inside a worker process: read a batch, call the function, write the answer, until the pipe ends.

Imports little, so that a new worker starts fast. Never prints: descriptors 1 and 2 lead to /dev/null or, for
debugging, to the parent's standard error. The wire is described at HEADER; both ends are of one version and one user.
"""

import contextlib
import functools
import gc
import importlib
import os
import pickle
import signal
import struct
import sys
from collections.abc import Callable
from typing import Any, BinaryIO, NamedTuple

# Answer: length of the body, status, 1 if this worker wants to be replaced. Request: the length alone, then a pickle of
# the items and the seconds of processor time that they may take.
HEADER = struct.Struct("<QBB")
LENGTH = struct.Struct("<Q")
READY, BROKEN, DONE, MEMORY, ERROR = range(5)

# A worker whose address space grew by a quarter of its allowance leaves less to the next document; a new one costs
# about a tenth of a second, so this is asked only after some batches.
RECYCLE_AFTER = 16
RECYCLE_SHARE = 4

PR_SET_PDEATHSIG = 1  # linux/prctl.h
_LEAST_SECONDS, _MOST_SECONDS = 0.001, 1e8  # 0 would stop the timer
# Of 1000 (proc(5)). When the machine runs out of memory, the kernel should take a worker, whose document then fails,
# and not the process that holds the run.
OOM_SCORE = b"500"


dump = functools.partial(pickle.dumps, protocol=pickle.HIGHEST_PROTOCOL)
load = pickle.loads  # only what a worker of ours wrote: it has the user's rights anyway


class Setup(NamedTuple):
    """The first request: what to call, and the bytes of address space allowed beyond what importing it takes."""

    function: Callable[[tuple[Any, ...]], Any]
    memory: int


def main(parent: int, preload: str) -> None:
    """Serve batches until the request pipe ends or the process `parent` is gone; `preload` is names joined by ','."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    requests, replies = _take_pipes()
    _die_with(parent)
    # Beautiful Soup would load it for CSS selectors, which no reader here uses; its patterns take 35 ms to compile.
    sys.modules["soupsieve"] = None  # type: ignore[assignment]
    try:
        for name in filter(None, preload.split(",")):
            importlib.import_module(name)
        setup: Setup = load(_read(requests))
    except Exception as error:
        _write(replies, BROKEN, f"{type(error).__name__}: {error}".encode(errors="replace"), False)
        return
    # A batch makes hundreds of thousands of values and hardly a cycle: looking for some each 700 takes 8 % of the time.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    baseline = _limit(setup.memory)
    _write(replies, READY, b"", False)
    _serve(setup, requests, replies, baseline)


def _serve(setup: Setup, requests: BinaryIO, replies: int, baseline: int) -> None:
    served = 0
    while request := _read(requests):
        status, body = _answer(setup.function, request)
        signal.setitimer(signal.ITIMER_PROF, 0)
        del request
        served += 1
        grown = _address_space() - baseline if served >= RECYCLE_AFTER and setup.memory else 0
        _write(replies, status, body, grown > setup.memory // RECYCLE_SHARE)
        del body


def _answer(function: Callable[[tuple[Any, ...]], Any], request: bytes) -> tuple[int, bytes]:
    """Call the function on a request (items, seconds of processor time); past them the kernel ends the process.

    Nobody handles SIGPROF, so that no parser, not even one that is stuck in C, outlives its time.
    """
    # SystemExit and GeneratorExit out of a parser are its failure too; KeyboardInterrupt cannot come (SIG_IGN).
    try:
        items, seconds = load(request)
        signal.setitimer(signal.ITIMER_PROF, min(max(seconds, _LEAST_SECONDS), _MOST_SECONDS))
        return DONE, dump(function(items))
    except MemoryError:
        return MEMORY, b""
    except BaseException as error:
        return ERROR, type(error).__name__.encode(errors="replace")


def _take_pipes() -> tuple[BinaryIO, int]:
    """Move the two pipes out of the reach of libraries that read standard input or print."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    return requests, replies


def _read(requests: BinaryIO) -> bytes:
    """The next request, b'' at the end of the pipe."""
    header = requests.read(LENGTH.size)
    if len(header) < LENGTH.size:
        return b""
    (length,) = LENGTH.unpack(header)
    body = requests.read(length)
    return body if len(body) == length else b""


def _write(replies: int, status: int, body: bytes, retire: bool) -> None:
    for part in (HEADER.pack(len(body), status, retire), body):
        view = memoryview(part)
        while view:
            view = view[os.write(replies, view) :]


def _die_with(parent: int) -> None:
    """End this process when `parent` ends, even if it was killed in the middle of a batch.

    The end of the pipe tells an idle worker; a busy one is killed by the kernel where it can (Linux), else by a
    thread that watches, which needs the interpreter lock once a second.
    """
    if not _kernel_kills_orphan():
        import threading
        import time

        def watch() -> None:
            while os.getppid() == parent:
                time.sleep(1)
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()
    if os.getppid() != parent:  # it died before the kernel was told
        os._exit(1)


def _kernel_kills_orphan() -> bool:
    if sys.platform != "linux":
        return False
    import ctypes

    try:
        return bool(ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def _limit(memory: int) -> int:
    """Allow `memory` bytes beyond what is mapped now (0: no limit), no core file; return what is mapped now."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "wb", buffering=0) as score:
        score.write(OOM_SCORE)
    baseline = _address_space()
    if memory and baseline:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        wanted = baseline + memory
        resource.setrlimit(resource.RLIMIT_AS, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
    return baseline


def _address_space() -> int:
    """Bytes of address space, 0 where the system does not tell; RLIMIT_AS counts these and not the resident ones."""
    try:
        with open("/proc/self/statm", "rb") as statm:
            return int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
