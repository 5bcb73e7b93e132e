"""Candidates to a ranked list: the seed's fusion, or ours of streams and signals; then copies and the cap per file.

Pure, but for the texts that a quoted phrase makes it ask for. Ties end at (path, line) before any cut.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ragcli.model import Candidate, ChunkKey
from ragcli.retrieval import signals, weights
from ragcli.retrieval.query import Query, read_query
from ragcli.settings import SearchSettings

Parts = dict[str, float]


class Ranked(NamedTuple):
    """A candidate with its score, and how much of it each part gave (they add up to the score)."""

    candidate: Candidate
    score: float
    parts: Mapping[str, float]


def rank(
    query: str,
    candidates: Sequence[Candidate],
    settings: SearchSettings,
    text: Callable[[ChunkKey], str] | None = None,
) -> list[Ranked]:
    """Rank candidates, best first. `text` is asked for the chunks that may hold a quoted phrase."""
    if not settings.signals:
        return cap_per_file(fuse(candidates, weights.SEED_STREAMS), settings.max_per_file)
    shape = read_query(query)
    scored = _spread(_scored(shape, candidates))
    if shape.phrases and text:
        scored = _with_phrases(shape, scored, text)
    return cap_per_file(without_copies(_ordered(scored)), settings.max_per_file)


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
            fused.append(Ranked(candidate, round(sum(parts.values()), weights.DECIMALS), parts))
    return _ordered(fused)


def cap_per_file(ranked: Sequence[Ranked], most: int) -> list[Ranked]:
    """Keep the first `most` chunks of each document; all of them where there is only one, or where `most` is 0."""
    if most < 1 or len({_document(hit) for hit in ranked}) < 2:
        return list(ranked)
    seen: defaultdict[tuple[str, str], int] = defaultdict(int)
    kept = []
    for hit in ranked:
        seen[_document(hit)] += 1
        if seen[_document(hit)] <= most:
            kept.append(hit)
    return kept


def without_copies(ranked: Iterable[Ranked]) -> list[Ranked]:
    """Keep the first of the chunks that have one and the same text."""
    first: dict[bytes, Ranked] = {}
    for hit in ranked:
        first.setdefault(hit.candidate.digest, hit)
    return list(first.values())


def _scored(query: Query, candidates: Sequence[Candidate]) -> list[tuple[Candidate, Parts]]:
    """Each chunk's own score in parts."""
    scored = []
    code = signals.stream_scores(candidates, "code")
    english = signals.stream_scores(candidates, "bm25")
    for position, candidate in enumerate(candidates):
        parts = {
            "code": weights.CODE * code[position],
            "bm25": weights.ENGLISH * english[position],
            "definition": weights.DEFINITION * signals.definition(query, candidate),
        }
        scored.append((candidate, {name: value for name, value in parts.items() if value}))
    kept = signals.kept_shares(query, candidates)
    names = signals.file_names(candidates)
    depths = signals.depths(names)
    shares = {
        path: {
            "file name": weights.FILE_STEM * signals.stem_share(query, name),
            "file is name": weights.FILE_IS_NAME * signals.is_name(query, name),
            "path": weights.PATH_ASKED * signals.path_asked(query, path),
            "depth": -weights.DEPTH * depths[path],
        }
        for path, name in names.items()
    }
    return _with_files(scored, shares, kept)


def _with_files(
    scored: Sequence[tuple[Candidate, Parts]], shares: Mapping[str, Parts], kept: Mapping[str, float]
) -> list[tuple[Candidate, Parts]]:
    """Add to each file's chunks what the file gives: coherence, its names, what its role takes away."""
    files: defaultdict[tuple[int, int], list[tuple[Candidate, Parts]]] = defaultdict(list)
    for candidate, parts in scored:
        files[candidate.document].append((candidate, parts))
    result = []
    for members in files.values():
        members.sort(key=lambda member: (-sum(member[1].values()), member[0].start_line))
        own = [sum(parts.values()) for _, parts in members]
        best = own[0]
        if best <= 0.0:
            continue
        extra = signals.coherence(own)
        path = members[0][0].path
        for (candidate, parts), score in zip(members, own, strict=True):
            # A weaker chunk takes the same share of what its file earns as it has of the best chunk's own score.
            share = score / best
            parts["coherence"] = share * extra
            whole = score + share * extra
            parts.update({name: whole * value for name, value in shares[path].items() if value})
            parts["role"] = (kept[path] - 1.0) * sum(parts.values())
            result.append((candidate, parts))
    return result


def _spread(scored: Iterable[tuple[Candidate, Parts]]) -> list[Ranked]:
    """Lower the second and later chunks of each file, so that files stand side by side."""
    seen: defaultdict[tuple[int, int], int] = defaultdict(int)
    spread = []
    for candidate, parts in scored:  # within a file from the best down
        keep = weights.REPEAT if seen[candidate.document] else 1.0
        seen[candidate.document] += 1
        if keep != 1.0:
            parts["repeat"] = (keep - 1.0) * sum(parts.values())
        shown = {name: value for name, value in parts.items() if value}
        spread.append(Ranked(candidate, round(sum(shown.values()), weights.DECIMALS), shown))
    return spread


def _with_phrases(query: Query, ranked: Sequence[Ranked], text: Callable[[ChunkKey], str]) -> list[Ranked]:
    ordered = _ordered(ranked)
    result = []
    for position, hit in enumerate(ordered):
        held = signals.phrase_share(query, hit.candidate.key, text) if position < weights.PHRASE_CHUNKS else 0.0
        if held:
            added = weights.PHRASE * held
            hit = Ranked(hit.candidate, round(hit.score + added, weights.DECIMALS), {**hit.parts, "phrase": added})
        result.append(hit)
    return result


def _ordered(ranked: Iterable[Ranked]) -> list[Ranked]:
    return sorted(ranked, key=_place)


def _place(hit: Ranked) -> tuple[float, str, str, int, str]:
    candidate = hit.candidate
    return -hit.score, candidate.source, candidate.path, candidate.start_line, candidate.id


def _document(hit: Ranked) -> tuple[str, str]:
    return hit.candidate.source, hit.candidate.path
