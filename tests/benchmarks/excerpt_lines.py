"""How often the line that a search shows holds the identifier asked for, where the chunk holds it at all.

    python -m tests.benchmarks.excerpt_lines TREE [--count N] [--data DIR]

Identifiers are drawn from the tree itself, evenly by spelling: CamelCase, snake_case and UPPER_CASE with an underscore,
of those that at least two of its Python files hold. Exit code 1 where one spelling has less than 95 %.
"""

import argparse
import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from ragcli import SessionManager
from ragcli.config.options import STANDARD, IndexOptions
from ragcli.session.json_output import outcome_value

SPELLINGS = {
    "CamelCase": re.compile(r"\b(?:[A-Z][a-z0-9]+){2,}\b"),
    "snake_case": re.compile(r"\b[a-z]+(?:_[a-z]+)+\b"),
    "UPPER_CASE": re.compile(r"\b[A-Z]+(?:_[A-Z]+)+\b"),
}
LEAST = 0.95


def identifiers(tree: Path, count: int) -> dict[str, list[str]]:
    """So many identifiers of each spelling, evenly spread over the sorted ones."""
    holders: dict[str, defaultdict[str, int]] = {name: defaultdict(int) for name in SPELLINGS}
    for path in sorted(tree.rglob("*.py")):
        text = path.read_text(errors="replace")
        for name, pattern in SPELLINGS.items():
            for word in set(pattern.findall(text)):
                holders[name][word] += 1
    chosen = {}
    for name, words in holders.items():
        known = sorted(word for word, files in words.items() if files > 1)
        chosen[name] = known[:: max(len(known) // count, 1)][:count]
    return chosen


def main() -> int:
    """Print shares by spelling."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("--count", type=int, default=25)
    parser.add_argument("--data", default="")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        rag = SessionManager(args.data or temporary).get_rag("excerpts")
        rag.index_directory(args.tree, options=IndexOptions(limits=STANDARD))
        worst = 1.0
        for spelling, words in identifiers(args.tree, args.count).items():
            held = shown = 0
            for word in words:
                whole = re.compile(rf"(?<!\w){word}(?!\w)")
                for hit in outcome_value(rag.query(word, 10))["results"]:  # type: ignore[attr-defined]
                    if whole.search(hit["content"]):
                        held += 1
                        line = hit["content"].split("\n")[hit["line"] - hit["start_line"]]
                        shown += bool(whole.search(line))
            worst = min(worst, shown / max(held, 1))
            print(f"{spelling:11} {len(words)} identifiers: {shown} of {held} hits show a line that holds it")
    return 0 if worst >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
