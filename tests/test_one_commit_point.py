"""CURRENT alone decides what a session holds: files, added documents and counts change together or not at all."""

import errno
import io
import itertools
from pathlib import Path

import pytest

from ragcli.errors import IndexCorruptError, StoreError
from ragcli.session.service import RagService
from ragcli.store.codec import decode, encode
from ragcli.store.directory import RamDirectory
from ragcli.store.snapshots import CURRENT, MANIFEST_KIND, SnapshotStore
from tests.crashing import CrashingDirectory, Died, each_step
from tests.engine import answers, index, rewrite, service, write

QUERIES = ("alpha", "kiwi", "alpha gamma")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write(tmp_path / "tree", {"a.txt": "alpha beta\n", "b.md": "# Notes\n\nalpha gamma\n"})


def state(rag: RagService) -> list[object]:
    """What every door says of a session, but for when."""
    status = rag.get_status()._replace(bytes=0, last_indexed=0.0)
    texts = {info.id: rag.get_document(info.id) for info in rag.list_documents()}
    found = {result.id for result in rag.search("kiwi", 99) if not result.file}
    assert found == set(texts), "list and search agree"
    assert status.documents == len(texts)
    return [answers(rag, QUERIES), status, rag.list_files(), texts]


def made(tree: Path) -> tuple[RamDirectory, list[str]]:
    """A session with files and two added documents, and their ids."""
    directory = RamDirectory()
    rag = service(directory)
    index(rag, tree)
    return directory, [rag.add_document(f"added kiwi {name}", {"topic": name}) for name in ("one", "two")]


def other_session(folder: Path) -> bytes:
    """An export of another tree with another document."""
    rag, target = service(), io.BytesIO()
    index(rag, write(folder, {"z.txt": "alpha of another tree\n"}))
    rag.add_document("added kiwi elsewhere")
    rag.export(target)
    return target.getvalue()


@pytest.mark.parametrize("found_after", ["after_kill", "after_power_cut"])
@pytest.mark.parametrize("change", ["add", "rm", "rm all", "clear", "import", "index", "rebuild"])
def test_death_at_any_step_leaves_all_of_the_old_or_all_of_the_new_state(
    tree: Path, tmp_path: Path, change: str, found_after: str
) -> None:
    first, ids = made(tree)
    if change == "rm all":
        service(first).remove_document(ids[1])
    data = other_session(tmp_path / "other")
    rewrite(tree / "a.txt", "alpha changed\n")
    changes = {
        "add": lambda rag: rag.add_document("added kiwi three"),
        "rm": lambda rag: rag.remove_document(ids[0]),
        "rm all": lambda rag: rag.remove_document(ids[0]),
        "clear": RagService.clear,
        "import": lambda rag: rag.import_(io.BytesIO(data)),
        "index": lambda rag: index(rag, tree),
        "rebuild": lambda rag: index(rag, tree, rebuild=True),
    }
    old = state(service(RamDirectory(dict(first.files))))
    done = RamDirectory(dict(first.files))
    changes[change](service(done))
    new = state(service(done))
    assert old != new

    def run(dies_at: int) -> CrashingDirectory:
        directory = CrashingDirectory(first.files, dies_at)
        try:
            changes[change](service(directory))
        except Died:
            assert directory.steps == dies_at
        return directory

    seen = []
    for crashed in each_step(run):
        after = getattr(crashed, found_after)()
        seen.append(state(service(after)))
        assert seen[-1] in (old, new), f"step {crashed.dies_at}"
        # Whatever was left is no matter for what comes next: the documents that were there stay.
        id_ = service(after).add_document("added kiwi last")
        assert {info.id for info in service(after).list_documents()} == {*seen[-1][3], id_}  # type: ignore[misc]
        state(service(after))
        assert not [name for name in after.files if name.startswith(".draft-")]
    assert old in seen and new in seen


def test_swapped_segments_are_not_taken_for_each_other(tree: Path) -> None:
    """Each is sound by itself; only the manifest knows which is which."""
    directory, _ = made(tree)
    names = sorted(name for name in directory.files if name.endswith(".segment"))
    assert len(names) == 3
    for one, other in itertools.combinations(names, 2):
        files = {**directory.files, one: directory.files[other], other: directory.files[one]}
        for door in (lambda rag: answers(rag), RagService.list_files, lambda rag: rag.show("a.txt")):
            with pytest.raises(IndexCorruptError, match="another segment"):
                door(service(RamDirectory(dict(files))))
        report = index(service(RamDirectory(files)), tree)
        assert any(one in notice for notice in report.notices)
        assert state(service(RamDirectory(files))) == state(service(RamDirectory(dict(directory.files))))


def test_without_current_a_session_is_damaged_and_not_gone(tree: Path) -> None:
    directory, _ = made(tree)
    whole = state(service(directory))
    del directory.files[CURRENT]
    before = dict(directory.files)

    for door in (
        lambda rag: rag.search("alpha"), RagService.get_status, RagService.list_documents, RagService.list_files,
        lambda rag: rag.add_document("added kiwi three"), lambda rag: rag.export(io.BytesIO()),
    ):  # fmt: skip
        with pytest.raises(IndexCorruptError, match="CURRENT is missing") as caught:
            door(service(directory))
        assert "ragcli index" in caught.value.hint
        assert directory.files == before

    index(service(directory), tree)
    assert state(service(directory)) == whole


@pytest.mark.parametrize("verify", [True, False])
def test_verify_puts_wrong_counts_of_a_manifest_right(tree: Path, verify: bool) -> None:
    directory, _ = made(tree)
    whole = state(service(directory))
    number = SnapshotStore(directory).current_number()
    name = f"{number}.manifest"
    manifest = decode(MANIFEST_KIND, name, directory.files[name])
    for info in manifest["segments"]:
        info["chunks"] += 40
        info["english_length"] += 400
    manifest["corpus"] |= {"files": 77, "chunks": 99, "formats": {"PDF": 7}}
    directory.files[name] = encode(MANIFEST_KIND, name, manifest)
    wrong = service(RamDirectory(dict(directory.files))).get_status()
    assert (wrong.files, wrong.chunks) == (77, 99)

    index(service(directory), tree, verify=verify)

    assert (state(service(directory)) == whole) is verify


class CrampedDirectory(RamDirectory):
    """A disk with no room at all beyond what is removed from it."""

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__(files)
        self.room = 0

    def remove(self, name: str) -> None:
        self.room += len(self.files.get(name, b""))
        super().remove(name)

    def draft(self) -> "CrampedDraft":
        return CrampedDraft(self)


class CrampedDraft:
    def __init__(self, directory: CrampedDirectory) -> None:
        self._directory = directory
        self._data = b""

    def write(self, data: bytes) -> None:
        if len(data) > self._directory.room:
            raise StoreError("cannot write /the/session", "make room") from OSError(errno.ENOSPC, "no space")
        self._directory.room -= len(data)
        self._data += data

    def publish(self, name: str) -> None:
        self._directory.files[name] = self._data

    def discard(self) -> None:
        self._directory.room += len(self._data)


def test_clear_works_on_a_full_disk(tree: Path) -> None:
    """It is what one does on a full disk."""
    directory, _ = made(tree)
    full = CrampedDirectory(dict(directory.files))

    service(full).clear()

    rag = service(RamDirectory(full.files))
    assert (rag.get_status().chunks, rag.list_documents(), rag.search("alpha")) == (0, [], [])
    assert not [name for name in full.files if name.endswith(".segment")]
