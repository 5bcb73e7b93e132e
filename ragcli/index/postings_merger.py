"""Merge the sorted posting lists of several batches under one term dictionary.

Keeps flat arrays: a run (a batch's postings of one term) costs eight bytes here and no object.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import count
from typing import TYPE_CHECKING, Literal, NamedTuple

from ragcli.index.postings import FIELDS, FREQUENCY_BITS, WORD_BITS, WORD_MASK, PackedPostings, unpack_u32

if TYPE_CHECKING:
    import numpy as np

    Terms = np.ndarray[tuple[int], np.dtype[np.uint32]]
    Counts = np.ndarray[tuple[int], np.dtype[np.int64]]

# Postings put in order at a time; the arrays for it take some 30 bytes each.
PIECE = 1 << 20
# What a run and a word take in memory at the end, when they are sorted.
RUN_BYTES, WORD_BYTES = 60, 300


class MergedPostings(NamedTuple):
    """Terms ascending, how many postings each has, and the postings in that order, in pieces."""

    terms: list[bytes]
    counts: Sequence[int]
    pieces: Iterator[bytes | bytearray]


class _Batch(NamedTuple):
    """A batch's words by their numbers here, its terms and their counts, and what postings and chunks come before."""

    words: "array[int]"
    terms: bytes
    counts: bytes
    postings: int
    chunks: int


class PostingsMerger:
    """Takes batches in the order of their chunks."""

    def __init__(self) -> None:
        self._numbers: defaultdict[bytes, int] = defaultdict(count().__next__)
        self._batches: list[_Batch] = []
        self._postings = bytearray()
        self.memory = 0

    def add(self, batch: PackedPostings, chunks: int) -> None:
        """Append a batch; `chunks` come before its own."""
        if len(self._batches) == 1:
            import_module("numpy")  # `finish` will want it; now the workers are busy, then everything waits
        known = len(self._numbers)
        words = array("I", map(self._numbers.__getitem__, batch.words.split(b"\n"))) if batch.words else array("I")
        self._batches.append(_Batch(words, batch.terms, batch.counts, len(self._postings) // 4, chunks))
        self._postings += batch.postings
        self.memory += (
            len(batch.postings) + RUN_BYTES * len(batch.terms) // 4 + WORD_BYTES * (len(self._numbers) - known)
        )

    def finish(self) -> MergedPostings:
        """All of it in the order of terms; the gatherer is spent."""
        words = list(self._numbers)
        self._numbers.clear()
        if len(self._batches) < 2:  # sorted as it came: most runs after the first, which need no array library
            names = [FIELDS[term >> WORD_BITS] + words[term & WORD_MASK] for term in self._numbers_of("terms")]
            return MergedPostings(names, self._numbers_of("counts"), iter((self._postings,)))
        import numpy as np

        order = sorted(range(len(words)), key=words.__getitem__)
        rank = np.empty(len(words), dtype=np.uint32)
        rank[order] = np.arange(len(words), dtype=np.uint32)
        runs = np.concatenate([_renamed(one, rank) for one in self._batches])
        widths = np.array(self._numbers_of("counts"), dtype=np.int64)
        starts = np.cumsum(widths) - widths
        places = np.argsort(runs, kind="stable")  # a term's batches stay in their order
        runs, widths, starts = runs[places], widths[places], starts[places]
        firsts = np.flatnonzero(np.diff(runs, prepend=~runs[:1]))
        names = _names(runs[firsts], [words[number] for number in order])
        return MergedPostings(names, np.add.reduceat(widths, firsts).tolist(), self._pieces(starts, widths))

    def _numbers_of(self, part: Literal["terms", "counts"]) -> Sequence[int]:
        return unpack_u32(b"".join(getattr(one, part) for one in self._batches))

    def _pieces(self, starts: "Counts", widths: "Counts") -> Iterator[bytes]:
        import numpy as np

        postings = np.frombuffer(self._postings, dtype="<u4")
        ends = [*(one.postings for one in self._batches[1:]), len(postings)]
        for one, end in zip(self._batches, ends, strict=True):
            if end > one.postings:  # a batch of no chunks may come behind a full segment, where the shift has 33 bits
                postings[one.postings : end] += np.uint32(one.chunks << FREQUENCY_BITS)
        totals = np.cumsum(widths)
        at = 0
        while at < len(totals):
            done = int(totals[at - 1]) if at else 0
            until = max(int(np.searchsorted(totals, done + PIECE, side="right")), at + 1)
            offsets = totals[at:until] - widths[at:until] - done
            index = np.arange(int(totals[until - 1]) - done) + np.repeat(starts[at:until] - offsets, widths[at:until])
            yield postings[index].tobytes()
            at = until


def _renamed(batch: _Batch, rank: "Terms") -> "Terms":
    """A batch's terms, with the place of each word among all."""
    import numpy as np

    terms: Terms = np.frombuffer(batch.terms, dtype="<u4")
    places = rank[np.frombuffer(batch.words, dtype=np.uint32)]
    renamed: Terms = (terms & ~np.uint32(WORD_MASK)) | places[terms & np.uint32(WORD_MASK)]
    return renamed


def _names(terms: "Terms", words: Sequence[bytes]) -> list[bytes]:
    """The dictionary's spelling of ascending terms, from sorted words."""
    import numpy as np

    names: list[bytes] = []
    bounds = np.searchsorted(terms >> np.uint32(WORD_BITS), np.arange(len(FIELDS) + 1))
    for number, field in enumerate(FIELDS):
        places = terms[bounds[number] : bounds[number + 1]] & np.uint32(WORD_MASK)
        names += [field + words[place] for place in places.tolist()]
    return names
