"""Renders the status of sessions for people. Returns text, writes none."""

import time
from collections.abc import Iterator, Mapping, Sequence

from ragcli.cli.rendering.render_index import failure_lines
from ragcli.cli.terminal.styles import BOLD, Terminal, paint
from ragcli.model import IndexStatus
from ragcli.text.escapes import visible_name

_SHOWN_FAILURES = 5
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def status_lines(status: IndexStatus, terminal: Terminal, *, verbose: bool = False) -> Iterator[str]:
    """Yield a session's status, one fact a line."""
    rows = [
        ("session", visible_name(status.session)),
        ("path", visible_name(status.root) or "none, added documents only"),
        ("files", f"{status.files:,}" + (f" ({status.without_text:,} without text)" if status.without_text else "")),
        ("chunks", f"{status.chunks:,}"),
        ("documents", f"{status.documents:,} added"),
        ("last indexed", moment(status.last_indexed)),
        ("size", f"{size(status.bytes)}, of {size(status.text_bytes)} of text"),
        ("generation", status.generation or "none"),
        ("formats", _counts(status.formats)),
        ("languages", _counts(status.languages)),
        ("skipped", _counts(status.skipped)),
    ]
    for label, value in rows:
        if value:
            yield f"{paint(terminal, BOLD, f'{label:<13}')} {value}"
    yield from failure_lines(status.failed, terminal, None if verbose else _SHOWN_FAILURES)


def sessions_table(sessions: Sequence[IndexStatus], terminal: Terminal) -> Iterator[str]:
    """Yield one line a session: name, files, chunks, last run, path; the path is never cut."""
    if not sessions:
        yield "no sessions; run: ragcli index ."
        return
    rows = [
        (visible_name(one.session), f"{one.files:,}", f"{one.chunks:,}", size(one.bytes), moment(one.last_indexed))
        for one in sessions
    ]
    heads = ("SESSION", "FILES", "CHUNKS", "SIZE", "LAST INDEXED")
    widths = [max(len(row[column]) for row in [heads, *rows]) for column in range(len(heads))]
    yield paint(terminal, BOLD, _row(heads, widths) + "  PATH")
    for one, row in zip(sessions, rows, strict=True):
        yield f"{_row(row, widths)}  {visible_name(one.root) or '-'}"
        if one.problem:
            yield f"  cannot be read: {visible_name(one.problem)}"


def size(number: int) -> str:
    """Return a number of bytes in the largest unit that leaves at least one."""
    value, unit = float(number), 0
    while value >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{number} bytes" if unit == 0 else f"{value:.1f} {_UNITS[unit]}"


def moment(seconds: float) -> str:
    """Return a time as local date and time."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds)) if seconds else "never"


def _counts(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return ", ".join(f"{visible_name(name)} {number:,}" for name, number in ordered)


def _row(values: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = zip(values, widths, strict=True)
    return "  ".join([f"{first[0]:<{first[1]}}", *(f"{value:>{width}}" for value, width in rest)])
