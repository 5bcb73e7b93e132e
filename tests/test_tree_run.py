"""An index run over a store of another kind: what the run asks of it, and in which order."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ragcli.config.options import STANDARD, IndexOptions, RunOptions
from ragcli.documents import Chunk, IndexReport
from ragcli.errors import SourceRejectedError, StrictError
from ragcli.index.doc_table import DocumentRow
from ragcli.indexing.request import IndexRequest
from ragcli.indexing.run import Base, Published, Run
from ragcli.indexing.run_summary import RunSummary
from ragcli.indexing.tree_run import index_tree
from ragcli.model import Failure
from ragcli.store.stat_cache import StatCache


class Stored(NamedTuple):
    """A file of the store: no row, no address, just what the run needs of it."""

    path: str
    fingerprint: bytes
    text: str


class TextPacker:
    """A batch as the texts of its documents."""

    def __init__(self) -> None:
        self._files: list[Stored] = []

    def add(self, row: DocumentRow, text: str, chunks: Sequence[Chunk], ids: Sequence[str]) -> None:
        self._files.append(Stored(row.path, row.fingerprint, text))

    def finish(self) -> list[Stored]:
        return self._files


class TextStore:
    """Texts by path; `published` counts generations, `unpublished` is what runs that died have stored."""

    def __init__(self) -> None:
        self.files: dict[str, Stored] = {}
        self.unpublished: dict[str, Stored] = {}
        self.failures: tuple[Failure, ...] = ()
        self.cache: StatCache | None = None
        self.published = 0

    def index(self, root: Path, **how: Any) -> IndexReport:
        """Index a tree in this process."""
        request = IndexRequest(
            "texts", "texts", str(root), IndexOptions(limits=STANDARD), run=RunOptions(workers=0, **how)
        )
        return index_tree(lambda request: TextRun(self), request)

    def texts(self) -> dict[str, str]:
        return {path: stored.text for path, stored in sorted(self.files.items())}


class TextRun:
    """One run over a TextStore."""

    packer = TextPacker

    def __init__(self, store: TextStore) -> None:
        self._store = store
        self._next = dict(store.files)
        self._new: dict[str, Stored] = {}
        count = len(store.files)
        self.base = Base(str(store.published), count, count, store.failures, store.cache, True, ["begun"])
        self.new_text_bytes = 0

    def known(self) -> Mapping[str, Stored]:
        return self._store.files

    def pending(self) -> Mapping[str, Stored]:
        return self._store.unpublished

    def add(self, packed: Stored) -> None:
        self._new[packed.path] = packed
        self._store.unpublished[packed.path] = packed
        self.new_text_bytes += len(packed.text)

    def reuse(self, path: str) -> None:
        self._new[path] = self._store.unpublished[path]

    def drop(self, paths: Sequence[str]) -> None:
        for path in paths:
            self._next.pop(path, None)

    def text_bytes(self) -> int:
        return sum(len(stored.text) for stored in (*self._next.values(), *self._new.values()))

    def publish(self, started: int, summary: RunSummary) -> Published:
        store = self._store
        files = self._next | self._new
        changed = files != store.files
        store.files, store.unpublished = files, {}
        store.failures = tuple(summary.sorted_failures())
        store.cache = StatCache(started, "", summary.states, summary.sorted_skipped())
        store.published += changed
        return Published(str(store.published), len(files), changed)

    def close(self) -> None:
        pass


def begun(store: TextStore) -> Run:
    """TextRun satisfies the protocol; mypy says so."""
    return TextRun(store)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    for name in ("a", "b", "c"):
        (root / f"{name}.txt").write_text(f"text {name}\n")
    return root


def test_a_store_of_another_kind_follows_its_tree(tree: Path) -> None:
    store = TextStore()
    first = store.index(tree)
    assert (first.files.new, first.chunks, first.committed, first.notices) == (3, 3, True, ["begun"])
    assert not store.index(tree).committed

    (tree / "a.txt").write_text("another text\n")
    (tree / "b.txt").unlink()
    (tree / "d.txt").write_text("text d\n")
    report = store.index(tree)

    assert (report.files.new, report.files.changed, report.files.kept, report.files.gone) == (1, 1, 1, 1)
    assert store.texts() == {"a.txt": "another text\n", "c.txt": "text c\n", "d.txt": "text d\n"}
    assert (report.generation, store.published) == ("2", 2)


def test_what_an_unpublished_run_has_stored_is_taken_over(tree: Path) -> None:
    store = TextStore()
    (tree / "bad.pdf").write_bytes(b"%PDF-1.4 cut")
    with pytest.raises(StrictError):
        store.index(tree, strict=True)
    assert store.texts() == {}
    stored = store.unpublished["a.txt"]

    store.index(tree)

    assert sorted(store.files) == ["a.txt", "b.txt", "c.txt"]
    assert store.files["a.txt"] is stored


def test_a_dry_run_asks_for_nothing_but_what_is_known(tree: Path) -> None:
    store = TextStore()
    report = store.index(tree, dry_run=True)
    assert (report.files.new, report.committed, store.files, store.unpublished) == (3, False, {}, {})


def test_a_tree_that_became_empty_leaves_the_store_as_it_was(tree: Path) -> None:
    store = TextStore()
    store.index(tree)
    before = store.texts()
    for path in tree.iterdir():
        path.unlink()

    with pytest.raises(SourceRejectedError, match="had 3 files and now has none"):
        store.index(tree)

    assert store.texts() == before
