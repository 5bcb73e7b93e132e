"""What a terminal is told: which escapes it gets, and how wide a text is.

Pure functions over text and environment.
"""

from collections.abc import Mapping
from typing import NamedTuple

BOLD, DIM, RED, CYAN = "1", "2", "31", "36"
MATCH, PATH, NUMBER, STALE = "1;31", "35", "32", "33"

_NARROWEST = 20


class Terminal(NamedTuple):
    """Where text goes: its width in cells, and whether it takes colour and hyperlinks."""

    width: int
    color: bool
    links: bool
    is_terminal: bool


def terminal(
    *, is_terminal: bool, width: int, color: str, environ: Mapping[str, str], unicode: bool = True
) -> Terminal:
    """Decide what a stream gets. `color` is auto, always or never; NO_COLOR beats FORCE_COLOR, TERM=dumb beats auto."""
    if color == "auto":
        dumb = environ.get("TERM") == "dumb"
        colored = (is_terminal and not dumb) or environ.get("FORCE_COLOR", "0") not in ("", "0")
        colored = colored and not environ.get("NO_COLOR")
    else:
        colored = color == "always"
    links = colored and is_terminal and unicode and _has_links(environ)
    return Terminal(max(width, _NARROWEST), colored, links, is_terminal)


def paint(terminal: Terminal, code: str, text: str) -> str:
    """Wrap text in one SGR code where the terminal takes colour."""
    return f"\x1b[{code}m{text}\x1b[0m" if terminal.color and text else text


def link(terminal: Terminal, path: str, text: str) -> str:
    """Make text a hyperlink to a file where the terminal knows OSC 8."""
    if not terminal.links:
        return text
    import os
    from urllib.parse import quote

    host = os.uname().nodename
    return f"\x1b]8;;file://{quote(host)}{quote(os.fsencode(path))}\x1b\\{text}\x1b]8;;\x1b\\"


def cells(text: str) -> int:
    """Count the terminal cells that a text without control characters takes."""
    return len(text) if text.isascii() else sum(map(_cell, text))


def cut(text: str, width: int, mark: str = "…") -> str:
    """Shorten a text to a width in cells; a cut shows as the mark."""
    if cells(text) <= width:
        return text
    room = width - cells(mark)
    if room < 0:
        return ""
    if text.isascii():
        return text[:room] + mark
    taken = 0
    for at, character in enumerate(text):
        taken += _cell(character)
        if taken > room:
            return text[:at] + mark
    return text


def _cell(character: str) -> int:
    if character < "\u0300":
        return 1
    from unicodedata import category, east_asian_width

    if category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def _has_links(environ: Mapping[str, str]) -> bool:
    """Tell whether the terminal is one known to render OSC 8 (others print it as rubbish)."""
    forced = environ.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced not in ("", "0")
    term = environ.get("TERM", "")
    if "TMUX" in environ or term.startswith("screen"):  # passed through only since tmux 3.4, which says nothing
        return False
    if environ.get("TERM_PROGRAM") in ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio"):
        return True
    if term in ("xterm-kitty", "alacritty", "foot", "foot-extra", "xterm-ghostty", "contour"):
        return True
    vte = environ.get("VTE_VERSION", "")
    return (vte.isdigit() and int(vte) >= 5000) or "WT_SESSION" in environ or "KONSOLE_VERSION" in environ
