"""Starts the command line: finds the command, builds only that one, and turns every end into an exit code.

The only place that catches what commands raise. It may not know what a command does.
"""

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from ragcli.cli.terminal import output
from ragcli.errors import RagError, UsageError


class CommandEntry(NamedTuple):
    """Where a command lives; its help is the docstring of the function."""

    module: str
    function: str


COMMANDS = {
    "index": CommandEntry("commands.index_command", "index"),
    "search": CommandEntry("commands.search_command", "search"),
    "prompt": CommandEntry("commands.prompt_command", "prompt"),
    "eval": CommandEntry("commands.eval_command", "eval_"),
    "status": CommandEntry("commands.status_command", "status"),
    "knowledge": CommandEntry("commands.knowledge_command", "knowledge"),
    "add": CommandEntry("commands.document_commands", "add"),
    "list": CommandEntry("commands.document_commands", "list_"),
    "show": CommandEntry("commands.show_command", "show"),
    "rm": CommandEntry("commands.document_commands", "rm"),
    "clear": CommandEntry("commands.document_commands", "clear"),
    "config": CommandEntry("commands.config_command", "config"),
    "completion": CommandEntry("commands.completion_command", "completion"),
    "mcp": CommandEntry("commands.agents_commands", "mcp"),
    "agents": CommandEntry("commands.agents_commands", "agents"),
    "export": CommandEntry("commands.transfer_commands", "export"),
    "import": CommandEntry("commands.transfer_commands", "import_"),
}
ABOUT = "Turn any directory of code and documents into a local, ranked, citable index, and a question into a prompt."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; without arguments that of the process, which then ends here."""
    if arguments is not None:
        return _guarded(list(arguments))
    _speak_utf8()
    code = _guarded(sys.argv[1:])
    if "ragcli.workers.pool" not in sys.modules and sys.getprofile() is None and sys.gettrace() is None:
        # All is flushed, and only a run with worker processes has something to end. Taking the interpreter apart
        # would cost each search 9 ms of 105 (CPU time, median of 21 runs).
        os._exit(code)
    return code


def _guarded(words: list[str]) -> int:
    """Turn whatever happens into an exit code: no traceback, no half-told error."""
    output.prepare()
    try:
        code = _run(words)
        output.flush()
        return code
    except BrokenPipeError:
        output.silence(1)
        return 0
    except KeyboardInterrupt:
        output.silence(1)
        return 130
    except RagError as error:
        return _fail(error.message, error.hint or _help_of(words), error.exit_code)
    except OSError as error:
        return _fail_on_system(error)
    except Exception as error:
        # Python would exit with 1, which here means "found nothing"; a bug must not read as an answer.
        return _fail_on_bug(error, words)


def build(name: str) -> Any:
    """Build one command of the tree (a Typer command with the shared options)."""
    import typer
    from typer.main import get_command

    from ragcli.cli.shared_options import HELP_NAMES, Command, shared_options

    entry = COMMANDS[name]
    function: Callable[..., int] = getattr(import_module(f"ragcli.cli.{entry.module}"), entry.function)
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(name, cls=Command, context_settings={"help_option_names": HELP_NAMES})(function)
    command = get_command(app)
    if name == "index":
        from ragcli.cli.limit_options import limit_options

        command.params.extend(limit_options())
    if name in ("index", "search", "prompt", "knowledge"):
        from ragcli.cli.knowledge_options import knowledge_options

        command.params.extend(knowledge_options(name))
    command.params.extend(shared_options())
    return command


def tree() -> Any:
    """Build the whole command tree, for help, completions and man pages."""
    from typer.core import TyperGroup

    from ragcli.cli.shared_options import HELP_NAMES, shared_options

    return TyperGroup(
        name="ragcli",
        commands={name: build(name) for name in COMMANDS},
        params=list(shared_options()),
        help=ABOUT,
        epilog="Exit codes: 0 done or found, 1 search found nothing or eval is below its bound, 2 usage or another "
        "error, 3 no such session or document, 4 locked, 5 index unreadable, 6 index --strict failed, 130 interrupted.",
        context_settings={"help_option_names": HELP_NAMES},
        rich_markup_mode=None,
    )


def _speak_utf8() -> None:
    """Start again in Python's UTF-8 mode where the locale would read names as anything else.

    Stored paths are UTF-8 with escaped bytes; under an ASCII or Latin-1 locale no system call would find them. What
    the streams speak stays as it was.
    """
    if sys.getfilesystemencoding().lower() == "utf-8" or os.environ.get("PYTHONUTF8") == "1" or os.name != "posix":
        return
    streams = os.environ.get("PYTHONIOENCODING") or getattr(sys.stdout, "encoding", None) or "ascii"
    environment = os.environ | {"PYTHONUTF8": "1", "PYTHONIOENCODING": streams}
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)


def _run(words: list[str]) -> int:
    leading, name, rest = _split(words)
    if name is None:
        return _root(leading)
    if name not in COMMANDS:
        raise UsageError(f"no such command: {_shown(name)}", _suggestion(name))
    import typer
    from typer._click.exceptions import ClickException  # Typer bundles click and re-exports only subclasses

    command = build(name)
    try:
        with command.make_context(f"ragcli {name}", [*leading, *rest]) as context:
            result = command.invoke(context)
        return int(result or 0)
    except typer.Exit as end:
        return end.exit_code
    except typer.Abort:
        raise KeyboardInterrupt from None
    except ClickException as error:
        raise UsageError(_one_line(error.format_message()), _usage_hint(name, error)) from None


def _usage_hint(name: str, error: Exception) -> str:
    if type(error).__name__ == "NoSuchOption" and name in ("search", "prompt", "add"):
        signed = ", or with others in quotes to leave them out: 'csrf -test'" if name == "search" else ""
        return f"run: ragcli {name} --help; words that begin with a dash go behind --{signed}"
    return f"run: ragcli {name} --help"


def _root(leading: list[str]) -> int:
    import typer
    from typer._click.exceptions import ClickException

    if not leading:
        output.say(tree().make_context("ragcli", [], resilient_parsing=True).get_help())
        return 2
    if "--version" in leading:
        from ragcli.cli.shared_options import tell_version

        tell_version()
        return 0
    try:
        tree().make_context("ragcli", leading)
    except typer.Exit as end:
        return end.exit_code
    except ClickException as error:
        raise UsageError(_one_line(error.format_message()), "run: ragcli --help") from None
    raise UsageError("no command given", "run: ragcli --help")


def _split(words: list[str]) -> tuple[list[str], str | None, list[str]]:
    """Part a command line at the command's name: the shared options before it count as if they stood behind it."""
    from ragcli.cli.shared_options import takes_value

    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return words[:at], words[at + 1] if at + 1 < len(words) else None, words[at + 2 :]
        if not word.startswith("-") or word == "-":
            return words[:at], word, words[at + 1 :]
        at += 2 if takes_value(word) else 1
    return words, None, []


def _help_of(words: list[str]) -> str:
    name = _split(words)[1]
    return f"run: ragcli {name} --help" if name in COMMANDS else "run: ragcli --help"


def _suggestion(name: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, COMMANDS, n=1)
    return f"did you mean: ragcli {close[0]}" if close else "run: ragcli --help"


def _fail(message: str, hint: str, code: int) -> int:
    try:
        output.flush()
    except OSError:
        output.silence(1)
    output.say(f"ragcli: {_shown(message)}")
    if hint:
        output.say(f"hint: {_shown(hint)}")
    return code


def _fail_on_system(error: OSError) -> int:
    output.silence(1)
    reason = error.strerror or str(error)
    if error.filename is None:
        import errno

        if error.errno in (errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT):
            return _fail(f"cannot write the output: {reason}", "", 2)
        return _fail(reason, "", 2)
    return _fail(f"{os.fsdecode(error.filename)}: {reason}", "", 2)


def _fail_on_bug(error: Exception, words: list[str]) -> int:
    if "-v" in words or "--verbose" in words:
        import traceback

        output.say(traceback.format_exc().rstrip())
    return _fail(
        f"internal error: {type(error).__name__}: {_one_line(str(error))[:200]}",
        "this is a bug; run the command again with -v to see where",
        2,
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _shown(text: str) -> str:
    from ragcli.text.escapes import visible_name

    return visible_name(text)
