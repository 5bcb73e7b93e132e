"""The `completion` command: a shell's completion script, and the values that such a script asks for at a TAB."""

from enum import StrEnum
from typing import Annotated

import typer

from ragcli.cli import session_context
from ragcli.cli.shared_options import Shared, shared_values
from ragcli.cli.terminal import output
from ragcli.errors import RagError, UsageError


class Values(StrEnum):
    """What a completion script may ask for."""

    SESSIONS = "sessions"
    DOCUMENTS = "documents"
    LANGUAGES = "languages"


Shell = Annotated[str | None, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")]
Of = Annotated[str | None, typer.Option("--values", metavar="KIND", help="Print sessions, documents or languages.")]


def completion(ctx: typer.Context, shell: Shell = None, values: Of = None) -> int:
    """Print the completion script of a shell.

    bash: eval "$(ragcli completion bash)" in ~/.bashrc. zsh: save it as _ragcli in a directory of $fpath. fish: save it
    as ~/.config/fish/completions/ragcli.fish.
    """
    shared = shared_values(ctx)
    if values is not None:
        for value in _values(values, shared):
            output.write(f"{value}\n")
        return 0
    from ragcli.cli.app import tree
    from ragcli.cli.reference.shells import SCRIPTS

    if shell not in SCRIPTS:
        raise UsageError(f"no completion for {shell}" if shell else "no shell given", f"one of {', '.join(SCRIPTS)}")
    output.write(SCRIPTS[shell](tree()))
    return 0


def _values(kind: str, shared: Shared) -> list[str]:
    """Return the words that could stand at the cursor; a TAB never fails, it only finds nothing."""
    try:
        if kind == Values.SESSIONS:
            return session_context.manager(shared).session_names()
        if kind == Values.DOCUMENTS:
            return [entry.id for entry in session_context.opened(shared).service.list_documents()]
        if kind == Values.LANGUAGES:
            return sorted(session_context.opened(shared).service.get_status().languages)
    except (RagError, OSError):
        return []
    raise UsageError(f"no such values: {kind}", f"one of {', '.join(Values)}")
