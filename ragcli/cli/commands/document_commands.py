"""The commands for added documents and for what is listed: `add`, `list`, `rm`, `clear`."""

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ragcli.cli import session_context
from ragcli.cli.commands.prompt_command import read_text
from ragcli.cli.rendering.shown_paths import document_id
from ragcli.cli.search_options import Strings, Wait
from ragcli.cli.shared_options import shared_values
from ragcli.cli.terminal import output
from ragcli.cli.terminal.tty import stdout_terminal
from ragcli.config.resolve import index_options
from ragcli.errors import DocumentNotFoundError, IndexCorruptError, UsageError
from ragcli.model import DocumentInfo, FileInfo, Scalar
from ragcli.text.escapes import visible_name

if TYPE_CHECKING:
    from ragcli.session.service import RagService

Text = Annotated[Strings, typer.Argument(metavar="[TEXT]...", help="The text; - reads it from standard input.")]
TextFile = Annotated[str | None, typer.Option("--file", metavar="FILE", help="Read the text from a file.")]
Meta = Annotated[Strings, typer.Option("-m", "--meta", metavar="KEY=VALUE", help="Metadata of it. Repeatable.")]
Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, or beginnings of ids, as list shows them.")]
FilesFlag = Annotated[bool, typer.Option("--files", help="List the indexed files.")]
FailedFlag = Annotated[bool, typer.Option("--failed", help="List the documents that failed, and why.")]
SkippedFlag = Annotated[bool, typer.Option("--skipped", help="List the paths that were left out, and why.")]
Yes = Annotated[bool, typer.Option("-y", "--yes", help="Do not ask.")]
Remove = Annotated[bool, typer.Option("--remove", help="Delete the session itself too.")]


def add(ctx: typer.Context, text: Text = None, file: TextFile = None, meta: Meta = None, wait: Wait = None) -> int:
    """Add a document of your own, and print its id.

    The same text with the same metadata is one document, however often it is added.
    """
    if bool(text) == (file is not None):
        wrong = "a text in a file excludes one on the command line" if text else "no text given"
        raise UsageError(wrong, "run: ragcli add TEXT, or: ragcli add --file FILE, or: ... | ragcli add -")
    service, settings, shared = session_context.opened(shared_values(ctx), to_make=True, wait=wait)
    metadata = _metadata(meta or [])
    if file is not None and file != "-":
        limits = index_options(settings).limits
        id, created = service.add_file(os.path.expanduser(file), metadata, limits=limits, wait=settings.wait)
    else:
        content = read_text("-") if file == "-" or text == ["-"] else " ".join(text or [])
        id, created = service.add(content, metadata, wait=settings.wait)
    if shared.json:
        output.write_json({"schema": 1, "id": id, "created": created})
    elif not shared.quiet:
        output.write(f"{id}\n")
        if not created:
            output.say("ragcli: already present")
    return 0


def list_(
    ctx: typer.Context, files: FilesFlag = False, failed: FailedFlag = False, skipped: SkippedFlag = False
) -> int:
    """List the added documents, or files of the index.

    --files, --failed and --skipped choose which files; they can be combined.
    """
    from ragcli.cli.rendering.render_documents import document_lines, file_lines
    from ragcli.session.json_output import listing_value

    service, _, shared = session_context.opened(shared_values(ctx))
    documents: list[DocumentInfo] = [] if files or failed or skipped else service.list_documents()
    rows: list[FileInfo] = []
    for wanted, listing in (
        (files, service.list_files),
        (failed, service.list_failed),
        (skipped, service.list_skipped),
    ):
        if wanted:
            rows += listing()
    if shared.json:
        output.write_json(listing_value(documents, rows))
        return 0
    terminal = stdout_terminal(shared)
    for line in (*document_lines(documents, terminal), *file_lines(rows, terminal)):
        output.write(f"{line}\n")
    return 0


def rm(ctx: typer.Context, ids: Ids, wait: Wait = None) -> int:
    """Remove added documents.

    An unambiguous beginning of an id will do.
    """
    service, settings, shared = session_context.opened(shared_values(ctx), wait=wait)
    wanted = list(dict.fromkeys(map(document_id, ids)))
    missing = [id for id in wanted if not service.remove_document(id, wait=settings.wait)]
    if shared.json:
        output.write_json({"schema": 1, "removed": [id for id in wanted if id not in missing]})
    if missing:
        raise DocumentNotFoundError(f"no added document {', '.join(missing)}", "run: ragcli list")
    return 0


def clear(ctx: typer.Context, yes: Yes = False, remove: Remove = False, wait: Wait = None) -> int:
    """Empty a session.

    Its index, added documents and fingerprints are deleted; the session itself stays, unless --remove is given.
    """
    shared = shared_values(ctx)
    service, settings, _ = session_context.opened(shared, lenient=True, wait=wait)
    held = _held(service)
    if not yes:
        _confirm(f"{held} of {visible_name(service.stored_root() or service.session)}")
    if remove:
        session_context.manager(shared).remove_session(service.session, wait=settings.wait)
    else:
        service.clear(wait=settings.wait)
    if shared.json:
        output.write_json({"schema": 1, "session": service.session, "removed": remove})
    elif not shared.quiet:
        output.say(f"ragcli: {'removed' if remove else 'cleared'} {visible_name(service.session)}")
    return 0


def _held(service: "RagService") -> str:
    """Say what a session holds; of a damaged one, which clear is the way out of, no more than that it is there."""
    try:
        status = service.get_status()
    except IndexCorruptError:
        return "the damaged index"
    return f"{status.files} files and {status.documents} added documents"


def _confirm(what: str) -> None:
    if sys.stdin is None or not sys.stdin.isatty() or not sys.stderr.isatty():
        raise UsageError("clear asks before it deletes, and there is no terminal to ask on", "give --yes")
    sys.stderr.write(f"Clear {what}? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("nothing was cleared")


def _metadata(pairs: list[str]) -> dict[str, Scalar]:
    metadata: dict[str, Scalar] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"--meta wants KEY=VALUE, not {pair!r}", "as in --meta author=Ada")
        metadata[key.strip()] = value
    return metadata
