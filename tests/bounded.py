"""Attacks on memory and time, run where a regression fails and does not take the machine."""

import os
import resource
import subprocess
import sys
from pathlib import Path

from tests.cases import REPOSITORY, Done

MIB = 1024 * 1024


def bounded(
    *words: str, data: Path, cwd: Path, memory: int = 512 * MIB, cpu: int = 20, seconds: float = 90, **environment: str
) -> Done:
    """Run the command line in so much address space and processor time; it must end by itself, in words of ours."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))

    inherited = {name: value for name, value in os.environ.items() if not name.startswith("RAGCLI_")}
    done = subprocess.run(
        [sys.executable, "-m", "ragcli", *words], capture_output=True, timeout=seconds, cwd=cwd, preexec_fn=limit,
        stdin=subprocess.DEVNULL,
        env={**inherited, "PYTHONPATH": str(REPOSITORY), "RAGCLI_DATA_DIR": str(data), **environment},
    )  # fmt: skip
    complaint = done.stderr.decode("utf-8", "backslashreplace")
    assert done.returncode >= 0, f"ended by signal {-done.returncode}: {complaint}"
    assert "Traceback" not in complaint and "internal error" not in complaint, complaint
    return Done(done.returncode, done.stdout, complaint)
