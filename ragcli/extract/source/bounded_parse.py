"""Run a tree-sitter parser within bounds of steps, seconds and memory, and tell trees that are slow to query.

Knows nothing of languages or queries: it is handed the grammar.
"""

from itertools import groupby
from mmap import PAGESIZE
from time import monotonic, process_time
from typing import TYPE_CHECKING

from ragcli.config.options import MIB

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Tree

# What a parse may cost. A progress callback stands for 100 parser steps; ordinary code takes 0.005 to 0.016 of them a
# byte, the densest valid code that we could write 0.13. Steps come first: a file ends the same way on every machine.
# But on some nonsense (`x=>x=>` in Java) each step costs more than the one before, so seconds and memory are last
# resorts; trees of dense code grow by up to 360 bytes a byte.
BASE_STEPS = 20_000
STEPS_PER_BYTE = 0.2
PARSE_SECONDS = 6.0
BASE_MEMORY = 2 * MIB
MEMORY_PER_BYTE = 600
CHECK_STEPS, CHECK_SECONDS = 64, 0.02  # how often seconds and memory are looked at
READ_BYTES = 1 << 16
# A query looks for the next named sibling of every node, so a run of n punctuation marks costs n * n / 2 steps of about
# 0.7 ns. Runs shorter than SMALL_RUN cannot add up to much in a file of 2 MiB.
SMALL_RUN = 1_000
MAX_RUN_STEPS = 1_000_000_000
MAX_WIDE_NODES = 400_000
MAX_DEPTH = 20_000  # a query cursor counts depth in 16 bits and does not come back from a deeper tree


class ParseTimeoutError(Exception):
    """Parsing, or querying the tree, would take more steps than a sound file of that size needs."""


def parse(language: "Language", data: bytes) -> "Tree":
    """Parse UTF-8; raise ParseTimeoutError where that costs more than sound code of the size could.

    Each time with a parser of its own, which costs nothing: one that threads share crashes the process.
    """
    from tree_sitter import Parser

    budget = BASE_STEPS + int(len(data) * STEPS_PER_BYTE)
    steps = 0
    memory = _private_memory()
    deadline = process_time() + PARSE_SECONDS
    check_steps, check_time = CHECK_STEPS, monotonic() + CHECK_SECONDS

    def read(offset: int, _: object) -> bytes:
        return data[offset : offset + READ_BYTES]

    def spent(offset: int, _has_error: bool) -> bool:
        nonlocal steps, check_steps, check_time
        steps += 1
        # The processor's time is a system call, too dear for each hundred parser steps.
        if steps >= check_steps or monotonic() > check_time:
            check_steps, check_time = steps + CHECK_STEPS, monotonic() + CHECK_SECONDS
            if process_time() > deadline or _private_memory() - memory > BASE_MEMORY + MEMORY_PER_BYTE * offset:
                return True
        return steps > budget

    try:
        return Parser(language).parse(read, progress_callback=spent)
    except ValueError:  # how an abandoned parse ends
        raise ParseTimeoutError from None


def _private_memory() -> int:
    """Return the bytes of memory that only this process uses; 0 where the system does not tell cheaply."""
    try:
        with open("/proc/self/statm", "rb") as file:
            _, resident, shared, *_ = file.read().split()
    except OSError:
        return 0
    return (int(resident) - int(shared)) * PAGESIZE


def is_tangled(root: "Node") -> bool:
    """Tell whether a query over the tree would be slow; looks only at the nodes with many descendants."""
    stack = [(root, 0)]
    seen = steps = 0
    while stack:
        node, depth = stack.pop()
        seen += node.child_count
        if seen > MAX_WIDE_NODES or depth > MAX_DEPTH:
            return True
        children = node.children
        if len(children) > SMALL_RUN:
            runs = (sum(1 for _ in run) for named, run in groupby(children, key=lambda c: c.is_named) if not named)
            steps += sum(run * run for run in runs)
            if steps > MAX_RUN_STEPS:
                return True
        stack.extend((child, depth + 1) for child in children if child.descendant_count > SMALL_RUN)
    return False
