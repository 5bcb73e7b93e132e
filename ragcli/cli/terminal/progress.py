"""Shows how far a long task is, on standard error: a live bar on a terminal, sparse lines elsewhere if shared.

The only module that loads rich, and only while a bar is shown.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ragcli.cli.shared_options import Shared
from ragcli.cli.terminal import output
from ragcli.documents import IndexProgress, ProgressCallback
from ragcli.text.escapes import visible_name

_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BETWEEN_UPDATES = 0.05


@contextmanager
def progress(shared: Shared, task: str = "Indexing", unit: str = "files") -> Iterator[ProgressCallback | None]:
    """Give a callback for a long task that shows its progress, None where none is to be shown."""
    when = shared.progress or "auto"
    terminal = sys.stderr is not None and sys.stderr.isatty()
    if when == "never" or shared.quiet or (when == "auto" and not terminal):
        yield None
    elif terminal and _live():
        with _cursor_comes_back(), _bar(task, unit) as callback:
            yield callback
    else:
        yield _lines(time.monotonic, unit)


@contextmanager
def _cursor_comes_back() -> Iterator[None]:
    """Show the cursor that a live bar hides, however the task ends: also by a signal that ends the process."""
    import contextlib
    import os
    import signal

    def show() -> None:
        with contextlib.suppress(OSError):
            os.write(2, b"\x1b[?25h")

    def end(number: int, _: object) -> None:
        show()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    before = {}
    with contextlib.suppress(ValueError):  # not the main thread, which alone hears signals
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        show()
        for number, handler in before.items():
            signal.signal(number, handler)


def _live() -> bool:
    import os

    return os.environ.get("TERM") != "dumb"


@contextmanager
def _bar(title: str, unit: str) -> Iterator[ProgressCallback]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Column

    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None if console.width >= 60 else 8),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}", markup=False),
        TimeRemainingColumn(),
        TextColumn(
            "{task.fields[file]}", markup=False, table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")
        ),
    )
    began, last = time.monotonic(), 0.0
    shown = columns if console.width >= 60 else columns[:3]
    with Progress(*shown, console=console, transient=True, refresh_per_second=8) as bar:
        task = bar.add_task(title, total=None, rate="", file="")

        def callback(state: IndexProgress) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last < _SECONDS_BETWEEN_UPDATES and state.indexed_files < state.total_files:
                return
            last = now
            rate = f"{state.indexed_files / (now - began):.0f} {unit}/s" if now > began else ""
            bar.update(task, completed=state.indexed_files, total=state.total_files or None, rate=rate,
                       file=visible_name(state.current_file))  # fmt: skip

        yield callback


def _lines(clock: Callable[[], float], unit: str) -> ProgressCallback:
    began = last = clock()

    def callback(state: IndexProgress) -> None:
        nonlocal last
        now = clock()
        if now - last < _SECONDS_BETWEEN_LINES:
            return
        last = now
        rate = state.indexed_files / (now - began)
        left = f", {(state.total_files - state.indexed_files) / rate:.0f} s left" if rate else ""
        output.say(f"ragcli: {state.indexed_files} of {state.total_files} {unit}, {rate:.0f} {unit}/s{left}")

    return callback
