"""The `config` command: every setting, its value and where the value is from."""

import os

import typer

from ragcli.cli import session_context
from ragcli.cli.shared_options import Shared, shared_values
from ragcli.cli.terminal import output
from ragcli.cli.terminal.styles import DIM, paint
from ragcli.cli.terminal.tty import stdout_terminal
from ragcli.config.resolve import Settings, entries
from ragcli.errors import SessionNotFoundError
from ragcli.text.escapes import visible_name


def config(ctx: typer.Context) -> int:
    """Show each setting, its value and its origin.

    The origin is a flag, a variable, a file and its line, or the default.
    """
    shared = shared_values(ctx)
    settings = _settings(shared)
    rows = entries(settings, os.environ)
    if shared.json:
        listed = [{"key": row.key, "value": row.value, "origin": row.origin} for row in rows]
        output.write_json({"schema": 1, "settings": listed})
        return 0
    terminal = stdout_terminal(shared)
    width = max(len(row.key) for row in rows)
    for row in rows:
        value = visible_name(_shown(row.value))
        output.write(f"{row.key:<{width}} = {value}  {paint(terminal, DIM, f'# {visible_name(row.origin)}')}\n")
    return 0


def _settings(shared: Shared) -> Settings:
    """Settle the settings with the project's file of the session, or of the working directory where there is none."""
    try:
        return session_context.opened(shared, lenient=True).settings
    except SessionNotFoundError:
        return session_context.settle(shared, {}, os.getcwd(), lenient=True)


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{one}"' for one in value) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)
