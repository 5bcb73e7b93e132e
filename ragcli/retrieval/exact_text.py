"""Search only the chunks whose text holds what a query asks for exactly, and none of what it leaves out.

The postings of whole words narrow the collection, the text of a candidate decides. The best candidates are looked at
first; where too few of them hold the text, so are all others that the postings leave.
"""

import re
from collections.abc import Mapping, Sequence

from ragcli.analysis.analyzers import QueryTerm, code_query
from ragcli.config.options import ExactText, QueryOptions, SearchFilter
from ragcli.model import Candidate, CandidatePool, ChunkKey, StreamScore, place_of
from ragcli.retrieval.chunk_source import ChunkSource
from ragcli.retrieval.ranking import Ranked, cap_per_file
from ragcli.retrieval.retriever import retrieve

# So many that hold the text are ranked against each other, whatever `top_k` is up to it, so that a shorter list is the
# beginning of a longer one. Where the best candidates hold fewer, all texts are looked at, for the first of so many.
ENOUGH = 50
BATCHES = (1, 8)
MOST_SCANNED = 1_000
# White space, or the seam of a string that source code writes as several: `"one " "two"`, `'one ' + f'two'`.
_GAP = r"(?:\s+|\s?[\"'`]\s{0,200}[+.\\]?\s{0,200}[A-Za-z]{0,2}[\"'`]\s?)"


class ExactMatcher:
    """Tells whether a text holds what was asked for; white space and, unless it counts, case aside.

    A string that source code writes in pieces is one text.
    """

    def __init__(self, exact: ExactText) -> None:
        flags = 0 if exact.case else re.IGNORECASE
        self._case = exact.case
        # Without the flag, an expression that begins with letters is found many times as fast.
        patterns = [(text, exact.words) for text in exact.phrases] + [(text, True) for text in exact.whole]
        self._required = [re.compile(_pattern(text, bounded), flags) for text, bounded in patterns]
        self._ascii = [
            re.compile(_pattern(text if exact.case else text.lower(), bounded).encode("utf-8", "replace"))
            for text, bounded in patterns
        ]
        self._excluded = [re.compile(_pattern(text, " " not in text), flags) for text in exact.excluded]

    def __call__(self, text: str) -> bool:
        """Whether every required text is there and no excluded one."""
        return all(one.search(text) for one in self._required) and not any(one.search(text) for one in self._excluded)

    def in_document(self, raw: bytes) -> bool:
        """Whether all required texts stand in a document, in whichever of its chunks."""
        if raw.isascii():
            text = raw if self._case else raw.lower()
            return all(one.search(text) for one in self._ascii)
        return all(one.search(raw.decode("utf-8", "replace")) for one in self._required)

    @property
    def requires(self) -> bool:
        """Whether it asks for anything, rather than only leaving out."""
        return bool(self._required)

    def first_line(self, text: str) -> int:
        """The line, from 0, on which the first required text that was named begins; 0 where none was."""
        found = self._required[0].search(text) if self._required else None
        return text.count("\n", 0, found.start()) if found else 0


def retrieve_exact(
    chunks: ChunkSource, top_k: int, options: QueryOptions, exact: ExactText
) -> tuple[list[Ranked], CandidatePool]:
    """`retrieve` over the chunks that hold the exact text.

    Where it names no whole word that is indexed (punctuation, a part of a word), what no stream finds follows in the
    order of paths, found by looking at every text.
    """
    matcher = ExactMatcher(exact)
    terms = sure_terms(exact)
    where = options.where._replace(terms=terms)
    source = _MatchingChunks(chunks, matcher, max(ENOUGH, top_k))
    ranked, pool = retrieve(source, exact.ranked, top_k, options._replace(where=where))
    if len(ranked) < top_k and matcher.requires and not terms:
        known = {hit.candidate.key for hit in ranked}
        rest = [Ranked(c, 0.0, {}) for c in source.scanned(where) if c.key not in known]
        ranked = cap_per_file([*ranked, *rest], options.max_per_file)[:top_k]
    return ranked, pool


def sure_terms(exact: ExactText) -> tuple[str, ...]:
    """Terms of the stream `code` that every chunk with the text has: those of words that it bounds on both sides."""
    whole = [re.sub(r"\s+", " ", text) for text in exact.whole]
    phrases = [re.sub(r"\s+", " ", text) for text in exact.phrases]
    words = [word for text in whole for word in _bounded(f" {text} ")]
    words += [word for text in phrases for word in _bounded(f" {text} " if exact.words else text)]
    return tuple(sorted({term for word in words for term in _certain(word)}))


def _bounded(text: str) -> list[str]:
    """The words of ASCII letters and digits in a text, but for those at its ends, which may be parts of longer ones."""
    return re.findall(r"(?<=[\x00-/:-@\[-^`{-\x7f])[A-Za-z0-9_]+(?=[\x00-/:-@\[-^`{-\x7f])", text)


def _certain(word: str) -> list[str]:
    """The terms of a word that do not depend on its case: of one without capitals and parts."""
    if not word.isalpha() or len(word) < 2:
        return []
    return [entry.term for entry in code_query(word.lower())]


class _MatchingChunks:
    """A chunk source of which only the chunks that a matcher takes are seen."""

    def __init__(self, chunks: ChunkSource, matcher: ExactMatcher, enough: int) -> None:
        self._chunks = chunks
        self._matcher = matcher
        self._enough = enough
        self._known: dict[ChunkKey, bool] = {}
        self._scanned: list[Candidate] | None = None
        self.idf = chunks.idf
        self.texts = chunks.texts
        self.scan = chunks.scan

    def candidates(
        self,
        query: str,
        depths: Mapping[str, int],
        where: SearchFilter = SearchFilter(),
        expansion: Sequence[QueryTerm] = (),
        per_document: int = 0,
    ) -> CandidatePool:
        """The best chunks that match, or, where the best hold too few, the best of all that match."""
        for factor in BATCHES if self._scanned is None else ():
            wanted = {stream: depth * factor for stream, depth in depths.items()}
            pool = self._chunks.candidates(query, wanted, where, expansion, per_document)
            found = self._matching(pool.candidates)
            if len(found) >= self._enough or _is_all(pool.candidates, wanted):
                return CandidatePool(_ranked_anew(found, depths), pool.degraded)
        keys = frozenset(candidate.key for candidate in self.scanned(where))
        return self._chunks.candidates(query, depths, where._replace(keys=keys), expansion, per_document)

    def scanned(self, where: SearchFilter) -> list[Candidate]:
        """All chunks that match, by path and line, up to MOST_SCANNED."""
        if self._scanned is None:
            self._scanned = self._chunks.scan(self._matcher, where, MOST_SCANNED)
        return self._scanned

    def _matching(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        unknown = sorted(candidate.key for candidate in candidates if candidate.key not in self._known)
        for key, text in zip(unknown, self._chunks.texts(unknown), strict=True):
            self._known[key] = self._matcher(text)
        return [candidate for candidate in candidates if self._known[candidate.key]]


def _is_all(candidates: Sequence[Candidate], depths: Mapping[str, int]) -> bool:
    """Whether no stream was cut at its depth."""
    return all(
        sum(candidate.streams[stream].rank > 0 for candidate in candidates if stream in candidate.streams) < depth
        for stream, depth in depths.items()
    )


def _ranked_anew(candidates: Sequence[Candidate], depths: Mapping[str, int]) -> list[Candidate]:
    """The candidates with their ranks among themselves."""
    streams: dict[ChunkKey, dict[str, StreamScore]] = {c.key: dict(c.streams) for c in candidates}
    for stream in depths:
        ranked = [c for c in candidates if stream in c.streams and c.streams[stream].rank]
        ranked.sort(key=lambda c: (c.streams[stream].rank, place_of(c)))
        for rank, candidate in enumerate(ranked, 1):
            streams[candidate.key][stream] = candidate.streams[stream]._replace(rank=rank)
    return [c._replace(streams=streams[c.key]) for c in candidates]


def _pattern(text: str, whole: bool) -> str:
    words = _GAP.join(re.escape(word) for word in text.split())
    return rf"(?<!\w){words}(?!\w)" if whole else words
