"""Opens declared knowledge for a command, and prints the prompts that are made of it."""

import os

from ragcli.cli import session_context
from ragcli.cli.knowledge_options import KnowledgeFlags
from ragcli.cli.shared_options import Shared
from ragcli.cli.terminal import output
from ragcli.cli.terminal.notices import tell
from ragcli.config.resolve import Settings, data_directory
from ragcli.errors import UsageError
from ragcli.knowledge.declared import Choice, DeclaredKnowledge
from ragcli.knowledge.grounding import Grounding
from ragcli.knowledge.sources import SourceOptions
from ragcli.knowledge.values import KnowledgeUsage
from ragcli.session.json_output import SCHEMA, prompt_value
from ragcli.text.escapes import visible, visible_name


def opened(
    flags: KnowledgeFlags, shared: Shared, *, wait: float | None = None, workers: int | None = None
) -> DeclaredKnowledge:
    """Read what is declared for the working directory, as the flags and the user's own settings say."""
    settings = settled(flags, shared, None, wait=wait, workers=workers)
    options = SourceOptions(
        os.path.abspath(flags.base_dir) if flags.base_dir else "",
        settings.allow_outside,
        settings.allow_private,
        settings.wait,
        settings.workers,
    )

    def said(notice: str) -> None:
        tell([notice], [], shared)

    def used(row: KnowledgeUsage) -> None:
        if shared.verbose and not shared.quiet:
            output.say(visible_name(usage_line(row)))

    return DeclaredKnowledge(
        data_directory(settings, os.environ), session_context.here(), run_file=settings.run, options=options, tell=said,
        listener=used,
    )  # fmt: skip


def settled(flags: KnowledgeFlags, shared: Shared, root: str | None, **more: object) -> Settings:
    """Settle the settings, those of a project's own file where its root is given."""
    return session_context.settle(shared, {"run": flags.run, "allow_outside": flags.allow_outside, **more}, root)


def choice(flags: KnowledgeFlags, top_k: int | None = None, max_tokens: int | None = None) -> Choice:
    """Whose knowledge the flags choose."""
    return Choice(flags.agent, flags.role, top_k, max_tokens)


def params(flags: KnowledgeFlags) -> dict[str, str]:
    """The parameters given as NAME=VALUE; UsageError for one that is not, or is given twice."""
    found: dict[str, str] = {}
    for pair in flags.param:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise UsageError(f"--param wants NAME=VALUE, not {pair!r}", "as in --param question='How does it work?'")
        if name in found:
            raise UsageError(f"--param {name} is given twice")
        found[name] = value
    return found


def write_prompt(made: Grounding, shared: Shared) -> None:
    """Print the system text and the prompt, and bring them out before anything is noted as used."""
    if shared.json:
        value = prompt_value(made.prompt)
        ordered = {"schema": SCHEMA, "query": value["query"], "system": made.system, "prompt": value["prompt"]}
        usage = [row._asdict() | {"milliseconds": round(row.milliseconds, 3)} for row in made.usage]
        output.write_json({**ordered, "tokens": value["tokens"], "evidence": value["evidence"], "usage": usage})
    else:
        import sys

        text = "\n\n".join(part for part in (made.system, made.prompt.prompt) if part)
        output.write(f"{visible(text) if sys.stdout.isatty() else text}\n")
        if not made.prompt.evidence and not shared.quiet:
            output.say("ragcli: no evidence found; the prompt is the question alone")
    output.flush()


def usage_line(row: KnowledgeUsage) -> str:
    """One row of the account for people."""
    what = f"failed: {row.error}" if row.error else f"{row.documents} documents, about {row.tokens} tokens"
    return f"{row.scope}: {row.source} ({row.use}): {what}, {row.milliseconds:.0f} ms{', cached' if row.cached else ''}"
