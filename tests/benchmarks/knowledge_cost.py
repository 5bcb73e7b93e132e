"""What declared sources cost a search: `python -m tests.benchmarks.knowledge_cost TREE DIRECTORY DIRECTORY DIRECTORY`.

Each directory of the tree is indexed as a session of its own and as a declared source. In turn, whole processes search
one session, one source, each session, three sessions by name and three sources; medians, and ratios of one run.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 15


def once(words: list[str], cwd: Path, data: Path) -> float:
    """Seconds of one whole process."""
    variables = {"PATH": os.environ["PATH"], "HOME": str(data), "RAGCLI_DATA_DIR": str(data)}
    variables["PYTHONPATH"] = str(Path(__file__).resolve().parents[2])
    begun = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "ragcli", *words], cwd=cwd, env=variables, capture_output=True)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr.decode())
    return time.perf_counter() - begun


def main() -> None:
    """Print medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", type=Path, metavar="TREE")
    parser.add_argument("directories", nargs=3, metavar="DIRECTORY")
    parser.add_argument("--query", default="how is a migration applied")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        data, project = Path(made, "data"), Path(made, "project")
        project.mkdir()
        names = [f"s{number}" for number in range(3)]
        places = [args.tree.resolve() / directory for directory in args.directories]
        text = "".join(f'[knowledge.{n}]\npath = "{p}"\n' for n, p in zip(names, places, strict=True))
        (project / "ragcli.toml").write_text(text)
        for name, place in zip(names, places, strict=True):
            once(["index", "-q", "-s", name, str(place)], project, data)
        once(["index", "--knowledge", "--allow-outside"], project, data)
        sessions = {f"session {name}": ["search", "-s", name, "--json", args.query] for name in names}
        source = ["search", "--allow-outside", "--json", "-k", "10"]
        lines = {
            "bare": ["--version"],
            **sessions,
            "one source": [*source, "--knowledge", "s0", args.query],
            "three sources": [*source, *(word for name in names for word in ("--knowledge", name)), args.query],
        }
        times: dict[str, list[float]] = {name: [] for name in lines}
        for _ in range(ROUNDS):
            for name, words in lines.items():
                times[name].append(once(words, project, data))
    middle = {name: statistics.median(taken) for name, taken in times.items()}
    for name, seconds in middle.items():
        print(f"{name:>14}: {seconds * 1000:6.1f} ms")
    beyond = sum(middle[name] - middle["bare"] for name in sessions)
    print(f"one source ÷ its session: {middle['one source'] / middle['session s0']:.2f}")
    print(
        f"three sources ÷ the three sessions: {(middle['three sources'] - middle['bare']) / beyond:.2f} beyond starting"
    )


if __name__ == "__main__":
    main()
