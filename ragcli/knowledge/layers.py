"""Layers of one entry: a higher one over a lower, member by member, and the whole checked as a declaration is."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragcli.knowledge.members import SEARCH
from ragcli.knowledge.values import (
    Given,
    KnowledgeEntry,
    KnowledgeSourceConfig,
    Member,
    Origin,
    Problems,
    SearchSettings,
    SourceType,
    Use,
    When,
)
from ragcli.model import DocumentFormat

LOCATIONS = {"path": SourceType.FILE, "url": SourceType.URL, "connection": SourceType.DATABASE}
# What a source of each type may give beside name, enabled, use and search; the first one it must.
_MEMBERS = {
    SourceType.FILE: ("path", "include", "exclude", "format", "when"),
    SourceType.URL: ("url", "format", "when"),
    SourceType.DATABASE: ("connection", "query", "when"),
    SourceType.MEMORY: (),
    SourceType.GRAPH: (),
}


def overlay(lower: Given, upper: Given) -> dict[str, Member]:
    """Lay one layer over another, member by member, those of search included.

    A location in the upper layer takes the place of one of another kind. Where the upper one gives the use, a budget
    or search settings from below stay only if they apply to it.
    """
    merged = {**lower, **upper}
    given = [name for name in LOCATIONS if name in upper]
    if given:
        for name in LOCATIONS:
            if name not in given:
                merged.pop(name, None)
        if "type" not in upper and "type" in merged and merged["type"].value in LOCATIONS.values():
            del merged["type"]  # the location tells it
    if "use" in upper:
        use = upper["use"].value
        for name in lower:
            budget, search = name == "max_tokens", name.startswith(SEARCH)
            if name not in upper and ((budget and use != Use.DIRECT) or (search and use != Use.SEARCH)):
                del merged[name]
    return merged


def layered(
    layers: Sequence[Mapping[str, Given]], origins: Sequence[Origin], problems: Problems
) -> tuple[KnowledgeEntry, ...]:
    """The entries of some layers, the lowest first: known names keep their place, new ones follow in name order.

    `origins` are where each layer's table stands, for an entry that gives nothing.
    """
    merged: dict[str, dict[str, Member]] = {}
    lowest: dict[str, tuple[Given, Origin]] = {}
    for number, (layer, origin) in enumerate(zip(layers, origins, strict=True)):
        names = list(layer) if number == 0 else sorted(layer)
        for name in names:
            if name in merged:
                merged[name] = overlay(merged[name], layer[name])
            else:
                merged[name] = dict(layer[name])
                lowest[name] = layer[name], origin.below(name)
    found = []
    for name, given in merged.items():
        first, where = lowest[name]
        entry = entry_of(name, given, where, problems)
        if entry is not None:
            location = next((first[key] for key in LOCATIONS if key in first), None)
            declared = (str(location.value), location.origin.base) if location else None
            found.append(entry._replace(declared=declared))
    return tuple(found)


def entry_of(name: str, given: Given, where: Origin, problems: Problems) -> KnowledgeEntry | None:
    """A whole entry of its members; None, and the problems noted, where they do not make one."""
    before = len(problems.found)
    value = _values(given)
    type_ = _type(given)
    source = KnowledgeSourceConfig(
        name=name,
        type=type_,
        path=value("path", ""),
        url=value("url", ""),
        connection=value("connection", ""),
        query=value("query", ""),
        format=value("format", DocumentFormat.AUTO),
        include=value("include", ()),
        exclude=value("exclude", ()),
        enabled=value("enabled", True),
        when=value("when", When.ALWAYS),
    )
    use = value("use", Use.SEARCH)
    settings = {field: value(SEARCH + field, None) for field in SearchSettings._fields}
    _check_source(source, given, where, problems)
    _check_use(source, use, given, where, problems)
    if len(problems.found) > before:
        return None
    location = next((given[key].origin for key in LOCATIONS if key in given), where)
    # What a tree asks of a place that the user named is the tree's reach, as if it had named the place.
    asking = next((given[key].origin for key in ("query", "include") if key in given and given[key].origin.root), None)
    if asking is not None and not location.root:
        location = asking._replace(base=location.base)
    entry = KnowledgeEntry(source, use, value("max_tokens", None), SearchSettings(**settings), location)
    return entry._replace(declared=(entry.location, location.base) if entry.location else None)


def given_of(entry: KnowledgeEntry) -> dict[str, Member]:
    """An entry as members again, for a layer above it; what has its default was not given."""
    plain = KnowledgeSourceConfig(entry.name)
    pairs: dict[str, object] = {
        name: each for name, each in entry.source._asdict().items() if each != getattr(plain, name) and name != "name"
    }
    pairs["type"] = entry.source.type
    pairs["use"] = entry.use
    if entry.max_tokens is not None:
        pairs["max_tokens"] = entry.max_tokens
    pairs |= {SEARCH + key: each for key, each in entry.search_settings._asdict().items() if each is not None}
    return {key: Member(each, entry.origin) for key, each in pairs.items()}


def _values(given: Given) -> Callable[[str, Any], Any]:
    return lambda name, default: given[name].value if name in given else default


def _type(given: Given) -> SourceType:
    if "type" in given:
        return SourceType(str(given["type"].value))
    return next((kind for name, kind in LOCATIONS.items() if name in given), SourceType.FILE)


def _check_source(source: KnowledgeSourceConfig, given: Given, where: Origin, problems: Problems) -> None:
    allowed = _MEMBERS[source.type]
    broken = any(one.file == where.file and one.key.startswith(f"{where.key}.") for one in problems.found)
    if allowed and allowed[0] not in given and not broken:
        problems.add(given["type"].origin if "type" in given else where, f"a {source.type} source needs {allowed[0]}")
    for names in _MEMBERS.values():
        for name in names:
            if name in given and name not in allowed:
                problems.add(given[name].origin, f"a {source.type} source takes no {name}")
    if source.url and source.type is SourceType.URL:
        from urllib.parse import urlsplit

        try:
            parts = urlsplit(source.url)
            sound = parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            sound = False
        if not sound:
            problems.add(given["url"].origin, "must be an http or https URL")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", source.path) and source.type is SourceType.FILE:
        problems.add(given["path"].origin, "is a URL; give it as url")
    for name in ("include", "exclude"):
        if any(".." in pattern.split("/") for pattern in getattr(source, name)):
            problems.add(given[name].origin, "leads out of the source; name what is below it")


def _check_use(source: KnowledgeSourceConfig, use: Use, given: Given, where: Origin, problems: Problems) -> None:
    if source.type in (SourceType.MEMORY, SourceType.GRAPH) and use is not Use.SEARCH:
        problems.add(given["use"].origin, f"a {source.type} source is searched; it has no text to use as {use}")
    if "max_tokens" in given and use is not Use.DIRECT:
        problems.add(given["max_tokens"].origin, f"goes with use = direct alone, and the use is {use}")
    if use is not Use.SEARCH:
        first = next((given[name] for name in given if name.startswith(SEARCH)), None)
        if first is not None:
            problems.add(first.origin, f"goes with use = search alone, and the use is {use}")
