"""The shape of a query: its words, identifiers, paths and quoted phrases. Pure; sees no candidate."""

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from ragcli.analysis import identifiers
from ragcli.analysis.analyzers import STOP_WORDS, code_stem

_WORD = re.compile(r"[^\W_][\w]*|_\w+")
_PHRASE = re.compile(r"[\"\u201c\u201e]([^\"\u201c\u201d\u201e]{3,})[\"\u201d\u201c]")
# `Session.resolve_redirects`, `std::vector`, `list->head`, `Picker:find`, `App#run`: names joined without a space.
_QUALIFIED = re.compile(r"[^\W\d]\w*(?:(?:\.|::?|->|#|\\)[^\W\d]\w*)+")
# `src/app/`, `app.py`, and `5.2`, for files are named after versions.
_PATH = re.compile(r"[\w.+@-]*(?:/[\w.+@-]+)+/?|[\w+-]+(?:\.[\w+-]+)*\.(?:[A-Za-z][A-Za-z0-9]{0,4}|\d+)\b")
_HOW_TO = re.compile(r"\bhow (?:to|(?:do|can|should) (?:i|we|you|one))\b", re.IGNORECASE)
_CALL = re.compile(r"([^\W\d]\w*)\(\)")
_SCOPE = re.compile(r"\.|::?|->|#|\\")
# The expressions above look ahead from each letter, so their time grows with the square of a word's length.
SHAPE_CHARS = 2_000
_HUMP = re.compile(r"[a-z0-9][A-Z]")
# Words of a question that name nothing.
QUESTION_WORDS = frozenset(
    ("how", "what", "when", "where", "which", "who", "why", "there", "any", "these", "those", "such", "get", "use")
)


class Name(NamedTuple):
    """An identifier of the query: as written, and the scopes before it, outermost first."""

    name: str
    scope: tuple[str, ...] = ()


class Query(NamedTuple):
    """What the signals know of a query. `words` are stems in order; `joined` neighbouring words written as one."""

    text: str
    words: tuple[str, ...]
    names: tuple[Name, ...]
    joined: frozenset[str]
    paths: tuple[str, ...]
    phrases: tuple[str, ...]
    how_to: bool


def read_query(text: str) -> Query:
    """Read a query's shape, from as much of it as anybody would type or paste."""
    text = text[:SHAPE_CHARS]
    raw = _WORD.findall(text)
    return Query(
        text=text,
        words=tuple(dict.fromkeys(_words(raw))),
        names=tuple(dict.fromkeys(_names(text, raw))),
        joined=frozenset(_joined(raw)),
        paths=tuple(dict.fromkeys(match.strip("./").casefold() for match in _PATH.findall(text))),
        phrases=tuple(" ".join(phrase.split()).casefold() for phrase in _PHRASE.findall(text)),
        how_to=bool(_HOW_TO.search(text)),
    )


def plain(name: str) -> str:
    """A name without case and underscores, so that `resolveRedirects` and `resolve_redirects` are one."""
    return name.replace("_", "").casefold()


def _words(raw: Iterable[str]) -> Iterable[str]:
    for word in raw:
        for part in identifiers.parts(word):
            lower = part.casefold()
            if len(lower) > 1 and lower not in STOP_WORDS and lower not in QUESTION_WORDS:
                yield code_stem(lower)


def _names(text: str, raw: list[str]) -> Iterable[Name]:
    """The identifiers of a query; a word alone is one whatever it looks like."""
    if len(raw) == 1:
        yield Name(raw[0])
        return
    for match in _QUALIFIED.findall(text):
        *scope, name = _SCOPE.split(match)
        yield Name(name, tuple(scope))
    for name in _CALL.findall(text):
        yield Name(name)
    for position, word in enumerate(raw):
        capital = word[0].isupper() and position > 0 and not word.isupper()
        if "_" in word.strip("_") or _HUMP.search(word) or capital:
            yield Name(word)


def _joined(raw: list[str]) -> Iterable[str]:
    plains = [plain(word) for word in raw]
    yield from plains
    for first, second in pairwise(plains):
        yield first + second
