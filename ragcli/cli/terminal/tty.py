"""Asks the real streams what they are. Kept apart from `terminal`, which only reasons about the answers."""

import os
import sys

from ragcli.cli.shared_options import Shared
from ragcli.cli.terminal.output import takes_all
from ragcli.cli.terminal.styles import Terminal, terminal


def stdout_terminal(shared: Shared) -> Terminal:
    """Describe standard output as the options and the environment want it treated."""
    return _describe(sys.stdout, shared)


def stderr_terminal(shared: Shared) -> Terminal:
    """Describe standard error."""
    return _describe(sys.stderr, shared)


def _describe(stream: object, shared: Shared) -> Terminal:
    import shutil

    encoding = getattr(stream, "encoding", None)
    return terminal(
        is_terminal=_isatty(stream),
        width=shutil.get_terminal_size((80, 24)).columns,
        color=shared.color or "auto",
        environ=os.environ,
        unicode=takes_all(encoding),
    )


def _isatty(stream: object) -> bool:
    isatty = getattr(stream, "isatty", None)
    return bool(isatty and isatty())
