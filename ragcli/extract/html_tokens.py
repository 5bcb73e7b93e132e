"""Cut HTML or XHTML into tags and text in one pass, in time linear in its length whatever it holds.

Builds no tree, so depth costs nothing; keeps no state between calls. It may not decide what a tag means.
"""

import re
from collections.abc import Iterator
from enum import IntEnum
from html import unescape
from typing import NamedTuple


class Kind(IntEnum):
    """What a token is."""

    TEXT = 0
    START = 1
    END = 2


class Token(NamedTuple):
    """A piece of text with its character references resolved, or a tag: its name in lower case, its raw attributes."""

    kind: Kind
    value: str
    attributes: str = ""


_MARKUP = re.compile(r"<(?=[a-zA-Z/!?])")
# The usual tag. It stops at the next `<`, so that all attempts together read the text once.
_TAG = re.compile(r"""<(/?)([a-zA-Z][^\s/<>]*)([^<>"']*(?:"[^"<]*"[^<>"']*|'[^'<]*'[^<>"']*)*)>""")
_TAG_NAME = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")
_SUBSET = re.compile(r"<!DOCTYPE[^>\[]*\[", re.IGNORECASE)
_MAX_SUBSET = 64 * 1024  # characters of declarations inside a DOCTYPE; pages have a few lines of them
_DELIMITER = re.compile(r"[>=]")
_VALUE = re.compile(r"""\s*(?:"[^"]*"|'[^']*'|[^\s>]*)""")
_ATTRIBUTE = re.compile(r"""([^\s=/>"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]*)))?""")

# Elements whose content is not markup. The text of the first group is never shown.
_UNSEEN = frozenset({"script", "style", "iframe", "noembed", "noframes"})
_RAW_END = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in sorted(_UNSEEN | {"title", "textarea", "xmp"})
}


def attributes(raw: str) -> dict[str, str]:
    """Give a tag's attributes; of two with one name the first counts, as in a browser."""
    found: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(raw):
        value = next((group for group in match.groups()[1:] if group is not None), "")
        found.setdefault(match[1].lower(), unescape(value) if "&" in value else value)
    return found


def tokens(text: str, *, xml: bool = False) -> Iterator[Token]:
    """Give the tokens in order; `xml` lets `<script/>` and the like be empty, as XHTML means it."""
    at = begun = 0  # `begun` is where the text that comes before the next tag begins
    careful = True
    endless: set[str] = set()
    while (found := _MARKUP.search(text, at)) is not None:
        at = found.start()
        if text[at + 1] in "!?" or (text[at + 1] == "/" and not text[at + 2 : at + 3].isalpha()):
            yield from _text(text[begun:at])
            cdata, at = _declaration(text, at)
            if cdata:
                yield Token(Kind.TEXT, cdata)
            begun = at
            continue
        tag, end = _tag(text, at, careful)
        if tag is None:
            # No tag ends after here as the rules have it: from now on only well-made ones count,
            # or a file of opened tags would be read once for each.
            careful = False
            at += 1
            continue
        yield from _text(text[begun:at])
        at = begun = end
        name = tag.value
        if tag.kind is Kind.END or name not in _RAW_END or (xml and tag.attributes.endswith("/")):
            yield tag
            continue
        close = _RAW_END[name].search(text, at) if name not in endless else None
        if close is not None:
            yield tag
            if name not in _UNSEEN:
                yield from _text(text[at : close.start()])
            at = begun = close.start()
        elif name in _UNSEEN:
            return
        else:  # a title that never ends would swallow the page: no title then
            endless.add(name)
    yield from _text(text[begun:])


def _text(raw: str) -> Iterator[Token]:
    if raw:
        yield Token(Kind.TEXT, unescape(raw) if "&" in raw else raw)


def _tag(text: str, at: int, careful: bool) -> tuple[Token | None, int]:
    match = _TAG.match(text, at)
    if match is not None:
        return Token(Kind.END if match[1] else Kind.START, match[2].lower(), match[3]), match.end()
    name = _TAG_NAME.match(text, at) if careful else None
    end = _tag_end(text, name.end()) if name is not None else -1
    if name is None or end < 0:
        return None, at
    return Token(Kind.END if name[1] else Kind.START, name[2].lower(), text[name.end() : end]), end + 1


def _tag_end(text: str, at: int) -> int:
    """Find the `>` that ends a tag: one outside a quoted value. -1 where there is none."""
    while True:
        match = _DELIMITER.search(text, at)
        if match is None:
            return -1
        if match[0] == ">":
            return match.start()
        value = _VALUE.match(text, match.end())
        at = value.end() if value is not None else match.end()


def _declaration(text: str, at: int) -> tuple[str, int]:
    """Pass a comment, doctype, instruction or CDATA section at `at`; give the text of the last, and where it ends."""
    if text.startswith("<!--", at):
        if text.startswith((">", "->"), at + 4):
            return "", text.index(">", at) + 1
        end = text.find("-->", at + 4)
        return "", (end + 3 if end >= 0 else len(text))
    if text.startswith("<![CDATA[", at):
        end = text.find("]]>", at)
        return (text[at + 9 : end], end + 3) if end >= 0 else (text[at + 9 :], len(text))
    subset = _SUBSET.match(text, at)
    closed = text.find("]", subset.end(), subset.end() + _MAX_SUBSET) if subset is not None else -1
    end = text.find(">", max(at, closed))
    return "", (end + 1 if end >= 0 else len(text))
