"""The `mcp` and `agents` commands: the server for coding agents, and its entry in their configuration files."""

import os
import sys
from typing import Annotated

import typer

from ragcli.cli import session_context
from ragcli.cli.shared_options import shared_values
from ragcli.cli.terminal import output
from ragcli.config.resolve import data_directory
from ragcli.errors import RagError, UsageError
from ragcli.text.escapes import visible

TOKEN_VARIABLE = "RAGCLI_MCP_TOKEN"

Roots = Annotated[
    list[str] | None,
    typer.Option("--root", metavar="DIR", help="Answer from indexes at or below this directory (repeatable)."),
]
AllowIndex = Annotated[bool, typer.Option("--allow-index", help="Offer the tool that indexes and refreshes.")]
Fresh = Annotated[
    float,
    typer.Option("--fresh", min=0.0, metavar="SECONDS", help="Refresh before an answer, for so long at the most."),
]
Http = Annotated[
    int | None,
    typer.Option(
        "--http", min=0, max=65535, metavar="PORT",
        help=f"Serve HTTP on 127.0.0.1 instead of stdio; the token is {TOKEN_VARIABLE}, else one is made and told.",
    ),
]  # fmt: skip
ClientName = Annotated[
    str | None, typer.Argument(metavar="CLIENT", help="claude-code, codex, cursor, vscode, opencode or gemini.")
]
Install = Annotated[bool, typer.Option("--install", help="Put the entry into the client's file; shows the change.")]
Uninstall = Annotated[bool, typer.Option("--uninstall", help="Take the entry out of the client's file.")]
Global = Annotated[bool, typer.Option("--global", help="The user's file instead of the project's.")]
DryRun = Annotated[bool, typer.Option("--dry-run", "-n", help="Show the change and write nothing.")]


def mcp(
    ctx: typer.Context, root: Roots = None, allow_index: AllowIndex = False, fresh: Fresh = 0.0, http: Http = None
) -> int:
    """Serve search, read and prompt to coding agents, by the Model Context Protocol.

    Speaks on standard input and output, for clients that start it themselves (see: ragcli agents). Answers come from
    indexes below the client's roots, below --root, or of --session; without either, below the working directory.
    Nothing is written unless --allow-index or --fresh say so. Needs the extra: pip install 'ragcli[mcp]'.

    Example: ragcli mcp --root ~/work --fresh 2
    """
    try:
        from ragcli.agents.mcp_server import AgentServer, serve_http, serve_stdio
    except ImportError as error:
        raise RagError(f"the MCP server needs {error.name}", "install it with: pip install 'ragcli[mcp]'") from None
    from ragcli.agents.scope import Scope
    from ragcli.agents.tools import ToolBox

    shared = shared_values(ctx)
    manager = session_context.manager(shared)
    settings = session_context.settle(shared, {}, None)
    for directory in root or []:
        if not os.path.isdir(os.path.expanduser(directory)):
            raise UsageError(f"--root {directory} is no directory", "give one that exists")
    given = [os.path.expanduser(directory) for directory in root or []]
    names = [shared.session] if shared.session else []
    scope = Scope(manager, given, names)
    tools = ToolBox(data_directory(settings, os.environ), allow_index=allow_index, fresh=fresh)
    agent = AgentServer(tools, scope, fallback=[] if given or names else [os.getcwd()])
    if http is None:
        if sys.stdin.isatty():
            output.say("ragcli: speaking MCP on standard input and output; clients start this (see: ragcli agents)")
        serve_stdio(agent)
        return 0
    token = os.environ.get(TOKEN_VARIABLE, "")
    if not token:
        import secrets

        token = secrets.token_urlsafe(24)
        output.say(f"ragcli: {TOKEN_VARIABLE}={token}")
    serve_http(agent, http, token, lambda url: output.say(f"ragcli: {url}"))
    return 0


def agents(
    ctx: typer.Context,
    client: ClientName = None,
    install: Install = False,
    uninstall: Uninstall = False,
    user: Global = False,
    dry_run: DryRun = False,
) -> int:
    """Show how to set up a coding agent, or set it up.

    Prints the entry of ragcli's MCP server for a client and a text for AGENTS.md. With --install the entry is merged
    into that client's file (the project's in the working directory, with --global the user's), the rest of which
    stays as it is; --uninstall takes it out.

    Example: ragcli agents claude-code --install
    """
    from ragcli.agents.clients import CLIENTS, GUIDE, config_path
    from ragcli.agents.install import apply, diff, planned, snippet

    shared = shared_values(ctx)
    if client is not None and client not in CLIENTS:
        raise UsageError(f"unknown client {client}", f"known: {', '.join(CLIENTS)}")
    if install or uninstall:
        if client is None or (install and uninstall):
            raise UsageError("--install and --uninstall need one client", "as in: ragcli agents cursor --install")
        chosen = CLIENTS[client]
        change = planned(chosen, config_path(chosen, os.getcwd(), os.environ, user=user), remove=uninstall)
        if not change.changes:
            output.say(f"ragcli: {change.path} {'has no entry' if uninstall else 'is set up already'}")
            return 0
        output.write(visible(diff(change)))
        if not dry_run:
            apply(change)
            if not shared.quiet:
                output.say(f"ragcli: {change.path} written; start {chosen.title} anew to use it")
        return 0
    for chosen in [CLIENTS[client]] if client else CLIENTS.values():
        project = config_path(chosen, ".", os.environ, user=False)
        output.write(f"# {chosen.title}: {project}, or {config_path(chosen, '.', os.environ, user=True)}\n")
        output.write(f"{snippet(chosen)}\n")
    output.write(f"# AGENTS.md\n{GUIDE}")
    return 0
