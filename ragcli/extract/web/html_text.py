"""Read HTML or XHTML as text, with the offsets at which the path of headings changes.

Beautiful Soup builds the tree, with lxml's HTML parser under it: of its builders the one that closes `<p>`, `<li>` and
`<td>` where the end tag is left out. The tree is walked by `next_element`, so depth costs no recursion. A tree costs
0.9 KB and 25 to 45 µs an element (bs4 4.15), so a page of more than MAX_TREE_TAGS tags or MAX_TREE_CHARS characters is
read as the events of the same parser, with the same text, and one of more than MAX_TAGS is refused.

Shared by the HTML and EPUB extractors and by notebooks. It knows nothing of charsets, containers or blocks.
"""

import re
import warnings
from collections.abc import Mapping
from html import escape
from typing import NamedTuple

from ragcli.errors import DocumentProcessingError, FailureCode
from ragcli.extract.decode import well_formed
from ragcli.extract.heading_path import SEPARATOR, HeadingPath, under

MAX_TREE_TAGS = 50_000  # start and end tags; as a tree 1 to 2 s and at most 45 MiB
MAX_TREE_CHARS = 2_000_000  # libxml2 cuts a text at 10,000,000 bytes of UTF-8, and Beautiful Soup has no way to say no
MAX_TAGS = 2_000_000  # as events 3 to 6 s, 20 s where each is a heading; one extraction has 30


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
_DROPPED = frozenset({"script", "style", "template", "iframe", "noembed", "noframes", "rp"})
_VERBATIM = frozenset({"pre", "textarea", "xmp", "listing"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_UNSEEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_UNSEEN_CHARACTERS = re.compile("[\u00ad\ufeff]")
_MAX_HEADING = 200  # characters of one heading in a path: it names a place and is not read as text

# What an HTML parser would lose. Each pattern stops at the next `<` or reads to the end once, and takes nothing back.
_CDATA = re.compile(r"<!--(?:-?>|.*?(?:-->|\Z))|<!\[CDATA\[(.*?)(?:\]\]>|\Z)", re.DOTALL)
_EMPTY_TAG = re.compile(r"""<([a-zA-Z][^\s/<>]*+)((?:[^<>"'/]|/(?!>)|"[^"<]*+"|'[^'<]*+')*+)/>""")
_UNFINISHED_TAG = re.compile(
    r"""<(?=/?[a-zA-Z](?:[^<>"']|"[^"<]*+"|'[^'<]*+')*+(?:(?:(?<==)|(?<==\s))(?:"[^"]*+|'[^']*+))?\Z)"""
)
_DOCTYPE = re.compile(r"<!DOCTYPE", re.IGNORECASE)
_SUBSET = re.compile(r"<!DOCTYPE[^>\[]*\[[^\]]{0,65536}\]\s*>", re.IGNORECASE)


def render(text: str, *, xml: bool = False, max_tree_tags: int = MAX_TREE_TAGS) -> Rendered:
    """Give a page's visible text: blocks apart, table cells by tabs, `pre` as it stands, nothing of what is hidden.

    `xml` lets `<script/>` and the like be empty, as XHTML means it. Raises LIMIT over MAX_TAGS.

    DocumentProcessingError where the page is over a limit.
    """
    tags = text.count("<")
    if tags > MAX_TAGS:
        detail = f"more than {MAX_TAGS:,} tags in one page; split it"
        raise DocumentProcessingError(FailureCode.LIMIT, "", "", "", detail)
    page = _Page()
    markup = _prepared(well_formed(text), xml)
    if tags > max_tree_tags or len(markup) > MAX_TREE_CHARS:
        _read_events(markup, page)
    elif markup and not markup.isspace():
        _read_tree(markup, page)
    page.close_heading()
    return Rendered("".join(page.out), page.marks, page.title)


def _prepared(text: str, xml: bool) -> str:
    """Say in HTML what only XML says, and keep the text after a tag that never ends."""
    doctype = _DOCTYPE.search(text)
    if doctype is not None and (subset := _SUBSET.match(text, doctype.start())) is not None:
        text = text[: subset.start()] + text[subset.end() :]
    if "<![CDATA[" in text:
        text = _CDATA.sub(lambda found: found[0] if found[1] is None else escape(found[1], quote=False), text)
    if xml:
        text = _EMPTY_TAG.sub(lambda tag: tag[0] if tag[1].lower() in _VOID else f"<{tag[1]}{tag[2]}></{tag[1]}>", text)
    return _UNFINISHED_TAG.sub("&lt;", text)


def _read_tree(markup: str, page: "_Page") -> None:
    from bs4 import BeautifulSoup, CData, Tag
    from bs4.element import PreformattedString

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a page is XHTML, or short enough to be a file name, is no news
        soup = BeautifulSoup(
            markup, "lxml", multi_valued_attributes=None, preserve_whitespace_tags=_VERBATIM, string_containers={}
        )
    open_: list[Tag] = [soup]
    node = soup.contents[0] if soup.contents else None
    while node is not None:
        while node.parent is not open_[-1]:
            page.end(open_.pop().name)
        if isinstance(node, Tag):
            page.start(node.name, {name: str(value) for name, value in node.attrs.items()})
            open_.append(node)
        elif not isinstance(node, PreformattedString) or isinstance(node, CData):
            page.text(str(node))
        node = node.next_element
    for tag in reversed(open_[1:]):
        page.end(tag.name)


def _read_events(markup: str, page: "_Page") -> None:
    from lxml import etree

    parser = etree.HTMLParser(target=_Events(page), recover=True, huge_tree=True)
    parser.feed(markup)
    parser.close()


class _Events:
    """What lxml calls while it parses: the nodes of the tree in order, each text whole."""

    def __init__(self, page: "_Page") -> None:
        self._page = page
        self._text: list[str] = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self.comment()
        self._page.start(name, attributes)

    def end(self, name: str) -> None:
        self.comment()
        self._page.end(name)

    def data(self, text: str) -> None:
        self._text.append(text)

    def comment(self, _: str = "") -> None:
        """Hand on the text so far; a comment is where one text ends, and nothing else."""
        if self._text:
            self._page.text("".join(self._text))
            self._text.clear()

    def close(self) -> None:
        self.comment()


class _Page:
    """Streaming text builder: open elements, output, pending separator."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.length = 0
        self.marks: list[tuple[int, str]] = [(0, "")]
        self.title = ""
        self._wanted = _NOTHING
        self._newlines = 0
        self._depth = 0
        self._hidden: int | None = None  # the depth of the outermost hidden element
        self._verbatim = self._titles = self._drawings = 0  # how many such elements are open
        self._cells = False
        self._path: HeadingPath = ()
        self._heading: tuple[int, int, int] | None = None  # level, its first piece, offset

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        self._count(name, 1)
        if self._hidden is not None:
            return
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
        elif name == "img" and " " in (description := attributes.get("alt", "").strip()):
            self.text(f" {description} ")
        if name in _DROPPED or (attributes and name not in _VOID and _is_hidden(attributes)):
            self._hidden = self._depth

    def end(self, name: str) -> None:
        self._depth -= 1
        self._count(name, -1)
        if self._hidden is not None and self._depth < self._hidden:
            self._hidden = None
        if self._hidden is None and name not in ("td", "th", "br"):
            self._wanted = max(self._wanted, _BREAKS.get(name, _NOTHING))
            if name in _HEADINGS:
                self.close_heading()

    def _count(self, name: str, step: int) -> None:
        if name in _VERBATIM:
            self._verbatim += step
        elif name == "title":
            self._titles += step
        elif name == "svg":
            self._drawings += step

    def text(self, text: str) -> None:
        if self._hidden is not None:
            return
        if self._titles and not self._drawings:
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
        self._path = under(self._path, level, words)
        path = SEPARATOR.join(part for _, part in self._path)
        if self.marks[-1][0] == offset:
            self.marks.pop()
        self.marks.append((offset, path))


def _is_hidden(attributes: Mapping[str, str]) -> bool:
    if "hidden" in attributes:
        return attributes["hidden"].lower() != "until-found"
    return _UNSEEN_STYLE.search(attributes.get("style", "")) is not None
