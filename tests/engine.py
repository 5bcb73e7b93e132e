"""Small doors to the engine for tests: a service on any directory, its answers as plain values."""

import os
from collections.abc import Sequence
from pathlib import Path

from ragcli.config.options import STANDARD, IndexOptions, QueryOptions
from ragcli.documents import IndexReport
from ragcli.session.locator import SessionPlace
from ragcli.session.service import RagService
from ragcli.store.directory import Directory, RamDirectory

# One word each query has in many files, one in few, one in names; enough to see a wrong statistic in a score.
QUERIES = ("alpha", "beta gamma", "alpha delta omega", "notes", "module function_one", "added kiwi")


def service(directory: Directory | None = None) -> RagService:
    """A session of no directory in particular, in memory unless told otherwise."""
    place = SessionPlace("0" * 16, "", "/nonexistent/ragcli-test")
    return RagService(place, None, directory if directory is not None else RamDirectory())


def index(rag: RagService, root: Path | str, options: IndexOptions | None = None, **how: object) -> IndexReport:
    """Index in this process, with the command line's limits."""
    how.setdefault("workers", 0)
    how.setdefault("allow_empty", True)
    return rag.index_directory(root, options=options or IndexOptions(limits=STANDARD), **how)  # type: ignore[arg-type]


def answers(rag: RagService, queries: tuple[str, ...] = QUERIES, top_k: int = 20) -> list[object]:
    """All that searches show but whether files changed since, with and without signals, and the corpus' digest."""
    shown: list[object] = []
    for query in queries:
        for signals in (True, False):
            outcome = rag.query(query, top_k, QueryOptions(signals=signals, max_per_file=50))
            results = [result._replace(stale=None) for result in outcome.results]
            shown.append((query, signals, outcome.generation, results, outcome.degraded))
    return shown


def rebuilt(
    root: Path | str, documents: Sequence[tuple[str, dict[str, str]]] = (), options: IndexOptions | None = None
) -> RagService:
    """A fresh index of a tree and of added documents."""
    rag = service()
    for text, metadata in documents:
        rag.add_document(text, metadata)
    index(rag, root, options)
    return rag


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    """Write files below a directory."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def rewrite(path: Path, content: str) -> None:
    """Write content of any size with times that differ from before, as an editor a while later would."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_text(content)
    os.utime(path, ns=(before + 1_000_000_000, before + 1_000_000_000))
