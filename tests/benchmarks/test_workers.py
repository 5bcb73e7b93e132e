"""What a pool of workers costs beside the work: starting it, a batch, a large answer."""

import pytest

from ragcli.workers.pool import WorkerPool
from tests.worker_functions import act

pytestmark = pytest.mark.benchmark


def drain(batches):
    return sum(len(outcome.results) for outcome in WorkerPool(act, workers=2).run(batches))


def test_start_of_a_worker(benchmark):
    assert benchmark(drain, [(("echo", 1),)]) == 1


def test_a_thousand_small_batches(benchmark):
    assert benchmark.pedantic(drain, ([(("echo", n), ("echo", n)) for n in range(1000)],), rounds=5) == 1000


def test_ten_answers_of_16_mib(benchmark):
    assert benchmark.pedantic(drain, ([(("bytes", 16 * 1024 * 1024),)] * 10,), rounds=3) == 10
