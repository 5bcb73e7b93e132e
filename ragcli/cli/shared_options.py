"""The options that every command takes, before or after its name. Knows no command and renders nothing."""

from typing import Any, NamedTuple, cast

import typer
from typer.core import TyperCommand, TyperOption

from ragcli.cli.knowledge_options import OPTION_NAMES

HELP_NAMES = ["-h", "--help"]
SECTIONS = ("Arguments", "Options", "Declared knowledge", "Limits", "Options of every command")


class Shared(NamedTuple):
    """What the options of every command said; None where they said nothing."""

    session: str | None = None
    data_dir: str | None = None
    quiet: bool = False
    verbose: bool = False
    color: str | None = None
    progress: str | None = None
    json: bool = False


LITERAL_WORDS = "ragcli.literal_words"


class Command(TyperCommand):
    """A command whose help lists its own options first and the shared ones apart."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Remember how many words stand behind `--`; click takes the mark away."""
        ctx.meta[LITERAL_WORDS] = len(args) - args.index("--") - 1 if "--" in args else 0
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Show a needed argument as `NAME`, not as Typer's `{NAME}`."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, own options, shared options."""
        sections: dict[str, list[tuple[str, str]]] = {title: [] for title in SECTIONS}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx)
            if row is not None:
                sections[section(parameter)].append((row[0].strip("{}"), row[1].removesuffix("[required]").rstrip()))
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def section(parameter: Any) -> str:
    """Return the section of the help that a parameter belongs to."""
    if parameter.param_type_name == "argument":
        return SECTIONS[0]
    if parameter.expose_value:
        return SECTIONS[1]
    if parameter.name in (*Shared._fields, "version", "help"):
        return SECTIONS[4]
    return SECTIONS[2] if parameter.name in OPTION_NAMES else SECTIONS[3]


def shared_values(ctx: typer.Context) -> Shared:
    """Return the shared options of a running command."""
    return Shared(**cast(dict[str, Any], ctx.obj or {}))


def shared_options() -> list[TyperOption]:
    """Make the options that each command carries beside its own."""
    return [
        _option("session", "-s", metavar="NAME", help="Use a named session, or one by its id (RAGCLI_SESSION)."),
        _option("data-dir", metavar="DIR", help="Keep indexes below this directory (RAGCLI_DATA_DIR)."),
        _flag("quiet", "-q", help="Print no summary and no notice."),
        _flag("verbose", "-v", help="More output on stderr."),
        _option("color", metavar="WHEN", help="Colour the output: auto, always or never."),
        _option("progress", metavar="WHEN", help="Show progress: auto, always or never."),
        _flag("json", help="Print JSON."),
        TyperOption(
            param_decls=["version", "--version"],
            is_flag=True,
            default=False,
            is_eager=True,
            expose_value=False,
            callback=_version,
            help="Print the version and exit.",
        ),
    ]


def takes_value(word: str) -> bool:
    """Tell whether a word before the command's name is a shared option whose value is the next word."""
    return word in ("-s", "--session", "--data-dir", "--color", "--progress")


def _option(name: str, *short: str, metavar: str, help: str) -> TyperOption:
    key = name.replace("-", "_")

    def store(ctx: typer.Context, parameter: Any, value: str | None) -> None:
        ctx.ensure_object(dict)[key] = value

    return TyperOption(
        param_decls=[key, *short, f"--{name}"], metavar=metavar, expose_value=False, callback=store, help=help
    )


def _flag(name: str, *short: str, help: str) -> TyperOption:
    def store(ctx: typer.Context, parameter: Any, value: bool) -> None:
        ctx.ensure_object(dict)[name] = bool(value)

    return TyperOption(
        param_decls=[name, *short, f"--{name}"],
        is_flag=True,
        default=False,
        expose_value=False,
        callback=store,
        help=help,
    )


def tell_version() -> None:
    """Print the version."""
    from ragcli import __version__
    from ragcli.cli.terminal.output import write

    write(f"ragcli {__version__}\n")


def _version(ctx: typer.Context, parameter: Any, value: bool) -> None:
    if value:
        tell_version()
        raise typer.Exit(0)
