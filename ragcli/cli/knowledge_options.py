"""The options about declared knowledge, of the commands that can use it. Imports nothing of it."""

from typing import Any, NamedTuple

import typer
from typer.core import TyperOption

_META = "ragcli.knowledge"


class KnowledgeFlags(NamedTuple):
    """What the options about declared knowledge said."""

    knowledge: tuple[str, ...] | bool = ()
    chat: bool = False
    action: str = ""
    param: tuple[str, ...] = ()
    agent: str = ""
    role: str = ""
    run: str | None = None
    base_dir: str = ""
    allow_outside: bool | None = None


def knowledge_flags(ctx: typer.Context) -> KnowledgeFlags:
    """Return the options about declared knowledge of a running command."""
    return KnowledgeFlags(**ctx.meta.get(_META, {}))


def knowledge_options(command: str) -> list[TyperOption]:
    """Make the options of one command; none for a command that has nothing to do with it."""
    own = {
        "index": [_option("knowledge", help="Read declared sources, all or the one that PATH names.", flag=True)],
        "search": [_option("knowledge", metavar="SOURCE", help="Search a declared source. Repeatable.", multiple=True)],
        "prompt": [
            _option("chat", help="Ground the question on the sources declared for chat.", flag=True),
            _option("action", metavar="ACTION", help="Call a declared action, with the sources that it names."),
            _option("param", metavar="NAME=VALUE", help="A parameter of the action. Repeatable.", multiple=True),
        ],
        "knowledge": [
            _option("action", metavar="ACTION", help="With pull: the action whose sources are printed."),
            _option("param", metavar="NAME=VALUE", help="A parameter of the action. Repeatable.", multiple=True),
        ],
    }.get(command)
    if own is None:
        return []
    return [
        *own,
        _option("agent", metavar="AGENT", help="Use what this agent declares (default: what no agent does)."),
        _option("role", metavar="ROLE", help="Use what this role of the agent declares too."),
        _option("run", metavar="FILE", help="Lay a run file over the declarations (RAGCLI_RUN)."),
        _option("base-dir", metavar="DIR", help="Resolve relative paths of declarations from here."),
        _option("allow-outside", help="Let a tree declare URLs, databases and paths outside it.", flag=True),
    ]


OPTION_NAMES = frozenset(KnowledgeFlags._fields)


def _option(
    name: str, *, help: str, metavar: str | None = None, flag: bool = False, multiple: bool = False
) -> TyperOption:
    key = name.replace("-", "_")

    def store(ctx: typer.Context, parameter: Any, value: Any) -> None:
        if value is not None and value != () and value is not False:
            ctx.meta.setdefault(_META, {})[key] = tuple(value) if multiple else value

    return TyperOption(
        param_decls=[key, f"--{name}"],
        metavar=metavar,
        is_flag=flag or None,
        default=False if flag else None,
        multiple=multiple,
        expose_value=False,
        callback=store,
        help=help,
    )
