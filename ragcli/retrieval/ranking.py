"""Candidates to a ranked list: the plain fusion, or ours of streams and signals; then copies and the cap per file.

Pure, but for the texts that a quoted phrase makes it ask for. Ties end at (path, line) before any cut.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ragcli.config.options import QueryOptions
from ragcli.model import SCORE_DECIMALS, Candidate, ChunkKey, place_of
from ragcli.retrieval import signals, weights
from ragcli.retrieval.path_signals import asked_roles, roles
from ragcli.retrieval.query import Query, read_query


class Ranked(NamedTuple):
    """A candidate with its score, and, if that was asked for, how much of it each part gave (they add up to it)."""

    candidate: Candidate
    score: float
    parts: Mapping[str, float]


def rank(
    query: str,
    candidates: Sequence[Candidate],
    settings: QueryOptions,
    texts: Callable[[Sequence[ChunkKey]], list[str]] | None = None,
) -> list[Ranked]:
    """Rank candidates, best first. `texts` is asked for the chunks that may hold a quoted phrase."""
    if not settings.signals:
        return cap_per_file(fuse(candidates, weights.FUSED_STREAMS), settings.max_per_file)
    shape = read_query(query)
    ranked = _ordered(_scored(shape, candidates, settings.explain))
    if shape.phrases and texts:
        ranked = _with_phrases(shape, ranked, texts)
    return cap_per_file(copies_last(ranked, shape), settings.max_per_file)


def fuse(candidates: Iterable[Candidate], stream_weights: Mapping[str, float]) -> list[Ranked]:
    """Fuse streams by reciprocal rank: each gives weight / (60 + rank), ranks from 1; best first."""
    fused = []
    for candidate in candidates:
        parts = {
            stream: weight / (weights.RRF_RANK + found.rank)
            for stream, weight in stream_weights.items()
            if (found := candidate.streams.get(stream)) and found.rank > 0
        }
        if parts:
            fused.append(Ranked(candidate, round(sum(parts.values()), SCORE_DECIMALS), parts))
    return _ordered(fused)


def cap_per_file(ranked: Sequence[Ranked], most: int) -> list[Ranked]:
    """Keep the first `most` chunks of each document; all of them where there is only one, or where `most` is 0."""
    if most < 1 or len({_document(hit) for hit in ranked}) < 2:
        return list(ranked)
    seen: defaultdict[tuple[str, str, str], int] = defaultdict(int)
    kept = []
    for hit in ranked:
        seen[_document(hit)] += 1
        if seen[_document(hit)] <= most:
            kept.append(hit)
    return kept


def copies_last(ranked: Sequence[Ranked], query: Query) -> list[Ranked]:
    """Put all but one of the chunks that have one and the same text behind everything else.

    They fill what is left of a list, so that copies crowd nothing out and every file that holds the text can be found.
    The one that stays is of the file that the query names, else the one nearest to the root.
    """
    groups: defaultdict[bytes, list[Ranked]] = defaultdict(list)
    for hit in ranked:
        groups[hit.candidate.digest].append(hit)
    copies = {
        copy.candidate.key
        for group in groups.values()
        if len(group) > 1
        for copy in sorted(group, key=_nearness(group, query))[1:]
    }
    first: list[Ranked] = []
    rest: list[Ranked] = []
    for hit in ranked:
        (rest if hit.candidate.key in copies else first).append(hit)
    return first + rest


def _nearness(group: Sequence[Ranked], query: Query) -> Callable[[Ranked], tuple[float, int, int, str]]:
    """How near a file is to what was asked for, then to the root: least first."""
    names = signals.name_shares(query, signals.names_of(hit.candidate for hit in group))
    asked = asked_roles(query.words)

    def place(hit: Ranked) -> tuple[float, int, int, str]:
        path = hit.candidate.path
        return -sum(names[path].values()), len(roles(path) - asked), path.count("/"), path

    return place


class _Own(NamedTuple):
    """A chunk and what speaks for it alone."""

    candidate: Candidate
    score: float
    parts: tuple[tuple[str, float], ...]


def _scored(query: Query, candidates: Sequence[Candidate], explain: bool) -> Iterable[Ranked]:
    """Score chunks by themselves, then by their files: own * coherence * names * central * role * repeat."""
    files: defaultdict[tuple[int, int], list[_Own]] = defaultdict(list)
    for own in _own_scores(query, candidates):
        files[own.candidate.document].append(own)
    first = [members[0].candidate for members in files.values()]
    file_names = signals.names_of(first)
    names = signals.name_shares(query, file_names)
    kept = signals.kept_shares(query, candidates, first)
    central = signals.central_shares(candidates, file_names)
    for members in files.values():
        members.sort(key=lambda own: (-own.score, own.candidate.start_line, own.candidate.id))
        best = members[0]
        if best.score <= 0.0:
            continue
        coherence = signals.coherence(best.candidate, [own.score for own in members]) / best.score
        path = best.candidate.path
        factors = {
            "coherence": 1.0 + coherence,
            "names": 1.0 + sum(names[path].values()),
            "central": central[path],
            "role": kept[path],
        }
        whole = math.prod(factors.values())
        for own in members:
            repeat = 1.0 if own is best else signals.repeat(own.candidate)
            score = round(own.score * whole * repeat, SCORE_DECIMALS)
            parts = _parts(own, {**factors, "repeat": repeat}, names[path]) if explain else {}
            yield Ranked(own.candidate, score, parts)


def _own_scores(query: Query, candidates: Sequence[Candidate]) -> Iterable[_Own]:
    code = signals.stream_scores(candidates, "code")
    english = signals.stream_scores(candidates, "bm25")
    for candidate, by_code, by_english in zip(candidates, code, english, strict=True):
        streams = weights.CODE * by_code + weights.ENGLISH * by_english
        parts = (
            ("code", weights.CODE * by_code),
            ("bm25", weights.ENGLISH * by_english),
            ("length", streams * weights.LONGER_CHUNK * signals.longer_chunk(candidate)),
            ("definition", weights.DEFINITION * signals.definition(query, candidate)),
        )
        yield _Own(candidate, sum(value for _, value in parts), parts)


def _parts(own: _Own, factors: Mapping[str, float], names: Mapping[str, float]) -> dict[str, float]:
    """What each step added to the score or took from it, in order."""
    parts = dict(own.parts)
    score = own.score
    for name, factor in factors.items():
        if name == "names":
            parts.update({kind: score * share for kind, share in names.items()})
        else:
            parts[name] = score * (factor - 1.0)
        score *= factor
    return {name: round(value, SCORE_DECIMALS) for name, value in parts.items() if value}


def _with_phrases(
    query: Query, ranked: Sequence[Ranked], texts: Callable[[Sequence[ChunkKey]], list[str]]
) -> list[Ranked]:
    """Lift the chunks that hold what the query quotes."""
    result = list(ranked)
    best = ranked[: weights.PHRASE_CHUNKS]
    found = texts([hit.candidate.key for hit in best])
    for position, (hit, text) in enumerate(zip(best, found, strict=True)):
        added = weights.PHRASE * signals.phrase_share(query, text)
        if added:
            parts = {**hit.parts, "phrase": added} if hit.parts else hit.parts
            result[position] = Ranked(hit.candidate, round(hit.score + added, SCORE_DECIMALS), parts)
    return _ordered(result)


def _ordered(ranked: Iterable[Ranked]) -> list[Ranked]:
    return sorted(ranked, key=_place)


def _place(hit: Ranked) -> tuple[float, str, str, str, int, str]:
    candidate = hit.candidate
    return -hit.score, *place_of(candidate)


def _document(hit: Ranked) -> tuple[str, str, str]:
    return hit.candidate.source, hit.candidate.kind, hit.candidate.path
