"""Put a short mark in place of data that is embedded in text (base64, data URIs). Line ends stay where they were.

Pictures, fonts and certificates spelt as letters answer no question, fill a prompt, and make chunks of noise.
"""

import re

LEFT_OUT = "[embedded data left out]"

_PAYLOAD = r"[A-Za-z0-9+/_=%-]"
# Base64 of 24 characters holds 18 bytes: shorter ones are examples that a text wants to show. Mail and editors wrap the
# payload; a line that goes on is long, or is the padded end.
_DATA_URI = re.compile(
    rf"data:[\w.+-]{{0,60}}/?[\w.+-]{{0,60}}(?:;[\w=.+-]{{1,60}}){{0,4}};base64,"
    rf"{_PAYLOAD}*(?:(?:\\n|\\r)?\s{{1,40}}(?:{_PAYLOAD}{{40,}}|{_PAYLOAD}{{1,80}}(?:==?|(?=[\"')])))){{0,1000000}}",
    re.IGNORECASE,
)
_LEAST_PAYLOAD = 24
# Percent-encoded (SVG in style sheets): mostly escapes, no quotes, no blanks.
_ESCAPED_URI = re.compile(
    r"data:[\w.+-]{1,60}/[\w.+-]{1,60}(?:;[\w=.+-]{1,60}){0,4},(?=[^\s\"'()<>]{0,40}%[0-9a-f]{2})[^\s\"'()<>]{64,}",
    re.IGNORECASE,
)
_LONG = 200
_LONG_RUN = re.compile(rf"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{{{_LONG},}}={{0,2}}")
# Wrapped base64: lines of 56 to 80 such characters, bare or in quotes or comments, three or more of them and the rest.
_RUN = r"[A-Za-z0-9+/]{56,80}={0,2}"
_BEFORE, _BEHIND = r"[^A-Za-z0-9+/\n]{0,40}(?:b(?=[\"']))?[\"']?", r"(?:\\n)?[^A-Za-z0-9+/=\n\\]{0,12}\\?\n"
_WRAPPED = re.compile(
    rf"^(?:{_BEFORE}{_RUN}{_BEHIND}){{3,}}(?:{_BEFORE}[A-Za-z0-9+/]{{1,80}}={{0,2}}(?=\\n|[^A-Za-z0-9+/=]|\Z))?",
    re.MULTILINE,
)
_LINE_RUN = re.compile(r"[A-Za-z0-9+/]{56,80}={0,2}|[A-Za-z0-9+/]{1,80}={0,2}(?=(?:\\n)?[^A-Za-z0-9+/=\n]*\Z)")
_SAMPLE = 4_000
_LEAST_CHANGES = 0.35  # of neighbours that are of two kinds (capital, small, digit): words 0.1, base64 0.6
_LEAST_DIGITS = 0.04  # base64 0.15, camel case next to none
_KINDS = str.maketrans(
    {chr(code): "aA0"[(chr(code).isupper()) + 2 * chr(code).isdigit()] for code in range(128) if chr(code).isalnum()}
)
_CHANGE = re.compile(r"(?=aA|Aa|a0|0a|A0|0A|[+/_-][aA0]|[aA0][+/_-])")


def without_embedded(text: str) -> str:
    """Return the text with LEFT_OUT for each embedded datum, on its first line; the number of lines is the same."""
    if "data:" in text or "DATA:" in text:
        text = _DATA_URI.sub(_marked_uri, text)
        text = _ESCAPED_URI.sub(LEFT_OUT, text)
    lines = text.split("\n")
    longest = len(max(lines, key=len, default=""))
    if longest >= _LONG:
        text = _LONG_RUN.sub(lambda run: LEFT_OUT if is_encoded(run[0]) else run[0], text)
    if longest >= 56:
        text = _WRAPPED.sub(_marked_lines, text)
    return text


def is_encoded(run: str) -> bool:
    """Tell base64 from a long ruler, a path, a name: its neighbours are often of different kinds."""
    sample = run[:_SAMPLE].translate(_KINDS)
    if len(set(run[:_SAMPLE])) <= 16 or sample.count("0") < _LEAST_DIGITS * len(sample):
        return False
    return sum(1 for _ in _CHANGE.finditer(sample)) >= _LEAST_CHANGES * len(sample)


def _marked_uri(found: re.Match[str]) -> str:
    if len(found[0]) - found[0].find(",") <= _LEAST_PAYLOAD:
        return found[0]
    return LEFT_OUT + "\n" * found[0].count("\n")


def _marked_lines(found: re.Match[str]) -> str:
    """Mark the first line of wrapped base64 and empty the others; what stands around the data stays."""
    if "PRIVATE KEY-----" in found.string[max(found.start() - 80, 0) : found.start() + 80]:
        return found[0]  # a secret is told and masked as one, which needs to see it
    lines = found[0].split("\n")
    runs = [run[0] if (run := _LINE_RUN.search(line)) else "" for line in lines]
    if not is_encoded("".join(runs)):
        return found[0]
    marks = [LEFT_OUT] + [""] * (len(lines) - 1)
    return "\n".join(
        line.replace(run, mark, 1) if run else line for line, run, mark in zip(lines, runs, marks, strict=True)
    )
