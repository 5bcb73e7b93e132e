"""The limits of time and memory of one document: what they say, and when it is tried again."""

from ragcli.config.options import STANDARD, IndexOptions
from ragcli.documents import IndexProgress
from tests.engine import index, service, write

ROWS = "a,b\n" + "".join(f"{row % 1000},{row % 7}\n" for row in range(600_000))


def looked_at(rag, root, limits) -> tuple[list[str], list[tuple[str, str]]]:
    """Index in worker processes; the files that were looked at, and those that failed with the reason."""
    seen: list[IndexProgress] = []
    report = index(rag, root, IndexOptions(limits=limits), progress=seen.append, workers=1)
    return sorted(one.current_file for one in seen), [(failure.file, failure.reason) for failure in report.failed]


def test_a_file_that_timed_out_names_the_flag_and_waits_until_it_or_the_limit_changes(tmp_path):
    root = write(tmp_path / "t", {"rows.csv": ROWS, "ok.txt": "fine\n"})
    rag = service()
    limits = STANDARD._replace(extraction_seconds=0.1)

    seen, failed = looked_at(rag, root, limits)
    assert seen == ["ok.txt", "rows.csv"]
    assert failed == [("rows.csv", "timed out: it takes more than 0.1 s of processor time"
                       " (extraction_seconds; raise it with --extraction-seconds 1)")]  # fmt: skip
    assert looked_at(rag, root, limits)[1] == failed  # files this young are read again once (the racy rule)
    assert looked_at(rag, root, limits) == ([], failed)
    write(root, {"other.txt": "new\n"})
    assert looked_at(rag, root, limits) == (["other.txt"], failed)
    assert looked_at(rag, root, STANDARD)[1] == []
