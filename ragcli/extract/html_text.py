"""Read HTML or XHTML as text, with the offsets at which the path of headings changes.

Shared by the HTML and EPUB extractors. It knows nothing of charsets, containers or blocks.
"""

import re
from typing import NamedTuple

from ragcli.extract.html_tokens import Kind, attributes, tokens


class Rendered(NamedTuple):
    """A page as text. `marks` are (offset, heading path) in order, the first at 0."""

    text: str
    marks: list[tuple[int, str]]
    title: str


# What stands between two runs of text; the strongest wanted since the last one wins.
_NOTHING, _SPACE, _CELL, _LINE, _PARAGRAPH = range(5)
_SEPARATORS = ("", " ", "\t", "\n", "\n\n")

_PARAGRAPHS = frozenset({
    "address", "article", "aside", "blockquote", "center", "details", "dl", "fieldset", "figure", "footer", "form",
    "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "main", "nav", "ol", "p", "pre", "section", "table",
    "textarea", "ul", "xmp"
})  # fmt: skip
_LINES = frozenset({
    "body", "br", "button", "caption", "dd", "dialog", "div", "dt", "figcaption", "head", "html", "label", "legend",
    "li", "menu", "noscript", "optgroup", "option", "picture", "select", "summary", "tbody", "tfoot", "thead",
    "title", "tr", "video", "audio"
})  # fmt: skip
_BREAKS = dict.fromkeys(_PARAGRAPHS, _PARAGRAPH) | dict.fromkeys(_LINES, _LINE) | {"td": _CELL, "th": _CELL}
_VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"
})  # fmt: skip
_DROPPED = frozenset({"template", "rp"})
_VERBATIM = frozenset({"pre", "textarea", "xmp", "listing"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
# A start tag of the first name ends an open element of the others (HTML, "optional tags"): hidden text ends there too.
_ENDS = {name: frozenset({"p"}) for name in _PARAGRAPHS | {"div"}} | {
    "li": frozenset({"li", "p"}),
    "dt": frozenset({"dt", "dd", "p"}),
    "dd": frozenset({"dt", "dd", "p"}),
    "td": frozenset({"td", "th", "p"}),
    "th": frozenset({"td", "th", "p"}),
    "tr": frozenset({"td", "th", "tr", "p"}),
    "option": frozenset({"option"}),
}
_UNSEEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_UNSEEN_CHARACTERS = re.compile("[\u00ad\ufeff]")
_MAX_HEADING = 200  # characters of one heading in a path: it names a place and is not read as text


def render(text: str, *, xml: bool = False) -> Rendered:
    """Give a page's visible text: blocks apart, table cells by tabs, `pre` as it stands, nothing of what is hidden."""
    page = _Page(xml)
    for token in tokens(text, xml=xml):
        if token.kind is Kind.TEXT:
            page.text(token.value)
        elif token.kind is Kind.START:
            page.start(token.value, token.attributes)
        else:
            page.end(token.value)
    page.close_heading()
    return Rendered("".join(page.out), page.marks, page.title)


class _Page:
    """A page half read: what is open, what is written, what separates it from the next run."""

    def __init__(self, xml: bool) -> None:
        self.xml = xml
        self.out: list[str] = []
        self.length = 0
        self.marks: list[tuple[int, str]] = [(0, "")]
        self.title = ""
        self._wanted = _NOTHING
        self._newlines = 0
        self._open: list[str] = []
        self._count: dict[str, int] = {}
        self._verbatim = 0
        self._hidden: int | None = None  # the depth of the outermost hidden element
        self._cells = False
        self._path: list[tuple[int, str]] = []
        self._heading: tuple[int, int, int] | None = None  # level, its first piece, offset

    def start(self, name: str, raw: str) -> None:
        ended = _ENDS.get(name)
        while ended and self._open and self._open[-1] in ended:
            self._pop()
        if self._hidden is None:
            self._start_visible(name, raw)
        empty = name in _VOID or (raw.endswith("/") and (self.xml or "svg" in self._count or "math" in self._count))
        if empty:
            return
        self._open.append(name)
        self._count[name] = self._count.get(name, 0) + 1
        self._verbatim += name in _VERBATIM
        if self._hidden is None and (name in _DROPPED or (raw and _is_hidden(raw))):
            self._hidden = len(self._open) - 1

    def _start_visible(self, name: str, raw: str) -> None:
        strength = _BREAKS.get(name, _NOTHING)
        if strength == _CELL:
            strength = _CELL if self._cells else _NOTHING
            self._cells = True
        elif name == "tr":
            self._cells = False
        if name == "br" and self._wanted == _LINE:
            strength = _PARAGRAPH
        self._wanted = max(self._wanted, strength)
        if name in _HEADINGS:
            self.close_heading()
            self._heading = (_HEADINGS[name], len(self.out), -1)
        elif name == "img" and " " in (description := attributes(raw).get("alt", "").strip()):
            self.text(f" {description} ")

    def end(self, name: str) -> None:
        if not self._count.get(name):
            return
        while self._pop() != name:
            pass
        if self._hidden is None:
            self._wanted = max(self._wanted, _BREAKS.get(name, _NOTHING) if name not in ("td", "th") else _NOTHING)
            if name in _HEADINGS:
                self.close_heading()

    def _pop(self) -> str:
        name = self._open.pop()
        self._count[name] -= 1
        self._verbatim -= name in _VERBATIM
        if not self._count[name]:
            del self._count[name]
        if self._hidden is not None and len(self._open) <= self._hidden:
            self._hidden = None
        return name

    def text(self, text: str) -> None:
        if self._hidden is not None:
            return
        if "title" in self._count and "svg" not in self._count:
            self.title = self.title or " ".join(text.split())
            return
        if not text.isascii():
            text = _UNSEEN_CHARACTERS.sub("", text)
        if self._verbatim:
            self._write(text)
            return
        words = " ".join(text.split())
        if text[:1].isspace():
            self._wanted = max(self._wanted, _SPACE)
        if words:
            self._write(words)
            if text[-1].isspace():
                self._wanted = _SPACE

    def _write(self, text: str) -> None:
        """Append text after the separator that is due. Text of `pre` may begin and end with line ends of its own."""
        if not text:
            return
        if self._heading is not None and self._heading[2] < 0 and not text.isspace():
            self._place_heading(self._heading[0])
        separator = _SEPARATORS[self._wanted] if self.length else ""
        if self._wanted >= _LINE:
            separator = separator[self._newlines :]
            if self._newlines == 0 or self.length == 0:
                text = text.removeprefix("\n")
        self._wanted = _NOTHING
        self._append(separator)
        self._append(text)

    def _append(self, piece: str) -> None:
        if piece:
            self.out.append(piece)
            self.length += len(piece)
            stripped = piece.rstrip("\n")
            self._newlines = len(piece) - len(stripped) + (0 if stripped else self._newlines)

    def _place_heading(self, level: int) -> None:
        """Write the separator before a heading's first word, so that its section begins with the word."""
        if self.length:
            self._append(_SEPARATORS[max(self._wanted, _LINE)][self._newlines :])
        self._wanted = _NOTHING
        self._heading = (level, len(self.out), self.length)

    def close_heading(self) -> None:
        """End an open heading: what was written since becomes the last part of the path from there on."""
        heading, self._heading = self._heading, None
        if heading is None or heading[2] < 0:
            return
        level, first, offset = heading
        words = " ".join("".join(self.out[first:]).split())[:_MAX_HEADING]
        self._path = [part for part in self._path if part[0] < level] + [(level, words)]
        path = " > ".join(part for _, part in self._path)
        if self.marks[-1][0] == offset:
            self.marks.pop()
        self.marks.append((offset, path))


def _is_hidden(raw: str) -> bool:
    if "hidden" not in raw.lower() and not _UNSEEN_STYLE.search(raw):
        return False
    found = attributes(raw)
    if "hidden" in found:
        return found["hidden"].lower() != "until-found"
    return _UNSEEN_STYLE.search(found.get("style", "")) is not None
