"""Read what a query asks for exactly: quoted phrases, `+word` and `-word`. Pure; sees no index.

A quote that is not closed, a sign before anything but a letter or a quotation, and all behind a lone `--` are words
like others.
"""

import re

from ragcli.config.options import ExactText
from ragcli.errors import UsageError

_CLOSING = {'"': '"', "\u201c": "\u201d\u201c", "\u201e": "\u201c\u201d"}
# `+word`, `-word` and quotations, at the start or behind white space; words may hold signs of their own.
_OPERATOR = re.compile(r"(?<!\S)(?P<sign>[+-])(?=[^\W\d]|[\"\u201c\u201e])")
_WORD = re.compile(r"\S+")
MAX_CONDITIONS = 64


def read_exact(text: str, literal: str = "", *, words: bool = False, case: bool = False) -> ExactText | None:
    """Read a query; None where it asks for nothing exactly.

    Of `literal` (what stands behind `--`) only a quotation that is all of it counts. With `words` a match is bounded by
    no word character, with `case` it has the same case; words with a sign are always whole. UsageError for a query of
    nothing but words to leave out, or of too many conditions.
    """
    phrases: list[str] = []
    whole: list[str] = []
    excluded: list[str] = []
    ranked: list[str] = []
    head, mark, tail = _parted(text)
    at = 0
    while at < len(head):
        operator = _OPERATOR.match(head, at)
        sign = operator["sign"] if operator else ""
        start = at + len(sign)
        quoted = _quotation(head, start)
        if quoted is None and not sign:
            ranked.append(head[at])
            at += 1
            continue
        content, at = quoted or _signed_word(head, start)
        if sign == "-":
            excluded.append(content)
            continue
        (phrases if quoted else whole).append(content)
        ranked.append(f" {content} ")
    quoted = _quotation(literal.strip(), 0)
    if quoted and quoted[1] == len(literal.strip()):
        phrases.append(quoted[0])
        literal = quoted[0]
    if not phrases and not whole and not excluded:
        return None
    rest = " ".join(part for part in ("".join(ranked).strip(), tail if mark else "", literal) if part)
    return _checked(ExactText(tuple(phrases), tuple(whole), tuple(excluded), words, case, rest))


def whole_query(text: str, *, words: bool = False, case: bool = False) -> ExactText:
    """The whole query as one phrase. UsageError where it is empty."""
    if not text.strip():
        raise UsageError("there is no text to search for", "give the text that every result shall hold")
    return ExactText((text,), (), (), words, case, text)


def _parted(text: str) -> tuple[str, bool, str]:
    """The text before and behind a lone `--`, and whether there is one."""
    found = re.search(r"(?<!\S)--(?!\S)", text)
    return (text[: found.start()], True, text[found.end() :].strip()) if found else (text, False, "")


def _quotation(text: str, start: int) -> tuple[str, int] | None:
    """The content of the quotation that opens at `start` and where it ends; None where none does."""
    closing = _CLOSING.get(text[start : start + 1])
    if closing is None or (start and (text[start - 1].isalnum() or text[start - 1] == "_")):
        return None
    end = next((at for at in range(start + 1, len(text)) if text[at] in closing and text[at - 1] != "\\"), -1)
    content = text[start + 1 : end].replace('\\"', '"')
    return (content, end + 1) if end > 0 and content.strip() else None


def _signed_word(text: str, start: int) -> tuple[str, int]:
    found = _WORD.match(text, start)
    assert found is not None, "a sign is followed by a letter"
    return found[0], found.end()


def _checked(exact: ExactText) -> ExactText:
    if not exact.ranked.strip():
        raise UsageError(
            "a query of nothing but words to leave out finds nothing",
            "name what to look for; -- takes dashes literally",
        )
    if len(exact.phrases) + len(exact.whole) + len(exact.excluded) > MAX_CONDITIONS:
        raise UsageError(f"a query may have {MAX_CONDITIONS} quotations and signed words", "use fewer of them")
    return exact
