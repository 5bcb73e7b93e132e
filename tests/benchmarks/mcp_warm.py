"""A warm MCP server: time and memory of many calls. `python -m tests.benchmarks.mcp_warm TREE [--calls 10000]`.

TREE is indexed five times as five sessions of one data directory, one server answers over stdio, and an in-process
tool box is timed beside it, so that what the protocol costs is seen. Prints the median of searches, in process and over
stdio, and the server's resident memory after the first and the last calls.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from ragcli.agents.scope import Scope
from ragcli.agents.tools import ToolBox
from ragcli.session.manager import SessionManager

QUERIES = (
    "authentication middleware", "how are migrations applied", "QuerySet.filter", "csrf token check", "render template",
    "parse http date", "cache backend timeout", "form field validation", "database router", "static files finder",
)  # fmt: skip
SESSIONS = 5


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree")
    parser.add_argument("--calls", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as data:
        environment = {**os.environ, "RAGCLI_DATA_DIR": data}
        for number in range(SESSIONS):
            command = [sys.executable, "-m", "ragcli", "index", "-q", "-s", f"s{number}", os.path.abspath(options.tree)]
            subprocess.run(command, env=environment, check=True)
        tools, scope = ToolBox(data), Scope(SessionManager(data), [options.tree])
        print(f"in process: p50 {_timed(lambda q: tools.call(scope, 'search', {'query': q, 'session': 's0'})):.1f} ms")
        anyio.run(_over_stdio, options.tree, environment, options.calls)


def _timed(call: object, rounds: int = 10) -> float:
    taken = []
    for query in QUERIES * rounds:
        began = time.perf_counter()
        call(query)  # type: ignore[operator]
        taken.append(time.perf_counter() - began)
    return statistics.median(taken) * 1000


async def _over_stdio(tree: str, environment: dict[str, str], calls: int) -> None:
    before = set(_children())
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "ragcli", "mcp", "--root", tree], env=environment
    )
    async with stdio_client(command) as (reader, writer), ClientSession(reader, writer) as client:
        await client.initialize()
        [server] = set(_children()) - before
        taken = []
        for number in range(calls):
            arguments = {"query": QUERIES[number % len(QUERIES)], "session": f"s{number % SESSIONS}"}
            began = time.perf_counter()
            answer = await client.call_tool("search", arguments)
            taken.append(time.perf_counter() - began)
            assert not answer.is_error, answer
            if number in (99, calls - 1):
                print(f"after {number + 1:,} calls: {_resident(server):.0f} MiB resident")
        print(f"over stdio: p50 {statistics.median(taken) * 1000:.1f} ms")


def _children() -> list[int]:
    text = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text()
    return [int(pid) for pid in text.split()]


def _resident(pid: int) -> float:
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()
