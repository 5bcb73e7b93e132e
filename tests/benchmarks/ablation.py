"""What each signal gives and costs: `python -m tests.benchmarks.ablation --code REPOS QUERIES.json --text DIR...`.

REPOS holds a checkout per repository; QUERIES.json lists {"repo", "benchmark_root", "query", "relevant": [{"path"}]}.
A text DIR has corpus.jsonl, queries.jsonl and qrels.tsv. Everything is indexed once, then asked with all signals,
with the plain fusion, and with one signal removed at a time. NDCG@10 over the ten chunks shown (`hits`), over files
(`files`), over documents (`text`); CPU time a query in this process.
"""

import argparse
import json
import math
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ragcli.config.options import STANDARD, IndexOptions, QueryOptions
from ragcli.retrieval import weights
from ragcli.session.manager import SessionManager

DEPTH = 30
PLAIN = "the plain fusion"
EVERYTHING = "everything on"


class Query(NamedTuple):
    """A query of a session and the files that answer it."""

    session: str
    text: str
    relevant: frozenset[str]
    kind: str


def without() -> dict[str, Mapping[str, object]]:
    """For each signal the weights that switch it off."""
    off: dict[str, Mapping[str, object]] = {
        "code stream": {"CODE": 0.0},
        "english stream": {"ENGLISH": 0.0},
        "definition": {"DEFINITION": 0.0},
        "longer chunk": {"LONGER_CHUNK": 0.0},
        "coherence": {"COHERENCE_CHUNKS": 1},
        "files side by side": {"REPEAT": 1.0},
        "file name": {"FILE_STEM": 0.0},
        "file is name": {"FILE_IS_NAME": 0.0},
        "directories": {"DIRECTORY_WORDS": 0.0},
        "word beginnings": {"PREFIX_MATCH": 0.0},
        "path asked": {"PATH_ASKED": 0.0},
        "depth": {"KEEP_DEEPER": 1.0},
        "short names": {"KEEP_LONGER_NAME": 1.0},
        "old versions": {"KEEP_OLD_VERSION": 1.0},
        "prose beside code": {"KEEP_BESIDE_CODE": 1.0},
        "feedback": {"FEEDBACK_CHUNKS": 0},
    }
    for role in weights.KEEP_ROLE:
        off[f"role {role}"] = {"KEEP_ROLE": {**weights.KEEP_ROLE, role: 1.0}}
    return off


@contextmanager
def changed(values: Mapping[str, object]) -> Iterator[None]:
    """Other weights for a while."""
    before = {name: getattr(weights, name) for name in values}
    try:
        for name, value in values.items():
            setattr(weights, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(weights, name, value)


def ndcg(ranked: Iterable[str], relevant: frozenset[str], k: int = 10) -> float:
    """Binary NDCG@k; an item earns its gain the first time."""
    seen: set[str] = set()
    gain = 0.0
    for rank, item in enumerate(list(ranked)[:k]):
        if item in relevant and item not in seen:
            gain += 1 / math.log2(rank + 2)
        seen.add(item)
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(len(relevant), k)))
    return gain / ideal if ideal else 0.0


def index_code(sessions: SessionManager, checkouts: Path, queries: Path) -> list[Query]:
    """Index each repository that queries ask and that is there."""
    found, indexed = [], set()
    for row in json.loads(queries.read_text()):
        folder = checkouts / row["repo"] / row["benchmark_root"]
        if not folder.is_dir():
            continue
        if row["repo"] not in indexed:
            sessions.get_rag(row["repo"]).index_directory(folder, options=IndexOptions(limits=STANDARD))
            indexed.add(row["repo"])
        prefix = row["benchmark_root"] + "/" if row["benchmark_root"] else ""
        relevant = frozenset(item["path"].removeprefix(prefix) for item in row["relevant"])
        found.append(Query(row["repo"], row["query"], relevant, "code"))
    return found


def index_text(sessions: SessionManager, folder: Path, scratch: Path) -> list[Query]:
    """Index a text collection, one file a document."""
    name = folder.name
    target = scratch / name
    target.mkdir()
    for line in (folder / "corpus.jsonl").read_text().splitlines():
        row = json.loads(line)
        title = f"{row['title']}\n\n" if row.get("title") else ""
        (target / f"{row['_id']}.{'py' if name.startswith('cosqa') else 'txt'}").write_text(f"{title}{row['text']}\n")
    sessions.get_rag(name).index_directory(target, options=IndexOptions(limits=STANDARD))
    relevant: dict[str, set[str]] = {}
    for line in (folder / "qrels.tsv").read_text().splitlines()[1:]:
        query, document, score = line.split("\t")[:3]
        if float(score) > 0:
            relevant.setdefault(query, set()).add(document)
    rows = map(json.loads, (folder / "queries.jsonl").read_text().splitlines())
    return [Query(name, row["text"], frozenset(relevant[row["_id"]]), "text") for row in rows if row["_id"] in relevant]


def measure(sessions: SessionManager, queries: list[Query], settings: QueryOptions) -> dict[str, float]:
    """Mean of each measure, and milliseconds of CPU a query of its kind."""
    sums: dict[str, list[float]] = {}
    for query in queries:
        began = time.process_time()
        hits = sessions.get_rag(query.session).query(query.text, DEPTH, settings).results
        spent = (time.process_time() - began) * 1000
        files = [hit.file for hit in hits]
        if query.kind == "text":
            files = [Path(file).stem for file in files]
        unique = ndcg(dict.fromkeys(files), query.relevant)
        measures = (
            {"hits": ndcg(files, query.relevant), "files": unique} if query.kind == "code" else {query.session: unique}
        )
        for name, value in {**measures, f"{query.kind} ms": spent}.items():
            sums.setdefault(name, []).append(value)
    return {name: sum(values) / len(values) for name, values in sums.items()}


def report(label: str, found: Mapping[str, float], base: Mapping[str, float] | None) -> None:
    """One line: each figure, and its difference from everything on."""
    cells = []
    for name, value in sorted(found.items(), key=lambda item: item[0].endswith(" ms")):
        if name.endswith(" ms"):
            cells.append(f"{name} {value:5.1f}")
        else:
            cells.append(f"{name} {value:.4f}" + (f" ({value - base[name]:+.4f})" if base else ""))
    print(f"{label:20s}", "  ".join(cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--code", nargs=2, type=Path, metavar=("REPOS", "QUERIES"))
    parser.add_argument("--text", nargs="*", type=Path, default=[])
    parser.add_argument("--only", nargs="*", default=[], help="signals to remove; by default each")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ragcli-ablation-") as scratch:
        sessions = SessionManager(Path(scratch) / "data")
        queries = index_code(sessions, *args.code) if args.code else []
        for folder in args.text:
            queries += index_text(sessions, folder, Path(scratch))
        run: Callable[[QueryOptions], dict[str, float]] = lambda settings: measure(sessions, queries, settings)  # noqa: E731
        run(QueryOptions())  # first reads, imports
        base = run(QueryOptions())
        report(EVERYTHING, base, None)
        report(PLAIN, run(QueryOptions(signals=False)), base)
        for label, values in without().items():
            if not args.only or label in args.only:
                with changed(values):
                    report(f"- {label}", run(QueryOptions()), base)


if __name__ == "__main__":
    main()
