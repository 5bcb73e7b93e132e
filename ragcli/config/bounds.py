"""What a settings file may cost before it is parsed: its length, and how deep a key may lie. Parses nothing itself.

tomllib keeps every beginning of a dotted key, so that time and memory grow with the square of a key's parts: a key of
131,000 parts takes 24 GiB.
"""

import re

# A tree's own settings are a page; pyproject.toml also holds what other tools want to know.
PROJECT_BYTES = 16 * 1024
PYPROJECT_BYTES = 64 * 1024
USER_BYTES = 256 * 1024
MAX_PARTS = 16
MAX_LINE = 16 * 1024

_PART = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
# Compiled on use: most files hold no line for it.
_DEEP = rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MAX_PARTS}}}"


def too_costly(text: str) -> tuple[int, str]:
    """The line and the reason for which a file is not parsed; (0, '') where nothing is against it."""
    for number, line in enumerate(text.split("\n"), 1):  # as TOML does: U+2028 may stand in a key
        if len(line) > MAX_LINE:
            return number, f"a line of more than {MAX_LINE // 1024} KiB"
        if line.count(".") >= MAX_PARTS and re.search(_DEEP, line):
            return number, f"a key of more than {MAX_PARTS} parts"
    return 0, ""
