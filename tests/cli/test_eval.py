"""`ragcli eval` as users run it: figures, comparisons, failures, exit codes."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.process import PROJECT, on_terminal, ragcli


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three queries of the small tree: one answered first, one not at all, one only by lines."""
    rows = [
        {"query": "check token", "relevant": ["src/auth.py"], "category": "symbol"},
        {"query": "kiwi guide", "relevant": ["gone.md"], "category": "question"},
        {"query": "check token", "relevant": ["src/auth.py:1-2"], "category": "symbol"},
    ]
    file = tmp_path_factory.mktemp("judged") / "q.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_figures_by_category_in_json(run: Run, tree: Path, data: Path, judged: Path) -> None:
    answer = run("eval", str(judged), "--json", "-k", "5", "--failures", "2", cwd=tree, data=data)

    value = json.loads(answer.out)
    assert answer.code == 0
    assert (value["queries"], value["k"], value["missing"]) == (3, 5, ["gone.md"])
    assert set(value["measures"]) == {"ndcg@10", "mrr@10", "recall@5", "success@1"}
    assert value["measures"]["ndcg@10"]["mean"] == pytest.approx(2 / 3, abs=1e-6)
    assert {name: found["queries"] for name, found in value["categories"].items()} == {"question": 1, "symbol": 2}
    assert value["categories"]["symbol"]["measures"]["success@1"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    (failure,) = value["failures"]
    assert failure["relevant"] == [{"path": "gone.md"}]
    assert failure["above"][0]["file"] == "guide.md"
    assert "1 of the judged paths are not in the index: gone.md" in answer.err


def test_a_table_for_people(run: Run, tree: Path, data: Path, judged: Path) -> None:
    answer = run("eval", str(judged), "--failures", "1", cwd=tree, data=data)

    heads, *_ = answer.out.splitlines()
    assert heads.split() == ["queries", "NDCG@10", "MRR@10", "recall@10", "success@1"]
    assert "0.000  kiwi guide\n     - gone.md\n  above:\n    1. guide.md" in answer.out


def test_against_other_options_in_a_paired_test(run: Run, tree: Path, data: Path, judged: Path) -> None:
    answer = run("eval", str(judged), "--against", "-g '!src/**'", "--json", cwd=tree, data=data)

    against = json.loads(answer.out)["against"]
    assert against["options"] == "-g '!src/**'"
    assert against["measures"]["ndcg@10"]["mean"] == 0.0
    assert (against["better"], against["worse"], against["equal"]) == (2, 0, 1)
    assert against["differences"]["ndcg@10"]["mean"] == pytest.approx(2 / 3, abs=1e-6)
    assert against["differences"]["ndcg@10"]["p"] == 0.5

    shown = run("eval", str(judged), "--against=--no-signals", cwd=tree, data=data).out
    assert "with --no-signals" in shown
    assert "p = 1.0000" in shown


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("-k 5", "--against does not take -k"),
        ("--json", "--against does not take --json"),
        ("--failures 3", "--against does not take --failures"),
        ("--fresh", "No such option"),
        ("-g '*.py", "an open quote"),
    ],
)
def test_against_takes_the_options_of_a_search_only(
    run: Run, tree: Path, data: Path, judged: Path, words: str, says: str
) -> None:
    answer = run("eval", str(judged), f"--against={words}", cwd=tree, data=data)

    assert answer.code == 2
    assert says in answer.err
    assert answer.out == ""


def test_a_bound_for_ci(run: Run, tree: Path, data: Path, judged: Path) -> None:
    assert run("eval", str(judged), "-q", "--min-ndcg", "0.6", cwd=tree, data=data) == (0, "", "")

    below = run("eval", str(judged), "-q", "--min-ndcg", "0.7", cwd=tree, data=data)
    assert (below.code, below.out) == (1, "")
    assert "NDCG@10 is 0.6667, below 0.7" in below.err
    assert run("eval", str(judged), "--min-ndcg", "1.5", cwd=tree, data=data).code == 2


def test_bad_input_is_one_line_and_a_hint(run: Run, tree: Path, data: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text("{}\n")

    for words, code in (([str(bad)], 2), (["nowhere.jsonl"], 2), ([str(bad), "-s", "none"], 2), ([], 2)):
        answer = run("eval", *words, cwd=tree, data=data)
        assert (answer.code, answer.out) == (code, "")
        assert "hint: " in answer.err


def test_no_session_is_told(run: Run, tmp_path: Path, judged: Path, data: Path) -> None:
    assert run("eval", str(judged), "-s", "none", cwd=tmp_path, data=data).code == 3


def test_queries_from_standard_input(tree: Path, data: Path, judged: Path) -> None:
    done = ragcli("eval", "-", "--json", data=data, cwd=tree, stdin=judged.read_bytes())

    assert done.returncode == 0
    assert json.loads(done.stdout)["queries"] == 3


def test_progress_and_a_table_that_fits_a_terminal(tree: Path, data: Path, judged: Path) -> None:
    code, shown = on_terminal("eval", str(judged), data=data, cwd=tree, columns=70)

    assert code == 0
    assert b"Evaluating" in shown
    assert b"0.667" in shown
    assert b"0.667 [" not in shown


def test_the_ten_queries_to_copy_are_of_this_repository(run: Run, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (PROJECT / "examples" / "ten-queries.jsonl").read_text().splitlines()]
    paths = [item if isinstance(item, str) else item["path"] for row in rows for item in row["relevant"]]

    assert len(rows) == 10
    assert [path for path in paths if not (PROJECT / path).is_file()] == []
