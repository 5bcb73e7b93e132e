"""The typed options that `search` and `prompt` share, and the settings they make. Runs nothing."""

from typing import Annotated, NamedTuple

import typer

from ragcli.cli.shared_options import LITERAL_WORDS
from ragcli.config.options import ExactText, QueryOptions, SearchFilter
from ragcli.config.resolve import Settings
from ragcli.errors import UsageError

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
FixedStrings = Annotated[
    bool, typer.Option("-F", "--fixed-strings", help="Every result holds the whole query as it is, case aside.")
]
WordMatch = Annotated[
    bool, typer.Option("-w", "--word-regexp", help="Exact text is bounded by whole words; alone, with -F.")
]
CaseSensitive = Annotated[bool, typer.Option("--case-sensitive", help="Case counts in exact text; alone, with -F.")]
AnyPhrase = Annotated[
    bool, typer.Option("--any-phrase", help="Quotations and signed words only rank; results need not hold them.")
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Index what changed first.")]
NoSignals = Annotated[bool, typer.Option("--no-signals", help="Rank by the two basic streams alone.")]
Wait = Annotated[
    float | None,
    typer.Option("--wait", min=0, metavar="SECONDS", help="Wait so long for another process that writes (default 10)."),
]


def search_settings(
    settings: Settings,
    glob: Strings,
    language: Strings,
    format: Strings,
    *,
    explain: bool = False,
    exact: ExactText | None = None,
) -> QueryOptions:
    """Make the settings of a search from the settled ones and the filters of the command."""
    where = SearchFilter(tuple(glob or ()), tuple(language or ()), tuple(format or ()))
    return QueryOptions(settings.signals, settings.max_per_file, explain, where, exact)


class ExactFlags(NamedTuple):
    """What a command line says of exact text."""

    fixed: bool = False
    words: bool = False
    case: bool = False
    any_phrase: bool = False

    def read(self, text: str, literal: str = "") -> ExactText | None:
        """What a query asks for exactly; `literal` is what stands behind `--`. UsageError as `read_exact`."""
        if self.any_phrase and (self.fixed or self.words or self.case):
            raise UsageError("--any-phrase excludes -F, -w and --case-sensitive", "leave one of them out")
        alone = self.words or self.case
        if self.any_phrase or not (self.fixed or alone or may_be_exact(text) or may_be_exact(literal)):
            return None
        from ragcli.session.query_syntax import read_exact, whole_query

        found = None if self.fixed else read_exact(text, literal, words=self.words, case=self.case)
        if found is None and (self.fixed or alone):
            return whole_query(f"{text} {literal}".strip(), words=self.words, case=self.case)
        return found


def may_be_exact(text: str) -> bool:
    """Tell cheaply whether a query can hold a quotation or a signed word."""
    return any(sign in text for sign in '"\u201c\u201e+-')


def signals_flag(no_signals: bool) -> bool | None:
    """Return what --no-signals says about the setting `signals`: off, or nothing."""
    return False if no_signals else None


def query_text(words: list[str]) -> str:
    """Join the words of a query; bytes that the locale could not decode are read as UTF-8."""
    text = " ".join(words)
    if any("\udc80" <= character <= "\udcff" for character in text):
        text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return text


def literal_parts(ctx: typer.Context, words: list[str]) -> tuple[str, str]:
    """The words of a query before `--`, and those behind it, each joined to a text."""
    at = len(words) - min(ctx.meta.get(LITERAL_WORDS, 0), len(words))
    return query_text(words[:at]), query_text(words[at:])
