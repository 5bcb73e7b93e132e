"""A raw stream that writes all it is given, to pipes that do not block and disks that take a part at a time.

Python's own raw streams may write less than they are given: unbuffered text streams then drop the rest without an
error, and a full non-blocking pipe is one. Who left the pipe that way shares its setting, so it is not changed here.
"""

import io
import os
import sys
from typing import Any


class PatientRaw(io.RawIOBase):
    """Writes to a descriptor until every byte is out. OSError where one cannot be written at all."""

    def __init__(self, number: int) -> None:
        self._number = number

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._number

    def isatty(self) -> bool:
        return os.isatty(self._number)

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        total = len(view)
        while view:
            try:
                view = view[os.write(self._number, view) :]
            except BlockingIOError:
                _wait(self._number)
        return total


def patient(stream: io.TextIOWrapper, number: int) -> io.TextIOWrapper:
    """The same text stream over a raw one that is patient; what was written before comes first."""
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(PatientRaw(number), 64 * 1024),
        encoding=stream.encoding,
        errors="backslashreplace",
        newline="\n" if sys.platform != "win32" else None,
        line_buffering=stream.line_buffering,
    )


def _wait(number: int) -> None:
    """Wait until a descriptor takes bytes again, or its reader is gone."""
    import select

    poll = select.poll()
    poll.register(number, select.POLLOUT | select.POLLERR | select.POLLHUP)
    poll.poll()
