"""Death at every step of a commit: the old or the new generation answers, and the next run completes."""

from pathlib import Path

import pytest

from ragcli.errors import StoreError
from ragcli.store.directory import RamDirectory
from tests.crashing import CrashingDirectory, Died, FullDirectory, each_step
from tests.engine import answers, index, rebuilt, rewrite, service, write


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write(
        tmp_path / "tree",
        {
            "a.txt": "alpha beta gamma\n" * 3,
            "b.md": "# Notes\n\nalpha delta\n",
            "c.py": "def function_one():\n    return 'omega'\n",
            "gone.txt": "alpha gone\n",
        },
    )


def edit(tree: Path) -> None:
    rewrite(tree / "a.txt", "alpha beta beta changed\n")
    (tree / "gone.txt").unlink()
    write(tree, {"new.txt": "gamma omega new\n"})


def run_until_death(directory: CrashingDirectory, work: object) -> CrashingDirectory:
    try:
        work(service(directory))  # type: ignore[operator]
    except Died:
        assert directory.steps == directory.dies_at
    return directory


@pytest.mark.parametrize("state", ["after_kill", "after_power_cut"])
def test_death_at_any_step_of_an_index_run_leaves_the_old_or_the_new_generation(tree: Path, state: str) -> None:
    first = RamDirectory()
    index(service(first), tree)
    old = answers(service(first))
    edit(tree)
    new = answers(rebuilt(tree))

    left = each_step(lambda k: run_until_death(CrashingDirectory(first.files, k), lambda rag: index(rag, tree)))

    assert len(left) > 15
    seen = []
    for crashed in left:
        found = getattr(crashed, state)()
        seen.append(answers(service(found)))
        assert seen[-1] in (old, new), f"step {crashed.dies_at}"
        index(service(found), tree)
        assert answers(service(found)) == new, f"step {crashed.dies_at}"
        assert not [name for name in found.files if name.startswith(".draft-")]
    assert old in seen and new in seen


@pytest.mark.parametrize("state", ["after_kill", "after_power_cut"])
def test_death_at_any_step_of_the_first_run_leaves_nothing_or_all(tree: Path, state: str) -> None:
    new = answers(rebuilt(tree))

    left = each_step(lambda k: run_until_death(CrashingDirectory({}, k), lambda rag: index(rag, tree)))

    for crashed in left:
        found = getattr(crashed, state)()
        index(service(found), tree)
        assert answers(service(found)) == new, f"step {crashed.dies_at}"


@pytest.mark.parametrize("state", ["after_kill", "after_power_cut"])
def test_death_while_adding_or_removing_a_document_loses_no_other(tree: Path, state: str) -> None:
    first = RamDirectory()
    rag = service(first)
    index(rag, tree)
    kept = rag.add_document("added kiwi kept", {"topic": "fruit"})
    dropped = rag.add_document("added kiwi dropped", {})

    def change(rag: object) -> None:
        rag.remove_document(dropped)  # type: ignore[attr-defined]
        rag.add_document("added kiwi new", {})  # type: ignore[attr-defined]

    for crashed in each_step(lambda k: run_until_death(CrashingDirectory(first.files, k), change)):
        found = getattr(crashed, state)()
        after = service(found)
        assert kept in {info.id for info in after.list_documents()}
        assert any(result.id == kept for result in after.search("kiwi kept", 10))
        index(after, tree)
        listed = {info.id for info in after.list_documents()}
        assert {r.id for r in service(found).search("kiwi", 10) if not r.file} == listed


def test_a_killed_run_is_taken_up_where_it_flushed(tree: Path) -> None:
    """What PENDING names is not read again, and never seen by a reader."""
    from ragcli.store.snapshots import PENDING

    left = each_step(lambda k: run_until_death(CrashingDirectory({}, k), lambda rag: index(rag, tree)))
    pending = [crashed.after_power_cut() for crashed in left if PENDING in crashed.durable]
    assert pending

    report = index(service(pending[0]), tree)

    assert report.files.new == 0
    assert report.files.kept == 4
    assert answers(service(pending[0])) == answers(rebuilt(tree))


def test_a_full_disk_at_any_write_leaves_the_previous_generation(tree: Path) -> None:
    first = RamDirectory()
    index(service(first), tree)
    old = answers(service(first))
    edit(tree)
    room = 0
    while True:
        full = FullDirectory(first.files, room)
        try:
            index(service(full), tree)
        except OSError:
            assert answers(service(RamDirectory(full.files))) == old
            room += 97
            continue
        break
    assert room > 1000
    assert answers(service(RamDirectory(full.files))) == answers(rebuilt(tree))


def test_a_directory_that_cannot_be_written_is_one_line_with_a_hint(tree: Path, tmp_path: Path) -> None:
    from ragcli.session.manager import SessionManager

    blocked = tmp_path / "file"
    blocked.write_text("not a directory")

    with pytest.raises(StoreError, match="cannot write") as caught:
        SessionManager(blocked / "data").rag_for_path(str(tree)).index_directory(tree)

    assert "--data-dir" in caught.value.hint
