"""README tells the truth: its command lines run, and every option it names exists."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from ragcli.cli.app import tree as command_tree
from ragcli.cli.command_tree import grammars
from tests.cli.process import COMMAND, PROJECT, environment

README = (PROJECT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(?:sh|console|bash)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
LINES = [
    line.removeprefix("$ ")
    for block in BLOCKS
    for line in block.splitlines()
    if line.removeprefix("$ ").startswith("ragcli ")
]
# Options of other programs that README may name.
FOREIGN = {"--no-header", "--quiet", "--upgrade", "--strict-markers"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a project to run the lines in, and stand-ins for what they are piped into."""
    home = tmp_path_factory.mktemp("readme")
    project = home / "project"
    (project / "src").mkdir(parents=True)
    (project / "src" / "auth.py").write_text("def auth_middleware(request):\n    return request.user\n")
    (project / "README.md").write_text("# Auth\n\nHow does auth work? With a middleware that is committed durable.\n")
    shutil.copytree(PROJECT / "examples", project / "examples")
    shutil.copytree(PROJECT / "examples" / "shop", project, dirs_exist_ok=True)
    binaries = home / "bin"
    binaries.mkdir()
    for name, script in (("ragcli", f'exec {shlex.join(COMMAND)} "$@"'), ("llm", "cat >/dev/null")):
        (binaries / name).write_text(f"#!/bin/sh\n{script}\n")
        (binaries / name).chmod(0o755)
    return home


def test_readme_shows_command_lines() -> None:
    assert LINES


def test_every_command_line_runs_in_order(home: Path) -> None:
    """Exit code 1 is an answer too: nothing was found in this small project."""
    variables = environment(home / "data")
    variables["PATH"] = f"{home / 'bin'}:{variables['PATH']}"
    for line in LINES:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line], cwd=home / "project", env=variables, capture_output=True,
            stdin=subprocess.DEVNULL, timeout=60,
        )  # fmt: skip
        assert done.returncode in (0, 1), (line, done.stderr)
        assert b"Traceback" not in done.stderr


def test_the_example_of_declared_knowledge_answers_as_shown(home: Path) -> None:
    block = next(block for block in BLOCKS if "ragcli knowledge check" in block)
    variables = environment(home / "shop-data")
    variables["PATH"] = f"{home / 'bin'}:{variables['PATH']}"
    for part in block.split("$ ")[1:-1]:
        line, _, shown = part.partition("\n")
        done = subprocess.run(
            ["bash", "-c", line], cwd=PROJECT / "examples" / "shop", env=variables, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=60,
        )  # fmt: skip
        assert shown in (done.stdout, done.stderr), (line, done.stdout, done.stderr)


def test_every_option_that_readme_names_exists() -> None:
    known = {name for grammar in grammars(command_tree()) for word in grammar.words for name in word.names}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", README))

    assert named - known - FOREIGN == set()
