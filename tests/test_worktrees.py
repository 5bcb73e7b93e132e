"""Linked worktrees of the repository that is indexed, and of agents, are left out, told and counted."""

import subprocess
from pathlib import Path

import pytest

from ragcli.config.options import STANDARD, IndexOptions
from ragcli.documents import SkipReason, Walk
from ragcli.ingest.walk import walk
from tests.engine import index, service, write

FILES = {"src/pay.py": "def charge_card(): pass\n", "docs/guide.md": "# Charge a card\n"}


def git(root: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-c", "user.email=a@example.org", "-c", "user.name=a", *words],
        cwd=root,
        check=True,
        capture_output=True,
    )


def walked(root: Path, **options: bool) -> Walk:
    return walk(str(root), IndexOptions(limits=STANDARD, **options))  # type: ignore[arg-type]


def worktrees(found: Walk) -> list[str]:
    return [entry.path for entry in found.skipped if entry.reason == SkipReason.WORKTREE]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = write(tmp_path / "r", dict(FILES))
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "a")
    return root


def test_linked_worktrees_inside_their_repository_are_left_out_and_told(repository: Path) -> None:
    for place in ("wt/one", ".claude/worktrees/two", "deep/er/three"):
        git(repository, "worktree", "add", "-q", place, "-b", place.rpartition("/")[2])

    found = walked(repository)

    assert [file.path for file in found.files] == sorted(FILES)
    assert worktrees(found) == [".claude/worktrees/two", "deep/er/three", "wt/one"]
    report = index(service(), repository)
    assert (report.files.new, report.files.skipped) == (2, len(found.skipped))
    assert "wt/one/src/pay.py" in {file.path for file in walked(repository, default_skips=False).files}


def test_a_worktree_that_is_the_root_is_indexed_and_those_inside_it_are_not(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "out"), "-b", "out")
    git(tmp_path / "out", "worktree", "add", "-q", "inner", "-b", "inner")

    found = walked(tmp_path / "out")

    assert [file.path for file in found.files] == sorted(FILES)
    assert worktrees(found) == ["inner"]
    git(repository, "worktree", "add", "-q", "src/lib/wt", "-b", "lib")
    assert worktrees(walked(repository / "src")) == ["lib/wt"], "the repository may begin above the root"


def test_a_worktree_whose_own_directory_is_gone_still_is_one(repository: Path) -> None:
    write(repository, {"stale/.git": f"gitdir: {repository}/.git/worktrees/stale\n", "stale/a.txt": "zq\n"})

    assert worktrees(walked(repository)) == ["stale"]


def test_submodules_other_repositories_and_siblings_are_no_worktrees_of_this_one(
    repository: Path, tmp_path: Path
) -> None:
    write(repository / ".git/modules/sub", {"HEAD": "ref: refs/heads/main\n"})
    write(repository, {"sub/.git": "gitdir: ../.git/modules/sub\n", "sub/a.txt": "zq\n", "odd/.git": "no pointer\n"})
    write(tmp_path / "elsewhere/.git/worktrees/x", {"commondir": "../..\n"})
    write(repository, {"x/.git": f"gitdir: {tmp_path}/elsewhere/.git/worktrees/x\n", "x/a.txt": "zq\n"})
    git(repository, "worktree", "add", "-q", str(tmp_path / "sibling"), "-b", "sibling")

    assert worktrees(walked(repository)) == []
    assert worktrees(walked(tmp_path)) == [], "neither lies in the other"


def test_worktrees_of_agents_are_left_out_whether_git_knows_of_them_or_not(tmp_path: Path) -> None:
    root = write(tmp_path, FILES | {".claude/worktrees/f1/src/pay.py": "x = 1\n", ".claude/notes.md": "# zq\n"})

    found = walked(root)

    assert [file.path for file in found.files] == [".claude/notes.md", *sorted(FILES)]
    assert worktrees(found) == [".claude/worktrees/f1"]
