"""Man pages made from the command tree, in man(7). Returns text, writes none."""

from typing import Any

from ragcli.cli.command_tree import Grammar, Word, grammars
from ragcli.cli.shared_options import SECTIONS

_EXIT = (
    ("0", "Done; for search: something was found."),
    ("1", "search found nothing, or eval is below its bound."),
    ("2", "Wrong usage or settings, or another error."),
    ("3", "No such session or document."),
    ("4", "Another process writes the session and did not finish within --wait."),
    ("5", "The index cannot be read; the message says how to rebuild it."),
    ("6", "index --strict met a document that failed; nothing was committed."),
    ("130", "Interrupted."),
)
_ENVIRONMENT = (
    ("RAGCLI_SESSION", "The session where --session does not name one."),
    ("RAGCLI_DATA_DIR", "The data directory where --data-dir does not name one."),
    ("RAGCLI_CONFIG", "A settings file in place of the user's own."),
    ("RAGCLI_*", "Any other setting, as RAGCLI_K=20; ragcli config lists them."),
    ("NO_COLOR, FORCE_COLOR, TERM", "Whether --color auto colours. FORCE_HYPERLINK=1 or 0 decides on hyperlinks."),
)
_SESSIONS = (
    "An index belongs to a session. ragcli index PATH makes or refreshes the one of PATH; every other command takes "
    "the session of the nearest directory above the working directory that has one. With -s NAME a session is reached "
    "by its name from anywhere.",
    "Results go to standard output, everything else to standard error. On a terminal search prints readable blocks, "
    "elsewhere path:line:text; paths are relative to the working directory, an added document shows as <ID>. Control "
    "characters of files show as escapes such as \\x1b; only -0 writes names as they are.",
    "In JSON file is relative to root and always parted by slashes; a name that is not UTF-8 has its bytes in base64 "
    "beside it, as file_bytes. Lists of results hold score, rank and streams; with --explain also parts.",
)
_EXAMPLES = (
    ("ragcli index .", "Index the working directory."),
    ("ragcli search -t python request routing", "Find where requests are routed, in Python only."),
    ("ragcli prompt --max-tokens 4000 How does auth work? | llm", "Ask a model with evidence."),
)


def pages(tree: Any) -> dict[str, str]:
    """Return every man page by its file name."""
    root, *commands = grammars(tree)
    made = {"ragcli.1": _root_page(root, commands)}
    for grammar in commands:
        others = [f"ragcli\\-{other.name}(1)" for other in commands if other is not grammar]
        see = "SEE ALSO", [_references(["ragcli(1)", *others])]
        made[f"ragcli-{grammar.name}.1"] = _page(f"ragcli-{grammar.name}", grammar, [_exit_section(), see])
    return made


def _root_page(root: Grammar, commands: list[Grammar]) -> str:
    listed = [_term(f"ragcli-{one.name}(1)", one.summary) for one in commands]
    tables = [
        ("COMMANDS", listed),
        ("SESSIONS AND OUTPUT", [".PP\n" + _text(paragraph) for paragraph in _SESSIONS]),
        ("ENVIRONMENT", [_term(name, text) for name, text in _ENVIRONMENT]),
        ("EXAMPLES", [_term(line, text) for line, text in _EXAMPLES]),
        _exit_section(),
        ("SEE ALSO", [_references([f"ragcli\\-{one.name}(1)" for one in commands])]),
    ]
    return _page("ragcli", root, tables)


def _page(title: str, grammar: Grammar, tables: list[tuple[str, list[str]]]) -> str:
    parts = [
        '.\\" Made from the command tree by: python -m ragcli.cli.reference.generate\n',
        f'.TH {_text(title.upper())} 1 "" "ragcli" "ragcli manual"\n',
        ".nh\n",
        f".SH NAME\n{_text(title)} \\- {_text(_decapitalised(grammar.summary))}\n",
        f".SH SYNOPSIS\n.B {_text(grammar.usage)}\n",
        f".SH DESCRIPTION\n{_text(grammar.summary)}\n",
        *(f".PP\n{_text(paragraph)}\n" for paragraph in grammar.details),
    ]
    for section in SECTIONS:
        words = [word for word in grammar.words if word.section == section]
        if words:
            parts += [f".SH {section.upper()}\n", *map(_entry, words)]
    for heading, rows in tables:
        parts += [f".SH {heading}\n", *(f"{row}\n" for row in rows)]
    return "".join(parts)


def _entry(word: Word) -> str:
    if not word.names:
        return f".TP\n.I {_text(word.metavar)}\n{_text(word.help)}\n"
    names = ", ".join(f"\\fB{_text(name)}\\fR" for name in word.names)
    value = f" \\fI{_text(word.metavar)}\\fR" if word.metavar else ""
    return f".TP\n{names}{value}\n{_text(word.help)}\n"


def _term(name: str, text: str) -> str:
    return f".TP\n.B {_text(name)}\n{_text(text)}"


def _exit_section() -> tuple[str, list[str]]:
    return "EXIT STATUS", [_term(code, text) for code, text in _EXIT]


def _references(names: list[str]) -> str:
    return "\n".join(f".BR {name.removesuffix('(1)')} (1){',' if name != names[-1] else ''}" for name in names)


def _decapitalised(summary: str) -> str:
    return summary[:1].lower() + summary[1:].rstrip(".")


def _text(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
