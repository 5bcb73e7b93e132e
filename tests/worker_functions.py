"""Functions that the workers of test_workers.py run: an item is a (verb, value) pair."""

import ctypes
import os
import signal
import sys
import time

_kept = []


class _Unloadable:
    """Pickles in the worker and raises where it is loaded."""

    def __reduce__(self):
        return divmod, (1, 0)


def act(items):
    return [_act(*item) for item in items]


def _act(verb, value):
    match verb:
        case "echo":
            return value
        case "sleep":
            time.sleep(value)
        case "pid":
            return os.getpid()
        case "exit":
            os._exit(value)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "segfault":
            ctypes.string_at(0)
        case "spin":
            while True:
                pass
        case "allocate":
            return len(bytearray(value))
        case "raise":
            raise LookupError(f"secret text {value}")
        case "quit":
            sys.exit(value)
        case "unpicklable":
            return lambda: value
        case "unloadable":
            return _Unloadable()
        case "bytes":
            return bytes(value)
        case "print":
            print(value, flush=True)
            print(value, file=sys.stderr)
            os.write(1, b"raw")
            return sys.stdin.read()
        case "close":
            os.closerange(3, 256)
        case "once":  # kills its first worker only
            with open(value, "a+b") as mark:
                if mark.tell() == 0:
                    mark.write(b"x")
                    mark.flush()
                    os._exit(9)
        case "dirty":  # kills every worker that served something before
            if value in sys.argv:
                os._exit(9)
            return value
        case "keep":
            _kept.append(bytearray(value))
        case "soil":
            sys.argv.append(value)
    return value


def add(base, items):
    return base + sum(items)
