"""Glob patterns as git's wildmatch reads them, turned into regular expressions that take linear time.

No files, no ignore-file syntax (that is `ignore`), nothing of ours but errors and values. A pattern is a row of
segments between slashes: `*` and `?` stay inside one, `**` alone stands for any number of them. Translations of the
usual kind (`*` to `[^/]*`) backtrack: `a*a*a*a*a*b` takes hours on a name of 255 letters. Here each `*` that another
follows takes the nearest place that fits, which is enough, and gives nothing back (atomic groups); the last one jumps
to the segment's end and looks back. pathspec's translation is not used, because it does backtrack, and it differs from
git in escaped trailing blanks, a lone backslash at the end, bracket classes and `a**/b`.
"""

import re
from typing import NamedTuple

_SPECIAL = re.compile(r"[*?\[\\]")
_CLASSES: dict[str, tuple[tuple[int, int], ...]] = {
    "alnum": ((48, 57), (65, 90), (97, 122)),
    "alpha": ((65, 90), (97, 122)),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((1, 31), (127, 127)),
    "digit": ((48, 57),),
    "graph": ((33, 126),),
    "lower": ((97, 122),),
    "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 10), (13, 13), (32, 32)),  # git's own table: no form feed, no vertical tab
    "upper": ((65, 90),),
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}
_SLASH = 47
_LONGEST_NAME = 1_024  # bytes; no file system of ours has longer ones, and no expression should be


class Segment(NamedTuple):
    """What stands between two slashes. `literal` or `suffix` (`*literal`) is set where that is all it says."""

    regex: str
    literal: str | None = None
    suffix: str | None = None
    deep: bool = False  # `**`: any number of segments
    some: bool = False  # `**\/`: one at least


DEEP = Segment("", deep=True)


class _Never(Exception):
    """The pattern cannot match any path."""


def literal_length(pattern: str) -> int:
    """Count the characters before the first `*`, `?`, `[` or backslash."""
    found = _SPECIAL.search(pattern)
    return found.start() if found else len(pattern)


def parse(pattern: str) -> tuple[Segment, ...] | None:
    """Split a pattern into segments; None when it can match nothing (an open bracket, a lone backslash at the end)."""
    segments: list[Segment] = []
    atoms: list[str | None] = []  # regex of one character each; None is a star
    text: list[str] = []
    at = 0
    try:
        while at < len(pattern):
            char = pattern[at]
            escaped_slash = pattern.startswith("\\/", at)
            if char == "/" or escaped_slash:
                segments.append(_segment(atoms, text))
                atoms, text = [], []
                at += 1 + escaped_slash
            elif char == "*":
                at = _star(pattern, at, segments, atoms)
                if not atoms and at < len(pattern):  # a `**` was taken; step over its slash
                    at += 1 + pattern.startswith("\\/", at)
                    continue
                if not atoms:
                    return tuple(segments)
            else:
                at = _one(pattern, at, atoms, text)
        segments.append(_segment(atoms, text))
    except _Never:
        return None
    return tuple(segments)


def path_regex(segments: tuple[Segment, ...]) -> str:
    """Write the regular expression (to be used with `fullmatch`) of a whole path."""
    out: list[str] = []
    last_deep = max((i for i, segment in enumerate(segments) if segment.deep), default=-1)
    atomic = False  # inside the group that an earlier `**` opened
    for i, segment in enumerate(segments):
        if not segment.deep:
            out.append(segment.regex + ("/" if i + 1 < len(segments) else ""))
            continue
        if atomic:
            out.append(")")
        atomic = i < last_deep
        if i + 1 == len(segments):
            out.append("(?s:.*)")
        else:
            out.append(("(?>" if atomic else "") + "(?:[^/]*/)" + ("+?" if segment.some else "*?"))
    return "".join(out)


def _star(pattern: str, at: int, segments: list[Segment], atoms: list[str | None]) -> int:
    end = at
    while end < len(pattern) and pattern[end] == "*":
        end += 1
    closed = end == len(pattern) or pattern[end] == "/" or pattern.startswith("\\/", end)
    if end - at > 1 and closed and (at == 0 or pattern[at - 1] == "/"):
        if not segments or not segments[-1].deep or segments[-1].some:  # `**/**` says no more than `**`
            segments.append(DEEP._replace(some=pattern.startswith("\\/", end)))
    elif not atoms or atoms[-1] is not None:
        atoms.append(None)
    return end


def _one(pattern: str, at: int, atoms: list[str | None], text: list[str]) -> int:
    char = pattern[at]
    if char == "?":
        atoms.append("[^/]")
        return at + 1
    if char == "[":
        regex, at = _bracket(pattern, at + 1)
        atoms.append(regex)
        return at
    if char == "\\":
        at += 1
        char = _char(pattern, at)
    atoms.append(re.escape(char))
    text.append(char)
    return at + 1


def _segment(atoms: list[str | None], text: list[str]) -> Segment:
    if len(atoms) > 2 * _LONGEST_NAME:
        raise _Never
    plain = "".join(text)
    if len(text) == len(atoms):
        return Segment(re.escape(plain), literal=plain)
    regex = _segment_regex(atoms)
    if atoms[0] is None and len(text) == len(atoms) - 1:
        return Segment(regex, suffix=plain)
    return Segment(regex)


def _segment_regex(atoms: list[str | None]) -> str:
    runs: list[list[str]] = [[]]
    for atom in atoms:
        if atom is None:
            runs.append([])
        else:
            runs[-1].append(atom)
    first, *middle = runs
    if not middle:
        return "".join(first)
    last = middle.pop()
    body = "".join("(?>[^/]*?" + "".join(run) + ")" for run in middle)
    tail = "[^/]{%d,}+(?<=%s)" % (len(last), "".join(last)) if last else "[^/]*+"  # noqa: UP031  (braces)
    return "".join(first) + body + tail


def _char(pattern: str, at: int) -> str:
    if at >= len(pattern):
        raise _Never
    return pattern[at]


def _bracket(pattern: str, at: int) -> tuple[str, int]:
    """Read a bracket expression from behind its `[`, in the order of git's loop; return its regex and its end."""
    negated = _char(pattern, at) in "!^"
    at += negated
    ranges: list[tuple[int, int]] = []
    previous = ""
    first = True
    while first or _char(pattern, at) != "]":
        first = False
        char = _char(pattern, at)
        if char == "-" and previous and at + 1 < len(pattern) and pattern[at + 1] != "]":
            at += 1 + (pattern[at + 1] == "\\")
            ranges.append((ord(previous), ord(_char(pattern, at))))
            previous = ""
        elif char == "[" and pattern.startswith(":", at + 1) and (named := _named_class(pattern, at + 2)):
            ranges.extend(named[0])
            at, previous = named[1], ""
        else:
            at += char == "\\"
            previous = _char(pattern, at)
            ranges.append((ord(previous), ord(previous)))
        at += 1
    return _class_regex(ranges, negated), at + 1


def _named_class(pattern: str, at: int) -> tuple[tuple[tuple[int, int], ...], int] | None:
    """Read `alpha:]` of `[:alpha:]`; return its ranges and the place of its `]`, None when no `:]` closes it."""
    end = pattern.find("]", at)
    if end < 0:
        raise _Never
    if end - 1 < at or pattern[end - 1] != ":":
        return None
    ranges = _CLASSES.get(pattern[at : end - 1])
    if ranges is None:
        raise _Never
    return ranges, end


def _class_regex(ranges: list[tuple[int, int]], negated: bool) -> str:
    parts = [f"{_code(low)}-{_code(high)}" for low, high in sorted(_without_slash(ranges))]
    if negated:
        return "[^/" + "".join(parts) + "]"
    if not parts:
        raise _Never
    return "[" + "".join(parts) + "]"


def _without_slash(ranges: list[tuple[int, int]]) -> set[tuple[int, int]]:
    kept: set[tuple[int, int]] = set()
    for low, high in ranges:
        if low <= _SLASH <= high:
            kept |= {(low, _SLASH - 1), (_SLASH + 1, high)}
        else:
            kept.add((low, high))
    return {(low, high) for low, high in kept if low <= high}


def _code(point: int) -> str:
    return f"\\U{point:08x}"
