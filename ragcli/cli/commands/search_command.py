"""The `search` command: asks the engine, chooses a renderer, answers with an exit code. Ranks nothing."""

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragcli.cli import session_context
from ragcli.cli.knowledge_options import KnowledgeFlags, knowledge_flags
from ragcli.cli.search_options import (
    AnyPhrase,
    CaseSensitive,
    ExactFlags,
    FixedStrings,
    Formats,
    Fresh,
    Globs,
    Languages,
    MaxPerFile,
    NoSignals,
    Strings,
    WordMatch,
    literal_parts,
    query_text,
    search_settings,
    signals_flag,
)
from ragcli.cli.shared_options import Shared, shared_values
from ragcli.cli.terminal import output
from ragcli.cli.terminal.notices import refresh, tell
from ragcli.config.options import QueryOptions, SearchFilter
from ragcli.errors import UsageError
from ragcli.model import SearchOutcome

if TYPE_CHECKING:
    from ragcli.session.service import RagService

FOUND, NOTHING, INTERRUPTED = 0, 1, 130

Query = Annotated[
    Strings, typer.Argument(metavar="[QUERY]...", help="Words to search for; put -- before a leading dash.")
]
Top = Annotated[
    int | None, typer.Option("-k", "--top", min=1, metavar="N", help="Show at most this many results (default 10).")
]
Context = Annotated[
    int | None,
    typer.Option("-C", "--context", min=0, metavar="N", help="On a terminal, show so many lines around the best."),
]
Batch = Annotated[
    bool, typer.Option("--batch", help="Read queries from stdin, one a line; print one JSON object for each.")
]
Plain = Annotated[bool, typer.Option("--plain", help="Print path:line:text, one line a hit (the default in a pipe).")]
Pretty = Annotated[bool, typer.Option("--pretty", help="Print readable blocks (the default on a terminal).")]
JsonLines = Annotated[bool, typer.Option("--jsonl", help="Print one JSON object a hit.")]
Files = Annotated[bool, typer.Option("-l", "--files", help="Print the paths of the files that hold hits.")]
Null = Annotated[bool, typer.Option("-0", "--null", help="With -l: end each path with NUL, its bytes as they are.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show what each score is made of.")]


def search(
    ctx: typer.Context,
    query: Query = None,
    k: Top = None,
    glob: Globs = None,
    language: Languages = None,
    format: Formats = None,
    max_per_file: MaxPerFile = None,
    context: Context = None,
    fresh: Fresh = False,
    batch: Batch = False,
    plain: Plain = False,
    pretty: Pretty = False,
    jsonl: JsonLines = False,
    files: Files = False,
    null: Null = False,
    explain: Explain = False,
    no_signals: NoSignals = False,
    fixed_strings: FixedStrings = False,
    word_regexp: WordMatch = False,
    case_sensitive: CaseSensitive = False,
    any_phrase: AnyPhrase = False,
) -> int:
    """Find the chunks that answer a query, best first.

    Exit code 0 when something was found, 1 when not. With -q nothing is printed.

    Every result holds a "quoted phrase" and each +word of the query, and none holds a -word, case and white space
    aside: ragcli search 'csrf "token missing" -test'. Words behind -- are taken as they are.
    """
    shared = shared_values(ctx)
    _check_output(shared, batch=batch, plain=plain, pretty=pretty, jsonl=jsonl, files=files, null=null)
    texts = _query_parts(ctx, query or [], batch)
    exact = ExactFlags(fixed_strings, word_regexp, case_sensitive, any_phrase)
    declared = knowledge_flags(ctx)
    flags: dict[str, Any] = {"max_per_file": max_per_file, "signals": signals_flag(no_signals)}
    form = {"jsonl": jsonl, "files": files, "null": null, "plain": plain, "pretty": pretty, "explain": explain}
    if declared.knowledge:
        if fresh:
            raise UsageError("--fresh goes with a session's own index", "run: ragcli knowledge refresh")
        settled = session_context.settle(shared, flags, None)
        where = search_settings(settled, glob, language, format, explain=explain, exact=exact.read(*texts))
        return _show(_declared(declared, shared, query or [], k, where), shared, context, **form)
    service, settled, shared = session_context.opened(shared, k=k, **flags)
    asked = None if batch else exact.read(*texts)
    settings = search_settings(settled, glob, language, format, explain=explain, exact=asked)
    if fresh:
        refresh(service, settled, shared)
    if batch:
        return _batch(service, settled.k, settings, shared, exact)
    outcome = service.query(query_text(query or []), settled.k, settings)
    _say_without_filter(service, outcome, settings, shared)
    return _show(outcome, shared, context, **form)


def _show(
    outcome: SearchOutcome,
    shared: Shared,
    context: int | None,
    *,
    jsonl: bool,
    files: bool,
    null: bool,
    plain: bool,
    pretty: bool,
    explain: bool,
) -> int:
    tell(outcome.notices, outcome.degraded, shared)
    if shared.quiet:
        pass
    elif shared.json or jsonl:
        _json(outcome, lines=jsonl)
    elif files:
        _paths(outcome, null)
    else:
        _text(outcome, shared, plain=plain, pretty=pretty, context=context, explain=explain)
    return FOUND if outcome.results else NOTHING


def _declared(
    flags: KnowledgeFlags, shared: Shared, words: list[str], k: int | None, options: QueryOptions
) -> SearchOutcome:
    """Search declared sources by name."""
    from ragcli.cli import knowledge_context

    if not words:
        raise UsageError("--batch searches a session, not declared sources", "give one query")
    assert not isinstance(flags.knowledge, bool)
    chosen = knowledge_context.choice(flags, k)
    return knowledge_context.opened(flags, shared).search(flags.knowledge, query_text(words), chosen, options)


def _query_parts(ctx: typer.Context, query: list[str], batch: bool) -> tuple[str, str]:
    if bool(query) == batch:
        wrong = "--batch takes its queries from standard input" if batch else "no query given"
        raise UsageError(wrong, "run: ragcli search --help")
    return literal_parts(ctx, query)


def _check_output(
    shared: Shared, *, batch: bool, null: bool, files: bool, plain: bool, pretty: bool, jsonl: bool
) -> None:
    chosen = {"--json": shared.json, "--jsonl": jsonl, "-l": files, "--plain": plain, "--pretty": pretty}
    names = [name for name, on in chosen.items() if on]
    if len(names) > 1:
        raise UsageError(f"{names[0]} and {names[1]} exclude each other", "choose one form of output")
    if null and not files:
        raise UsageError("-0 goes with -l", "run: ragcli search -l -0 QUERY")
    if batch and names and names[0] not in ("--json", "--jsonl"):
        raise UsageError(f"--batch prints JSON lines and excludes {names[0]}", "leave one of them out")


def _say_without_filter(service: "RagService", outcome: SearchOutcome, settings: QueryOptions, shared: Shared) -> None:
    """Say what a search that found nothing would find without its filter: exact text first, else files."""
    if outcome.results or shared.quiet:
        return
    if settings.exact is not None:
        what, wider = "holds all of the exact text", settings._replace(exact=None)
    elif settings.where != SearchFilter():
        what, wider = "of the chosen files matches", settings._replace(where=SearchFilter())
    else:
        return
    from ragcli.cli.rendering.shown_paths import result_path, working_directory
    from ragcli.text.escapes import visible_name

    outcome = service.query(settings.exact.ranked if settings.exact else outcome.query, 10, wider)
    if outcome.results:
        first = outcome.results[0]
        place = f"{visible_name(result_path(outcome.root, first, working_directory()))}:{first.start_line}"
        count = f"{len(outcome.results)} results" if len(outcome.results) < 10 else "10 or more"
        output.say(f"ragcli: nothing {what}; without that filter there are {count}, first {place}")
    else:
        output.say(f"ragcli: nothing {what}, and nothing matches without that filter")


def _batch(service: "RagService", k: int, settings: QueryOptions, shared: Shared, exact: ExactFlags) -> int:
    """Answer each line of standard input with one JSON object a line, in order, as soon as it is known."""
    import signal

    from ragcli.session.json_output import SCHEMA, outcome_value

    # KeyboardInterrupt can be lost in a destructor, and the loop would go on; there is nothing here to clean up.
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    found, wrong, told = False, False, False
    for raw in sys.stdin.buffer:
        query = raw.decode("utf-8", "replace").rstrip("\r\n")
        try:
            outcome = service.query(query, k, settings._replace(exact=exact.read(query)))
        except UsageError as error:
            wrong = True
            output.write_json({"schema": SCHEMA, "query": query, "error": error.message, "results": []})
        else:
            found = found or bool(outcome.results)
            tell([] if told else outcome.notices, outcome.degraded, shared)
            told = True
            output.write_json(outcome_value(outcome))
        output.flush()
    if wrong:
        return UsageError.exit_code
    return FOUND if found else NOTHING


def _json(outcome: SearchOutcome, *, lines: bool) -> None:
    from ragcli.session.json_output import hit_values, outcome_value

    for value in hit_values(outcome) if lines else [outcome_value(outcome)]:
        output.write_json(value)


def _paths(outcome: SearchOutcome, null: bool) -> None:
    from ragcli.cli.rendering.shown_paths import result_path, working_directory
    from ragcli.text.escapes import visible_name

    cwd = working_directory()
    named = [result for result in outcome.results if result.file]
    paths = list(dict.fromkeys(result_path(outcome.root, result, cwd) for result in named))
    if null:
        output.write_bytes(b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths))
    else:
        output.write("".join(f"{visible_name(path)}\n" for path in paths))
    unnamed = sum(not result.file for result in outcome.results)
    if unnamed:
        output.say(f"ragcli: {unnamed} of the hits are in added documents, which have no path")


def _text(
    outcome: SearchOutcome, shared: Shared, *, plain: bool, pretty: bool, context: int | None, explain: bool
) -> None:
    from ragcli.cli.rendering import render_search
    from ragcli.cli.rendering.shown_paths import working_directory
    from ragcli.cli.terminal.tty import stdout_terminal

    terminal, cwd = stdout_terminal(shared), working_directory()
    if pretty or (terminal.is_terminal and not plain):
        lines = render_search.blocks(outcome, terminal, cwd, context=context, explain=explain)
    else:
        lines = render_search.plain(outcome, terminal, cwd)
    for line in lines:
        output.write(line)
    if not outcome.results and terminal.is_terminal:
        output.say("ragcli: nothing found")
