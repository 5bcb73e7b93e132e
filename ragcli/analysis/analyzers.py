"""Text to terms, twice: the plain English analyzer and the code-aware one, each with an id and a version.

Pure: same text, same terms. Opens no file, knows no index. Changing any term means a new version here, since an
index holds terms of the version that made it.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from ragcli.analysis import identifiers
from ragcli.analysis.synonyms import synonyms

ENGLISH_ID, ENGLISH_VERSION = "english", "2"
CODE_ID, CODE_VERSION = "code", "2"
# Both in one string, as a manifest keeps it.
ANALYZERS = f"{ENGLISH_ID}/{ENGLISH_VERSION} {CODE_ID}/{CODE_VERSION}"

# A raw token is a run of ASCII word characters and of anything beyond ASCII that is not a common separator: combining
# marks are no \w in Python and would split Indic and Thai words. What is no letter after all, the analyzers cut away.
_TOKEN = (
    r"[^\x00-/:-@\[-^`{-\xa9\xab\xac\xae-\xb4\xb6-\xb9\xbb-\xbf\xd7\xf7"
    r"\u2000-\u200b\u200e-\u205f\u2061-\u206f\u2190-\u2bff\u3000-\u3004\u3008-\u3020\uff01-\uff0f]+"
)

# The same for ASCII, three times as fast: what is no word character becomes a space.
_ASCII_WORDS = bytes(byte if byte < 128 and (chr(byte).isalnum() or byte == 0x5F) else 0x20 for byte in range(256))

STOP_WORDS = frozenset(
    (  # noqa: SIM905  (56 quoted words are harder to check)
        "a an and are as at be been being but by can could did do does for from had has have he her his i if "
        "in into is it its me my no not of on or our she so than that the their them they this to was we were "
        "will with you your "
    ).split()
)
SUFFIXES = ("ies", "ing", "tion", "sion", "ment", "ness", "able", "ous", "ful", "less", "ly", "ed", "er", "es", "s")

# Source text repeats its tokens; 32 MiB of memo hold about 100,000 and answer 99 % of the look-ups on Django.
MEMO_BYTES = 32 * 1024 * 1024

# What a synonym counts against the word itself. NDCG@10 of the English stream on cranfield, cisi, npl and cosqa-dev:
# without synonyms .505 .393 .382 .313, at 1 .503 .398 .380 .301, at 0.4 .504 .394 .382 .315.
SYNONYM_WEIGHT = 0.4

_NOT_ENGLISH = re.compile(r"[^a-z0-9_]+")


class QueryTerm(NamedTuple):
    """A term to look up, and how much its score counts.

    One that does not find only adds to the scores of what another term of the query finds: it is the least part of a
    word that was cut (the 4 of `kubernetes4`), and what holds nothing else of the query is no answer.
    """

    term: str
    weight: float
    finds: bool = True


def tokens(text: str) -> list[str]:
    """Return the raw tokens of a text, as `token_pattern` finds them."""
    if text.isascii():
        return text.encode("ascii").translate(_ASCII_WORDS).decode("ascii").split()
    return token_pattern().findall(text)


@cache
def token_pattern() -> re.Pattern[str]:
    """Return the expression of a raw token; it takes 1 ms to compile, and a query in English does without."""
    return re.compile(_TOKEN)


class TermMemo:
    """Raw token -> its terms of both analyzers. Bounded by bytes: when full it forgets all and starts again."""

    def __init__(self, max_bytes: int = MEMO_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._terms: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}

    def count(self, text: str) -> tuple[dict[str, int], dict[str, int]]:
        """Count the English and the code terms of a text, in the order of their first token."""
        if is_normal(text):
            return self._count(text)
        english, _ = self._count(text)
        _, code = self._count(normalized(text))
        return english, code

    def _count(self, text: str) -> tuple[dict[str, int], dict[str, int]]:
        english: dict[str, int] = {}
        code: dict[str, int] = {}
        known = self._terms
        for token, times in Counter(tokens(text)).items():
            terms = known.get(token) or self._learn(token)
            for term in terms[0]:
                english[term] = english.get(term, 0) + times
            for term in terms[1]:
                code[term] = code.get(term, 0) + times
        return english, code

    def _learn(self, token: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        terms = english_terms_of(token), code_terms_of(token)
        # 240: the tuples and the dict slot; 60 + n: each string. Only an estimate, on the high side.
        self._bytes += 240 + 4 * len(token) + sum(60 + 4 * len(term) for kind in terms for term in kind)
        if self._bytes > self._max_bytes:
            self._terms.clear()
            self._bytes = 0
        self._terms[token] = terms
        return terms


def count_terms(text: str) -> tuple[dict[str, int], dict[str, int]]:
    """Count the English and the code terms of a chunk, through a memo that the process shares."""
    return _memo().count(text)


def english_terms(text: str) -> list[str]:
    """Return the English terms of a text in order."""
    return [term for token in tokens(text) for term in english_terms_of(token)]


def code_terms(text: str) -> list[str]:
    """Return the code-aware terms of a text, token by token."""
    return [term for token in tokens(normalized(text)) for term in code_terms_of(token)]


def english_query(text: str) -> list[QueryTerm]:
    """Analyze a query and expand synonyms both ways after stemming; sorted by term."""
    terms = Counter(english_terms(text))
    weights = {term: float(times) for term, times in terms.items()}
    table = synonyms(english_stem)
    for term, times in terms.items():
        for other in table.get(term, ()):
            weights[other] = max(weights.get(other, 0.0), SYNONYM_WEIGHT * times)
    return [QueryTerm(term, weights[term]) for term in sorted(weights)]


def code_query(text: str) -> list[QueryTerm]:
    """Analyze a query for the code-aware stream; sorted by term."""
    counts: Counter[str] = Counter()
    finding: set[str] = set()
    for word in normalized(text).split():
        leaning = {term for part in identifiers.leaning_parts(tokens(word)) for term in _folded(part)}
        for token in tokens(word):
            terms = code_terms_of(token.upper() if len(token) == 1 and token.isascii() else token, query=True)
            counts.update(terms)
            finding.update(term for term in terms if term not in leaning)
    return [QueryTerm(term, float(counts[term]), term in finding) for term in sorted(counts)]


def english_terms_of(token: str) -> tuple[str, ...]:
    """Analyze one raw token: lower case, split at all but a-z 0-9 _, drop short and stop words, strip one suffix.

    Digits of other scripts count as 0 to 9.
    """
    lower = token.lower()
    if lower.isascii():
        return (english_stem(lower),) if len(lower) > 1 and lower not in STOP_WORDS else ()
    words = _NOT_ENGLISH.split(identifiers.ascii_digits(lower))
    return tuple([english_stem(word) for word in words if len(word) > 1 and word not in STOP_WORDS])


def english_stem(word: str) -> str:
    """Strip the first suffix that leaves three characters, from words of four or more."""
    if len(word) >= 4 and word.endswith(SUFFIXES):
        for suffix in SUFFIXES:
            if word.endswith(suffix) and len(word) - len(suffix) >= 3:
                return word[: -len(suffix)]
    return word


def code_stem(word: str) -> str:
    """Stem one case-folded word as the code-aware analyzer does."""
    try:
        stemmed: str = _stemmer().stemWord(word)
    except UnicodeEncodeError:  # an undecodable byte of a file's name or of the command line
        return word
    return stemmed


def code_terms_of(token: str, query: bool = False) -> tuple[str, ...]:
    """Analyze one raw token (NFKC): its words, their parts, and each with accents folded as well.

    A query leaves out the single ideographs that an index keeps beside their bigrams.
    """
    if token.isascii() or (token.isalpha() and identifiers.is_spaced(token)):
        return tuple(_word_terms(token))
    terms: list[str] = []
    for unspaced, run in identifiers.words(token):
        if not unspaced:
            terms += _word_terms(run)
            continue
        terms += identifiers.bigrams(run)
        if not query:
            terms += identifiers.ideographs(run)
    return tuple(terms)


def _word_terms(word: str) -> Sequence[str]:
    # Most tokens: nothing to split, `word`, `Word`, or letters without case.
    if len(word) > 1 and word.isalpha() and (word[1:].islower() or word == word.lower()):
        return _folded(word)
    pieces = identifiers.parts(word)
    if len(pieces) < 2:
        # One ASCII letter is a name only as a capital (C, R, vitamin A); lower case it is a loop variable.
        return _folded(pieces[0]) if pieces and not (len(pieces[0]) == 1 and "a" <= pieces[0] <= "z") else ()
    terms = [term for piece in pieces if len(piece) > 1 or piece.isdigit() for term in _folded(piece)]
    terms += _fold_and_stem(word.replace("_", ""))  # few whole identifiers come again as a part of another
    return terms


def _fold_and_stem(word: str) -> tuple[str, ...]:
    """The stem of a word, and that of its folded form where it is another."""
    plain = word.casefold()[: identifiers.MAX_TERM]
    if plain in STOP_WORDS:
        return ()
    stem = _stemmer().stemWord
    if plain.isascii():
        return (stem(plain),)
    bare = identifiers.fold(plain)
    return (stem(plain),) if bare == plain or not bare else (stem(plain), stem(bare))


# Identifiers are made of few parts: 64 Ki of them answer nine of ten look-ups while Django's tokens are learnt.
_folded = lru_cache(maxsize=1 << 16)(_fold_and_stem)


def is_normal(text: str) -> bool:
    """Tell whether a text is its own NFKC form, so that both analyzers see the same."""
    return text.isascii() or unicodedata.is_normalized("NFKC", text)


def normalized(text: str) -> str:
    """Return the NFKC form, which the code-aware analyzer reads."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


@cache
def _stemmer():  # type: ignore[no-untyped-def]  # noqa: ANN202  (the C module has no types)
    import Stemmer  # only when a term is stemmed: `--help` and `status` do not pay for it

    return Stemmer.Stemmer("english", 0)


@cache
def _memo() -> TermMemo:
    return TermMemo()
