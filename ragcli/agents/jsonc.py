"""Edit one member of a JSON file with comments and trailing commas, and leave every other byte as it is.

The files are those of editors and coding agents: JSON, JSON with `//` and `/* */` comments, trailing commas. Pure text;
a file that is none of these raises ValueError with the line.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

MAX_DEPTH = 200
_SPACE = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_ATOM = re.compile(r"-?[0-9][0-9.eE+-]*|true|false|null")
# An array of plain words reads better on one line.
_SHORT_ARRAY = re.compile(r'\[\s+((?:"[\w.-]*",?\s*)+)\]')
_BREAK = re.compile(r",\s+")


class _Member(NamedTuple):
    """A member of an object: offsets of its key, its value and where its value ends."""

    key: str
    start: int
    value: int
    end: int


class _Object(NamedTuple):
    """An object: offsets of its braces, its members in order, and whether a comma follows the last one."""

    open: int
    close: int
    members: list[_Member]
    trailing_comma: bool


def loads(text: str) -> Any:
    """Return the value of JSON with comments and trailing commas; ValueError where the text is not that."""
    start = _skip(text, 0)
    end, plain = _value(text, start, 0)
    if _skip(text, end) != len(text):
        raise _error(text, _skip(text, end), "text after the end")
    return json.loads(plain)


def set_member(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with the member at `path` set to `value`; objects on the way are made where they are missing.

    An empty text counts as an empty object. ValueError where the text is no JSON, or something on the way is no object.
    """
    if not text.strip("\ufeff \t\r\n"):
        text = "{}\n"
    loads(text)
    unit = _indent_unit(text)
    at = _skip(text, 0)
    for depth, key in enumerate(path):
        found = _object(text, at, path[:depth])
        member = _last(found.members, key)
        if member is None:
            for later in reversed(path[depth + 1 :]):
                value = {later: value}
            return _insert(text, found, key, _dump(value, unit, depth + 1), unit * (depth + 1))
        at = member.value
    end, plain = _value(text, at, 0)
    if json.loads(plain) == value:
        return text
    return text[:at] + _dump(value, unit, len(path)) + text[end:]


def remove_member(text: str, path: Sequence[str]) -> str:
    """Return the text without the member at `path`, and as it is where there is none; ValueError as `set_member`."""
    if not text.strip("\ufeff \t\r\n"):
        return text
    loads(text)
    at = _skip(text, 0)
    for depth, key in enumerate(path):
        found = _object(text, at, path[:depth])
        member = _last(found.members, key)
        if member is None:
            return text
        if depth == len(path) - 1:
            return _cut(text, found, member)
        at = member.value
    return text


def _cut(text: str, found: _Object, member: _Member) -> str:
    """Take a member out with its comma and, where it has lines of its own, its lines."""
    position = found.members.index(member)
    start, end = member.start, member.end
    after = _skip(text, end)
    if text[after] == ",":
        end = after + 1
    elif position:  # the last one: the comma before it goes, unless the file ends its objects with one
        before = found.members[position - 1].end
        comma = _skip(text, before)
        text = text[:comma] + text[comma + 1 :]
        start, end = start - 1, end - 1
    line = text.rfind("\n", 0, start) + 1
    rest = re.compile(r"[ \t]*\r?\n").match(text, end)
    if not text[line:start].strip() and rest:
        start, end = line, rest.end()
    text = text[:start] + text[end:]
    opened, close = found.open, _skip(text, found.open + 1)
    only_space = text[close] == "}" and not text[opened + 1 : close].strip()
    return text[: opened + 1] + text[close:] if only_space else text


def _insert(text: str, found: _Object, key: str, value: str, indent: str) -> str:
    """Add a member behind the last one of an object, in lines of its own."""
    line = f"{json.dumps(key, ensure_ascii=False)}: {value}"
    newline = "\r\n" if "\r\n" in text else "\n"
    line = line.replace("\n", newline)
    if not found.members:
        closing = indent[: len(indent) - len(_indent_unit(text))]
        inside = text[found.open + 1 : found.close].rstrip()
        return f"{text[: found.open + 1]}{inside}{newline}{indent}{line}{newline}{closing}{text[found.close :]}"
    last = found.members[-1]
    indent = _indent_of(text, last.start) or indent
    if found.trailing_comma:
        comma = _skip(text, last.end)
        return f"{text[: comma + 1]}{newline}{indent}{line},{text[comma + 1 :]}"
    return f"{text[: last.end]},{newline}{indent}{line}{text[last.end :]}"


def _object(text: str, start: int, path: Sequence[str]) -> _Object:
    if text[start] != "{":
        raise ValueError(f"{'.'.join(path) or 'the file'} is no object (line {_line(text, start)})")
    members: list[_Member] = []
    at, comma = _skip(text, start + 1), False
    while text[at] != "}":
        key = _match(_STRING, text, at, "a key in double quotes")
        colon = _skip(text, key.end())
        value = _skip(text, colon + 1)
        end, _ = _value(text, value, 0)
        members.append(_Member(json.loads(key[0]), at, value, end))
        at = _skip(text, end)
        comma = text[at] == ","
        if comma:
            at = _skip(text, at + 1)
    return _Object(start, at, members, comma and bool(members))


def _value(text: str, at: int, depth: int) -> tuple[int, str]:
    """Read the value at an offset; return where it ends and its plain JSON."""
    if depth > MAX_DEPTH:
        raise _error(text, at, f"nested deeper than {MAX_DEPTH}")
    opener = text[at : at + 1]
    if opener == '"':
        found = _match(_STRING, text, at, "a string")
        return found.end(), found[0]
    if opener not in ("{", "["):
        found = _match(_ATOM, text, at, "a value")
        return found.end(), found[0]
    closer = "}" if opener == "{" else "]"
    parts: list[str] = []
    at = _skip(text, at + 1)
    while text[at : at + 1] != closer:
        name = ""
        if opener == "{":
            key = _match(_STRING, text, at, "a key in double quotes")
            at = _skip(text, key.end())
            if text[at : at + 1] != ":":
                raise _error(text, at, "no colon behind a key")
            name, at = f"{key[0]}:", _skip(text, at + 1)
        at, plain = _value(text, at, depth + 1)
        parts.append(name + plain)
        at = _skip(text, at)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != closer:
            raise _error(text, at, f"no comma or {closer}")
    return at + 1, opener + ",".join(parts) + closer


def _last(members: Sequence[_Member], key: str) -> _Member | None:
    """The member that counts: parsers take the last of several."""
    return next((member for member in reversed(members) if member.key == key), None)


def _dump(value: Any, unit: str, depth: int) -> str:
    text = json.dumps(value, indent=unit, ensure_ascii=False)
    short = _SHORT_ARRAY.sub(lambda found: f"[{re.sub(_BREAK, ', ', found[1].strip())}]", text)
    return short.replace("\n", "\n" + unit * depth)


def _indent_unit(text: str) -> str:
    found = re.search(r"\n([ \t]+)\S", text)
    if not found:
        return "  "
    return "\t" if found[1].startswith("\t") else found[1]


def _indent_of(text: str, offset: int) -> str:
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line if line and not line.strip() else ""


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _match(pattern: re.Pattern[str], text: str, at: int, wanted: str) -> re.Match[str]:
    found = pattern.match(text, at)
    if not found:
        raise _error(text, at, f"{wanted} is missing")
    return found


def _error(text: str, at: int, problem: str) -> ValueError:
    return ValueError(f"line {_line(text, at)}: {problem}")


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
