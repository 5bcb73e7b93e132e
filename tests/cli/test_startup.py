"""What a search loads: nothing that it does not use, and only its own command."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.process import environment

# Each costs a search milliseconds that it gets nothing for.
HEAVY = """
rich pathspec numpy filelock importlib.metadata platformdirs dataclasses charset_normalizer yaml bs4 lxml pypdf docx
pptx openpyxl ebooklib tree_sitter asyncio logging multiprocessing tomllib pydantic
"""
SCRIPT = """
import sys
from ragcli.cli.app import main
code = main(sys.argv[1:])
print(*sorted(sys.modules), file=sys.stderr)
sys.exit(code)
"""


def loaded(words: list[str], data: Path, cwd: Path) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *words], cwd=cwd, env=environment(data), capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.decode().split())


@pytest.mark.parametrize(
    "words",
    [["search", "kiwi", "--json"], ["search", "kiwi"], ["prompt", "kiwi"], ["completion", "--values", "sessions"]],
)
def test_a_search_loads_nothing_heavy(words: list[str], tree: Path, data: Path) -> None:
    modules = loaded(words, data, tree)

    assert not modules & set(HEAVY.split())


def test_only_the_invoked_command_is_built(tree: Path, data: Path) -> None:
    modules = loaded(["search", "kiwi", "--json"], data, tree)

    assert "ragcli.cli.commands.search_command" in modules
    for other in ("index", "prompt", "status", "documents", "render_search", "progress", "limits", "shells", "man"):
        assert f"ragcli.cli.{other}" not in modules


@pytest.mark.parametrize("words", [["--help"], ["search", "--help"], ["--version"]])
def test_help_loads_no_engine(words: list[str], tmp_path: Path) -> None:
    modules = loaded(words, tmp_path, tmp_path)

    assert not modules & {"rich", "ragcli.session.service", "ragcli.store.snapshots", "numpy", "msgpack"}
