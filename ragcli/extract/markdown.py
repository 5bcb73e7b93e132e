"""Markdown: the file's own text, in sections that know their heading path. Renders nothing and resolves no link.

A line-by-line reading of CommonMark's block rules, as far as they decide what is a heading and where a cut does no
harm: fences, indented code, HTML blocks and comments, block quotes, tables, front matter.
"""

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from ragcli.documents import Block, ExtractionContext, NormalizedDocument
from ragcli.extract.decode import read_text
from ragcli.extract.heading_path import HeadingPath, shown, under
from ragcli.extract.text import bounded_blocks
from ragcli.model import DocumentFormat, Scalar

# Each is matched against a stripped line.
_FENCE = re.compile(r"(`{3,}(?=[^`]*$)|~{3,})")
_ATX = re.compile(r"(#{1,6})(?:[ \t]+|$)(.*)")
_CLOSING_HASHES = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_ATTRIBUTES = re.compile(r"[ \t]*\{[ \t]*[#.:][^{}]*\}[ \t]*$")
_SETEXT = re.compile(r"(=+|-+)$")
_LIST_ITEM = re.compile(r"([-*+]|\d{1,9}[.)])([ \t]+|$)")
_RULE = re.compile(r"([-*_])(?:[ \t]*\1){2,}$")
_TABLE_RULE = re.compile(r"[|:-][|: \t-]*\|[|: \t-]*$")
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])")
_CODE = re.compile(r"`+([^`]+)`+")
_STARS = re.compile(r"\*{1,3}([^*\s](?:[^*]*[^*\s])?)\*{1,3}")
_INLINE_TAG = re.compile(r"</?(?:a|b|br|code|em|i|img|kbd|small|span|strong|sub|sup)\b[^<>]*>", re.I)
_TITLE = re.compile(r"^title[ \t]*[:=][ \t]*(.+?)[ \t]*$", re.MULTILINE)
_HTML_NAMES = (
    "address article aside blockquote body caption center col colgroup dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form frame frameset h[1-6] head header hr html iframe legend li link main menu menuitem "
    "nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead title tr track ul"
).replace(" ", "|")
_VERBATIM = "script|pre|style|textarea"
# How an HTML block begins and what ends it; None is a blank line (CommonMark 4.6, kinds 1 to 6).
_HTML_STARTS: tuple[tuple[re.Pattern[str], re.Pattern[str] | None], ...] = (
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(rf"<(?:{_VERBATIM})(?:[\s>]|$)", re.I), re.compile(rf"</(?:{_VERBATIM})>", re.I)),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(r"<![A-Za-z]"), re.compile(r">")),
    (re.compile(rf"</?(?:{_HTML_NAMES})(?:[\s>]|/>|$)", re.I), None),
)  # fmt: skip
_HTML_TAG_ALONE = re.compile(r"</?[A-Za-z][^<>]*>[ \t]*$")
_HEADING_SOURCE_CHARS, _HEADING_CHARS = 1_000, 200  # read and shown; a longer line is no heading to quote
_FRONT_MATTER_LINES = 1_000


class _Heading(NamedTuple):
    start: int
    level: int
    title: str
    body: int


class MarkdownExtractor:
    """Sections under ATX and setext headings; a cut inside one is at a blank line outside of fences and HTML."""

    id = "markdown"
    version = "2"
    formats = frozenset({DocumentFormat.MARKDOWN})

    def extract(self, raw: bytes, context: ExtractionContext) -> NormalizedDocument:
        text, encoding = read_text(raw, context)
        body, title = _front_matter(text)
        scan = _Scan(text, body)
        blocks: list[Block] = []
        for block in _sections(text, body, scan):
            blocks.extend(bounded_blocks(text, block, context.limits.max_block_chars))
        metadata: dict[str, Scalar] = {"encoding": encoding}
        title = title or next((heading.title for heading in scan.headings if heading.level == 1), "")
        if title:
            metadata["title"] = title
        return NormalizedDocument(text, tuple(blocks), DocumentFormat.MARKDOWN, metadata=metadata)


def _front_matter(text: str) -> tuple[int, str]:
    """Return where the text behind YAML or TOML front matter begins, and its title; 0 where there is none."""
    mark = text[:3]
    first_end = text.find("\n")
    if mark not in ("---", "+++") or first_end < 0 or text[3:first_end].strip():
        return 0, ""
    at = first_end + 1
    for number in range(_FRONT_MATTER_LINES):
        end = text.find("\n", at)
        line = text[at : end if end >= 0 else len(text)].rstrip()
        if line == mark or (line == "..." and mark == "---"):
            title = _TITLE.search(text, first_end, at)
            return (end + 1 if end >= 0 else len(text)), _plain(title[1].strip("\"'")) if title else ""
        if end < 0 or (number == 0 and not line):
            break
        at = end + 1
    return 0, ""


def _sections(text: str, body: int, scan: "_Scan") -> Iterator[Block]:
    """Yield a block a section; front matter is part of the first, a heading without own text of the one below."""
    headings, start = scan.headings, 0
    first = headings[0].start if headings else len(text)
    if text[body:first].strip() or not headings:
        yield Block(0, first, {}, False, scan.cuts_between(0, first))
        start = first
    path: HeadingPath = ()
    for index, heading in enumerate(headings):
        path = under(path, heading.level, heading.title)
        following = headings[index + 1] if index + 1 < len(headings) else None
        end = following.start if following else len(text)
        if following and following.level > heading.level and not text[heading.body : end].strip():
            continue
        titles = shown(path)
        yield Block(start, end, {"heading": titles} if titles else {}, False, scan.cuts_between(start, end))
        start = end


class _Scan:
    """Headings and harmless cuts of one text, found in one pass over its lines."""

    def __init__(self, text: str, at: int) -> None:
        self.headings: list[_Heading] = []
        self._text = text
        self._cuts: list[int] = []
        self._paragraph = -1  # where the open paragraph began; one inside a quote, list or table is never a heading
        self._contained = False
        self._list_indent = 0  # where the text of the last list item begins, 0 outside of lists
        self._after_blank = True
        self._fence = ""  # its mark while it is open
        self._fence_indent = 0  # of the list item around it: a line with less ends both
        self._in_html = False
        self._html_end: re.Pattern[str] | None = None
        for line in text[at:].split("\n"):
            self._line(line, at)
            at += len(line) + 1

    def cuts_between(self, start: int, end: int) -> tuple[int, ...]:
        """Return the cuts inside (start, end)."""
        return tuple(self._cuts[bisect_right(self._cuts, start) : bisect_left(self._cuts, end)])

    def _line(self, line: str, at: int) -> None:
        stripped = line.strip()
        if self._fence and self._inside_fence(line, stripped):
            return
        if self._in_html:
            if self._html_end.search(line) if self._html_end else not stripped:
                self._in_html = False
                self._close()
            return
        if not stripped:
            self._close()
            return
        indent = _width(line)
        if self._after_blank:
            self._after_blank = False
            if indent < self._list_indent:
                self._list_indent = 0
            if indent < 4:
                self._cut(at)
        nested = indent >= self._list_indent > 0
        if indent - (self._list_indent if nested else 0) < 4:
            self._block(line, stripped, nested, at)

    def _close(self) -> None:
        """End the open paragraph, as a blank line does."""
        self._paragraph, self._contained, self._after_blank = -1, False, True

    def _cut(self, at: int) -> None:
        if not self._cuts or self._cuts[-1] < at:
            self._cuts.append(at)

    def _inside_fence(self, line: str, stripped: str) -> bool:
        """Tell whether the line belongs to the open fence; close the fence where it ends."""
        mark, indent = self._fence, _width(line)
        if stripped and indent < self._fence_indent:
            self._fence = ""
            self._close()
            return False
        if len(stripped) >= len(mark) and not stripped.strip(mark[0]) and indent < self._fence_indent + 4:
            self._fence = ""
            self._close()
        return True

    def _block(self, line: str, stripped: str, nested: bool, at: int) -> None:
        """Look at a line that is neither blank nor indented code nor inside a fence or HTML."""
        first = stripped[0]
        if first in "`~" and (fence := _FENCE.match(stripped)):
            self._fence, self._fence_indent = fence[1], self._list_indent if nested else 0
            self._cut(at)
        elif first == "#" and not nested and (atx := _ATX.match(stripped)):
            self._heading(at, len(atx[1]), _CLOSING_HASHES.sub("", atx[2]), line, at)
        elif first in "=-" and self._paragraph >= 0 and (setext := _SETEXT.match(stripped)):
            self._heading(self._paragraph, 1 if setext[1][0] == "=" else 2, self._text[self._paragraph : at], line, at)
        elif first == "<" and self._opens_html(stripped):
            self._paragraph = -1
        elif _RULE.match(stripped):
            self._close()
        elif item := _LIST_ITEM.match(stripped):
            padding = len(item[2].expandtabs(4))
            self._list_indent = _width(line) + len(item[1]) + (padding if 1 <= padding <= 4 else 1)
            self._paragraph, self._contained = -1, True
            if fence := _FENCE.match(stripped[item.end() :]):
                self._fence, self._fence_indent = fence[1], self._list_indent
        elif first == ">" or (first in "|:-" and _TABLE_RULE.match(stripped)):
            self._paragraph, self._contained = -1, True
        elif self._paragraph < 0 and not self._contained and not nested:
            self._paragraph = at

    def _heading(self, start: int, level: int, title: str, line: str, at: int) -> None:
        self.headings.append(_Heading(start, level, _plain(title), at + len(line) + 1))
        self._cut(start)
        self._list_indent = 0
        self._close()

    def _opens_html(self, stripped: str) -> bool:
        for start, end in _HTML_STARTS:
            if start.match(stripped):
                self._in_html, self._html_end = not (end and end.search(stripped, 2)), end
                return True
        if self._paragraph < 0 and _HTML_TAG_ALONE.match(stripped):
            self._in_html, self._html_end = True, None
            return True
        return False


def _width(line: str) -> int:
    """Return the columns of white space that a line begins with; a tab goes to the next multiple of four."""
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    return len(indent.expandtabs(4)) if "\t" in indent else len(indent)


def _plain(title: str) -> str:
    """Return a heading as a reader sees it: without attributes, links, code marks and emphasis."""
    title = _ATTRIBUTES.sub("", title[:_HEADING_SOURCE_CHARS])
    for pattern in (_LINK, _CODE, _STARS):
        title = pattern.sub(r"\1", title)
    return " ".join(html.unescape(_INLINE_TAG.sub("", title)).split())[:_HEADING_CHARS]
