"""What a second worker gives: `python -m tests.benchmarks.workers_scale FOLDER`.

The folder is indexed from nothing with one worker and with two, in turn, three times each.
"""

import argparse
from pathlib import Path

from tests.benchmarks.cold_index import Cost, in_turn, indexed


def run(folder: Path, workers: int) -> Cost:
    """The cost of one run."""
    with indexed(folder, workers) as (cost, report, _):
        assert report.chunks
        return cost


def main() -> None:
    """Print the medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    folder = parser.parse_args().folder
    one, two = in_turn(lambda: run(folder, 1), lambda: run(folder, 2))
    print(f"1 worker:  {one.wall:.2f} s wall, {one.cpu:.2f} s CPU")
    print(f"2 workers: {two.wall:.2f} s wall, {two.cpu:.2f} s CPU")
    print(f"1 worker ÷ 2 workers: {one.wall / two.wall:.2f} of wall, {one.cpu / two.cpu:.2f} of CPU")


if __name__ == "__main__":
    main()
