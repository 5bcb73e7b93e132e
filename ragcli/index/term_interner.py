"""Raw tokens and their terms by number, kept from one batch to the next: a token is analyzed once a process.

Numbers are a process's own and never leave it. Knows no chunk and no count.
"""

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain, count, islice
from typing import TYPE_CHECKING, NamedTuple

from ragcli.analysis.analyzers import code_terms_of, english_terms_of

if TYPE_CHECKING:
    import numpy as np

    Ids = np.ndarray[tuple[int], np.dtype[np.int32]]

# Which analyzer alone a token is for, as its first character; no raw token begins with either.
ENGLISH_ONLY, CODE_ONLY = "\x01", "\x02"
# Beyond this a interner is dropped after its batch. Django has 172,000 tokens, which take 76 MB.
MAX_BYTES = 96 * 1024 * 1024
# What a token and a term cost beside their characters: strings, slots of dictionaries and lists, numbers.
_TOKEN_BYTES, _TERM_BYTES = 140, 200
_ANALYZED_AT_ONCE = 4096  # the terms of all tokens of a large text as strings would be a worker's peak of memory


class TermTable(NamedTuple):
    """For each token its terms of one analyzer: `terms[starts[token]:starts[token] + widths[token]]`."""

    starts: "Ids"
    widths: "Ids"
    terms: "Ids"


class TermInterner:
    """Numbers tokens and terms as they come."""

    def __init__(self) -> None:
        # A token's number without a step of Python for one that is known.
        self._tokens: defaultdict[str, int] = defaultdict(count().__next__)
        self._terms: defaultdict[str, int] = defaultdict(count().__next__)
        self._english = _TermLists()
        self._code = _TermLists()
        self._analyzed = 0
        self.size = 0
        """About the bytes of memory it takes."""
        self.words: list[str] = []
        """The analyzed terms by number: their UTF-8 read as Latin-1, which Python sorts in half the time of bytes."""

    def numbers(self, tokens: Iterable[str]) -> Iterator[int]:
        """The numbers of raw tokens."""
        return map(self._tokens.__getitem__, tokens)

    def tables(self) -> tuple[TermTable, TermTable]:
        """The English and the code terms of all tokens so far. Views: drop them before more tokens are analyzed."""
        new = _last(self._tokens, len(self._tokens) - self._analyzed)
        self._analyzed = len(self._tokens)
        for start in range(0, len(new), _ANALYZED_AT_ONCE):
            some = new[start : start + _ANALYZED_AT_ONCE]
            self._english.extend([() if token[0] == CODE_ONLY else _english(token) for token in some], self._number)
            self._code.extend([() if token[0] == ENGLISH_ONLY else _code(token) for token in some], self._number)
        terms = _last(self._terms, len(self._terms) - len(self.words))
        self.words += [term if term.isascii() else term.encode().decode("latin-1") for term in terms]
        self.size += _TOKEN_BYTES * len(new) + sum(map(len, new)) + _TERM_BYTES * len(terms) + 2 * sum(map(len, terms))
        return self._english.table(), self._code.table()

    @property
    def _number(self) -> Callable[[str], int]:
        return self._terms.__getitem__


def _last(numbers: dict[str, int], count: int) -> list[str]:
    """The keys that came last, in their order, without passing all that came before."""
    found = list(islice(reversed(numbers), count))
    found.reverse()
    return found


class _TermLists:
    """Grows a TermTable."""

    def __init__(self) -> None:
        self._starts = array("i")
        self._widths = array("i")
        self._terms = array("i")

    def extend(self, lists: Sequence[Sequence[str]], number: Callable[[str], int]) -> None:
        """Append the terms of the next tokens."""
        widths = list(map(len, lists))
        self._starts.extend(accumulate(widths[:-1], initial=len(self._terms)))
        self._widths.extend(widths)
        self._terms.extend(map(number, chain.from_iterable(lists)))

    def table(self) -> TermTable:
        import numpy as np

        return TermTable(*(np.frombuffer(part, np.int32) for part in (self._starts, self._widths, self._terms)))


def _english(token: str) -> Sequence[str]:
    return english_terms_of(token[1:] if token[0] == ENGLISH_ONLY else token)


def _code(token: str) -> Sequence[str]:
    return code_terms_of(token[1:] if token[0] == CODE_ONLY else token)


# At most one idle instance; list.pop is atomic, so each owner has it exclusively.
_spare: list[TermInterner] = []


def take() -> TermInterner:
    """A interner for a batch, with what earlier batches taught it."""
    try:
        return _spare.pop()
    except IndexError:
        return TermInterner()


def give_back(interner: TermInterner) -> None:
    """Keep a interner for the next batch, unless it grew too large."""
    if interner.size <= MAX_BYTES and not _spare:
        _spare.append(interner)
