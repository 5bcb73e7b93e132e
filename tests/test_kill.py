"""A real process killed at random moments: every answer is from one generation, and the next run completes."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ragcli.errors import SessionNotFoundError
from ragcli.session.manager import SessionManager
from ragcli.session.service import RagService
from tests.engine import answers, index, rebuilt, write
from tests.generations import generation_of, write_generation

REPOSITORY = Path(__file__).resolve().parent.parent
FILES = 6
QUERIES = ("everywhere", "kiwi", "file3 padding", "number")


class State(NamedTuple):
    """What a session holds: the word of its files' generation ('' for no files), and its added documents."""

    word: str
    documents: frozenset[str]


class Account:
    """What a session may hold, by what the killed process told: before and after the step it was killed in."""

    def __init__(self) -> None:
        self.before = State("", frozenset())
        self.after: State | None = self.before
        self.adding = False
        self.writing = 0

    def read(self, lines: list[dict[str, Any]]) -> None:
        for line in lines:
            if "writing" in line:
                self.writing = line["writing"]
                continue
            word, documents = self.before
            begins = "begin" in line
            match line.get("begin") or line.get("end"):
                case "index":
                    self.after = State(f"gen{line['gen']}", documents)
                case "clear":
                    self.after = State("", frozenset())
                case "rm":
                    self.after = State(word, documents - {line["id"]})
                case "add":
                    self.adding = begins
                    self.after = State(word, documents | ({line["id"]} if line["id"] else frozenset()))
            if not begins and self.after is not None:
                self.before = self.after


def observed(rag: RagService) -> State:
    """What searches answer, once it is certain that they answer from one generation, and that all doors agree."""
    try:
        rag.require()
        word = generation_of(rag, FILES)
    except SessionNotFoundError:
        return State("", frozenset())
    status = rag.get_status()
    assert status.files == len(rag.list_files()) == (FILES if word else 0)
    found = rag.search("added kiwi", 50) if status.documents else []
    added = frozenset(result.id for result in found if not result.file)
    assert status.documents == len(added)
    assert status.chunks == status.files + status.documents
    return State(word, added)


def check_after_kill(data: Path, root: Path, account: Account) -> None:
    """Hold the session against the account, then complete it and hold it against a rebuild."""
    rag = SessionManager(data).get_rag("killed")
    seen = observed(rag)
    allowed = (account.before, account.after)
    assert seen.word in [state.word for state in allowed if state], (seen, allowed)
    for state in (seen, State("", listed(rag))):
        unknown = state.documents - account.before.documents
        assert len(unknown) <= account.adding
        lost = account.before.documents - state.documents
        assert not lost or (account.after and lost <= account.before.documents - account.after.documents)
    if account.writing:
        write_generation(root, account.writing, FILES)
        index(rag, root)
        documents = rag.list_documents()
        assert frozenset(info.id for info in documents) == observed(rag).documents
        fresh = rebuilt(root, [(info.preview, {}) for info in documents])
        assert answers(rag, QUERIES) == answers(fresh, QUERIES)
        assert not leftovers(data)
    account.before = account.after = observed(rag)
    account.adding = False


def listed(rag: RagService) -> frozenset[str]:
    with contextlib.suppress(SessionNotFoundError):
        return frozenset(info.id for info in rag.list_documents())
    return frozenset()


def leftovers(data: Path) -> list[str]:
    """Files that no generation names."""
    (session,) = (data / "sessions").iterdir()
    return [name for name in os.listdir(session) if name.startswith(".draft-") or name == "PENDING"]


def run_and_kill(command: list[str], delay: float) -> list[dict[str, Any]]:
    """Start a process, kill it with SIGKILL `delay` seconds after its first word; what it told, whole lines only."""
    process = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    first = process.stdout.readline()
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    rest, complaint = process.communicate(timeout=30)
    assert not complaint, complaint.decode()
    assert process.returncode == -signal.SIGKILL
    return [json.loads(line) for line in (first + rest).splitlines(keepends=True) if line.endswith(b"\n")]


def kill_many_times(folder: Path, times: int, seed: int) -> None:
    data, root = folder / "data", folder / "tree"
    random_ = random.Random(seed)
    account = Account()
    for number in range(1, times + 1):
        command = [sys.executable, "-m", "tests.kill_driver", str(data), str(root), str(seed + number), str(FILES)]
        account.read(run_and_kill(command, random_.uniform(0.0, 0.25)))
        check_after_kill(data, root, account)


def test_killed_at_random_a_session_answers_from_one_generation_and_completes(tmp_path: Path) -> None:
    """Index, add, rm, clear and merge, 20 kills."""
    kill_many_times(tmp_path, 20, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_killed_at_random_three_hundred_times(tmp_path: Path) -> None:
    kill_many_times(tmp_path, 300, seed=1000)


def command_line_killed(folder: Path, times: int, seed: int) -> None:
    """The command line with worker processes, killed from its start on: search before, index after, no worker left."""
    root = write(folder / "tree", {f"d{n % 5}/m{n:03}.py": f"def zqfn{n}():\n    return 'alpha beta {n}'\n" * 20
                                   for n in range(120)})  # fmt: skip
    random_ = random.Random(seed)
    data = folder / "data"
    environment = {**os.environ, "RAGCLI_DATA_DIR": str(data), "RAGCLI_KILLED_BY_TEST": str(folder)}
    command = [sys.executable, "-m", "ragcli", "index", str(root), "--workers", "2"]
    for number in range(times):
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
        time.sleep(random_.uniform(0.0, 1.2))
        process.send_signal(signal.SIGKILL)
        _, complaint = process.communicate(timeout=30)
        assert b"Traceback" not in complaint
        rag = SessionManager(data).rag_for_path(str(root))
        with contextlib.suppress(SessionNotFoundError):
            rag.require()
            outcome = rag.query("alpha", 500)
            assert rag.get_status().files in (0, 120)
            assert outcome.results
        if number % 3 == 2:
            shutil.rmtree(data, ignore_errors=True)
    index(SessionManager(data).rag_for_path(str(root)), root)
    assert answers(SessionManager(data).rag_for_path(str(root))) == answers(rebuilt(root))
    assert not processes_with(f"RAGCLI_KILLED_BY_TEST={folder}")


def processes_with(variable: str, patience: float = 10.0) -> list[int]:
    """The processes that still have a variable in their environment, once they had time to end."""
    end = time.monotonic() + patience
    while True:
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdecimal():
                with contextlib.suppress(OSError):
                    if variable.encode() in Path(f"/proc/{entry}/environ").read_bytes().split(b"\0"):
                        found.append(int(entry))
        if not found or time.monotonic() > end:
            return found
        time.sleep(0.05)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks for processes in /proc")
def test_the_command_line_killed_while_its_workers_run_leaves_no_process_and_completes(tmp_path: Path) -> None:
    command_line_killed(tmp_path, 4, seed=7)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks for processes in /proc")
def test_the_command_line_killed_sixty_times(tmp_path: Path) -> None:
    command_line_killed(tmp_path, 60, seed=70)
