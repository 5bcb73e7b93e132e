"""Search over this project's own source finds what a newcomer asks for, and better than the plain fusion does.

The floor lies below today's 0.94 (`python -m tests.test_quality` prints each query), so that a broken signal or
analyzer moves the check, and a new module does not.
"""

import math
from collections.abc import Iterable
from pathlib import Path

import pytest

import ragcli
from ragcli.config.options import QueryOptions
from ragcli.session.service import RagService
from tests import engine

SOURCE = Path(ragcli.__file__).parent
# What is asked, and the files of ragcli/ any of which answers it.
QUERIES = {
    "IndexCorruptError": {"errors.py"},
    "NormalizedDocumentChunker": {"ingest/chunkers.py"},
    "rank": {"retrieval/ranking.py"},
    "QueryOptions": {"config/options.py"},
    "TermMemo.count": {"analysis/analyzers.py"},
    "reciprocal rank fusion of streams": {"retrieval/ranking.py", "retrieval/weights.py"},
    "Okapi BM25 formula": {"index/scoring.py"},
    "split identifiers at case and underscore": {"analysis/identifiers.py"},
    "which words are synonyms": {"analysis/synonyms.py"},
    "how are gitignore rules matched": {"ingest/ignore.py", "ingest/patterns.py", "ingest/wildmatch.py"},
    "walk a directory without following symbolic links": {"ingest/walk.py", "ingest/reading.py"},
    "atomic write, then fsync the directory": {"store/directory.py"},
    "kill a worker process that runs too long": {"workers/scheduler.py", "workers/process.py"},
    "extract the text of PDF pages": {"extract/pdf/pdf.py", "extract/pdf/pages.py", "extract/pdf/fields.py"},
    "spreadsheet cells to text": {"extract/office/xlsx.py", "extract/office/xlsx_cells.py"},
    "Markdown headings": {"extract/markdown.py"},
    "escape evidence in the prompt": {"prompt.py"},
    "guess the encoding of a text file": {"extract/decode.py", "extract/charset.py"},
    "default limits of files and depth": {"config/options.py"},
    "lower test and vendored files": {"retrieval/path_signals.py", "retrieval/signals.py", "retrieval/weights.py"},
    "pseudo-relevance feedback": {"retrieval/feedback.py"},
    "merge segments": {"index/merging.py", "index/merge_policy.py"},
    "shell completion script": {"cli/commands/completion_command.py", "cli/reference/shells.py"},
    "where does a session live": {"session/locator.py"},
    "read settings from environment variables": {"config/resolve.py", "config/files.py", "config/keys.py"},
}
FLOOR = 0.85


def gain(files: Iterable[str], answers: set[str]) -> float:
    """1 / log2(1 + rank) of the first answer among ten files."""
    ranks = [rank for rank, file in enumerate(list(dict.fromkeys(files))[:10], 1) if file in answers]
    return 1 / math.log2(1 + ranks[0]) if ranks else 0.0


def gains(rag: RagService, settings: QueryOptions) -> dict[str, float]:
    found = {query: [hit.file for hit in rag.query(query, 30, settings).results] for query in QUERIES}
    return {query: gain(files, QUERIES[query]) for query, files in found.items()}


@pytest.fixture(scope="module")
def rag() -> RagService:
    rag = engine.service()
    engine.index(rag, SOURCE)
    return rag


def test_the_answers_of_every_query_exist() -> None:
    missing = [file for files in QUERIES.values() for file in files if not (SOURCE / file).is_file()]

    assert missing == []


def test_newcomers_find_their_way(rag: RagService) -> None:
    found = gains(rag, QueryOptions())

    assert sum(found.values()) / len(found) >= FLOOR, {query: round(value, 2) for query, value in found.items()}


def test_a_name_finds_its_definition_first(rag: RagService) -> None:
    found = gains(rag, QueryOptions())

    assert [query for query in list(QUERIES)[:5] if found[query] < 1] == []


def test_signals_are_better_than_the_plain_fusion(rag: RagService) -> None:
    ours, fused = gains(rag, QueryOptions()), gains(rag, QueryOptions(signals=False))

    assert sum(ours.values()) > sum(fused.values())


if __name__ == "__main__":
    service = engine.service()
    engine.index(service, SOURCE)
    table = [gains(service, QueryOptions(signals=signals)) for signals in (True, False)]
    for query in QUERIES:
        print(f"{table[0][query]:.2f} {table[1][query]:.2f} {query}")
    print(*(round(sum(column.values()) / len(column), 3) for column in table))
