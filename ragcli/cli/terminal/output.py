"""Writes to the three standard streams: results to stdout, all else to stderr. Decides no format.

A reader that went away is no error; a full disk is one. Whatever the encoding of a stream, writing does not fail.
"""

import contextlib
import io
import os
import sys
from collections.abc import Mapping
from typing import TextIO

from ragcli.cli.terminal.patient import PatientRaw, patient


def prepare() -> None:
    """Make descriptors 0 to 2 exist and no stream fail on a character that it cannot take."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # Closed by the caller (`>&-`): without this the next file opened would become standard output.
            os.open(os.devnull, os.O_RDWR)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout, sys.stderr = _prepared(sys.stdout, 1), _prepared(sys.stderr, 2)


def _prepared(stream: TextIO, number: int) -> TextIO:
    """Let a real stream fail on no character and write all it is given; a stream of a test stays as it is."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    try:
        is_real = stream.fileno() == number
    except (OSError, ValueError):
        is_real = False
    if is_real and sys.platform != "win32" and not isinstance(getattr(stream.buffer, "raw", None), PatientRaw):
        return patient(stream, number)
    stream.reconfigure(errors="backslashreplace")
    return stream


def write(text: str) -> None:
    """Write a result to standard output."""
    sys.stdout.write(text)


def write_bytes(raw: bytes) -> None:
    """Write bytes to standard output, after what was written as text."""
    sys.stdout.flush()
    sys.stdout.buffer.write(raw)


def say(text: str) -> None:
    """Write one line for people to standard error; a reader that went away is left alone."""
    try:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
    except (BrokenPipeError, ValueError):
        silence(2)


def flush() -> None:
    """Flush both streams while write errors can still be reported."""
    sys.stdout.flush()
    with contextlib.suppress(BrokenPipeError, ValueError):
        sys.stderr.flush()


def silence(number: int) -> None:
    """Point a descriptor to nowhere, so that the interpreter's own last flush cannot fail on it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


def write_json(value: Mapping[str, object], *, indent: int | None = None) -> None:
    """Write one JSON object and a line end; UTF-8 where the stream is, else ASCII with escapes."""
    write(json_text(value, ascii_only=not takes_all(sys.stdout.encoding), indent=indent) + "\n")


def json_text(value: Mapping[str, object], *, ascii_only: bool, indent: int | None = None) -> str:
    """Return a JSON object as text that neither breaks a stream nor drives a terminal."""
    import json

    from ragcli.text.escapes import safe_json

    return safe_json(json.dumps(value, ensure_ascii=ascii_only, indent=indent, allow_nan=False))


def takes_all(encoding: str | None) -> bool:
    """Tell whether an encoding can write every character."""
    return (encoding or "").lower().replace("-", "").replace("_", "") in ("utf8", "utf16", "utf32", "utf8sig")
