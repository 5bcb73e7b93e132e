"""Verbs for cases after public bug reports: the command line on a tree, its answers as plain values."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from ragcli.session.service import RagService
from tests.engine import index, service

REPOSITORY = Path(__file__).resolve().parent.parent


class Done(NamedTuple):
    """What one command answered."""

    code: int
    out: bytes
    err: str

    def json(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)


def run(*words: str | bytes, data: Path, cwd: Path | None = None, **environment: str) -> Done:
    """Run the command line in a process of its own, with a data directory."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("RAGCLI_")}
    done = subprocess.run(
        [sys.executable, "-m", "ragcli", *words], capture_output=True, timeout=100, cwd=cwd or REPOSITORY,
        stdin=subprocess.DEVNULL,
        env={**inherited, "PYTHONPATH": str(REPOSITORY), "RAGCLI_DATA_DIR": str(data), **environment},
    )  # fmt: skip
    complaint = done.stderr.decode("utf-8", "backslashreplace")
    assert "Traceback" not in complaint, complaint
    assert b"Traceback" not in done.stdout
    assert "internal error" not in complaint, complaint
    return Done(done.returncode, done.stdout, complaint)


def indexed(root: Path, **how: Any) -> RagService:
    """A fresh index of a tree, in this process."""
    rag = service()
    index(rag, root, **how)
    return rag


def listed(root: Path, **how: Any) -> set[str]:
    """The files that a fresh index holds, dot files left out."""
    return {info.file for info in indexed(root, **how).list_files() if not info.file.split("/")[-1].startswith(".")}


def repository(root: Path, exclude: str = "") -> Path:
    """The least that git itself takes for a repository."""
    for name in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info"):
        (root / ".git" / name).mkdir(parents=True, exist_ok=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (root / ".git" / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n")
    (root / ".git" / "info" / "exclude").write_text(exclude)
    return root
