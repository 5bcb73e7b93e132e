"""A hundred index runs in one process: memory and descriptors stay level, and no process is left."""

import gc
import os
import resource
from pathlib import Path

import pytest

from ragcli.session.manager import SessionManager
from tests.engine import index, rewrite, write

pytestmark = [
    pytest.mark.usefixtures("unsynced"),
    pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts descriptors in /proc"),
]
WARM_UP = 30
# What a level process may still gain over seventy runs: the allocator's arenas are 1 MiB each.
ALLOWANCE = 4 * 1024 * 1024


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def memory() -> int:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def children() -> set[str]:
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def tree_of(folder: Path) -> Path:
    files: dict[str, str | bytes] = {f"d{n % 7}/f{n}.txt": f"alpha beta number{n} word\n" * 20 for n in range(60)}
    files |= {f"n{n}.md": f"# Title {n}\n\ntext {n}\n" for n in range(20)}
    files |= {"data.json": '{"a": [1, 2, {"b": "c"}]}', "table.csv": "a,b\n1,2\n", "bad.pdf": b"%PDF-1.7 broken"}
    return write(folder / "tree", files)


def one_round(manager: SessionManager, tree: Path, number: int) -> None:
    """Change, index, add, remove, search at each door, and now and then a failure."""
    rag = manager.rag_for_path(str(tree))
    rewrite(tree / f"d{number % 7}" / f"f{number % 60}.txt", f"alpha changed{number}\n" * (number % 30 + 1))
    index(rag, tree, rebuild=number % 10 == 0, verify=number % 10 == 5)
    id_ = rag.add_document(f"kiwi of the round {number % 5}")
    rag.search("alpha beta", 10)
    rag.build_context_prompt("alpha kiwi")
    rag.show("n1.md")
    rag.list_files()
    rag.list_skipped()
    rag.get_status()
    rag.remove_document(id_)
    SessionManager(tree.parent / "data").sessions()


def test_a_hundred_runs_keep_memory_and_descriptors_level(tmp_path: Path) -> None:
    tree = tree_of(tmp_path)
    manager = SessionManager(tmp_path / "data")
    for number in range(WARM_UP):
        one_round(manager, tree, number)
    before = descriptors(), memory()
    for number in range(WARM_UP, 100):
        one_round(manager, tree, number)
    after = descriptors(), memory()

    assert after[0] <= before[0]
    assert after[1] - before[1] < ALLOWANCE


def test_runs_with_workers_leave_no_process_and_no_descriptor(tmp_path: Path) -> None:
    tree = tree_of(tmp_path)
    manager = SessionManager(tmp_path / "data")

    def run(number: int) -> None:
        rewrite(tree / "n1.md", f"# Title\n\nworker run {number}\n")
        index(manager.rag_for_path(str(tree)), tree, workers=2, rebuild=True)

    for number in range(2):
        run(number)
    before = descriptors(), children()
    for number in range(2, 6):
        run(number)

    assert (descriptors(), children()) == before


def test_failing_runs_give_everything_back(tmp_path: Path) -> None:
    """Runs that end in an error, and searches of a damaged index."""
    from ragcli.config.options import STANDARD, IndexOptions
    from ragcli.errors import RagError

    tree = tree_of(tmp_path)
    rag = SessionManager(tmp_path / "data").rag_for_path(str(tree))
    index(rag, tree)
    (segment,) = (tmp_path / "data").rglob("*.segment")
    sound = segment.read_bytes()

    few_files = IndexOptions(limits=STANDARD._replace(max_files=3))
    little_text = IndexOptions(limits=STANDARD._replace(max_total_text=10))

    def fail(number: int) -> None:
        for how in ({"strict": True}, {"options": few_files}, {"options": little_text, "rebuild": True}):
            with pytest.raises(RagError):
                index(rag, tree, **how)  # type: ignore[arg-type]
        segment.write_bytes(sound[:-1] if number % 2 else sound[:100] + b"\xff" * 50 + sound[150:])
        with pytest.raises(RagError):
            SessionManager(tmp_path / "data").rag_for_path(str(tree)).search("alpha")
        segment.write_bytes(sound)

    for number in range(5):
        fail(number)
    before = descriptors()
    for number in range(20):
        fail(number)

    assert descriptors() <= before
