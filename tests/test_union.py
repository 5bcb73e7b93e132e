"""Several sessions searched as one collection."""

import json
from pathlib import Path

import pytest

from ragcli.config.options import STANDARD, IndexOptions, QueryOptions, SearchFilter
from ragcli.errors import SessionNotFoundError, UsageError
from ragcli.session.json_output import outcome_value
from ragcli.session.manager import SessionManager

OPTIONS = IndexOptions(limits=STANDARD)
FILES = {
    "one/auth.py": "class Middleware:\n    def process(self, request):\n        return request.user\n",
    "one/notes.md": "# Notes\n\nThe middleware calls the kiwi service.\n",
    "two/billing.py": "def charge(card):\n    return kiwi(card)\n",
    "two/guide.md": "# Guide\n\nBilling and middleware, explained with kiwi.\n",
}
QUERIES = ["middleware", "kiwi", "charge card", "kiwi service", "process request", "explained"]


@pytest.fixture
def manager(tmp_path: Path) -> SessionManager:
    for name, text in FILES.items():
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / name).write_text(text)
    manager = SessionManager(tmp_path / "data")
    for name in ("one", "two"):
        manager.get_rag(name).index_directory(tmp_path / "tree" / name, options=OPTIONS)
    manager.get_rag("both").index_directory(tmp_path / "tree", options=OPTIONS)
    return manager


@pytest.mark.parametrize("query", QUERIES)
def test_sessions_searched_as_one_score_as_one_session_with_both_trees(manager: SessionManager, query: str) -> None:
    """Without signals, which look at paths: statistics count all sessions together."""
    options = QueryOptions(signals=False)
    union = manager.union(["one", "two"]).query(query, 10, options).results
    whole = manager.get_rag("both").query(query, 10, options).results

    assert [(f"{hit.source}/{hit.file}", hit.score, hit.content) for hit in union] == [
        (hit.file, hit.score, hit.content) for hit in whole
    ]


def test_results_say_where_they_are_from_and_whether_they_are_stale(manager: SessionManager, tmp_path: Path) -> None:
    (tmp_path / "tree" / "two" / "guide.md").write_text("changed meanwhile\n")
    outcome = manager.union(["one", "two"]).query("kiwi middleware")

    assert {(hit.source, hit.root) for hit in outcome.results} == {
        ("one", str(tmp_path / "tree" / "one")), ("two", str(tmp_path / "tree" / "two")),
    }  # fmt: skip
    assert {hit.file for hit in outcome.results if hit.stale} == {"guide.md"}
    assert (outcome.session, outcome.root) == ("one,two", "")
    value = json.loads(json.dumps(outcome_value(outcome)))
    assert all(hit["source"] in ("one", "two") and "root" in hit for hit in value["results"])


def test_the_order_of_the_names_changes_nothing(manager: SessionManager) -> None:
    there = manager.union(["one", "two"]).query("kiwi middleware")
    back = manager.union(["two", "one", "two"]).query("kiwi middleware")

    assert there == back


def test_equal_paths_in_two_sessions_stay_apart(manager: SessionManager, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / "tree" / name / "same.md").write_text("a papaya in both\n")
        manager.get_rag(name).index_directory(tmp_path / "tree" / name, options=OPTIONS)
    results = manager.union(["one", "two"]).query("papaya", options=QueryOptions(max_per_file=1)).results

    assert [(hit.source, hit.file) for hit in results] == [("one", "same.md"), ("two", "same.md")]


def test_filters_and_added_documents_reach_every_session(manager: SessionManager) -> None:
    id = manager.get_rag("two").add_document("a note on the durian", {"who": "ada"})
    union = manager.union(["one", "two"])

    [note] = union.query("durian").results
    assert (note.id, note.source, note.metadata["who"]) == (id, "two", "ada")
    python = union.query("kiwi middleware", options=QueryOptions(where=SearchFilter(languages=("python",)))).results
    assert {hit.file for hit in python} == {"auth.py", "billing.py"}
    assert "durian" in union.context_prompt("durian").prompt


def test_one_session_is_searched_as_itself(manager: SessionManager) -> None:
    assert manager.union(["one"]).query("kiwi") == manager.get_rag("one").query("kiwi")


def test_a_missing_session_is_named(manager: SessionManager) -> None:
    with pytest.raises(SessionNotFoundError, match="nosuch"):
        manager.union(["one", "nosuch"]).query("kiwi")
    with pytest.raises(UsageError):
        manager.union([])
