"""Right documents in a mixed tree: `python -m tests.benchmarks.mixed_tree DOCUMENTS [--half tuning] [--no-signals]`.

DOCUMENTS is a folder of PDF, Word, Excel, PowerPoint, EPUB and text files, long and short (not in the repository).
`mixed/queries.jsonl` asks it 60 questions: rules may be made with the half "tuning" only; the half "untouched" says
what they are worth. Prints how many right documents stand first and among the first five, NDCG@10, and what failed.
"""

import argparse
import json
import tempfile
from pathlib import Path

from ragcli.config.options import STANDARD, IndexOptions, QueryOptions
from ragcli.session.manager import SessionManager
from ragcli.session.service import RagService
from tests.benchmarks.ablation import DEPTH, ndcg

QUERIES = Path(__file__).parent / "mixed" / "queries.jsonl"
# They quote the documents that the questions ask for.
LEFT_OUT = ("manifest.json", "README.md")


def measure(service: RagService, rows: list[dict[str, object]], settings: QueryOptions) -> str:
    """One line of figures, and one for each question whose right document is not first."""
    first, five, gains, wrong = 0, 0, 0.0, []
    for row in rows:
        relevant = frozenset(map(str, row["relevant"]))  # type: ignore[call-overload]
        files = list(dict.fromkeys(hit.file for hit in service.query(str(row["query"]), DEPTH, settings).results))
        first += bool(relevant.intersection(files[:1]))
        five += bool(relevant.intersection(files[:5]))
        gains += ndcg(files, relevant)
        if not relevant.intersection(files[:1]):
            wrong.append(f"    {row['query']}: wanted {', '.join(sorted(relevant))}, above it {files[:1]}")
    figures = f"first {first} of {len(rows)}, in five {five}, NDCG@10 {gains / len(rows):.4f}"
    return "\n".join([figures, *wrong])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("documents", type=Path)
    parser.add_argument("--half", choices=("tuning", "untouched"), default="tuning")
    parser.add_argument("--no-signals", action="store_true")
    args = parser.parse_args()
    rows = [row for row in map(json.loads, QUERIES.read_text().splitlines()) if row["half"] == args.half]
    with tempfile.TemporaryDirectory(prefix="ragcli-mixed-") as scratch:
        service = SessionManager(scratch).get_rag("mixed")
        service.index_directory(args.documents, options=IndexOptions(limits=STANDARD, exclude=LEFT_OUT))
        print(f"{args.half}: {measure(service, rows, QueryOptions(signals=not args.no_signals))}")


if __name__ == "__main__":
    main()
