"""The `show` command: one added document, what is stored of a file, or the part of either that a citation names."""

from typing import Annotated

import typer

from ragcli.cli import session_context
from ragcli.cli.shared_options import shared_values
from ragcli.cli.terminal import output
from ragcli.cli.terminal.tty import stdout_terminal
from ragcli.errors import UsageError

Name = Annotated[
    str,
    typer.Argument(
        metavar="ID|FILE",
        help="A file or an added document's id, also with FILE:LINES or FILE#SYMBOL; or the id of a chunk.",
    ),
]
Page = Annotated[int | None, typer.Option("--page", min=1, metavar="N", help="Only this page of a PDF.")]
Sheet = Annotated[
    str | None, typer.Option("--sheet", metavar="SHEET", help="Only this sheet of a workbook, by its name or number.")
]
Slide = Annotated[int | None, typer.Option("--slide", min=1, metavar="N", help="Only this slide.")]
Neighbours = Annotated[
    int,
    typer.Option(
        "-n", "--neighbours", min=0, max=10_000, metavar="N",
        help="Also the N lines around lines, or the N chunks around anything else.",
    ),
]  # fmt: skip
TextFlag = Annotated[bool, typer.Option("--text", help="Print its normalized text and nothing else.")]


def show(
    ctx: typer.Context,
    name: Name,
    page: Page = None,
    sheet: Sheet = None,
    slide: Slide = None,
    neighbours: Neighbours = 0,
    text: TextFlag = False,
) -> int:
    """Show what is stored of a file or an added document, or the part of it that a result cites.

    Its chunks, or with --text its whole text as it was read. Whatever a search prints can be given to it:
    src/app.py:10-20 (lines), 'src/app.py#App.run' (a symbol), 'report.pdf#page=7', a chunk's id from --json, also with
    the text behind the line.
    """
    from ragcli.cli.document_lookup import find

    service, _, shared = session_context.opened(shared_values(ctx))
    if text and shared.json:
        raise UsageError("--text and --json exclude each other", "choose one form of output")
    stored, part = find(service, name, _place(page, sheet, slide), neighbours)
    terminal = stdout_terminal(shared)
    if shared.json:
        from ragcli.session.json_output import passage_value, stored_value

        output.write_json(passage_value(stored, part) if part else stored_value(stored))
    elif text:
        from ragcli.text.escapes import visible

        wanted = part.text if part else stored.text
        output.write(visible(wanted) if terminal.is_terminal else wanted)
        if terminal.is_terminal and not wanted.endswith("\n"):
            output.write("\n")
    else:
        from ragcli.cli.rendering.render_documents import passage_lines, stored_lines

        for line in passage_lines(stored, part, terminal) if part else stored_lines(stored, terminal):
            output.write(f"{line}\n")
    return 0


def _place(page: int | None, sheet: str | None, slide: int | None) -> tuple[str, str] | None:
    given = [(key, str(value)) for key, value in (("page", page), ("sheet", sheet), ("slide", slide)) if value]
    if len(given) > 1:
        raise UsageError(f"--{given[0][0]} and --{given[1][0]} exclude each other", "choose one part of the document")
    return given[0] if given else None
