"""Postings of batches, each under its own sorted terms, to those of one segment under one dictionary.

Keeps flat arrays: a run (a batch's postings of one term) costs eight bytes here and no object.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from ragcli.index.postings import FREQUENCY_BITS, unpack_u32

if TYPE_CHECKING:
    import numpy as np

    Counts = np.ndarray[tuple[int], np.dtype[np.int64]]

# Postings put in order at a time; the arrays for it take some 30 bytes each.
PIECE = 1 << 20
# What a run and a term take in memory at the end, when they are sorted.
RUN_BYTES, TERM_BYTES = 40, 150


class Gathered(NamedTuple):
    """Terms ascending, how many postings each has, and the postings in that order, in pieces."""

    terms: list[bytes]
    counts: Sequence[int]
    pieces: Iterator[bytes | bytearray]


class PostingsGatherer:
    """Takes batches in the order of their chunks."""

    def __init__(self) -> None:
        self._numbers: defaultdict[bytes, int] = defaultdict(count().__next__)
        self._run_terms = array("I")
        self._run_counts = bytearray()
        self._postings = bytearray()
        self._batches: list[tuple[int, int]] = []
        self.memory = 0

    def add(self, terms: bytes, counts: bytes, postings: bytes, chunks: int) -> None:
        """Append a batch, its terms joined by LF; `chunks` come before its own."""
        if len(self._batches) == 1:
            import_module("numpy")  # `finish` will want it; now the workers are busy, then everything waits
        found = terms.split(b"\n") if terms else []
        known = len(self._numbers)
        self._batches.append((len(self._postings) // 4, chunks))
        self._run_terms.extend(map(self._numbers.__getitem__, found))
        self._run_counts += counts
        self._postings += postings
        self.memory += len(postings) + RUN_BYTES * len(found) + TERM_BYTES * (len(self._numbers) - known)

    def finish(self) -> Gathered:
        """All of it in the order of terms; the gatherer is spent."""
        if len(self._batches) < 2:  # in order as it came: most runs after the first, which need no array library
            return Gathered(list(self._numbers), unpack_u32(memoryview(self._run_counts)), iter((self._postings,)))
        import numpy as np

        words = list(self._numbers)
        self._numbers.clear()
        sorted_numbers = sorted(range(len(words)), key=words.__getitem__)
        rank = np.empty(len(words), dtype=np.uint32)
        rank[sorted_numbers] = np.arange(len(words), dtype=np.uint32)
        runs = rank[np.frombuffer(self._run_terms, dtype=np.uint32)]
        order = np.argsort(runs, kind="stable")  # a term's batches stay in their order
        widths = np.frombuffer(self._run_counts, dtype="<u4").astype(np.int64)
        starts = (np.cumsum(widths) - widths)[order]
        widths = widths[order]
        counts: Counts = np.bincount(runs, weights=None, minlength=len(words))
        counts = np.add.reduceat(widths, np.cumsum(counts) - counts)
        terms = [words[number] for number in sorted_numbers]
        return Gathered(terms, counts.tolist(), self._pieces(starts, widths))

    def _pieces(self, starts: "Counts", widths: "Counts") -> Iterator[bytes]:
        import numpy as np

        postings = np.frombuffer(self._postings, dtype="<u4")
        for (start, chunks), (end, _) in zip(self._batches, [*self._batches[1:], (len(postings), 0)], strict=True):
            postings[start:end] += np.uint32(chunks << FREQUENCY_BITS)
        ends = np.cumsum(widths)
        at = 0
        while at < len(ends):
            done = int(ends[at - 1]) if at else 0
            until = max(int(np.searchsorted(ends, done + PIECE, side="right")), at + 1)
            offsets = ends[at:until] - widths[at:until] - done
            index = np.arange(int(ends[until - 1]) - done) + np.repeat(starts[at:until] - offsets, widths[at:until])
            yield postings[index].tobytes()
            at = until
