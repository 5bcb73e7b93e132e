"""Runs the command line as users do: a fresh process, bytes in and out, nothing of this process's environment."""

import os
import pty
import subprocess
import sys
from pathlib import Path

COMMAND = [sys.executable, "-m", "ragcli"]
PROJECT = Path(__file__).resolve().parents[2]


def environment(data: Path, **more: str) -> dict[str, str]:
    """A small environment; a variable given as '' is left out."""
    base = {"PATH": os.environ["PATH"], "HOME": str(data / "home"), "LC_ALL": "C.UTF-8", "PYTHONPATH": str(PROJECT)}
    merged = base | {"RAGCLI_DATA_DIR": str(data)} | more
    return {name: value for name, value in merged.items() if value != ""}


def ragcli(
    *arguments: str | bytes, data: Path, cwd: Path, stdin: bytes | None = None, **more: str
) -> subprocess.CompletedProcess[bytes]:
    """Run one command line with stdout and stderr in pipes."""
    source = {"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}
    return subprocess.run(
        [*COMMAND, *arguments], cwd=cwd, env=environment(data, **more), capture_output=True, timeout=60, **source
    )


def on_terminal(
    *arguments: str, data: Path, cwd: Path, typed: bytes = b"", columns: int = 80, **more: str
) -> tuple[int, bytes]:
    """Run one command line with all three streams on a pseudo terminal; its exit code and what the terminal got."""
    variables = environment(data, **({"TERM": "xterm-256color", "COLUMNS": str(columns)} | more))
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=cwd, env=variables, stdin=follower, stdout=follower, stderr=follower,
        start_new_session=True,
    )  # fmt: skip
    os.close(follower)
    if typed:
        os.write(leader, typed)
    shown = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:  # Linux says EIO once the other side is closed
            break
        if not piece:
            break
        shown += piece
    os.close(leader)
    return process.wait(timeout=60), shown
