"""What parsing costs: `python -m tests.benchmarks.parsing_cost TREE`.

The tree is indexed from nothing as it is, and by workers that have no grammar, in turn, three times each.
"""

import argparse
import os
from collections import Counter
from pathlib import Path

from ragcli.indexing import indexer
from ragcli.indexing import ingest_task as pipeline
from ragcli.model import DocumentFormat
from ragcli.session.service import RagService
from tests.benchmarks import without_grammars
from tests.benchmarks.cold_index import Cost, in_turn, indexed

SHOWN = 25


def parsers(rag: RagService) -> Counter[str]:
    """Which parsers read some files of code, spread over all of them."""
    code = [info.file for info in rag.list_files() if info.format == DocumentFormat.SOURCE_CODE]
    chosen = code[:: max(len(code) // SHOWN, 1)][:SHOWN]
    return Counter(str(rag.show(file).metadata.get("parser")) for file in chosen)


def run(tree: Path, workers: int, *, parsing: bool) -> Cost:
    """The cost of one run; wrong if the parser was not there, or was."""
    indexer.process = pipeline.process if parsing else without_grammars.process
    try:
        with indexed(tree, workers) as (cost, _, rag):
            found = parsers(rag)
    finally:
        indexer.process = pipeline.process
    if bool(found["tree-sitter"]) != parsing:
        raise SystemExit(f"{'with' if parsing else 'without'} grammars the files were read by {dict(found)}")
    return cost


def main() -> None:
    """Print the medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", type=Path, metavar="TREE")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    if args.workers < 1:
        parser.error("--workers must be 1 or more: without workers both ways would run in this process")
    with_, without = in_turn(
        lambda: run(args.tree, args.workers, parsing=True), lambda: run(args.tree, args.workers, parsing=False)
    )
    print(f"tree-sitter: {with_.wall:.2f} s wall, {with_.cpu:.2f} s CPU")
    print(f"structural:  {without.wall:.2f} s wall, {without.cpu:.2f} s CPU")
    print(f"ratio: {with_.wall / without.wall:.2f} of wall, {with_.cpu / without.cpu:.2f} of CPU")


if __name__ == "__main__":
    main()
