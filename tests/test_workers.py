"""Killable worker processes: order, the culprit alone fails, nothing is left running, nothing leaks."""

import functools
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.errors import RagError
from ragcli.workers.pool import BatchOutcome, ItemFailure, WorkerPool
from tests.worker_functions import act, add

MIB = 1024 * 1024
needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="reads /proc")


def run(batches, workers=2, **options):
    return list(WorkerPool(act, workers=workers, **options).run(batches))


def gone(pid):
    """Whether the process has ended, within a minute: a machine may be busy."""
    for _ in range(6000):
        try:
            os.kill(pid, 0)
            with open(f"/proc/{pid}/stat", "rb") as stat:
                if stat.read().rsplit(b")", 1)[1].split()[0] == b"Z":
                    return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


def children():
    with open(f"/proc/self/task/{os.getpid()}/children") as listing:
        return listing.read().split()


def start(script, **options):
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    return subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ, **options
    )


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_outcomes_come_in_the_order_of_the_batches(workers):
    batches = [(("sleep", 0.02 * (5 - i)), ("echo", i)) for i in range(6)] + [()]

    outcomes = run(batches, workers)

    assert [outcome.items for outcome in outcomes] == batches
    assert outcomes[1] == BatchOutcome(batches[1], [[0.08, 1]], [])
    assert outcomes[-1] == BatchOutcome((), [], [])


verbs = st.sampled_from(["echo", "echo", "echo", "raise", "exit"])


@given(st.lists(st.lists(st.tuples(verbs, st.integers(0, 9)), max_size=4), max_size=8), st.integers(1, 2))
@settings(max_examples=6, deadline=None)
def test_each_item_has_its_own_result_or_failure_whatever_its_neighbours_do(batches, workers):
    batches = [tuple(batch) for batch in batches]

    outcomes = run(batches, workers)

    assert [outcome.items for outcome in outcomes] == batches
    for batch, outcome in zip(batches, outcomes, strict=True):
        assert [value for result in outcome.results for value in result] == [n for verb, n in batch if verb == "echo"]
        assert [failure.item for failure in outcome.failures] == [item for item in batch if item[0] != "echo"]
        assert {failure.kind for failure in outcome.failures} <= {"crash", "error"}


@given(st.lists(st.lists(st.tuples(st.sampled_from(["echo", "raise"]), st.integers(0, 9)), max_size=4), max_size=6))
@settings(max_examples=5, deadline=None)
def test_processes_answer_as_the_calling_process_would(batches):
    batches = [tuple(batch) for batch in batches]

    assert run(batches, 2) == run(batches, 0)


@pytest.mark.parametrize(
    ("culprit", "kind", "detail"),
    [
        (("segfault", 0), "crash", "SIGSEGV"),
        (("exit", 3), "crash", "exit status 3"),
        (("kill", 0), "crash", "SIGKILL"),
        (("close", 0), "crash", "exit status 1"),
        (("spin", 0), "timeout", ""),
        (("sleep", 60), "stall", ""),
        (("allocate", 1024 * MIB), "memory", ""),
        (("raise", 7), "error", "LookupError"),
        (("quit", 4), "error", "SystemExit"),
        (("unpicklable", 0), "error", "AttributeError"),
        (("unloadable", 0), "error", "ZeroDivisionError"),
    ],
)
def test_only_the_culprit_of_a_batch_fails(culprit, kind, detail):
    if kind == "memory" and not sys.platform.startswith("linux"):
        pytest.skip("no limit on address space")
    batches = [(("echo", 1), culprit, ("echo", 2)), (("echo", 3), ("echo", 4))]

    first, second = run(
        batches, seconds_per_item=0.5, batch_seconds=0.5, memory=256 * MIB, patience=2 if kind == "stall" else 99
    )

    assert first == BatchOutcome(batches[0], [[1], [2]], [ItemFailure(culprit, kind, detail)])
    assert second == BatchOutcome(batches[1], [[3, 4]], [])


def test_every_item_of_a_batch_may_fail_each_in_its_own_way():
    batch = (("raise", 1), ("exit", 0), ("sleep", 9), ("kill", 0))

    (outcome,) = run([batch], seconds_per_item=0.5, batch_seconds=0.5, patience=1)

    assert outcome.results == []
    assert [failure.item for failure in outcome.failures] == list(batch)
    assert [failure.kind for failure in outcome.failures] == ["error", "crash", "stall", "crash"]


def test_a_failure_carries_no_text_of_the_item_that_raised():
    (outcome,) = run([(("raise", "private"),)])

    assert "secret" not in outcome.failures[0].detail


def test_a_crash_that_earlier_work_caused_is_tried_again_in_a_fresh_worker(tmp_path):
    """What a worker did before must not decide what becomes of a document."""
    soiled = run([(("soil", "mud"),), (("dirty", "mud"),)], workers=1)
    (once,) = run([(("once", str(tmp_path / "mark")), ("echo", 1))])

    assert soiled[1] == BatchOutcome((("dirty", "mud"),), [["mud"]], [])
    assert once.failures == []
    assert once.results == [[str(tmp_path / "mark")], [1]]


def test_a_partial_carries_what_all_batches_share():
    outcomes = list(WorkerPool(functools.partial(add, 100), workers=2).run([(1, 2), (3,)]))

    assert [outcome.results for outcome in outcomes] == [[103], [103]]


def test_large_answers_and_large_requests_pass_whole():
    blob = os.urandom(3 * MIB)

    outcomes = run([(("echo", blob), ("bytes", 8 * MIB)), (("echo", blob[::-1]),)], memory=256 * MIB)

    assert outcomes[0].results == [[blob, bytes(8 * MIB)]]
    assert outcomes[1].results == [[blob[::-1]]]


def test_a_worker_can_neither_print_nor_read_the_terminal(capfd):
    (outcome,) = run([(("print", "noise"),)])

    assert outcome.results == [[""]]
    assert capfd.readouterr() == ("", "")


def test_debug_lets_workers_write_to_standard_error(capfd):
    run([(("print", "noise"),)], debug=True)

    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("noise") == 2


def test_batches_are_taken_only_as_far_as_the_look_ahead():
    taken = []

    def source():
        for number in range(100):
            taken.append(number)
            yield (("echo", number),)

    outcomes = WorkerPool(act, workers=2).run(source())
    next(outcomes)
    ahead = len(taken)
    outcomes.close()

    assert 1 <= ahead <= 7


def test_time_in_which_the_caller_works_does_not_count_against_a_worker():
    """By the wall clock the sleeper overruns; the pool was not there to take its answer."""
    outcomes = WorkerPool(act, workers=1, seconds_per_item=0.5, patience=1).run([(("echo", 0),), (("sleep", 0.9),)])

    next(outcomes)
    time.sleep(0.8)

    assert [outcome.failures for outcome in outcomes] == [[]]


def test_time_in_which_the_program_is_stopped_does_not_count(tmp_path):
    """Ctrl-Z and fg stop and continue the whole group; the sleepers then need no more than their time."""
    script = tmp_path / "script.py"
    script.write_text(
        "from ragcli.workers.pool import WorkerPool\n"
        "from tests.worker_functions import act\n"
        "print('up', flush=True)\n"
        "pool = WorkerPool(act, workers=2, seconds_per_item=2, patience=1)\n"
        "print([o.failures for o in pool.run([(('sleep', 1),)] * 2)])\n"
    )
    parent = start(script, start_new_session=True)
    with parent:
        parent.stdout.readline()
        time.sleep(0.3)
        os.killpg(parent.pid, signal.SIGSTOP)
        time.sleep(2.2)
        os.killpg(parent.pid, signal.SIGCONT)

        assert parent.stdout.read() == b"[[], []]\n"


@needs_proc
def test_closing_the_iterator_early_ends_the_workers():
    outcomes = WorkerPool(act, workers=2).run([(("pid", 0),), (("spin", 0),), (("spin", 0),)])
    pid = next(outcomes).results[0][0]
    assert len(children()) == 2

    outcomes.close()

    assert children() == []
    assert gone(pid)


@needs_proc
def test_workers_started_ahead_serve_the_batches_or_end_with_the_crew():
    crew = WorkerPool(act, workers=2)
    crew.start()
    early = children()

    assert len(early) == 2
    assert {str(outcome.results[0][0]) for outcome in crew.run([(("pid", 0),), (("pid", 0),)])} <= set(early)
    assert children() == []

    unused = WorkerPool(act, workers=2)
    unused.start()
    unused.close()
    unused.close()

    assert children() == []


@needs_proc
def test_an_error_in_the_source_of_batches_ends_the_workers():
    def source():
        yield (("spin", 0),)
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        run(source())
    assert children() == []


@needs_proc
@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_workers_die_with_their_parent(tmp_path, stop):
    """A script without a __main__ guard starts workers that never end by themselves, and is stopped from outside."""
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
            from ragcli.workers.pool import WorkerPool
            from tests.worker_functions import act
            for outcome in WorkerPool(act, workers=2).run([(("pid", 0),)] + [(("spin", 0),)] * 2):
                print(outcome.results[0][0], flush=True)
        """)
    )
    parent = start(script)
    with parent:
        pid = int(parent.stdout.readline())
        with open(f"/proc/{parent.pid}/task/{parent.pid}/children") as listing:
            pids = {pid, *map(int, listing.read().split())}
        parent.send_signal(stop)
        parent.wait()  # a parent that never ends meets the limit of every test

    assert all(map(gone, pids))


def test_a_function_of_main_is_refused_before_anything_starts():
    code = "from ragcli.workers.pool import WorkerPool\ndef f(batch): return 1\nWorkerPool(f, workers=1).run([(1,)])"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert "ValueError: f is defined in __main__" in done.stderr


def test_a_worker_that_cannot_import_is_one_clear_error():
    with pytest.raises(
        RagError, match="could not start: ModuleNotFoundError: No module named 'no_such_module'"
    ) as caught:
        run([(("echo", 1),)], preload=("no_such_module",))
    assert "workers" in caught.value.hint


def test_workers_that_die_while_starting_are_one_clear_error():
    with pytest.raises(RagError, match=r"do not start \(exit status 5\)"):
        run([(("echo", 1),)], preload=("tests.worker_dies",))


@needs_proc
def test_many_runs_leak_neither_descriptors_nor_processes():
    run([(("echo", 0),)])
    before = len(os.listdir("/proc/self/fd"))

    for _ in range(4):
        run([(("exit", 1), ("echo", 1)), (("echo", 2),)], seconds_per_item=5)
        dropped = WorkerPool(act, workers=1).run([(("echo", 0),), (("spin", 0),)])
        next(dropped)
        del dropped

    assert len(os.listdir("/proc/self/fd")) == before
    assert children() == []


@needs_proc
def test_many_runs_keep_the_memory_of_the_caller_level():
    """Sixteen runs receive 128 MiB of answers; what stays is less than two of them."""

    def resident():
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def once():
        for outcome in WorkerPool(act, workers=1).run([(("bytes", 4 * MIB),)] * 2 + [(("exit", 1),)]):
            assert outcome.failures or len(outcome.results[0][0]) == 4 * MIB

    for _ in range(3):
        once()
    before = resident()

    for _ in range(16):
        once()

    assert resident() - before < 8 * MIB


def test_a_worker_that_keeps_memory_is_replaced():
    """After some batches a worker whose address space grew gives way to a new one; all answers are there."""
    batches = [(("keep", 8 * MIB), ("pid", 0)) for _ in range(34)]

    pids = [outcome.results[0][1] for outcome in run(batches, workers=1, memory=256 * MIB)]

    assert len(pids) == 34
    assert 2 <= len(set(pids)) <= 4


def test_the_memory_limit_is_the_same_for_each_document_of_a_long_run():
    """An allocation that fits a fresh worker fits one that served many batches."""
    batches = [(("allocate", 40 * MIB),)] * 20

    outcomes = run(batches, workers=1, memory=64 * MIB)

    assert [outcome.failures for outcome in outcomes] == [[]] * 20
