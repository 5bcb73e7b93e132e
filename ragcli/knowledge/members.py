"""What each member of an entry and of its search may be, and plain values to checked members. Reads no file."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from ragcli.knowledge.values import Member, OnFailure, Origin, Problems, SourceType, Strategy, Use, When
from ragcli.model import DocumentFormat

Check = Callable[[object], object]
SEARCH = "search."
# The spellings of JSON files beside those of TOML.
ALIASES = {"maxTokens": "max_tokens", "queryParam": "query_param", "topK": "top_k", "minScore": "min_score",
           "cacheTTL": "cache_ttl", "cacheTtl": "cache_ttl", "onFailure": "on_failure"}  # fmt: skip


class NotGiven(Exception):
    """An empty list in a member's place: as good as no member."""


def shown(value: object) -> str:
    """A value for a message: quoted, not long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def text(value: object) -> str:
    """A text that is not blank and has no control characters."""
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ValueError(f"must be a text that is not blank, not {shown(value)}")
    return value


def switch(value: object) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {shown(value)}")
    return value


def texts(value: object) -> tuple[str, ...]:
    """A list of texts."""
    if not isinstance(value, list) or not all(isinstance(one, str) and one and "\0" not in one for one in value):
        raise ValueError(f"must be a list of texts, not {shown(value)}")
    return tuple(value)


def choice(of: Any) -> Check:
    """One of the values of an enumeration, in either case."""

    def check(value: object) -> object:
        names = {member.value.lower(): member for member in of}
        found = names.get(value.lower().replace("-", "_")) if isinstance(value, str) else None
        if found is None:
            raise ValueError(f"must be one of {', '.join(member.value for member in of)}, not {shown(value)}")
        return found

    return check


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 2**31:
        raise ValueError(f"must be a whole number of 1 or more, not {shown(value)}")
    return value


def _number(least: float, most: float, what: str) -> Check:
    def check(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError(f"must be {what}, not {shown(value)}")
        if not least <= value <= most:
            raise ValueError(f"must be {what}, not {shown(value)}")
        return float(value)

    return check


def one(check: Check) -> Check:
    """A value alone or as a list of one; a list of none is "not given", of more an error."""

    def checked(value: object) -> object:
        if not isinstance(value, list):
            return check(value)
        if not value:
            raise NotGiven
        if len(value) > 1:
            raise ValueError(f"takes one value, not {len(value)}")
        return check(value[0])

    return checked


SEARCH_MEMBERS: dict[str, Check] = {
    "strategy": one(choice(Strategy)),
    "query_param": one(text),
    "top_k": one(_whole),
    "min_score": one(_number(0.0, 1.0, "a share from 0 to 1")),
    "cache_ttl": one(_number(0.0, 1e9, "a number of seconds of 0 or more")),
}
SOURCE_MEMBERS: dict[str, Check] = {
    "name": text,
    "type": choice(SourceType),
    "path": text,
    "url": text,
    "connection": text,
    "query": text,
    "format": choice(DocumentFormat),
    "include": texts,
    "exclude": texts,
    "enabled": switch,
    "when": choice(When),
    "use": one(choice(Use)),
    "max_tokens": one(_whole),
}
ACTION_ENTRY_MEMBERS = {name: SOURCE_MEMBERS[name] for name in ("name", "use", "max_tokens")}
ACTION_MEMBERS: dict[str, Check] = {
    "type": text,
    "params": texts,
    "on_failure": choice(OnFailure),
    "description": text,
}


def checked(
    raw: object, origin: Origin, checks: Mapping[str, Check], problems: Problems, *others: str
) -> dict[str, Member]:
    """The members of a table, each checked; `search` becomes search.MEMBER. `others` are keys read elsewhere."""
    members: dict[str, Member] = {}
    for name, key, value in items(raw, origin, problems):
        where = origin.below(key)
        if name == "search" and "use" in checks:
            members |= _search(value, where, problems)
        elif name in checks:
            put(members, name, checks[name], value, where, problems)
        elif name not in others:
            problems.add(where, unknown(name, [*checks, *others, *(["search"] if "use" in checks else [])]))
    return members


def items(raw: object, origin: Origin, problems: Problems) -> list[tuple[str, str, object]]:
    """The name (in one spelling), key and value of each member of a table; names given twice are problems."""
    if not isinstance(raw, dict):
        problems.add(origin, f"must be a table, not {shown(raw)}")
        return []
    for key in getattr(raw, "duplicates", ()):
        problems.add(origin.below(key), "is given twice")
    found: dict[str, tuple[str, str, object]] = {}
    for key, value in raw.items():
        name = ALIASES.get(key, key)
        if name in found:
            problems.add(origin.below(key), f"is given twice, also as {found[name][1]}")
            continue
        found[name] = (name, str(key), value)
    return list(found.values())


def put(members: dict[str, Member], name: str, check: Check, value: object, where: Origin, problems: Problems) -> None:
    """Add a member once it passes its check; else note the problem."""
    try:
        members[name] = Member(check(value), where)
    except NotGiven:
        pass
    except ValueError as error:
        problems.add(where, str(error))


def unknown(name: str, known: list[str]) -> str:
    """The message for a member that nothing knows."""
    from difflib import get_close_matches  # 2 ms, and only for a mistake

    near = get_close_matches(name, known, 1)
    return f"is no member here{f'; did you mean {near[0]}?' if near else ': ' + ', '.join(known)}"


def _search(value: object, where: Origin, problems: Problems) -> dict[str, Member]:
    if isinstance(value, list):
        if not value:
            return {}
        if len(value) > 1:
            problems.add(where, f"takes one value, not {len(value)}")
            return {}
        value = value[0]
    found: dict[str, Member] = {}
    for name, key, each in items(value, where, problems):
        if name in SEARCH_MEMBERS:
            put(found, SEARCH + name, SEARCH_MEMBERS[name], each, where.below(key), problems)
        else:
            problems.add(where.below(key), unknown(name, list(SEARCH_MEMBERS)))
    return found
