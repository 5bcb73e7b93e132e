"""How often an error message pasted into a search finds the line that raises it first, quoted and bare, and its cost.

    python -m tests.benchmarks.exact_messages /path/to/django --data-dir /tmp/messages [--messages 40] [--wrapped]

Takes messages of five words and more that the package raises, without placeholders, each raised once; every n-th of
them in the order of their texts' digests. `first` counts those whose first result covers the line of the `raise`.
With --wrapped only messages that the source writes as several literals. Times are medians of the whole answer in one
process; `plain` asks for the same words without the filter.
"""

import argparse
import ast
import hashlib
import statistics
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from ragcli.cli.search_options import ExactFlags
from ragcli.config.options import STANDARD, IndexOptions, QueryOptions
from ragcli.session.manager import SessionManager
from ragcli.session.service import RagService


class Message(NamedTuple):
    """A text that is raised, and where."""

    text: str
    file: str
    line: int
    wrapped: bool


def messages(root: Path, package: str) -> list[Message]:
    """The messages that a package raises, in the order of their digests."""
    found = []
    for path in sorted((root / package).rglob("*.py")):
        source = path.read_text("utf-8", "replace")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                first = node.exc.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    segment = ast.get_source_segment(source, first) or ""
                    wrapped = first.value not in segment
                    found.append(Message(first.value, str(path.relative_to(root)), first.lineno, wrapped))
    times = Counter(one.text for one in found)
    good = [
        one for one in found
        if times[one.text] == 1 and len(one.text.split()) >= 5 and not set(one.text) & set('%{}"\n')
    ]  # fmt: skip
    return sorted(good, key=lambda one: hashlib.sha256(one.text.encode()).digest())


def asked(rag: RagService, query: str, flags: ExactFlags, message: Message) -> tuple[bool, float]:
    """Whether the first result covers the message's line, and the seconds that it took."""
    began = time.perf_counter()
    outcome = rag.query(query, 10, QueryOptions(exact=flags.read(query)))
    seconds = time.perf_counter() - began
    first = outcome.results[0] if outcome.results else None
    return (
        first is not None and first.file == message.file and first.start_line <= message.line <= first.end_line
    ), seconds


def main() -> None:
    """Index the tree, ask for each message, print what was found and how long it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("--package", default="django")
    parser.add_argument("--messages", type=int, default=40)
    parser.add_argument("--wrapped", action="store_true")
    parser.add_argument("-v", action="store_true", help="name what was missed")
    args = parser.parse_args()
    rag = SessionManager(args.data_dir).rag_for_path(str(args.tree))
    rag.index_directory(args.tree, options=IndexOptions(limits=STANDARD))
    known = [one for one in messages(args.tree, args.package) if one.wrapped or not args.wrapped]
    chosen = known[: args.messages]
    print(f"{len(known)} messages, {len(chosen)} asked, {sum(one.wrapped for one in chosen)} of several literals")
    for name, form, flags in (
        ("quoted", '"{}"', ExactFlags()), ("fixed", "{}", ExactFlags(fixed=True)), ("bare", "{}", ExactFlags()),
        ("plain", "{}", ExactFlags(any_phrase=True)),
    ):  # fmt: skip
        answers = [asked(rag, form.format(one.text), flags, one) for one in chosen]
        took = [seconds * 1000 for _, seconds in answers]
        print(f"{name:>7}: {sum(good for good, _ in answers)} first, median {statistics.median(took):.0f} ms, "
              f"longest {max(took):.0f} ms")  # fmt: skip
        for one, (good, _) in zip(chosen, answers, strict=True):
            if args.v and not good:
                print(f"         missed {one.file}:{one.line} {one.text!r}")


if __name__ == "__main__":
    main()
