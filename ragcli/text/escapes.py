"""The one table of characters that are not shown as they are, and what each kind of output escapes of it.

Text of indexed files reaches terminals, JSON that people print, and prompts. None of them may be driven by it: control
characters act on terminals, marks of direction make a text read differently from what it is, invisible characters
carry what a model reads and a person does not see, and a lone surrogate is no UTF-8.
"""

import re
from functools import cache

# C0 but tab and line feed, DEL and C1.
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"
_LINE_FEED_AND_TAB = "\t\n"
# Arabic letter mark, left-to-right and right-to-left marks, embeddings, overrides and isolates (Unicode UAX #9).
_DIRECTION = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_LINE_SEPARATORS = "\u2028\u2029"
# Zero-width space and joiners, word joiner and invisible operators, deprecated format characters, interlinear
# annotations, byte order mark.
_ZERO_WIDTH = "\u200b-\u200d\u2060-\u2064\u206a-\u206f\ufff9-\ufffb\ufeff"
# Tag characters: invisible copies of ASCII.
_TAGS = "\U000e0000-\U000e007f"
_SURROGATES = "\ud800-\udfff"
# Characters that XML 1.0 forbids besides controls and surrogates.
_NONCHARACTERS = "\ufffe\uffff"

_TERMINAL = f"{_CONTROLS}{_DIRECTION}{_LINE_SEPARATORS}{_SURROGATES}"
_PROMPT = f"{_CONTROLS}{_DIRECTION}{_ZERO_WIDTH}{_TAGS}{_SURROGATES}{_NONCHARACTERS}"
# What `json` leaves as it is and a terminal or a stream would not.
_JSON = f"\x7f-\x9f{_DIRECTION}{_LINE_SEPARATORS}{_SURROGATES}"
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    """Show every character of a text that could drive a terminal as an escape; line ends and tabs stay."""
    return _pattern(_TERMINAL).sub(_escape, text)


def visible_name(name: str) -> str:
    """Show a name on one line: control characters, line ends and bytes that are not UTF-8 become escapes."""
    return _pattern(_TERMINAL + _LINE_FEED_AND_TAB).sub(_escape, name)


def prompt_text(text: str) -> str:
    """Show what an XML parser would refuse and what a person would not see in a prompt; line ends and tabs stay."""
    return _pattern(_PROMPT).sub(_escape, text)


def prompt_value(value: str) -> str:
    """The same for a value on one line."""
    return _pattern(_PROMPT + _LINE_SEPARATORS + _LINE_FEED_AND_TAB).sub(_escape, value)


def safe_json(text: str) -> str:
    """Escape what a JSON text holds raw and a terminal or a stream would trip over; its value stays the same."""
    return _pattern(_JSON).sub(lambda match: f"\\u{ord(match[0]):04x}", text)


@cache
def _pattern(characters: str) -> re.Pattern[str]:
    return re.compile(f"[{characters}]")


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a name that is not UTF-8 (PEP 383)
        return f"\\x{code - 0xDC00:02x}"
    if character in _NAMED:
        return _NAMED[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
