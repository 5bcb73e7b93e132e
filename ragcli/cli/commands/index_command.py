"""The `index` command: makes or refreshes a session's index and says what happened. Walks and reads nothing itself."""

import gc
import os
import sys
from typing import Annotated

import typer

from ragcli.cli import session_context
from ragcli.cli.knowledge_options import KnowledgeFlags, knowledge_flags
from ragcli.cli.limit_options import given_limits
from ragcli.cli.search_options import Strings, Wait
from ragcli.cli.shared_options import Shared, shared_values
from ragcli.cli.terminal import output
from ragcli.cli.terminal.tty import stderr_terminal
from ragcli.config.options import IndexOptions, Limits
from ragcli.config.resolve import COMMAND_LINE, Settings, given, index_options
from ragcli.documents import IndexReport
from ragcli.errors import UsageError

Path = Annotated[str | None, typer.Argument(metavar="[PATH]", help="A directory or a file; else the session's root.")]
Include = Annotated[
    Strings,
    typer.Option(
        "--include", metavar="GLOB", help="Index only what matches, as in a .gitignore: '*.py', 'src/'. Repeatable."
    ),
]
Exclude = Annotated[
    Strings, typer.Option("--exclude", metavar="GLOB", help="Leave out what matches, as .gitignore does. Repeatable.")
]
Format = Annotated[
    str | None, typer.Option("--format", metavar="FORMAT", help="Read every file as this format (default AUTO).")
]
Profile = Annotated[
    str | None, typer.Option("--limits", metavar="PROFILE", help="strict, for trees nobody vouches for, or standard.")
]
DefaultSkips = Annotated[
    bool | None,
    typer.Option("--default-skips/--no-default-skips", help="Skip build, vendor, node_modules ... (default: skip)."),
]
Ignore = Annotated[
    bool | None, typer.Option("--ignore/--no-ignore", help="Obey .gitignore and .tnsignore (default: obey).")
]
AllowSecrets = Annotated[
    bool | None,
    typer.Option(
        "--allow-secrets/--no-allow-secrets", help="Index files of secrets (.env, private keys ...) too (default: not)."
    ),
]
Rebuild = Annotated[bool, typer.Option("--rebuild", help="Read every file again, whatever is stored.")]
Verify = Annotated[bool, typer.Option("--verify", help="Hash every file instead of trusting size and time.")]
Strict = Annotated[bool, typer.Option("--strict", help="Commit nothing and exit 6 if any document fails.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would happen; write nothing.")]
Yes = Annotated[bool, typer.Option("-y", "--yes", help="Do not ask before a first index of / or the home directory.")]
AllowEmpty = Annotated[bool, typer.Option("--allow-empty", help="Accept that a root with files now has none.")]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=0,
        metavar="N",
        help="Extract in so many processes; 0: in this one, without time and memory limits.",
    ),
]


def index(
    ctx: typer.Context,
    path: Path = None,
    include: Include = None,
    exclude: Exclude = None,
    format: Format = None,
    limits: Profile = None,
    default_skips: DefaultSkips = None,
    ignore: Ignore = None,
    allow_secrets: AllowSecrets = None,
    rebuild: Rebuild = False,
    verify: Verify = False,
    strict: Strict = False,
    dry_run: DryRun = False,
    allow_empty: AllowEmpty = False,
    workers: Workers = None,
    wait: Wait = None,
    yes: Yes = False,
) -> int:
    """Make or refresh the index of a directory or a file.

    Only what changed is read again. Include, exclude, format, limits and skips are remembered with the session; giving
    one again replaces it.
    """
    from ragcli.cli.terminal.progress import progress

    declared = knowledge_flags(ctx)
    if declared.knowledge:
        own = (include, exclude, format, limits, default_skips, ignore, given_limits(ctx))
        if any(one is not None and one != {} for one in own) or rebuild or verify or strict or dry_run or allow_empty:
            raise UsageError("--knowledge reads sources as they are declared", "give their options in ragcli.toml")
        return _declared(declared, shared_values(ctx), path, wait, workers)
    # A segment is gathered from hundreds of thousands of lists without a cycle; looking for one takes a second of CPU.
    gc.set_threshold(50_000, 20, 50)
    path = os.path.expanduser(path) if path else None
    opened, root = session_context.opened_to_write(
        shared_values(ctx), path, include=include, exclude=exclude, format=format, limits=limits,
        default_skips=default_skips, ignore_files=ignore, allow_secrets=allow_secrets, workers=workers, wait=wait,
        **given_limits(ctx),
    )  # fmt: skip
    service, settings, shared = opened
    options = merged(service.stored_options(), settings)
    if not dry_run and not yes and service.stored_options() is None:
        _confirm_whole(root)
    with progress(shared) as callback:
        report = service.index_directory(
            root, callback, options=options, rebuild=rebuild, verify=verify, strict=strict, dry_run=dry_run,
            allow_empty=allow_empty, workers=settings.workers, wait=settings.wait,
        )  # fmt: skip
    _tell(report, shared, dry_run=dry_run)
    return 0


def _declared(flags: KnowledgeFlags, shared: Shared, name: str | None, wait: float | None, workers: int | None) -> int:
    """Read the declared sources again, or one by its name."""
    from ragcli.cli import knowledge_context

    opened = knowledge_context.opened(flags, shared, wait=wait, workers=workers)
    done = opened.refresh(name, knowledge_context.choice(flags))
    if shared.json:
        output.write_json({"schema": 1, "indexed": done})
    elif not shared.quiet:
        output.say(f"ragcli: indexed {', '.join(done) or 'nothing'}")
    return 0


def _confirm_whole(root: str) -> None:
    """Ask before a first index of the whole machine or a whole home. UsageError where nobody can be asked."""
    real = os.path.realpath(root)
    home = os.path.realpath(os.path.expanduser("~"))
    if real not in ("/", home):
        return
    what = "the whole file system" if real == "/" else "your whole home directory"
    if not sys.stdin.isatty() or not sys.stderr.isatty():
        raise UsageError(f"{real} is {what}", "name a directory in it, or give --yes if you mean all of it")
    sys.stderr.write(f"Index {what}, {real}? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("nothing was indexed", "name a directory, as in: ragcli index ~/project")


def merged(stored: IndexOptions | None, settings: Settings) -> IndexOptions:
    """Lay the settings given now over the options stored with the session.

    A flag or a variable replaces what is stored. A settings file may have come with the tree: of a stored limit it
    can only lower the number.
    """
    current = index_options(settings)
    if stored is None:
        return current
    names = ("include", "exclude", "format", "default_skips", "ignore_files", "allow_secrets")
    changed = {name: getattr(current, name) for name in names if given(settings, name)}
    limits = {}
    for name in Limits._fields:
        key = f"limit.{name}"
        old, new = getattr(stored.limits, name), getattr(current.limits, name)
        origin = settings.origins[key]
        if origin == COMMAND_LINE or origin.startswith("RAGCLI_"):
            limits[name] = new
        elif given(settings, key):
            limits[name] = min(old, new)
    return stored._replace(**changed, limits=stored.limits._replace(**limits))


def _tell(report: IndexReport, shared: Shared, *, dry_run: bool) -> None:
    """Write JSON to standard output, or the summary for people to standard error."""
    from ragcli.cli.rendering.render_index import summary
    from ragcli.cli.terminal.notices import tell

    tell(report.notices, [], shared)
    if shared.json:
        from ragcli.session.json_output import report_value

        output.write_json(report_value(report))
    if shared.quiet or (shared.json and not shared.verbose):
        return
    for line in summary(report, stderr_terminal(shared), verbose=shared.verbose, dry_run=dry_run):
        output.say(line)
