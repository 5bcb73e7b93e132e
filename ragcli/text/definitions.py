"""Whether a line of source defines the name that stands in it: a guess by the line alone, in any language."""

import re

_KEYWORDS = (
    "def|class|function|func|fn|fun|sub|proc|procedure|defp?|defmodule|defmacro|struct|enum|union|interface|trait|type|"
    "typedef|record|object|module|mod|namespace|package|macro|macro_rules!|const|let|var|val|static|protocol|extension|"
    "actor|define|alias|table|view|index|trigger|message|service|resource|variable|event|error|modifier|contract|data|"
    "newtype|instance|local|final|readonly|export|declare"
)
_KEYWORD_BEFORE = re.compile(
    rf"(?<![\w.])(?:{_KEYWORDS})\s+(?:\([^)]*\)\s*)?(?:[\w<>]+(?:\.|::|:))*[*&]*$", re.IGNORECASE
)
_TYPE_BEFORE = re.compile(r"\s*(?:[\w<>\[\],.:?]+[*&]*\s+)+[*&]*")
_NO_TYPE = re.compile(
    r"\b(?:return|new|else|await|yield|throw|raise|not|and|or|in|if|case|delete|assert|import|from)\b"
)
_ASSIGNED_AFTER = re.compile(r"\s*(?::[^=]*)?:?=(?![=>~])|\s*:\s|\s*:$")
_ENTRY_BEFORE = re.compile(r"\s*(?:export\s+)?[\"'`\-]*")


def defines(line: str, start: int, stop: int) -> bool:
    """Whether the name at [start, stop) of a line is what the line defines."""
    before, after = line[:start], line[stop:]
    if _KEYWORD_BEFORE.search(before):
        return True
    if _ENTRY_BEFORE.fullmatch(before):
        return bool(_ASSIGNED_AFTER.match(after.lstrip("\"'`")))
    is_called = after.lstrip().startswith("(") and line.rstrip().endswith("{")
    return is_called and bool(_TYPE_BEFORE.fullmatch(before)) and not _NO_TYPE.search(before)
