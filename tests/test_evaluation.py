"""Measures, intervals and tests of an evaluation, and the files and folders that judged queries are read from."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.errors import UsageError
from ragcli.evaluation import measures
from ragcli.evaluation.evaluate import Hit, by_category, compared, measured, worst
from ragcli.evaluation.judgements import JudgedQuery, Target, read_judgements, resolved
from ragcli.evaluation.measures import Scores, intervals, randomization_p, score
from tests.benchmarks.ablation import ndcg


def target(name: str, start: int = 0, end: int = 0, grade: float = 1.0) -> Target:
    return Target(name, frozenset((name,)), start, end, grade)


def asked(*targets: Target, category: str = "") -> JudgedQuery:
    return JudgedQuery("1", "a question", targets, category)


def hits(*names: str) -> list[Hit]:
    return [Hit(name, 1, 10, 1.0) for name in names]


def test_measures_of_a_known_answer() -> None:
    found = measured(asked(target("a"), target("b"), target("c")), hits("x", "a", "y", "b"), 3)

    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert found.scores.ndcg == pytest.approx((1 / math.log2(3) + 1 / math.log2(5)) / ideal)
    assert found.scores.mrr == 0.5
    assert found.scores.recall == pytest.approx(1 / 3)
    assert found.scores.success == 0.0
    assert found.places == (2, 4, 0)
    assert [hit.name for hit in found.above] == ["x"]


def test_grades_are_linear_gains() -> None:
    """The figure that trec_eval gives for gains 1, 0, 2 of an ideal 2, 1."""
    found = measured(asked(target("a", grade=1.0), target("b", grade=2.0)), hits("a", "x", "b"), 10)

    assert found.scores.ndcg == pytest.approx((1 + 2 / 2) / (2 + 1 / math.log2(3)))


@given(
    st.lists(st.sampled_from("abcdefgh"), max_size=14, unique=True), st.sets(st.sampled_from("abcdefgh"), min_size=1)
)
def test_ndcg_is_that_of_the_benchmark(ranked: list[str], relevant: set[str]) -> None:
    found = measured(asked(*map(target, sorted(relevant))), hits(*ranked), 10)

    assert found.scores.ndcg == pytest.approx(ndcg(ranked, frozenset(relevant)))
    assert all(0.0 <= value <= 1.0 + 1e-12 for value in found.scores)


def test_where_lines_are_judged_a_chunk_must_overlap_them_and_counts_once() -> None:
    ranked = [Hit("a", 1, 9, 3.0), Hit("a", 10, 30, 2.0), Hit("a", 20, 40, 1.0)]

    found = measured(asked(target("a", 25, 26)), ranked, 10)

    assert found.places == (2,)
    assert found.scores.mrr == 0.5


def test_a_chunk_on_several_targets_is_no_better_than_the_ideal() -> None:
    found = measured(asked(target("a", 1, 2), target("a", 3, 4)), [Hit("a", 1, 9, 1.0)], 10)

    assert found.places == (1, 1)
    assert found.scores.recall == 1.0
    assert found.scores.ndcg < 1.0


def test_intervals_hold_the_mean_and_are_the_same_each_time() -> None:
    rows = [Scores(n / 10, n / 10, 1.0, 0.0) for n in range(11)]

    first, again = intervals(rows), intervals(rows)

    assert first == again
    assert first[0].low < first[0].mean == 0.5 < first[0].high
    assert first[2] == (1.0, 1.0, 1.0)
    assert intervals(rows[3:4])[0] == (0.3, 0.3, 0.3)


def test_the_paired_test_of_few_differences_is_exact() -> None:
    assert randomization_p([0.0, 0.0]) == 1.0
    assert randomization_p([0.1, 0.2, 0.3]) == 2 / 8
    assert randomization_p([0.1] * 10 + [0.0] * 50) == pytest.approx(2 / 1024, abs=1e-6)


def test_the_paired_test_of_many_differences_tells_chance_from_gain() -> None:
    noise = [(-1) ** n * (n % 7) / 10 for n in range(100)]
    gain = [0.05 + difference / 10 for difference in noise]

    assert randomization_p(noise) > 0.2
    assert randomization_p(gain) < 0.001
    assert len(noise) > measures.EXACT


def test_a_comparison_counts_queries_and_is_paired() -> None:
    answers = [measured(asked(target("a")), hits(*ranked), 10) for ranked in ("a", "xa", "a")]
    others = [measured(asked(target("a")), hits(*ranked), 10) for ranked in ("xa", "a", "a")]

    found = compared(answers, others)

    assert (found.better, found.worse, found.equal) == (1, 1, 1)
    assert found.differences[0].mean == 0.0
    assert found.differences[0].p == 1.0


def test_the_worst_answers_come_first_and_perfect_ones_never() -> None:
    answers = [measured(asked(target("a")), hits(*ranked), 10) for ranked in ("a", "xya", "xa", "xy")]

    assert worst(answers, 2) == [answers[3], answers[1]]
    assert worst(answers, 9) == [answers[3], answers[1], answers[2]]


def test_categories_only_where_a_query_has_one() -> None:
    plain = measured(asked(target("a")), hits("a"), 10)
    symbol = measured(asked(target("a"), category="symbol"), hits("x"), 10)

    assert by_category([plain]) == {}
    assert {name: found.measures[0].mean for name, found in by_category([plain, symbol]).items()} == {
        "": 1.0, "symbol": 0.0,
    }  # fmt: skip


def test_no_targets_and_no_hits_measure_nothing() -> None:
    assert score([], [], [1.0], 10) == (0.0, 0.0, 0.0, 0.0)


# -- reading


def written(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_json_lines_give_paths_lines_grades_and_categories(tmp_path: Path) -> None:
    rows = [
        {"query": "one", "relevant": ["./src/a.py", "b.py:3", "c.py:10-20"], "category": "symbol", "id": "q1"},
        {"query": "two", "relevant": [{"path": "d:e.py", "lines": [4, 5], "grade": 2}, {"path": "f", "start_line": 7}]},
    ]
    file = written(tmp_path, "q.jsonl", "\ufeff" + "\n\n".join(map(json.dumps, rows)) + "\n")

    one, two = read_judgements(str(file))

    assert (one.id, one.category, two.id) == ("q1", "symbol", "3")
    assert one.targets == (target("src/a.py"), target("b.py", 3, 3), target("c.py", 10, 20))
    assert two.targets == (target("d:e.py", 4, 5, 2.0), target("f", 7, 7))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ("[1]", "not a JSON object"),
        ('{"relevant": ["a"]}', "no query"),
        ('{"query": " ", "relevant": ["a"]}', "no query"),
        ('{"query": "a"}', "no relevant paths"),
        ('{"query": "a", "relevant": "a.py"}', "no relevant paths"),
        ('{"query": "a", "relevant": []}', "no relevant paths"),
        ('{"query": "a", "relevant": [3]}', "a string or an object"),
        ('{"query": "a", "relevant": [""]}', "a string or an object"),
        ('{"query": "a", "relevant": ["a.py:9-3"]}', "no range"),
        ('{"query": "a", "relevant": ["a.py:0"]}', "no range"),
        ('{"query": "a", "relevant": [{"path": "a", "lines": [1]}]}', "lines are two numbers"),
        ('{"query": "a", "relevant": [{"path": "a", "lines": [true, 2]}]}', "lines are two numbers"),
        ('{"query": "a", "relevant": [{"path": "a", "grade": 0}]}', "a grade is a number above 0"),
        ('{"query": "a", "relevant": [{"path": "a", "grade": NaN}]}', "a grade is a number above 0"),
        ('{"query": "a", "relevant": ["a"], "category": 3}', "category is not a string"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, says: str) -> None:
    file = written(tmp_path, "q.jsonl", '{"query": "fine", "relevant": ["a"]}\n' + line)

    with pytest.raises(UsageError, match=says) as raised:
        read_judgements(str(file))

    assert f"{file}:2" in raised.value.message
    assert raised.value.hint


def test_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    (tmp_path / "latin.jsonl").write_bytes(b'{"query": "caf\xe9"}')

    for name, says in (("gone.jsonl", "No such file"), ("latin.jsonl", "not UTF-8"), (".", "has no queries")):
        with pytest.raises(UsageError, match=says):
            read_judgements(str(tmp_path / name))
    with pytest.raises(UsageError, match="no judged query"):
        read_judgements(str(written(tmp_path, "empty.jsonl", "\n\n")))


def test_a_beir_folder(tmp_path: Path) -> None:
    written(
        tmp_path, "queries.jsonl", '{"_id": "q1", "text": "one"}\n{"_id": 2, "text": "two"}\n{"_id": "3", "text": "3"}'
    )
    written(tmp_path, "qrels/train.tsv", "query-id\tcorpus-id\tscore\nq1\twrong\t1\n")
    written(tmp_path, "qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\tMED-10\t2\nq1\tMED-11\t0\n2\tMED 12\t1\n")

    assert read_judgements(str(tmp_path)) == [
        JudgedQuery("q1", "one", (target("MED-10", grade=2.0),)),
        JudgedQuery("2", "two", (target("MED 12"),)),
    ]


def test_a_trec_folder(tmp_path: Path) -> None:
    written(
        tmp_path, "topics.301-302", "<top>\n<num> Number: 301\n<title> Topic: Organized\nCrime\n<desc> Which?\n</top>\n"
        "<top><num>302</num><title>Polio</title></top>",
    )  # fmt: skip
    written(tmp_path, "qrels.txt", "301 0 FBIS3-1 1\n301 0 FBIS3-2 0\n302 0 LA-7 1\n")

    assert read_judgements(str(tmp_path)) == [
        JudgedQuery("301", "Organized Crime", (target("FBIS3-1"),)),
        JudgedQuery("302", "Polio", (target("LA-7"),)),
    ]


def test_a_folder_with_queries_by_tabs_and_three_columns(tmp_path: Path) -> None:
    written(tmp_path, "queries.tsv", "1\twhat is a wing\n")
    written(tmp_path, "qrels.tsv", "1\td1\t1\n")

    assert read_judgements(str(tmp_path)) == [JudgedQuery("1", "what is a wing", (target("d1"),))]


def test_a_bad_judgement_is_named(tmp_path: Path) -> None:
    written(tmp_path, "queries.tsv", "1\tone\n")
    file = written(tmp_path, "qrels.tsv", "query\tdocument\tscore\n1\td1\tmuch\n")

    with pytest.raises(UsageError, match="not a judgement") as raised:
        read_judgements(str(tmp_path))
    assert f"{file}:2" in raised.value.message

    file.write_text("9\td1\t1\n")
    with pytest.raises(UsageError, match="of other queries"):
        read_judgements(str(tmp_path))


def test_names_are_paths_else_files_named_by_an_id() -> None:
    queries = [asked(target("001/7.txt"), target("7"), target("8.txt"), target("src/7.txt"), target("gone"))]

    (found,), missing = resolved(queries, ["001/7.txt", "002/8.txt"])

    assert [sorted(one.names) for one in found.targets] == [["001/7.txt"], ["001/7.txt"], ["002/8.txt"], [], []]
    assert missing == ["gone", "src/7.txt"]
