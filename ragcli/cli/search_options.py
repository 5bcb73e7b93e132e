"""The typed options that `search` and `prompt` share, and the settings they make. Runs nothing."""

from typing import Annotated

import typer

from ragcli.config.options import QueryOptions, SearchFilter
from ragcli.config.resolve import Settings

Strings = list[str] | None

Globs = Annotated[
    Strings,
    typer.Option(
        "-g", "--glob", metavar="GLOB", help="Only files that match; !GLOB leaves out. Repeatable, later wins."
    ),
]
Languages = Annotated[
    Strings,
    typer.Option(
        "-t", "--type", metavar="LANG", help="Only this language, by name or extension (python, py, c++). Repeatable."
    ),
]
Formats = Annotated[
    Strings,
    typer.Option(
        "--format", metavar="FORMAT", help="Only documents of this format, by name or extension (PDF, md). Repeatable."
    ),
]
MaxPerFile = Annotated[
    int | None,
    typer.Option("--max-per-file", min=1, metavar="N", help="Take at most this many chunks of one file (default 3)."),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Index what changed first.")]
NoSignals = Annotated[bool, typer.Option("--no-signals", help="Rank by the two basic streams alone.")]
Wait = Annotated[
    float | None,
    typer.Option("--wait", min=0, metavar="SECONDS", help="Wait so long for another process that writes (default 10)."),
]


def search_settings(
    settings: Settings, glob: Strings, language: Strings, format: Strings, *, explain: bool = False
) -> QueryOptions:
    """Make the settings of a search from the settled ones and the filters of the command."""
    where = SearchFilter(tuple(glob or ()), tuple(language or ()), tuple(format or ()))
    return QueryOptions(settings.signals, settings.max_per_file, explain, where)


def signals_flag(no_signals: bool) -> bool | None:
    """Return what --no-signals says about the setting `signals`: off, or nothing."""
    return False if no_signals else None


def query_text(words: list[str]) -> str:
    """Join the words of a query; bytes that the locale could not decode are read as UTF-8."""
    text = " ".join(words)
    if any("\udc80" <= character <= "\udcff" for character in text):
        text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return text
