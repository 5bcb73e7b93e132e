"""The `knowledge` command: what is declared, whether it is right, read again, or pulled for an action."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ragcli.cli.knowledge_options import KnowledgeFlags, knowledge_flags
from ragcli.cli.search_options import Wait
from ragcli.cli.shared_options import Shared, shared_values
from ragcli.cli.terminal import output
from ragcli.errors import RagError, UsageError
from ragcli.text.escapes import visible, visible_name

if TYPE_CHECKING:
    from ragcli.knowledge.declared import DeclaredKnowledge
    from ragcli.knowledge.grounding import Grounding
    from ragcli.knowledge.values import KnowledgeEntry

TASKS = ("list", "check", "refresh", "pull")
Task = Annotated[str, typer.Argument(metavar="TASK", help="list, check, refresh or pull.")]
Source = Annotated[str | None, typer.Argument(metavar="[SOURCE]", help="With refresh: this source alone.")]


def knowledge(ctx: typer.Context, task: Task, name: Source = None, wait: Wait = None) -> int:
    """List, check or refresh declared knowledge, or pull it for an action.

    Sources are declared in ragcli.toml: [knowledge.NAME] with path or url. list shows them, check says everything that
    is wrong, one line each, and exits 2 if anything is. refresh reads all sources again, or the one named; nothing is
    read again by itself. pull prints what a local action is given.
    """
    shared, flags = shared_values(ctx), knowledge_flags(ctx)
    if task not in TASKS:
        raise UsageError(f"ragcli knowledge does not know {task!r}", f"it takes {', '.join(TASKS)}")
    if name is not None and task != "refresh":
        raise UsageError(f"ragcli knowledge {task} takes no source", "run: ragcli knowledge --help")
    from ragcli.cli import knowledge_context as context

    declared = context.opened(flags, shared, wait=wait)
    if task == "check":
        return _check(declared, flags, shared)
    if task == "list":
        return _list(declared, flags, shared)
    if task == "refresh":
        return _refresh(declared, name, flags, shared)
    return _pull(declared, flags, shared)


def _check(declared: "DeclaredKnowledge", flags: KnowledgeFlags, shared: Shared) -> int:
    from ragcli.cli import knowledge_context as context
    from ragcli.knowledge.values import Problem

    problems = declared.check()
    root = declared.project.root
    if root and not any(problem.file.startswith(root) and not problem.key for problem in problems):
        try:
            context.settled(flags, shared, root)
        except RagError as error:
            file, _, message = error.message.partition(": ")
            problems = [Problem("settings", file, "", message), *problems]
    if shared.json:
        output.write_json({"schema": 1, "problems": [problem._asdict() for problem in problems]})
    else:
        for problem in problems:
            output.write(f"{visible_name(str(problem))}\n")
    if not shared.quiet:
        agents = declared.project.agents
        if not problems and not agents:
            output.say("ragcli: no knowledge is declared here")
        elif not shared.json:
            output.say(f"ragcli: {len(problems)} problems" if problems else "ragcli: nothing is wrong")
    return 2 if problems else 0


def _list(declared: "DeclaredKnowledge", flags: KnowledgeFlags, shared: Shared) -> int:
    from ragcli.cli.knowledge_context import choice

    entries = declared.entries(choice(flags))
    if shared.json:
        output.write_json({"schema": 1, "sources": [_value(declared, entry) for entry in entries]})
        return 0
    width = max((len(entry.name) for entry in entries), default=0)
    for entry in entries:
        state = "" if entry.source.enabled else "  disabled"
        place = declared.sources.shown_location(entry)
        output.write(
            visible_name(f"{entry.name:<{width}}  {entry.source.type:<8}  {entry.use:<10}  {place}{state}") + "\n"
        )
    return 0


def _value(declared: "DeclaredKnowledge", entry: "KnowledgeEntry") -> dict[str, object]:
    search = {key: value for key, value in entry.search_settings._asdict().items() if value is not None}
    value: dict[str, object] = {"name": entry.name, "type": entry.source.type, "use": entry.use}
    value |= {"location": declared.sources.shown_location(entry), "enabled": entry.source.enabled}
    value |= {
        "when": entry.source.when,
        "layer": entry.origin.layer.value,
        "file": entry.origin.file,
    }
    if entry.max_tokens is not None:
        value["max_tokens"] = entry.max_tokens
    if search:
        value["search"] = search
    return value


def _refresh(declared: "DeclaredKnowledge", name: str | None, flags: KnowledgeFlags, shared: Shared) -> int:
    from ragcli.cli.knowledge_context import choice

    done = declared.refresh(name, choice(flags))
    if shared.json:
        output.write_json({"schema": 1, "refreshed": done})
    elif not shared.quiet:
        output.say(f"ragcli: read again: {visible_name(', '.join(done)) or 'nothing'}")
    return 0


def _pull(declared: "DeclaredKnowledge", flags: KnowledgeFlags, shared: Shared) -> int:
    """Print an action's evidence by itself, without a question."""
    from ragcli.cli import knowledge_context as context

    if not flags.action:
        raise UsageError("pull wants an action", "run: ragcli knowledge pull --action NAME --param NAME=VALUE")

    def write(made: "Grounding") -> None:
        if shared.json:
            context.write_prompt(made, shared)
            return
        text = made.fence()
        output.write(visible(text) if sys.stdout.isatty() else text)
        output.flush()

    declared.action(flags.action, context.params(flags), context.choice(flags), type="local", used=write)
    return 0
