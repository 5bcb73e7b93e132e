"""How fast a tree of the size of a large repository is walked and read; nothing is asserted about time."""

from pathlib import Path
from typing import Any

import pytest

from ragcli.config.options import STANDARD, IndexOptions
from ragcli.ingest.reading import TreeReader
from ragcli.ingest.walk import walk

RULES = """.*
*.o
*.a
*.ko
*.so.dbg
*.mod.c
*.lex.c
*.[012]*.*
*~
/vmlinux
/tags
/include/config/
!.gitignore
"""
OPTIONS = IndexOptions(limits=STANDARD)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """20,000 files in 1,250 directories, with one ignore file of the kernel's kind."""
    root = tmp_path_factory.mktemp("tree")
    (root / ".gitignore").write_text(RULES)
    for i in range(1_250):
        directory = root / f"dir{i % 10}/sub{i // 10 % 25}/leaf{i // 250}"
        directory.mkdir(parents=True, exist_ok=True)
        for j in range(16):
            (directory / f"file_{j:02d}.c").write_text("int x;\n")
    return root


@pytest.mark.benchmark
@pytest.mark.parametrize("ignore_files", [False, True])
def test_walk(tree: Path, benchmark: Any, ignore_files: bool) -> None:
    """Walk without and with ignore files."""
    found = benchmark(walk, str(tree), OPTIONS._replace(ignore_files=ignore_files))

    assert len(found.files) == 20_000


@pytest.mark.benchmark
def test_read(tree: Path, benchmark: Any) -> None:
    """Read every file in the order of the walk."""
    files = walk(str(tree), OPTIONS).files

    def read_all() -> int:
        with TreeReader(str(tree)) as reader:
            return sum(len(reader.read(file, 1_000)[0]) for file in files)

    assert benchmark(read_all) == 7 * 20_000


@pytest.mark.benchmark
@pytest.mark.parametrize("rules", [125, 250, 500, 1_000])
@pytest.mark.parametrize("levels", [1, 2, 4])
def test_walk_under_rules_with_wildcards(tmp_path: Path, benchmark: Any, levels: int, rules: int) -> None:
    """A chain of directories, each with that many rules: time grows with rules in force, summed over directories."""
    directory = tmp_path
    for level in range(levels):
        directory.mkdir(exist_ok=True)
        text = "".join(f"**/a*{level}x{n}*b/**/c?{n}\n" for n in range(rules))
        (directory / ".gitignore").write_text(text)
        for number in range(20):
            (directory / f"f{number}.txt").write_text("x")
        directory = directory / "aab"

    found = benchmark(walk, str(tmp_path), OPTIONS)

    assert len(found.files) == 20 * levels
