"""Cut raw tokens into the terms of the code-aware analyzer: identifier parts, folded accents, bigrams.

Pure functions of one token. Knows nothing of stemming, queries or counts.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise

# A dictionary entry longer than this is a blob (base64, a minified line); 64 keeps a SHA-256 in hex whole.
MAX_TERM = 64
# Parts of one identifier. Real names stay below ten; a blob would otherwise give thousands of terms.
MAX_PARTS = 16

# Upper-case runs keep a plural s ("URLs") and leave their last letter to a following word ("HTTPServer").
_PART = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200c\u200d\u2060\ufeff"))

# Scripts written without spaces between words; a run of them gives its bigrams.
_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x312F),  # radicals, kana, bopomofo
    (0x31A0, 0x31FF),
    (0x3400, 0x9FFF),
    (0xAC00, 0xD7AF),  # Hangul has spaces, but particles attach to words; bigrams find the word again
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
# From here on a single character is often a word, so that it is a term of its own beside the bigrams. Kana are not.
_FIRST_IDEOGRAPH = 0x3400

# Letters that no decomposition takes apart.
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"})
# Letters that Persian and Urdu, and typists, write for Arabic yeh, kaf and heh; the tatweel only makes a word longer.
_LETTERS |= dict.fromkeys(map(ord, "\u06cc\u0649\u06d2\u06d0"), "\u064a")
_LETTERS |= dict.fromkeys(map(ord, "\u06a9\u06aa\u06ab"), "\u0643")
_LETTERS |= dict.fromkeys(map(ord, "\u06c1\u06be\u06d5\u0629\u06c3"), "\u0647")
_LETTERS[0x0640] = ""


def is_spaced(token: str) -> bool:
    """Tell whether no letter of a token is of a script that is written without spaces."""
    return _unspaced_letter().search(token) is None


@cache
def _unspaced_letter() -> re.Pattern[str]:
    """An expression that takes 2 ms to compile, which a search for English words need not pay."""
    return re.compile("[" + "".join(f"{chr(low)}-{chr(high)}" for low, high in _UNSPACED) + "]")


def words(token: str) -> list[tuple[bool, str]]:
    """Cut a non-ASCII token (NFKC) into runs: (False, a word) or (True, a run of unspaced script)."""
    runs: list[tuple[bool, str]] = []
    kind, begin = "", 0
    token = token.translate(_INVISIBLE)
    for position, char in enumerate(token):
        new = _KINDS[char]
        if new == "mark":  # belongs to what it stands on
            new = kind or "word"
        if new != kind:
            if kind:
                runs.append((kind == "unspaced", token[begin:position]))
            kind, begin = new, position
    if kind:
        runs.append((kind == "unspaced", token[begin:]))
    return runs


def parts(word: str) -> list[str]:
    """Split an identifier at case, underscore and letter/digit borders; at most MAX_PARTS, as written."""
    if word.isascii():
        return _PART.findall(word)[:MAX_PARTS]
    shape = "".join(_shapes(word))
    return [word[m.start() : m.end()] for m in _PART.finditer(shape)][:MAX_PARTS]


def leaning_parts(tokens: Iterable[str]) -> set[str]:
    """The parts of one word of a query, given as its tokens, that say too little to find anything by themselves.

    Of an identifier that was cut (`kubernetes4`, `user_id`) those are its numbers, and parts of one or two letters
    beside a longer one; a number of three digits may speak for itself where nothing longer does (`h264`). Of a word
    that punctuation cut (`utf-8`) they are short numbers beside a word.
    """
    runs = [run for token in tokens for run in ([(False, token)] if token.isascii() else words(token))]
    cut = [parts(run) for unspaced, run in runs if not unspaced]
    named = len(cut) < len(runs) or any(len(p) > 2 and not p.isdecimal() for pieces in cut for p in pieces)
    return {part for pieces in cut for part in pieces if _leans(part, len(pieces) > 1, named)}


def _leans(part: str, is_cut: bool, named: bool) -> bool:
    if len(part) > 2:
        return part.isdecimal() and is_cut and named
    return is_cut or named if part.isdecimal() else is_cut and named


def bigrams(run: str) -> list[str]:
    """Return the overlapping pairs of a run; a run of one character is its own term."""
    return [first + second for first, second in pairwise(run)] or [run]


def ideographs(run: str) -> list[str]:
    """Return the characters of a run of two or more that are often words by themselves."""
    return [char for char in run if ord(char) >= _FIRST_IDEOGRAPH] if len(run) > 1 else []


def fold(word: str) -> str:
    """Remove accents and points of a case-folded word, and write digits as 0 to 9; vowel signs, which spell another
    word, stay."""
    return word.translate(_FOLDED) if word.isalpha() else _fold(word)


def ascii_digits(text: str) -> str:
    """A text with the decimal digits of any script as 0 to 9."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)


def _fold(word: str) -> str:
    bare = "".join(c for c in unicodedata.normalize("NFKD", word) if not _is_accent(c))
    return ascii_digits(unicodedata.normalize("NFKC", bare).translate(_LETTERS))


class _FoldedLetters(dict[int, str]):
    """What each letter folds to, found when first asked for; among letters alone none changes what another folds to."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold(chr(code))
        return folded


_FOLDED = _FoldedLetters()


class _Kinds(dict[str, str]):
    """Of each character "word", "unspaced", "mark", or "" for any other; found when first asked for."""

    def __missing__(self, char: str) -> str:
        self[char] = kind = _kind(char)
        return kind


_KINDS = _Kinds()


def _kind(char: str) -> str:
    if char == "_":
        return "word"
    category = unicodedata.category(char)
    if category[0] == "M":
        return "mark"
    if category[0] not in "LN":
        return ""
    code = ord(char)
    if code >= 0x0E00 and category != "Nd" and any(low <= code <= high for low, high in _UNSPACED):
        return "unspaced"
    return "word"


def _shapes(word: str) -> Iterator[str]:
    """Yield for each character the ASCII character that stands for its class."""
    last = "a"
    for char in word:
        category = unicodedata.category(char)
        if category[0] != "M":
            last = "_" if char == "_" else "A" if category in ("Lu", "Lt") else "0" if category[0] == "N" else "a"
        yield last


def _is_accent(char: str) -> bool:
    combining = unicodedata.combining(char)
    # 10-36: Hebrew points, Arabic harakat; 200-240: accents above and below. Indic and Thai signs have other classes.
    return 10 <= combining <= 36 or 200 <= combining <= 240
