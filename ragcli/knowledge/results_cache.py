"""Results of one scope's search kept for a while, in this process and on disk. A new generation makes them useless."""

import hashlib
import json
import time
from collections.abc import Callable, Sequence

from ragcli.errors import RagError
from ragcli.model import SearchResult, StreamScore
from ragcli.session.kept_files import KeptFiles

_PREFIX = "results-"
MAX_KEPT = 128


class ResultsCache:
    """Kept with the first source of the scope. `clock` counts seconds since the epoch."""

    def __init__(self, kept: KeptFiles, clock: Callable[[], float] = time.time) -> None:
        self._kept = kept
        self._clock = clock

    def get(self, key: str) -> list[SearchResult] | None:
        """What was kept under a key and has not expired."""
        raw = self._kept.read(_PREFIX + key)
        if raw is None:
            return None
        try:
            value = json.loads(raw)
            if not value["written"] <= self._clock() < value["until"]:
                return None
            return [_result(row) for row in value["results"]]
        except (ValueError, KeyError, TypeError, AttributeError):
            return None  # damaged: as good as nothing

    def put(self, key: str, results: Sequence[SearchResult], seconds: float) -> None:
        """Keep results; where the data directory cannot be written nothing is kept, and nothing lost."""
        now = self._clock()
        value = {"written": now, "until": now + seconds, "results": [list(result) for result in results]}
        try:
            for name in sorted(self._kept.names())[MAX_KEPT:]:
                if name.startswith(_PREFIX):
                    self._kept.remove(name)
            self._kept.write(_PREFIX + key, json.dumps(value).encode())
        except (RagError, OSError):
            return

    def clear(self) -> None:
        """Forget everything."""
        for name in self._kept.names():
            if name.startswith(_PREFIX):
                self._kept.remove(name)


def cache_key(*parts: object) -> str:
    """A name for what a search depends on."""
    return hashlib.blake2b(json.dumps(parts, default=str).encode(), digest_size=12).hexdigest()


def _result(row: list[object]) -> SearchResult:
    result = SearchResult(*row)  # type: ignore[arg-type]
    return result._replace(streams={name: StreamScore(*score) for name, score in result.streams.items()})
