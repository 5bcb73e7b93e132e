"""The `show` command: one added document, or what is stored of a file."""

import os
from typing import TYPE_CHECKING, Annotated

import typer

from ragcli.cli import session_context
from ragcli.cli.rendering.shown_paths import document_id, working_directory
from ragcli.cli.session_context import root_of
from ragcli.cli.shared_options import shared_values
from ragcli.cli.terminal import output
from ragcli.cli.terminal.tty import stdout_terminal
from ragcli.errors import DocumentNotFoundError, UsageError
from ragcli.model import StoredDocument

if TYPE_CHECKING:
    from ragcli.session.service import RagService

Name = Annotated[str, typer.Argument(metavar="ID|FILE", help="An added document's id, or an indexed file.")]
TextFlag = Annotated[bool, typer.Option("--text", help="Print its normalized text and nothing else.")]


def show(ctx: typer.Context, name: Name, text: TextFlag = False) -> int:
    """Show what is stored of a file or an added document.

    Its chunks, or with --text its whole text as it was read.
    """
    service, _, shared = session_context.opened(shared_values(ctx))
    if text and shared.json:
        raise UsageError("--text and --json exclude each other", "choose one form of output")
    stored = _find(service, name)
    if shared.json:
        from ragcli.session.json_output import stored_value

        output.write_json(stored_value(stored))
        return 0
    terminal = stdout_terminal(shared)
    if text:
        from ragcli.text.escapes import visible

        output.write(visible(stored.text) if terminal.is_terminal else stored.text)
        if terminal.is_terminal and not stored.text.endswith("\n"):
            output.write("\n")
        return 0
    from ragcli.cli.rendering.render_documents import stored_lines

    for line in stored_lines(stored, terminal):
        output.write(f"{line}\n")
    return 0


def _find(service: "RagService", name: str) -> StoredDocument:
    """Look a name up as a path below the working directory, then as a path below the root or an id."""
    relative = _below(root_of(service), name)
    if relative is not None and relative != name:
        try:
            return service.show(relative)
        except DocumentNotFoundError:
            pass  # also a path relative to the root, or an id
    return service.show(document_id(name))


def _below(root: str, name: str) -> str | None:
    """Return a name of the working directory as a path below the root, None where it is outside."""
    if not root:
        return None
    path = os.path.normpath(os.path.join(working_directory(), name))
    return path[len(root.rstrip("/")) + 1 :] if path.startswith(f"{root.rstrip('/')}/") else None
