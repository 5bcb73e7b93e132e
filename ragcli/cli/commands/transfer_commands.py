"""The commands `export` and `import`: a session as one file. Knows nothing of what is in it."""

import os
import sys
from typing import TYPE_CHECKING, Annotated, BinaryIO, cast

import typer

from ragcli.cli import session_context
from ragcli.cli.search_options import Wait
from ragcli.cli.shared_options import shared_values
from ragcli.cli.terminal import output
from ragcli.errors import UsageError
from ragcli.text.escapes import visible_name

if TYPE_CHECKING:
    from ragcli.session.service import RagService

Target = Annotated[str, typer.Argument(metavar="FILE", help="The file to write; - is standard output.")]
Source = Annotated[str, typer.Argument(metavar="FILE", help="The file to read; - is standard input.")]


def export(ctx: typer.Context, file: Target) -> int:
    """Write a session to one file, to be imported elsewhere."""
    service, _, shared = session_context.opened(shared_values(ctx))
    if file == "-":
        if sys.stdout.isatty():
            raise UsageError("an export is no text for a terminal", "give a file, or redirect standard output")
        sys.stdout.flush()
        service.export(cast(BinaryIO, sys.stdout.buffer))
        return 0
    _write(service, os.path.expanduser(file))
    if not shared.quiet:
        output.say(f"ragcli: wrote {visible_name(file)}")
    return 0


def _write(service: "RagService", file: str) -> None:
    """Write an export to a file, whole or not at all; a device or a pipe is written through and never replaced."""
    target = os.path.realpath(file)  # a link goes on pointing at its target
    if os.path.isdir(target) or file.endswith("/"):
        raise UsageError(f"{file} is a directory", f"name a file, as {os.path.join(file, 'session.tar')}")
    if os.path.lexists(target) and not os.path.isfile(target):
        with open(target, "wb") as through:
            service.export(through)
        return
    # Beside the target and renamed at the end: a failed export leaves an older file as it was.
    draft = f"{target}.{os.getpid()}.part"
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as out:
            service.export(out)
        os.replace(draft, target)
    finally:
        if os.path.exists(draft):
            os.unlink(draft)


def import_(ctx: typer.Context, file: Source, wait: Wait = None) -> int:
    """Make a session from a file that export wrote.

    All of it is checked before anything is replaced: checksums, and that its parts fit each other.
    Without --session it becomes the session of the working directory.
    The directory and options that it was made with are not taken over; index PATH gives it a directory.
    """
    service, settings, shared = session_context.opened_here(shared_values(ctx), wait=wait)
    if file == "-":
        service.import_(sys.stdin.buffer, wait=settings.wait)
    else:
        with open(os.path.expanduser(file), "rb") as source:
            service.import_(source, wait=settings.wait)
    status = service.get_status()
    if shared.json:
        from ragcli.session.json_output import status_value

        output.write_json(status_value(status))
    elif not shared.quiet:
        output.say(f"ragcli: imported {status.files} files and {status.documents} added documents")
    return 0
