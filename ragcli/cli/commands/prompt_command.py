"""The `prompt` command: a query with its evidence, ready to pipe into an LLM's command line."""

import os
import sys
from typing import Annotated

import typer

from ragcli.cli import session_context
from ragcli.cli.knowledge_options import KnowledgeFlags, knowledge_flags
from ragcli.cli.search_options import (
    Formats,
    Fresh,
    Globs,
    Languages,
    MaxPerFile,
    NoSignals,
    Strings,
    query_text,
    search_settings,
    signals_flag,
)
from ragcli.cli.shared_options import Shared, shared_values
from ragcli.cli.terminal import output
from ragcli.cli.terminal.notices import refresh, tell
from ragcli.config.options import QueryOptions
from ragcli.config.resolve import Settings
from ragcli.errors import UsageError
from ragcli.model import ContextPrompt

Question = Annotated[
    Strings, typer.Argument(metavar="[QUERY]...", help="The question; - reads it from standard input.")
]
QuestionFile = Annotated[
    str | None, typer.Option("-f", "--file", metavar="FILE", help="Read the question from a file.")
]
Top = Annotated[
    int | None, typer.Option("-k", "--top", min=1, metavar="N", help="Quote at most this many chunks (default 5).")
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens", min=1, metavar="N", help="Keep the whole prompt within an estimate of so many tokens."
    ),
]
AllowSecrets = Annotated[
    bool | None, typer.Option("--allow-secrets/--no-allow-secrets", help="Quote what looks like a key as it is.")
]


def prompt(
    ctx: typer.Context,
    query: Question = None,
    file: QuestionFile = None,
    k: Top = None,
    max_tokens: MaxTokens = None,
    glob: Globs = None,
    language: Languages = None,
    format: Formats = None,
    max_per_file: MaxPerFile = None,
    fresh: Fresh = False,
    no_signals: NoSignals = False,
    allow_secrets: AllowSecrets = None,
) -> int:
    """Wrap a question and the evidence for it in a prompt.

    The evidence stands in a fence that no file can close; the question follows unchanged. Where nothing is found the
    prompt is the question alone. With -v the evidence is listed on standard error. What looks like a well-known key
    (AWS, GitHub, Slack, a private key ...) is masked.

    Tokens are estimated on the high side, so that --max-tokens holds for the tokenizers of common models: whole chunks
    in rank order, then one chunk cut at a line end.

    With --chat or --action the evidence is that of sources declared in ragcli.toml, and a text for the system prompt,
    which says that evidence is data and no instruction, comes first.
    """
    shared, declared = shared_values(ctx), knowledge_flags(ctx)
    if declared.chat or declared.action:
        if fresh:
            raise UsageError("--fresh goes with a session's own index", "run: ragcli knowledge refresh")
        more: dict[str, object] = {
            "max_per_file": max_per_file,
            "signals": signals_flag(no_signals),
            "max_tokens": max_tokens,
        }
        settled = session_context.settle(shared, more, None)
        return _declared(
            declared, shared, query or [], file, k, settled, search_settings(settled, glob, language, format)
        )
    text = _question(query or [], file)
    signals = signals_flag(no_signals)
    service, settled, shared = session_context.opened(
        shared, prompt_k=k, max_per_file=max_per_file, signals=signals, max_tokens=max_tokens,
        allow_secrets=allow_secrets,
    )  # fmt: skip
    if fresh:
        refresh(service, settled, shared)
    settings = search_settings(settled, glob, language, format)
    made = service.context_prompt(
        text, settled.prompt_k, max_tokens=settled.max_tokens, settings=settings, allow_secrets=settled.allow_secrets
    )
    tell(made.notices, [], shared)
    if shared.json:
        from ragcli.session.json_output import prompt_value

        output.write_json(prompt_value(made))
    else:
        output.write(f"{_for_stdout(made.prompt)}\n")
    _tell(made, settled.max_tokens, shared)
    return 0


def _declared(
    flags: KnowledgeFlags,
    shared: Shared,
    words: list[str],
    file: str | None,
    k: int | None,
    settled: Settings,
    options: QueryOptions,
) -> int:
    """Make the prompt of a chat turn, or of an action's call, from declared knowledge."""
    from ragcli.cli import knowledge_context as context

    if flags.chat and flags.action:
        raise UsageError("--chat and --action exclude each other", "give one of them")
    if flags.action and (words or file):
        raise UsageError("an action takes its question as a parameter", "give --param NAME=VALUE")
    if flags.chat and flags.param:
        raise UsageError("--param goes with --action", "run: ragcli prompt --chat QUESTION")
    chosen = context.choice(flags, k, settled.max_tokens)
    if flags.chat:
        text = _question(words, file)
        context.write_prompt(context.opened(flags, shared).chat(text, chosen, options), shared)
    else:
        given = context.params(flags)
        context.opened(flags, shared).action(
            flags.action, given, chosen, options=options, used=lambda made: context.write_prompt(made, shared)
        )
    return 0


def read_text(name: str) -> str:
    """Read a text from a file, or from standard input for `-`; bytes that are not UTF-8 show as U+FFFD."""
    if name == "-":
        raw = sys.stdin.buffer.read()
    else:
        with open(os.path.expanduser(name), "rb") as stream:
            raw = stream.read()
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    return raw.decode(encoding, "replace")


def _question(words: list[str], file: str | None) -> str:
    if bool(words) == (file is not None):
        raise UsageError(
            "a question in a file excludes one on the command line" if words else "no question given",
            "run: ragcli prompt QUESTION, or: ragcli prompt -f FILE, or: ... | ragcli prompt -",
        )
    if file is not None or words == ["-"]:
        text = read_text(file or "-").rstrip("\r\n")
    else:
        text = query_text(words)
    if not text.strip():
        raise UsageError("the question is empty", "run: ragcli prompt QUESTION")
    return text


def _for_stdout(prompt: str) -> str:
    """Return the prompt as it is for a program; on a terminal the question may not drive it either."""
    if not sys.stdout.isatty():
        return prompt
    from ragcli.text.escapes import visible

    return visible(prompt)


def _tell(made: ContextPrompt, max_tokens: int | None, shared: Shared) -> None:
    if shared.quiet:
        return
    if not made.evidence:
        reason = (
            "no evidence found" if max_tokens is None else f"no evidence found, or none fits in {max_tokens} tokens"
        )
        output.say(f"ragcli: {reason}; the prompt is the question alone")
    if shared.verbose:
        from ragcli.text.escapes import visible_name

        for result in made.evidence:
            name = visible_name(result.file) if result.file else f"<{result.id}>"
            output.say(f"{result.rank}. {name}:{result.start_line}-{result.end_line} {result.score:.9g}")
        output.say(f"about {made.tokens} tokens, {len(made.evidence)} pieces of evidence")
