"""Counts raw tokens by chunk and turns them into postings at the end of a batch, all terms at once.

What grows with the text is done on flat arrays: it is four times as fast as adding up each chunk's terms in
dictionaries. Pure: text in, arrays out.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from ragcli.analysis.analyzers import is_normal, normalized, tokens
from ragcli.index import term_interner
from ragcli.index.postings import (
    FREQUENCY_BITS,
    MAX_CHUNKS,
    MAX_FREQUENCY,
    WORD_BITS,
    PackedPostings,
    pack_u32,
)
from ragcli.index.term_interner import CODE_ONLY, ENGLISH_ONLY, TermTable

if TYPE_CHECKING:
    import numpy as np

    from ragcli.index.term_interner import Ids

    Numbers = np.ndarray[tuple[int], np.dtype[np.uint32]]
    Doubles = np.ndarray[tuple[int], np.dtype[np.float64]]


class BatchPostings(NamedTuple):
    """The postings, and how long chunks are."""

    postings: PackedPostings
    english_lengths: bytes
    code_lengths: bytes
    norms: bytes


class PostingsBuilder:
    """Collects the tokens of chunks, in the order of their ordinals."""

    def __init__(self) -> None:
        # The batch's own numbers of tokens: small enough to stay near the processor, as the interner's are not.
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self._chunks = 0
        self._text = _Tokens()
        self._symbols = _Tokens()
        self._paths = _Tokens()
        self._names: dict[str, list[int]] = {"": []}

    def __len__(self) -> int:
        return self._chunks

    def add(self, content: str, names: Iterable[str], path: str) -> None:
        """Add a chunk: its text, the names it goes by, its document's path."""
        self._chunks += 1
        text = self._text
        before = len(text.ids)
        if is_normal(content):
            self._count(tokens(content))
        else:
            # Text that NFKC changes is counted twice: as it stands for English, changed for code.
            self._count([ENGLISH_ONLY + token for token in tokens(content)])
            self._count([CODE_ONLY + token for token in tokens(normalized(content))])
        text.held.append(len(text.ids) - before)
        symbols = self._symbols
        before = len(symbols.ids)
        for name in names:
            symbols.ids += self._named(name)
        symbols.held.append(len(symbols.ids) - before)
        place = self._named(path)
        self._paths.ids += place
        self._paths.held.append(len(place))

    def finish(self) -> BatchPostings:
        """All postings of the batch; OverflowError for more chunks than a posting can tell apart."""
        import numpy as np

        if self._chunks > MAX_CHUNKS:
            raise OverflowError(f"a batch of {self._chunks} chunks")

        interner = term_interner.take()
        numbers = np.fromiter(interner.numbers(self._numbers), dtype=np.int32, count=len(self._numbers))
        english, code = interner.tables()
        text, paths, symbols = (part.counted(numbers) for part in (self._text, self._paths, self._symbols))
        # In the order of FIELDS.
        found = [_expanded(code, text), _expanded(english, text), _expanded(code, paths), _expanded(code, symbols)]
        lengths = [_lengths(table, text, self._chunks) for table in (english, code)]
        words, rank = _ranked(interner.words, [terms for terms, _ in found])
        del english, code  # views of the interner's arrays, which could not grow with them
        term_interner.give_back(interner)
        fields = [_summed(rank[terms], own, len(words)) for terms, own in found]
        terms = np.concatenate([ranks | np.uint32(field << WORD_BITS) for field, (ranks, _) in enumerate(fields)])
        firsts = _firsts(terms)
        return BatchPostings(
            postings=PackedPostings(
                words="\n".join(words).encode("latin-1"),
                terms=terms[firsts].astype("<u4").tobytes(),
                counts=np.diff(firsts, append=len(terms)).astype("<u4").tobytes(),
                postings=np.concatenate([postings for _, postings in fields]).astype("<u4").tobytes(),
            ),
            english_lengths=pack_u32(lengths[0]),
            code_lengths=pack_u32(lengths[1]),
            norms=_norms(fields[0][1], self._chunks).astype("<f8").tobytes(),
        )

    def _count(self, found: Sequence[str]) -> None:
        counted = Counter(found)
        self._text.ids += map(self._numbers.__getitem__, counted)
        self._text.times += counted.values()

    def _named(self, name: str) -> list[int]:
        known = self._names.get(name)
        if known is None:
            known = self._names[name] = list(map(self._numbers.__getitem__, tokens(normalized(name))))
        return known


class _Counted(NamedTuple):
    """Tokens, the chunk of each and how often it is there."""

    ids: "Ids"
    chunks: "Numbers"
    times: "Numbers"


class _Tokens:
    """Token ids in chunk order; `held[i]` counts chunk i's ids; empty `times` means every frequency is 1."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.times: list[int] = []
        self.held: list[int] = []

    def counted(self, numbers: "Ids") -> _Counted:
        """With the interner's numbers for the batch's own."""
        import numpy as np

        ids = numbers[np.array(self.ids, dtype=np.int32)]
        times = np.array(self.times, dtype=np.uint32) if self.times else np.ones(len(ids), dtype=np.uint32)
        return _Counted(ids, np.repeat(np.arange(len(self.held), dtype=np.uint32), self.held), times)


def vector_norm(frequencies: Iterable[int]) -> float:
    """Length of a chunk's vector of weights 1 + ln(tf), the same for any order of its terms."""
    counted = Counter(min(frequency, MAX_FREQUENCY) for frequency in frequencies)
    total = 0.0
    for frequency, times in sorted(counted.items()):  # not `sum`, which rounds in its own way from Python 3.12 on
        total += times * _SQUARES[frequency]
    return math.sqrt(total)


_SQUARES = [0.0, *((1.0 + math.log(frequency)) ** 2 for frequency in range(1, MAX_FREQUENCY + 1))]


def _norms(postings: "Numbers", count: int) -> "Doubles":
    """`vector_norm` of each chunk, to the bit: `bincount` adds in the order it is given, here that of frequencies."""
    import numpy as np

    pairs, times = np.unique(postings, return_counts=True)
    weights = times * np.array(_SQUARES)[pairs & MAX_FREQUENCY]
    return np.sqrt(np.bincount(pairs >> FREQUENCY_BITS, weights=weights, minlength=count))


def _expanded(table: TermTable, counted: _Counted) -> tuple["Ids", "Numbers"]:
    """Token counts to term counts: the terms of each token, and for each the posting that it alone would make."""
    import numpy as np

    widths = table.widths[counted.ids]
    offsets = np.cumsum(widths, dtype=np.int32) - widths
    at = np.repeat(table.starts[counted.ids] - offsets, widths)
    at += np.arange(len(at), dtype=np.int32)
    postings: Numbers = (counted.chunks << np.uint32(FREQUENCY_BITS)) | np.minimum(
        counted.times, np.uint32(MAX_FREQUENCY)
    )
    return table.terms[at], np.repeat(postings, widths)


def _lengths(table: TermTable, counted: _Counted, count: int) -> list[int]:
    """How many terms the text of each chunk has."""
    import numpy as np

    weights = table.widths[counted.ids] * counted.times
    # Sums of whole numbers below 2^53 are exact in doubles.
    lengths: list[int] = np.bincount(counted.chunks, weights=weights, minlength=count).astype(np.int64).tolist()
    return lengths


def _ranked(words: Sequence[str], used: Sequence["Ids"]) -> tuple[list[str], "Numbers"]:
    """The words that are used, sorted, and by number which of them a word is."""
    import numpy as np

    seen = np.zeros(len(words), dtype=bool)
    for numbers in used:
        seen[numbers] = True
    order = sorted(np.flatnonzero(seen).tolist(), key=words.__getitem__)
    rank = np.empty(len(words), dtype=np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    return [words[number] for number in order], rank


def _summed(ranks: "Numbers", postings: "Numbers", words: int) -> tuple["Numbers", "Numbers"]:
    """Postings by rank, then chunk; those of one term and chunk made one with the sum of their frequencies, capped.

    The chunks ascend already, so a stable sort by rank will do. numpy's radix sort of 16 bits is four times as fast as
    sorting whole keys.
    """
    import numpy as np

    order = np.argsort(ranks.astype(np.uint16), kind="stable")
    if words > 1 << 16:
        order = order[np.argsort((ranks >> np.uint32(16)).astype(np.uint16)[order], kind="stable")]
    ranks, postings = ranks[order], postings[order]
    chunks = postings >> np.uint32(FREQUENCY_BITS)
    differs = (ranks[1:] != ranks[:-1]) | (chunks[1:] != chunks[:-1])
    firsts = np.flatnonzero(np.concatenate(([True], differs))) if len(ranks) else order
    if len(firsts) < len(ranks):
        frequencies = np.add.reduceat(postings & np.uint32(MAX_FREQUENCY), firsts)
        ranks, chunks = ranks[firsts], chunks[firsts]
        postings = (chunks << np.uint32(FREQUENCY_BITS)) | np.minimum(frequencies, np.uint32(MAX_FREQUENCY))
    return ranks, postings


def _firsts(grouped: "Numbers") -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Where each run of equal values begins."""
    import numpy as np

    return np.flatnonzero(np.diff(grouped, prepend=~grouped[:1]))
