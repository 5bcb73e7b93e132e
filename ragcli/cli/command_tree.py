"""The live command tree as plain values, for completion scripts and man pages. Reads the tree, writes nothing."""

from typing import Any, NamedTuple

from ragcli.cli.shared_options import SECTIONS, section
from ragcli.config.options import PROFILES
from ragcli.model import DocumentFormat

# What can stand where an option or argument of this metavar is. Words are listed; the rest is looked up at the TAB.
CHOICES: dict[str, tuple[str, ...]] = {
    "WHEN": ("auto", "always", "never"),
    "FORMAT": tuple(DocumentFormat),
    "PROFILE": tuple(PROFILES),
    "SHELL": ("bash", "zsh", "fish"),
    "TASK": ("list", "check", "refresh", "pull"),
    "KIND": ("sessions", "documents", "languages"),
}
LOOKED_UP = {"NAME": "sessions", "ID": "documents", "ID|FILE": "documents", "LANG": "languages"}
FILES = ("FILE", "PATH", "DIR", "ID|FILE")


class Word(NamedTuple):
    """An option (with names) or an argument (without). `metavar` is '' for a flag; `section` is that of the help."""

    names: tuple[str, ...]
    metavar: str
    help: str
    section: str
    repeatable: bool


class Grammar(NamedTuple):
    """One command: its name, usage, what it does (first sentence and the rest) and its words."""

    name: str
    usage: str
    summary: str
    details: tuple[str, ...]
    words: tuple[Word, ...]


def grammars(tree: Any) -> list[Grammar]:
    """Return the root (named '') and every command of the tree."""
    root = tree.make_context("ragcli", [], resilient_parsing=True)
    found = [_grammar("", tree, root)]
    for name, command in tree.commands.items():
        found.append(_grammar(name, command, command.make_context(f"ragcli {name}", [], resilient_parsing=True)))
    return found


def _grammar(name: str, command: Any, context: Any) -> Grammar:
    paragraphs = [" ".join(part.split()) for part in (command.help or "").split("\n\n")]
    usage = " ".join([f"ragcli {name}".rstrip(), *command.collect_usage_pieces(context)])
    words = tuple(_word(parameter, context) for parameter in command.get_params(context))
    return Grammar(name, usage, paragraphs[0], tuple(paragraphs[1:]), words)


def _word(parameter: Any, context: Any) -> Word:
    row = parameter.get_help_record(context)
    help = row[1].removesuffix("[required]").rstrip()
    repeatable = bool(getattr(parameter, "multiple", False)) or parameter.nargs == -1
    if parameter.param_type_name == "argument":
        return Word((), (parameter.metavar or "").replace("...", "").strip("[]"), help, SECTIONS[0], repeatable)
    # Short ones first: the names of --help come in the order of a set.
    names = tuple(sorted((*parameter.opts, *parameter.secondary_opts), key=lambda name: (name.startswith("--"), name)))
    metavar = "" if parameter.is_flag else (parameter.metavar or "VALUE")
    return Word(names, metavar, help, section(parameter), repeatable)
