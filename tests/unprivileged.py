"""Runs the command line in a child whom permissions count for, also where the tests are run by root.

The interpreter itself may lie where nobody else may read, so the child is a fork that has everything imported.
"""

import contextlib
import json
import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NamedTuple

NOBODY = 65534


class Done(NamedTuple):
    """What one command answered."""

    code: int
    out: str
    err: str


def commands(lines: Sequence[Sequence[str]], data: Path) -> list[Done]:
    """Run command lines one after the other, in one child without privileges."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover  (another process)
        try:
            os.close(reading)
            with os.fdopen(writing, "w") as pipe:
                try:
                    json.dump(_in_child(lines, data), pipe)
                except BaseException:
                    json.dump([(70, "", traceback.format_exc())], pipe)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return [Done(*entry) for entry in json.loads(told)]


def _in_child(lines: Sequence[Sequence[str]], data: Path) -> list[Done]:
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "a.txt").write_text("warm")
        for words in (("index", scratch), ("search", "warm", "--json"), ("add", "x"), ("status",), ("list",),
                      ("index", scratch, "--nonsense"), ("clear", "--yes")):  # fmt: skip
            with contextlib.chdir(scratch):
                _run(words, Path(scratch) / "data")
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    return [_run(words, data) for words in lines]


def _run(words: Sequence[str], data: Path) -> Done:
    from ragcli.cli.app import main

    nowhere = "/nonexistent"
    os.environ |= {"RAGCLI_DATA_DIR": str(data), "RAGCLI_WORKERS": "0", "HOME": nowhere, "XDG_CONFIG_HOME": nowhere}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
        code = main(list(words))
        sys.stdout.flush()
        sys.stderr.flush()
        return Done(code, _whole(out), _whole(err))


def _whole(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()
