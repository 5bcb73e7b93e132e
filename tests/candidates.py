"""Candidates made by hand, for tests of ranking."""

from typing import Any

from ragcli.model import Candidate, ChunkKey, StreamScore

_COUNTER = iter(range(1, 1_000_000))


def candidate(
    path: str, code: float = 1.0, *, bm25: float = 0.0, line: int = 1, lines: int = 10, **more: Any
) -> Candidate:
    """A chunk of `path` with raw stream scores; `more` are metadata, or format, kind and digest."""
    number = next(_COUNTER)
    streams = {"code": StreamScore(more.pop("rank", 1), code)}
    if bm25:
        streams["bm25"] = StreamScore(1, bm25)
    return Candidate(
        key=ChunkKey(0, number),
        id=f"{path}:{line}",
        kind=more.pop("kind", ""),
        path=path,
        start_line=line,
        end_line=line + lines - 1,
        format=more.pop("format", "MARKDOWN" if path.endswith(".md") else "SOURCE_CODE"),
        language="",
        metadata={key: value for key, value in more.items() if key != "digest"},
        document=(0, hash(path) % (1 << 30)),
        digest=more.get("digest", number.to_bytes(8, "big")),
        streams=streams,
    )
