"""The model test: after any series of changes, the living index answers exactly as one built from scratch."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragcli.config.options import STANDARD, IndexOptions, QueryOptions
from ragcli.errors import SourceRejectedError
from ragcli.index import merge_policy
from ragcli.session.service import RagService
from ragcli.store.directory import RamDirectory
from ragcli.store.snapshots import SnapshotStore
from tests.engine import answers, index, rebuilt, service

NAMES = ("a.txt", "b.md", "c.py", "sub/a.txt", "sub/notes.md", "sub/deep/d.json", "z.bin")
WORDS = ("alpha", "beta", "gamma", "delta", "omega", "notes", "function_one", "HTTPServer")
texts = st.lists(
    st.sampled_from([*WORDS, "\n", "# alpha notes\n", "def function_one():\n    pass\n", "é", "\n\n"]), max_size=12
)
contents = texts.map(lambda words: " ".join(words).encode()) | st.just(b"\x00\x01\x02binary\x00")

operations = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(NAMES), contents),
    st.tuples(st.just("delete"), st.sampled_from(NAMES)),
    st.tuples(st.just("rename"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("touch"), st.sampled_from(NAMES)),
    st.tuples(st.just("ignore"), st.sampled_from(["", "*.md\n", "sub/\n", "!a.txt\n*.txt\n"])),
    st.tuples(st.just("exclude"), st.sampled_from([(), ("**/*.py",), ("sub/**",)])),
    st.tuples(st.just("index")),
    st.tuples(st.just("index")),
    st.tuples(st.just("rebuild")),
    st.tuples(st.just("add"), st.sampled_from(["added kiwi alpha", "added kiwi beta beta", "added omega"])),
    st.tuples(st.just("rm"), st.integers(0, 2)),
    st.tuples(st.just("clear")),
)


class Model:
    """A tree on disk, the living index of it, and what an index from scratch needs to know."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.directory = RamDirectory()
        self.rag: RagService = service(self.directory)
        self.options = IndexOptions(limits=STANDARD)
        self.added: dict[str, str] = {}
        self.clock = 1_000_000_000

    def apply(self, operation: tuple[object, ...]) -> None:
        getattr(self, f"do_{operation[0]}")(*operation[1:])

    def do_write(self, name: str, content: bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self._tick(path)

    def do_delete(self, name: str) -> None:
        (self.root / name).unlink(missing_ok=True)

    def do_rename(self, name: str, other: str) -> None:
        if (self.root / name).exists():
            (self.root / other).parent.mkdir(parents=True, exist_ok=True)
            os.replace(self.root / name, self.root / other)

    def do_touch(self, name: str) -> None:
        if (self.root / name).exists():
            self._tick(self.root / name)

    def do_ignore(self, rules: str) -> None:
        (self.root / ".gitignore").write_text(rules)

    def do_exclude(self, patterns: tuple[str, ...]) -> None:
        self.options = self.options._replace(exclude=patterns)

    def do_index(self, rebuild: bool = False) -> None:
        """Index, and hold the answers against those of a fresh index."""
        try:
            index(self.rag, self.root, self.options, rebuild=rebuild)
        except SourceRejectedError:
            with pytest.raises(SourceRejectedError):
                rebuilt(self.root, self._documents(), self.options)
            return
        fresh = rebuilt(self.root, self._documents(), self.options)
        assert answers(self.rag) == answers(fresh)
        assert self.rag.list_files() == fresh.list_files()
        assert self.rag.list_documents() == fresh.list_documents()
        # Nothing changed since: another run must find that out, and write nothing.
        before = dict(self.directory.files)
        report = index(self.rag, self.root, self.options)
        assert not report.committed
        written = {name for name in self.directory.files if self.directory.files[name] != before.get(name)}
        assert not [name for name in written if not name.endswith(".stat")]

    def do_rebuild(self) -> None:
        self.do_index(rebuild=True)

    def do_add(self, text: str) -> None:
        self.added[self.rag.add_document(text, {"topic": "fruit"})] = text

    def do_rm(self, number: int) -> None:
        if number < len(self.added):
            id_ = sorted(self.added)[number]
            assert self.rag.remove_document(id_)
            del self.added[id_]

    def do_clear(self) -> None:
        if self.directory.files:
            self.rag.clear()
            self.added.clear()
            assert self.rag.get_status().chunks == 0
            assert self.rag.search("alpha", 5) == []

    def _documents(self) -> list[tuple[str, dict[str, str]]]:
        return [(self.added[id_], {"topic": "fruit"}) for id_ in sorted(self.added)]

    def _tick(self, path: Path) -> None:
        self.clock += 1_500_000_000
        os.utime(path, ns=(self.clock, self.clock))


@contextmanager
def small_steps(per_class: int = 2) -> Iterator[None]:
    """Merge early, so that a short series merges often."""
    before = merge_policy.MAX_PER_CLASS
    merge_policy.MAX_PER_CLASS = per_class
    try:
        yield
    finally:
        merge_policy.MAX_PER_CLASS = before


def run(series: list[tuple[object, ...]]) -> None:
    folder = tempfile.mkdtemp(prefix="ragcli-model-")
    try:
        with small_steps():
            model = Model(Path(folder))
            for operation in [*series, ("index",)]:
                model.apply(operation)
    finally:
        shutil.rmtree(folder)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(operations, max_size=14))
def test_any_series_of_changes_answers_as_an_index_from_scratch(series: list[tuple[object, ...]]) -> None:
    run(series)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(max_examples=1500, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(operations, max_size=40))
def test_any_long_series_of_changes_answers_as_an_index_from_scratch(series: list[tuple[object, ...]]) -> None:
    run(series)


def test_any_number_of_workers_gives_the_same_segments(tmp_path: Path) -> None:
    """Names of segments are hashes of their bytes, so equal names are equal bytes."""
    for number in range(40):
        words = " ".join(WORDS[number % 5 :]) + "\n"
        (tmp_path / f"f{number:02}.{('txt', 'md', 'py')[number % 3]}").write_text(words * (number + 1))
    stored = []
    for workers in (0, 1, 3):
        directory = RamDirectory()
        index(service(directory), tmp_path, workers=workers)
        stored.append(sorted(name for name in directory.files if name.endswith(".segment")))

    assert stored[0] == stored[1] == stored[2]


def test_a_corpus_cut_into_many_segments_answers_as_one_segment(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"f{number:02}.txt").write_text(" ".join(WORDS[number % 4 :]) + "\n")
        if number % 3 == 0:
            (tmp_path / f"f{number // 2:02}.txt").write_text("alpha omega " * number + "\n")
    rag = service()
    with small_steps(per_class=1000):
        for number in range(30, 0, -1):
            (tmp_path / f"f{number:02}.txt").write_text(f"beta delta {' '.join(WORDS[number % 3 :])} {number}\n")
            index(rag, tmp_path)

        assert answers(rag) == answers(rebuilt(tmp_path))


def test_the_dead_of_a_segment_count_nowhere(tmp_path: Path) -> None:
    """Few enough are dead that the segment is kept as it is: they must be missing from hits and from statistics."""
    for number in range(24):
        (tmp_path / f"f{number:02}.txt").write_text(f"{' '.join(WORDS[number % 4 :])} alpha\n" * (number % 3 + 1))
    directory = RamDirectory()
    rag = service(directory)
    index(rag, tmp_path)
    (tmp_path / "f03.txt").unlink()
    (tmp_path / "f07.txt").write_text("beta gamma rewritten and longer than before\n")
    (tmp_path / "f11.txt").rename(tmp_path / "e11.txt")

    index(rag, tmp_path)

    manifest = SnapshotStore(directory).manifest()
    assert manifest is not None
    assert sum(len(info.deleted) for info in manifest.segments) == 3
    assert answers(rag) == answers(rebuilt(tmp_path))
    assert "f03.txt" not in {result.file for result in rag.query("alpha", 100, QueryOptions(max_per_file=9)).results}
