"""Which names of a directory its ignore files leave out, exactly as git decides it.

Reads ignore files through descriptors that the walk hands it, never the files they speak of. Git matches bytes, so
patterns and names are compared as Latin-1 of their bytes (`?` is one byte of a letter that has two). Rules are
evaluated a directory at a time: one with slashes keeps, while the walk descends, the segments that are still to come,
and is a rule about names where only the last is left. pathspec is not used; `wildmatch` says why.
"""

import os
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from ragcli.config.options import Limits
from ragcli.errors import SourceRejectedError
from ragcli.ingest.wildmatch import DEEP, Segment, literal_length, parse, path_regex

Find = Callable[[str], int]

# Look-ups that one ignore file keeps, and rules that are worth one expression for all.
_MAX_TABLES = 64
_MAX_JOINED = 200


class Rule(NamedTuple):
    """One line of an ignore file. `place` is `file:line:pattern`; `below` is the segments its path needs, None where
    it is about names at any depth; `whole` matches a path from the file's directory, for what has no segments."""

    place: str
    negated: bool
    dir_only: bool
    name: Segment | None = None
    below: tuple[Segment, ...] | None = None
    whole: re.Pattern[str] | None = None


class RuleFile(NamedTuple):
    """A read ignore file: its rules in order, and the tables of those that are about names."""

    rules: tuple[Rule, ...]
    ours: bool  # a .tnsignore
    files: Find
    dirs: Find
    size: int  # in bytes
    tables: dict[tuple[int, ...], tuple[Find, Find]]  # of rules with slashes, by those of which one segment is left


class Layer(NamedTuple):
    """What one ignore file says in one directory. `live`: rules with slashes, and how far along each is."""

    source: RuleFile
    files: Find
    dirs: Find
    live: tuple[tuple[int, frozenset[int]], ...]
    whole: tuple[int, ...]
    prefix: str  # the directory's path from the ignore file, where `whole` needs it


Scope = tuple[Layer, ...]  # of one directory, the strongest first


def key_of(name: str) -> str:
    """Spell a file name one character a byte, as patterns are spelt."""
    return name if name.isascii() else os.fsencode(name).decode("latin-1")


def ignoring_rule(scope: Scope, name: str, is_dir: bool) -> Rule | None:
    """Find the rule that leaves out this entry of the scope's directory; None where a `!` has the last word."""
    key = name if name.isascii() else key_of(name)
    for layer in scope:
        index = (layer.dirs if is_dir else layer.files)(key)
        if layer.whole:
            index = max(index, _find_whole(layer, key, is_dir))
        if index >= 0:
            rule = layer.source.rules[index]
            return None if rule.negated else rule
    return None


def brings_back(scope: Scope, name: str, is_dir: bool) -> bool:
    """Tell whether the last word of the `.tnsignore` files on this name is a `!` that spells it out."""
    key = key_of(name)
    for layer in scope:
        if layer.source.ours:
            index = max((layer.dirs if is_dir else layer.files)(key), _find_whole(layer, key, is_dir))
            if index >= 0:
                rule = layer.source.rules[index]
                last = rule.name or (rule.below[-1] if rule.below else DEEP)
                return rule.negated and last.literal is not None
    return False


def descend(scope: Scope, name: str) -> Scope:
    """Make the scope of a sub-directory before its own ignore files are read; the same object where nothing differs."""
    if not any(layer.live or layer.whole for layer in scope):
        return scope
    key = key_of(name)
    return tuple(_descend(layer, key) if layer.live or layer.whole else layer for layer in scope)


def entered(source: RuleFile) -> Layer:
    """Make the layer of an ignore file in its own directory."""
    live = tuple((i, _closure(rule.below, {0})) for i, rule in enumerate(source.rules) if rule.below is not None)
    whole = tuple(i for i, rule in enumerate(source.rules) if rule.whole is not None)
    return _layer(source, live, whole, "")


def read_rules(raw: bytes, origin: str, limits: Limits) -> RuleFile:
    """Read the bytes of an ignore file; `origin` names it. Over a cap the source is rejected.

    SourceRejectedError over a cap.
    """
    if len(raw) > limits.max_ignore_bytes:
        raise SourceRejectedError(
            f"{origin} is larger than {limits.max_ignore_bytes} bytes (cap max_ignore_bytes)",
            "shorten the ignore file, or read none with --no-ignore",
        )
    rules: list[Rule] = []
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        text = _trimmed(line.removesuffix(b"\r").split(b"\0", 1)[0])
        if not text or line.startswith(b"#"):
            continue
        rules.append(_rule(text.decode("latin-1"), f"{origin}:{number}:{os.fsdecode(text)}"))
        if len(rules) > limits.max_ignore_rules:
            raise SourceRejectedError(
                f"{origin} has more than {limits.max_ignore_rules} rules (cap max_ignore_rules)",
                "shorten the ignore file, or read none with --no-ignore",
            )
    kept = tuple(rules)
    named = [(i, rule.dir_only, rule.name) for i, rule in enumerate(kept) if rule.name is not None]
    files, dirs = _tables(named)
    return RuleFile(kept, origin.rpartition("/")[2] == ".tnsignore", files, dirs, len(raw), {})


def _rule(text: str, place: str) -> Rule:
    negated = text.startswith("!")
    pattern = text[negated:]
    dir_only = pattern.endswith("/")
    pattern = pattern[: len(pattern) - dir_only]
    rule = Rule(place, negated, dir_only)
    if not pattern:
        return rule
    if "/" not in pattern:
        segments = parse(pattern)
        return rule if segments is None else rule._replace(name=segments[0])
    return _path_rule(rule, pattern.removeprefix("/"))


def _path_rule(rule: Rule, pattern: str) -> Rule:
    """Add what a pattern with slashes says. Git compares the literal beginning first and gives the matcher the rest, so
    that in `a**/b` the `**` is a leading one."""
    head = literal_length(pattern)
    leading = re.match(r"\*\*+(?:$|/|\\/)", pattern[head:])
    if leading and head and pattern[head - 1] != "/":
        rest = parse(pattern[head:])
        return rule if rest is None else rule._replace(whole=re.compile(re.escape(pattern[:head]) + path_regex(rest)))
    segments = parse(pattern)
    if segments is None:
        return rule
    if any(segment.some for segment in segments):
        return rule._replace(whole=re.compile(path_regex(segments)))
    if len(segments) == 2 and segments[0].deep and not segments[1].deep:  # `**/name`
        return rule._replace(name=segments[1])
    return rule._replace(below=segments)


def _trimmed(line: bytes) -> bytes:
    """Cut trailing blanks that no backslash escapes; a tab stays."""
    end = len(line)
    while end and line[end - 1] == 32:
        end -= 1
    if end == len(line):
        return line
    slashes = end - len(line[:end].rstrip(b"\\"))
    return line[: end + slashes % 2]


def _closure(segments: tuple[Segment, ...], places: Iterable[int]) -> frozenset[int]:
    """Add the places behind each `**`, which may stand for nothing."""
    out: set[int] = set()
    for place in places:
        out.add(place)
        while segments[place].deep and place + 1 < len(segments):
            place += 1
            out.add(place)
    return frozenset(out)


def _descend(layer: Layer, key: str) -> Layer:
    live: list[tuple[int, frozenset[int]]] = []
    for index, places in layer.live:
        segments = layer.source.rules[index].below
        assert segments is not None
        moved = {
            place if segments[place].deep else place + 1
            for place in places
            if segments[place].deep or (place + 1 < len(segments) and _fits(segments[place], key))
        }
        if moved:
            live.append((index, _closure(segments, moved)))
    if tuple(live) == layer.live and not layer.whole:
        return layer
    return _layer(layer.source, tuple(live), layer.whole, f"{layer.prefix}{key}/" if layer.whole else "")


def _fits(segment: Segment, key: str) -> bool:
    if segment.literal is not None:
        return segment.literal == key
    return _compiled(segment.regex).fullmatch(key) is not None


@lru_cache(maxsize=1 << 15)  # all rules in force anywhere, many times over; `re` itself keeps 512
def _compiled(regex: str) -> re.Pattern[str]:
    return re.compile(regex)


def _layer(
    source: RuleFile, live: tuple[tuple[int, frozenset[int]], ...], whole: tuple[int, ...], prefix: str
) -> Layer:
    """Build a layer: the file's own tables, and those of the rules of which only the last segment is left."""
    last: list[tuple[int, bool, Segment]] = []
    for index, places in live:
        rule = source.rules[index]
        assert rule.below is not None
        if len(rule.below) - 1 in places:
            last.append((index, rule.dir_only, rule.below[-1]))
    if not last:
        return Layer(source, source.files, source.dirs, live, whole, prefix)
    key = tuple(index for index, _, _ in last)
    tables = source.tables.get(key)
    if tables is None:
        if len(source.tables) >= _MAX_TABLES:
            source.tables.clear()
        tables = source.tables[key] = _tables(last)
    files, dirs = tables
    return Layer(source, _both(source.files, files), _both(source.dirs, dirs), live, whole, prefix)


def _both(one: Find, other: Find) -> Find:
    if one is _nothing:
        return other
    return lambda key: max(one(key), other(key))


def _find_whole(layer: Layer, key: str, is_dir: bool) -> int:
    for index in reversed(layer.whole):
        rule = layer.source.rules[index]
        if (is_dir or not rule.dir_only) and rule.whole is not None and rule.whole.fullmatch(layer.prefix + key):
            return index
    return -1


def _tables(rules: list[tuple[int, bool, Segment]]) -> tuple[Find, Find]:
    """Build the two look-ups (files, directories) of rules about names; each answers the last rule's index or -1."""
    dirs = _table([(index, segment) for index, _, segment in rules])
    if not any(dir_only for _, dir_only, _ in rules):
        return dirs, dirs
    return _table([(index, segment) for index, dir_only, segment in rules if not dir_only]), dirs


def _nothing(key: str) -> int:
    return -1


def _table(rules: list[tuple[int, Segment]]) -> Find:
    """Build one look-up: a dictionary, one `endswith` for suffixes, one expression (last rule first) for the rest."""
    if not rules:
        return _nothing
    literals = {segment.literal: index for index, segment in rules if segment.literal is not None}
    suffixes = [(segment.suffix, index) for index, segment in reversed(rules) if segment.suffix is not None]
    others = [(segment, i) for i, segment in reversed(rules) if segment.literal is None and segment.suffix is None]
    if not suffixes and not others:
        return lambda key: literals.get(key, -1)
    endings = tuple(suffix for suffix, _ in suffixes)
    wild = _wild(others)

    def find(key: str) -> int:
        best = literals.get(key, -1)
        if key.endswith(endings):
            best = max(best, next(index for suffix, index in suffixes if key.endswith(suffix)))
        return max(best, wild(key)) if others else best

    return find


def _wild(rules: list[tuple[Segment, int]]) -> Find:
    """Build the look-up of rules with wildcards: one expression, or where making it takes longer, one a rule."""
    indexes = [index for _, index in rules]
    if len(rules) > _MAX_JOINED:
        single = [(_compiled(segment.regex or "(?s:.*)").fullmatch, index) for segment, index in rules]
        return lambda key: next((index for matches, index in single if matches(key)), -1)
    joined = re.compile("|".join(rf"({segment.regex or '(?s:.*)'}\Z)" for segment, _ in rules)).match

    def find(key: str) -> int:
        found = joined(key)
        return indexes[found.lastindex - 1] if found is not None and found.lastindex is not None else -1

    return find
