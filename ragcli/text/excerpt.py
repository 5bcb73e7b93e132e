"""Chooses the lines of a chunk that answer a query, and the words in them to highlight. Pure; never ranks.

It follows the spirit of the engine's analysis (case, identifiers, word endings) with a few lines of its own, since
highlighting may be generous where ranking must be exact.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ragcli.text.definitions import defines

Span = tuple[int, int]

_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W_A-Za-z0-9]+")
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ers", "er", "ors", "or", "ed", "es", "s", "e", "y")
_STOP_WORDS = """
a an and are as at be by do does for from has have how i if in into is it its my no not of on or our so than that the
their this to was we were what when where which who why will with you your
"""
_EDGES = "\"'`\u201c\u201d\u201e.,;:!?()[]{}<>"
_JOINED = re.compile(r"[-\w]+(?:(?:\.|::?|->|[-#/\\])[-\w]+)+|--?\w+")
_NAMED_CHARS = 2_000
_STOP = frozenset(_STOP_WORDS.split())


class Terms(NamedTuple):
    """What of a query can be seen in a text: word stems, runs of scripts without spaces, identifiers as asked."""

    stems: frozenset[str]
    runs: tuple[str, ...]
    names: tuple[str, ...] = ()


def terms(query: str) -> Terms:
    """Read the words of a query; its stop words count only where it has nothing else."""
    words = [word.casefold() for word in _WORD.findall(query)]
    parts = {part.casefold() for word in _WORD.findall(query) for part in _PART.findall(word)}
    useful = {word for word in {*words, *parts} if word not in _STOP and len(word) > 1} or set(words)
    runs = [run for word in words for run in re.findall(f"{_WIDE.pattern}+", word)]
    pairs = {run[at : at + 2] for run in runs for at in range(max(len(run) - 1, 1))}
    stems = frozenset(_stem(word) for word in useful if not _WIDE.search(word))
    return Terms(stems, tuple(sorted(pairs)), tuple(dict.fromkeys(_names(query))))


def _names(query: str) -> Iterator[str]:
    """The identifiers of a query: words of several parts, names joined by punctuation, and a word that stands alone."""
    given = query[:_NAMED_CHARS].split()
    for word in given:
        bare = word.strip(_EDGES)
        if _JOINED.fullmatch(bare):
            yield bare
        words = _WORD.findall(bare)
        for name in words:
            alone = len(given) == 1 and len(words) == 1
            if len(name) > 1 and (alone or "_" in name.strip("_") or len(_PART.findall(name)) > 1):
                yield name


def spans(line: str, wanted: Terms) -> list[Span]:
    """Return the ranges of a line to highlight, in order and apart."""
    found = []
    for word in _WORD.finditer(line):
        if _matches(word[0], wanted.stems):
            found.append(word.span())
            continue
        start = word.start()
        found += [(start + part.start(), start + part.end()) for part in _PART.finditer(word[0])
                  if _matches(part[0], wanted.stems)]  # fmt: skip
    for run in wanted.runs:
        found += [match.span() for match in re.finditer(re.escape(run), line)]
    return _joined(sorted(found))


def best_line(lines: Sequence[str], wanted: Terms) -> int:
    """Return the index of the line that says most of the query, the first line with text where none says any."""
    return window(lines, wanted, 1)[0]


def window(lines: Sequence[str], wanted: Terms, height: int) -> Span:
    """Return the run of at most `height` lines that says most of the query, as start and stop.

    An identifier as asked outweighs all its parts, as does the line that defines it others. A word counts once a window
    and less the more lines of the chunk hold it; among equals the first window wins.
    """
    if not lines:
        return 0, 0
    folded = [line.casefold() for line in lines]
    seen = [_seen(line, low, wanted) for line, low in zip(lines, folded, strict=True)]
    named = [_named(line, low, wanted.names) for line, low in zip(lines, folded, strict=True)]
    holders: dict[str, int] = {}
    for words in seen:
        for word in words:
            holders[word] = holders.get(word, 0) + 1
    height = min(height, len(lines))
    best, best_score = _first_text(lines), (0.0, 0.0)
    for start in range(len(lines) - height + 1):
        words = frozenset().union(*seen[start : start + height])
        whole = sum(map(max, zip(*named[start : start + height], strict=True)))
        # Starting on the line that matters, not on what happens to stand above it.
        first = 0.25 * len(seen[start]) + sum(named[start]) + 0.01 * bool(lines[start].strip())
        score = whole, sum(1 + 1 / holders[word] for word in words) + first
        if (words or whole) and score > best_score:
            best, best_score = start, score
    return best, min(best + height, len(lines))


def _seen(line: str, folded: str, wanted: Terms) -> frozenset[str]:
    """The words of the query in a line; most lines hold none, which a look for their stems tells first."""
    if not any(stem in folded for stem in wanted.stems) and not any(run in line for run in wanted.runs):
        return frozenset()
    return frozenset(line[a:b].casefold() for a, b in spans(line, wanted))


def _named(line: str, folded: str, names: Sequence[str]) -> tuple[float, ...]:
    """How well a line holds each identifier: as spelt, in another spelling, or not; more where it defines it."""
    plain_line = folded.replace("_", "")
    found = []
    for name in names:
        plain = name.replace("_", "").casefold()
        best = 0.0
        for match in _WORD.finditer(line) if plain in plain_line and name.isidentifier() else ():
            if match[0].replace("_", "").casefold() == plain:
                spelt = 1.0 if match[0] == name else 0.5
                best = max(best, spelt + 0.25 * defines(line, *match.span()))
        if name in line and not name.isidentifier():
            best = 1.0
        found.append(best)
    return tuple(found)


def lines_of(text: str) -> list[str]:
    """The lines of a chunk, at least one."""
    lines = text.split("\n")
    return lines[:-1] if len(lines) > 1 and not lines[-1] else lines


def around(line: int, context: int, count: int) -> Span:
    """Return a line with so many lines before and after it."""
    return max(line - context, 0), min(line + context + 1, count)


def _first_text(lines: Sequence[str]) -> int:
    return next((number for number, line in enumerate(lines) if line.strip()), 0)


def _matches(word: str, stems: frozenset[str]) -> bool:
    folded = word.casefold()
    stem = _stem(folded)
    return stem in stems or folded in stems


def _stem(word: str) -> str:
    if word.isascii() and len(word) > 3:
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= 3:
                return word[: -len(ending)]
    return word


def _joined(found: list[Span]) -> list[Span]:
    apart: list[Span] = []
    for start, stop in found:
        if apart and start <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(stop, apart[-1][1]))
        else:
            apart.append((start, stop))
    return apart
