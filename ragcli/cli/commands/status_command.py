"""The `status` command: one session at a glance, or all of them."""

from typing import Annotated

import typer

from ragcli.cli import session_context
from ragcli.cli.shared_options import shared_values
from ragcli.cli.terminal import output
from ragcli.cli.terminal.tty import stdout_terminal
from ragcli.errors import IndexCorruptError

All = Annotated[bool, typer.Option("--all", help="Show every session.")]


def status(ctx: typer.Context, all: All = False) -> int:
    """Show what is indexed, and what failed and why.

    Files, chunks, added documents, formats, languages, size, last run; with --all one line a session.
    """
    from ragcli.cli.rendering.render_status import sessions_table, status_lines

    shared = shared_values(ctx)
    if all:
        found = session_context.manager(shared).sessions()
    else:
        found = [session_context.opened(shared, lenient=True).service.get_status()]
    code = IndexCorruptError.exit_code if any(one.problem for one in found) else 0
    if shared.json:
        from ragcli.session.json_output import SCHEMA, status_value

        value = {"schema": SCHEMA, "sessions": [status_value(one) for one in found]} if all else status_value(found[0])
        output.write_json(value)
        return code
    terminal = stdout_terminal(shared)
    lines = sessions_table(found, terminal) if all else status_lines(found[0], terminal, verbose=shared.verbose)
    for line in lines:
        output.write(f"{line}\n")
    return code
