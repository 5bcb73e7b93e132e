"""A first index run of a folder into a data directory of its own, and medians of two ways to run it in turn."""

import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ragcli.config.options import STANDARD, IndexOptions
from ragcli.documents import IndexReport
from ragcli.session.manager import SessionManager
from ragcli.session.service import RagService

RUNS = 3


class Cost(NamedTuple):
    """Seconds by the clock, and of all cores with those of the workers."""

    wall: float
    cpu: float


@contextmanager
def indexed(folder: Path, workers: int) -> Iterator[tuple[Cost, IndexReport, RagService]]:
    """Index a folder from nothing; what it cost, its report, and the index for as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="ragcli-cold-") as data:
        rag = SessionManager(data).get_rag("cold")
        wall, cpu = time.perf_counter(), _cpu()
        report = rag.index_directory(folder, options=IndexOptions(limits=STANDARD), workers=workers)
        yield Cost(time.perf_counter() - wall, _cpu() - cpu), report, rag


def in_turn(first: Callable[[], Cost], second: Callable[[], Cost]) -> tuple[Cost, Cost]:
    """Medians of RUNS runs of each, one after the other, so that what else the machine does falls on both."""
    found: list[tuple[Cost, Cost]] = []
    for number in range(RUNS):
        if number % 2:
            later = second()
            found.append((first(), later))
        else:
            found.append((first(), second()))
        print(f"  run {number + 1}: wall {found[-1][0].wall:.2f} and {found[-1][1].wall:.2f} s", flush=True)
    one, other = zip(*found, strict=True)
    return _median(one), _median(other)


def _median(costs: tuple[Cost, ...]) -> Cost:
    return Cost(statistics.median(cost.wall for cost in costs), statistics.median(cost.cpu for cost in costs))


def _cpu() -> float:
    """Seconds of this process and of the children that have ended."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
