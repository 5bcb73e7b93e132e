"""A small indexed tree, and the command line run in this process."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from ragcli.cli.app import main


class Answer(NamedTuple):
    """What a command line ended with."""

    code: int
    out: str
    err: str


Run = Callable[..., Answer]


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of several kinds, names out for trouble, text that drives terminals; left alone by every test."""
    root = tmp_path_factory.mktemp("tree")
    (root / "src" / "sub").mkdir(parents=True)
    (root / "build").mkdir()
    files: dict[str, str | bytes] = {
        "src/auth.py": 'def check_token(request):\n    """Check who asks."""\n    return request.token == "kiwi"\n',
        "src/sub/deep.md": "# Deep\n\nA kiwi below, with use of --cold-boot or -amber.\n",
        "guide.md": "# Guide\n\nkiwi kiwi dict[str] [/childKind] [bold red] [link=x] :warning: \\[ → ✓ “q” 🦊 漢\n",
        "[x].pdf": b"%PDF-1.4 broken",
        "-rf.md": "kiwi in a file named like an option\n",
        "new\nline.md": "kiwi in a name of two lines\n",
        "esc\x1b[31mname.txt": "kiwi \x1b[2J\x1b]0;title\x07 \x9b31m real\rfake \u202egnp.exe\n",
        os.fsdecode(b"n_\xe9.txt"): "kiwi in a name that is not UTF-8\n",
        "build/made.md": "kiwi in a default skip\n",
        "long.txt": "kiwi " + "x" * 5000 + "\n",
    }
    for name, text in files.items():
        (root / name).write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return root


@pytest.fixture(scope="session")
def data(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with the tree's own session; tests that write take one of their own."""
    directory = tmp_path_factory.mktemp("data")
    assert main(["index", str(tree), "-q", "--workers", "0", "--data-dir", str(directory)]) == 0
    return directory


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Run a command line in this process, with an environment of its own."""
    for name in [name for name in os.environ if name.startswith("RAGCLI_")]:
        monkeypatch.delenv(name)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("RAGCLI_WORKERS", "0")

    def once(*words: str | Path, data: Path, cwd: Path) -> Answer:
        monkeypatch.setenv("RAGCLI_DATA_DIR", str(data))
        monkeypatch.chdir(cwd)
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return Answer(code, out, err)

    return once
