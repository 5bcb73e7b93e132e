"""The settings by name: what each may be, and how far a project's file may go with it. Reads nothing."""

import math
import os
from collections.abc import Callable
from typing import Literal, NamedTuple

from ragcli.config.options import DEFAULT_WAIT, MAX_PER_FILE, PROFILES, STANDARD, Limits
from ragcli.errors import UsageError
from ragcli.model import DocumentFormat

# free: as good as the user's own word. lower: only down, from what it would be without. never: refused.
Reach = Literal["free", "lower", "never"]
Value = int | float | bool | str | tuple[str, ...] | None

_ALL_KEYS = "ragcli config shows every setting"
_LARGEST = 2**63 - 1
# What the index can hold: its term frequencies have 13 bits, which 16 KiB of text cannot overrun, and a document's
# chunks stay in one segment, whose chunk numbers have 19 bits.
_CEILINGS = {"max_chunk_bytes": STANDARD.max_chunk_bytes, "max_chunks": 2**19}
# A chunk holds at least one character of UTF-8, or no cut could advance.
_FLOORS = {"max_chunk_bytes": 4}
_DEFAULT_WORKERS = 8  # more wait for the one process that writes
_UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
_SWITCH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


class Key(NamedTuple):
    """One setting. `check` takes a value as TOML gives it and raises ValueError saying what it must be; `read` makes
    such a value of a text, or leaves it to `check` to refuse the text. `project_most` is the largest number that a
    project's file may set."""

    default: Value
    check: Callable[[object], Value]
    read: Callable[[str], object]
    project: Reach = "free"
    project_most: int = _LARGEST


def nearest(name: str, known: list[str]) -> str:
    """The known name most like this one, '' if none is."""
    import difflib  # 2 ms, and only for a mistake

    return next(iter(difflib.get_close_matches(name, known, 1)), "")


def key(name: str, where: str) -> Key:
    """The setting of that name; UsageError with a suggestion when there is none."""
    found = KEYS.get(name)
    if found is None:
        near = nearest(name, list(KEYS))
        raise UsageError(f"{where}: unknown setting {shown(name)}", f"did you mean {near}?" if near else _ALL_KEYS)
    return found


def shown(value: object) -> str:
    """A value for a message: quoted, without control characters, not long."""
    if isinstance(value, int) and value.bit_length() > 200:
        return "a number of very many digits"  # which Python refuses to write out
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def available_workers() -> int:
    """Processors that this process may use, at most eight."""
    try:
        processors = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS, Windows
        processors = os.cpu_count() or 1
    return min(processors, _DEFAULT_WORKERS)


def _whole(least: int, most: int = _LARGEST) -> Callable[[object], int]:
    def check(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            above = f"of {least} or more" if most == _LARGEST else f"from {least} to {most}"
            raise ValueError(f"must be a whole number {above}")
        return value

    return check


def _seconds(least: float) -> Callable[[object], float]:
    def check(value: object) -> float:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not math.isfinite(float(value)) or not least <= float(value):  # type: ignore[arg-type]
            raise ValueError(f"must be a number of seconds of {least:g} or more")
        return float(value)  # type: ignore[arg-type]

    return check


def _size(least: int, most: int) -> Callable[[object], int]:
    whole = _whole(least, most)

    def check(value: object) -> int:
        return whole(_read_size(value) if isinstance(value, str) else value)

    return check


def _switch(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _choice(*choices: str) -> Callable[[object], str]:
    def check(value: object) -> str:
        if not isinstance(value, str) or value not in choices:
            raise ValueError("must be one of " + ", ".join(choices))
        return value

    return check


def _format(value: object) -> str:
    return _choice(*DocumentFormat)(value.upper() if isinstance(value, str) else value)


def _text(value: object) -> str:
    if not isinstance(value, str) or not value or not value.isprintable():
        raise ValueError("must be a text without control characters")
    return value


def _path(value: object) -> str:
    if not isinstance(value, str) or not value or "\0" in value:
        raise ValueError("must be a path")
    return os.path.expanduser(value)


def _patterns(value: object) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list | tuple) or not all(
        isinstance(one, str) and one and "\0" not in one for one in values
    ):
        raise ValueError("must be a list of patterns")
    return tuple(values)


def _read_size(text: str) -> object:
    """A count, also with underscores or a binary unit: 64MiB, 16k, 1_000."""
    body = text.strip().lower()
    for suffix in ("ib", "b"):
        if body.endswith(suffix):
            body = body.removesuffix(suffix)
            break
    digits = body.rstrip("kmgt")
    unit = _UNITS.get(body[len(digits) :])
    return text if unit is None or not _is_number(digits) else int(digits) * unit


def _read_whole(text: str) -> object:
    return int(text) if _is_number(text) else text


def _is_number(text: str) -> bool:
    digits = text.strip().removeprefix("-").replace("_", "")
    return digits.isascii() and digits.isdigit() and len(digits) < 20


def _read_seconds(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def _read_switch(text: str) -> object:
    return _SWITCH.get(text.strip().lower(), text)


def _read_patterns(text: str) -> object:
    return [one for one in (part.strip() for part in text.split(",")) if one]


def _or_none(check: Callable[[object], Value]) -> Callable[[object], Value]:
    return lambda value: None if value is None else check(value)


def _limit(name: str, default: float) -> Key:
    if isinstance(default, float):
        return Key(default, _seconds(0.001), _read_seconds, "lower")
    return Key(default, _size(_FLOORS.get(name, 1), _CEILINGS.get(name, _LARGEST)), _read_size, "lower")


# Tables of a settings file that declare knowledge; `ragcli.knowledge` reads them.
DECLARATIONS = ("knowledge", "actions", "agents")
LIMIT = "limit."
KEYS: dict[str, Key] = {
    "k": Key(10, _whole(1), _read_whole, project_most=1_000),
    "prompt_k": Key(5, _whole(1), _read_whole, project_most=100),
    "max_tokens": Key(None, _or_none(_whole(1)), _read_whole, project_most=1_000_000),
    "max_per_file": Key(MAX_PER_FILE, _whole(1), _read_whole, project_most=1_000),
    "signals": Key(True, _switch, _read_switch),
    # The terminal is its user's.
    "color": Key("auto", _choice("auto", "always", "never"), str, "never"),
    "progress": Key("auto", _choice("auto", "always", "never"), str, "never"),
    "wait": Key(DEFAULT_WAIT, _seconds(0), _read_seconds, "lower"),
    # Without workers nothing bounds the time and memory of a document, so a tree must not say so.
    "workers": Key(None, _whole(0, 64), _read_whole, "never"),
    "session": Key("", _text, str, "never"),
    "data_dir": Key("", _path, str, "never"),
    # What a tree declares reaches nothing outside it, and no private address, unless its user says so.
    "allow_outside": Key(False, _switch, _read_switch, "never"),
    "allow_private": Key(False, _switch, _read_switch, "never"),
    "run": Key("", _path, str, "never"),
    "include": Key((), _patterns, _read_patterns),
    "exclude": Key((), _patterns, _read_patterns),
    "format": Key(DocumentFormat.AUTO.value, _format, str),
    "default_skips": Key(True, _switch, _read_switch),
    "ignore_files": Key(True, _switch, _read_switch),
    "allow_secrets": Key(False, _switch, _read_switch, "never"),
    "limits": Key("standard", _choice(*PROFILES), str, "lower"),
    **{LIMIT + name: _limit(name, getattr(STANDARD, name)) for name in Limits._fields},
}
