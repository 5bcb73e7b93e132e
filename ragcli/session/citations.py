"""Read a citation as results print it: a document, and which part of it. Pure; knows no document.

A name may itself hold what separates a name from its part, so a text has several readings. They come in order of
preference; whoever knows the documents takes the first whose name is one.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from ragcli.errors import UsageError
from ragcli.session.passages import PLACES, Selection

# Citations are short; a pasted line of a minified file has thousands of separators.
MAX_READINGS = 32

# `:12`, `:12-20`, `:12-` and, as searches print them, the same with more behind.
_LINES = re.compile(r":(?P<first>\d{1,9})(?P<dash>-)?(?P<last>\d{1,9})?(?=[:\s]|$)")
# `#L12-L20`, as code hosts write it.
_LINE_FRAGMENT = re.compile(r"L(?P<first>\d{1,9})(?P<dash>-)?(?:L?(?P<last>\d{1,9}))?(?=:|$)")
_PLACE = re.compile(rf"(?P<key>{'|'.join(PLACES)})=(?P<value>.+)", re.DOTALL)
_ADDED = re.compile(r"<(?P<id>[0-9a-f]+)>")
CHUNK_ID = re.compile(r"[0-9a-f]{16}(?:-\d+)?")


class Citation(NamedTuple):
    """One reading of a text: a document's name, and the part of it that is meant."""

    name: str
    selection: Selection = Selection()


def readings(text: str) -> Iterator[Citation]:
    """Yield what a text may mean, the likeliest first: a name alone, then a name and a part, the longest name first.

    UsageError for lines that end before they begin, or are counted from 0.
    """
    yield Citation(text)
    added = _ADDED.match(text)
    if added:
        yield Citation(added["id"], _lines(_LINES.match(text, added.end())))
        return
    separators = list(islice(re.finditer("[:#]", text), MAX_READINGS))
    for separator in reversed(separators):
        name, at = text[: separator.start()], separator.start()
        if name and separator[0] == "#":
            yield from (Citation(name, selection) for selection in _fragment(text[at + 1 :]))
        elif name and (found := _LINES.match(text, at)):
            yield Citation(name, _lines(found))


def _fragment(fragment: str) -> Iterator[Selection]:
    """What stands behind a `#`: lines, a place with its value, or a symbol."""
    if found := _LINE_FRAGMENT.match(fragment):
        yield _lines(found)
    if found := _PLACE.match(fragment):
        yield Selection(place=(found["key"], found["value"]))
        yield Selection(place=(found["key"], found["value"].partition(":")[0]))
    elif fragment:
        yield Selection(symbol=fragment.removesuffix("()"))


def _lines(found: re.Match[str] | None) -> Selection:
    if found is None:
        return Selection()
    first = int(found["first"])
    last = int(found["last"]) if found["last"] else (None if found["dash"] else first)
    if first < 1:
        raise UsageError("lines are counted from 1, not from 0", "name them as FILE:FIRST-LAST")
    if last is not None and last < first:
        raise UsageError(f"line {last} comes before line {first}", "name lines as FILE:FIRST-LAST")
    return Selection(first, last)
