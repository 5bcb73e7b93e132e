"""What speaks for a chunk or its file beside the streams: each signal a small pure function over candidates.

A signal gives a number and knows no other; `ranking` weighs them. No texts, no disk.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from ragcli.analysis.analyzers import code_stem
from ragcli.analysis.synonyms import synonyms
from ragcli.model import ADDED, Candidate, DocumentFormat
from ragcli.retrieval import weights
from ragcli.retrieval.path_signals import FileName, asked_roles, file_name, old_versions, roles
from ragcli.retrieval.query import Query, plain

_SCOPE = re.compile(r"[.:#/\\]+|->")
# Kinds that name one place in a program; several functions may share a name more freely.
_TYPE_KINDS = frozenset(
    (
        *("actor", "class", "enum", "extension", "interface", "macro", "module", "namespace"),
        *("object", "protocol", "record", "struct", "trait", "type", "union"),
    )
)
NAMELESS = FileName((), "", (), 0)


def stream_scores(candidates: Sequence[Candidate], stream: str) -> list[float]:
    """A stream's scores as shares of its best one among the candidates."""
    scores = [found.score if (found := c.streams.get(stream)) else 0.0 for c in candidates]
    best = max(scores, default=0.0)
    return [score / best for score in scores] if best > 0.0 else scores


def mostly_source(candidates: Sequence[Candidate]) -> bool:
    """Whether at least half of the files of the candidates are source code.

    Files are counted, not chunks: a few long documents have more chunks than all the source files beside them.
    """
    files = {candidate.document: _is_source(candidate) for candidate in candidates}
    return 2 * sum(files.values()) >= len(files)


def definition(query: Query, candidate: Candidate) -> float:
    """1 for the chunk that defines a name of the query, less for another spelling, kind or scope."""
    symbol = str(candidate.metadata.get("symbol") or "")
    if not symbol or not query.names:
        return 0.0
    known = plain(symbol)
    best = 0.0
    for name in query.names:
        if plain(name.name) != known:
            continue
        score = 1.0 if name.name == symbol else weights.OTHER_SPELLING
        if str(candidate.metadata.get("kind") or "") not in _TYPE_KINDS:
            score *= weights.OTHER_SPELLING
        if name.scope and plain(name.scope[-1]) not in _scopes(candidate):
            score *= weights.OTHER_SCOPE
        best = max(best, score)
    return best


def _scopes(candidate: Candidate) -> list[str]:
    qualified = str(candidate.metadata.get("qualified_symbol") or "")
    return [*map(plain, _SCOPE.split(qualified)), *map(plain, re.split(r"[/.]", candidate.path))]


def longer_chunk(candidate: Candidate) -> float:
    """The natural logarithm of a source chunk's lines."""
    return math.log(candidate.end_line - candidate.start_line + 1) if _is_source(candidate) else 0.0


def said(words: Sequence[str], word: str) -> float:
    """How well the best of some stems agrees with one."""
    return 1.0 if word in words else max((_alike(word, other) for other in words), default=0.0)


def stem_share(query: Query, name: FileName) -> float:
    """How much of a file's name the query says: 1 for all of it."""
    if not name.words:
        return 0.0
    if name.whole in query.joined:
        return 1.0
    return sum(said(query.words, word) for word in name.words) / len(name.words)


def directory_words(query: Query, name: FileName) -> float:
    """How much of the query the directories of a file say."""
    if not query.words or not name.directories:
        return 0.0
    return sum(said(name.directories, word) for word in query.words) / len(query.words)


def is_name(query: Query, name: FileName) -> float:
    """1 where the file is called like an identifier of the query."""
    return 1.0 if any(plain(asked.name) == name.whole for asked in query.names) else 0.0


def path_asked(query: Query, path: str) -> float:
    """1 where the query spells out the path, its end with or without the extension, or a directory that it lies in."""
    if not query.paths:
        return 0.0
    folded = path.casefold()
    places = (f"/{folded}/", f"/{folded.rpartition('.')[0]}/")
    return 1.0 if any(f"/{asked}/" in place for asked in query.paths for place in places) else 0.0


def names_of(first: Iterable[Candidate]) -> dict[str, FileName]:
    """The names of each path. `first` has one candidate a file; an added document has no name."""
    return {c.path: NAMELESS if c.kind == ADDED else file_name(c.path) for c in first}


def name_shares(query: Query, names: Mapping[str, FileName]) -> dict[str, dict[str, float]]:
    """For each path what its names add to a score, in shares of it."""
    directories = {n.directories: weights.DIRECTORY_WORDS * directory_words(query, n) for n in names.values()}
    return {
        path: {
            "file name": weights.FILE_STEM * stem_share(query, name),
            "file is name": weights.FILE_IS_NAME * is_name(query, name),
            "directories": directories[name.directories],
            "path": weights.PATH_ASKED * path_asked(query, path),
        }
        for path, name in names.items()
    }


def central_shares(candidates: Sequence[Candidate], names: Mapping[str, FileName]) -> dict[str, float]:
    """For each path what depth and length of its name leave of a score; all of it where most candidates are prose."""
    if not mostly_source(candidates):
        return dict.fromkeys(names, 1.0)
    shallowest = min((name.depth for name in names.values()), default=0)
    return {
        path: weights.KEEP_DEEPER ** min(name.depth - shallowest, weights.DEPTH_MOST)
        * weights.KEEP_LONGER_NAME ** min(max(len(name.words) - 1, 0), weights.NAME_WORDS_MOST)
        for path, name in names.items()
    }


def kept_shares(query: Query, candidates: Sequence[Candidate], first: Sequence[Candidate]) -> dict[str, float]:
    """For each path what its role leaves of a score; what the query asks for is not lowered."""
    asked = asked_roles(query.words)
    outdated = old_versions(c.path for c in first)
    among_source = mostly_source(candidates)
    prose_kept = "document" in asked or query.how_to
    kept = {}
    for candidate in first:
        path = candidate.path
        share = 1.0
        # Among prose "tests" and "samples" are subjects like any other.
        for role in sorted(roles(path) - asked) if among_source or _is_source(candidate) else ():
            share *= weights.KEEP_ROLE[role]
        if among_source and not prose_kept and not _is_source(candidate):
            share *= weights.KEEP_BESIDE_CODE
        if any(path.startswith(directory) for directory in outdated):
            share *= weights.KEEP_OLD_VERSION
        kept[path] = 1.0 if candidate.kind == ADDED or path_asked(query, path) else share
    return kept


def coherence(best: Candidate, scores: Iterable[float]) -> float:
    """The share that a source file's next chunks add to its best one; `scores` from the best down.

    Nothing for prose: there it says how long a document is, and a novel has a little of everything.
    """
    if not _is_source(best):
        return 0.0
    total, share = 0.0, 1.0
    for position, score in enumerate(scores):
        if position == weights.COHERENCE_CHUNKS:
            break
        if position:
            total += share * score
        share *= weights.COHERENCE_DECAY
    return total


def repeat(candidate: Candidate) -> float:
    """What a further result of one file keeps of its score: all in prose, where a page answers by itself."""
    return weights.REPEAT if _is_source(candidate) else 1.0


def phrase_share(query: Query, text: str) -> float:
    """How many of the quoted phrases a text holds, white space and case aside; 1 for all."""
    content = " ".join(text.split()).casefold()
    return sum(phrase in content for phrase in query.phrases) / len(query.phrases)


def _is_source(candidate: Candidate) -> bool:
    return candidate.format == DocumentFormat.SOURCE_CODE


def _alike(word: str, other: str) -> float:
    if word[:1] == other[:1] and (word.startswith(other) or other.startswith(word)):
        return weights.PREFIX_MATCH if min(len(word), len(other)) >= weights.PREFIX_LENGTH else 0.0
    return weights.PREFIX_MATCH if other in synonyms(code_stem).get(word, ()) else 0.0
