"""Exact text in a search: every result holds it, none is missed, and what was left out is told."""

import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.cli.app import main
from ragcli.cli.search_options import ExactFlags
from ragcli.config.options import QueryOptions
from ragcli.session.service import RagService
from tests import engine
from tests.cli.conftest import Run
from tests.cli.test_startup import loaded

FILES = {
    "errors.py": (
        "def check(value):\n    if not value:\n        raise ValueError(\n            'The token is missing or has '\n"
        "            'expired, so log in again.'\n        )\n    return value\n"
    ),
    "words.md": "# Tokens\n\nA token is missing\nor has expired sometimes. Tokenizers are no tokens.\n",
    "upper.md": "TOKEN IS MISSING here, and the test too.\n",
    "signs.js": "const f = (a) => a;\nconst check_token = f;\n// heck_tokens\n",
    "noise.md": "missing token, is it expired? has it? or in again?\n" * 5,
}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    root, data = tmp_path_factory.mktemp("shelf"), tmp_path_factory.mktemp("data")
    engine.write(root, FILES)
    assert main(["index", str(root), "-q", "--workers", "0", "--data-dir", str(data)]) == 0
    return root, data


def found(run: Run, shelf: tuple[Path, Path], *words: str) -> list[str]:
    """The files of a search's results, by name."""
    answer = run("search", "--plain", "-k", "50", "--max-per-file", "50", *words, data=shelf[1], cwd=shelf[0])
    assert answer.code == (0 if answer.out else 1), answer.err
    return sorted({line.partition(":")[0] for line in answer.out.splitlines()})


@pytest.mark.parametrize(
    ("words", "files"),
    [
        (['"token is missing"'], ["errors.py", "upper.md", "words.md"]),
        (['"token   is\tmissing"'], ["errors.py", "upper.md", "words.md"]),
        (["--", '"token is missing"'], ["errors.py", "upper.md", "words.md"]),
        (["-F", "missing or has expired"], ["errors.py", "words.md"]),
        (["-F", "oken is miss"], ["errors.py", "upper.md", "words.md"]),
        (["-w", "oken is miss"], []),
        (["-w", "token is missing"], ["errors.py", "upper.md", "words.md"]),
        (["--case-sensitive", "token is missing"], ["errors.py", "words.md"]),
        (["--case-sensitive", '"TOKEN IS"'], ["upper.md"]),
        (["-F", "=>"], ["signs.js"]),
        (["-F", "eck_tok"], ["signs.js"]),
        (["-w", "heck_tokens"], ["signs.js"]),
        (["token +missing"], ["errors.py", "noise.md", "upper.md", "words.md"]),
        (["missing", "+token", "-test"], ["errors.py", "noise.md", "words.md"]),
        (["+tokens missing"], ["words.md"]),
        (['"token is missing" -test'], ["errors.py", "words.md"]),
        (['token -"is missing"'], ["noise.md", "signs.js"]),
    ],
)
def test_results_are_those_that_hold_the_text(
    run: Run, shelf: tuple[Path, Path], words: list[str], files: list[str]
) -> None:
    words = [f" {word}" if word == "-test" else word for word in words]  # alone it would be an option
    for more in ([], ["--no-signals"]):
        assert found(run, shelf, *more, *words) == files


def test_a_quotation_ranks_only_where_that_is_asked_for(run: Run, shelf: tuple[Path, Path]) -> None:
    assert "noise.md" in found(run, shelf, "--any-phrase", '"token is missing"')
    assert found(run, shelf, "--any-phrase", "missing -test") == found(run, shelf, "missing test")
    answer = run("search", "--any-phrase", "-F", "x", data=shelf[1], cwd=shelf[0])
    assert answer.code == 2 and "excludes" in answer.err


def test_the_line_shown_is_the_one_where_the_text_begins(run: Run, shelf: tuple[Path, Path]) -> None:
    where = {"data": shelf[1], "cwd": shelf[0]}
    message = "The token is missing or has expired, so log in again."

    for words in ([f'"{message}"'], ["-F", message]):
        assert run("search", *words, **where).out == "errors.py:4:            'The token is missing or has '\n"
    (hit,) = json.loads(run("search", f'"{message}"', "--json", **where).out)["results"]
    assert (hit["file"], hit["line"]) == ("errors.py", 4)
    block = run("search", f'"{message}"', "--pretty", "-C", "0", **where).out.splitlines()
    assert [line.split() for line in block[1:]] == [["4", "'The", "token", "is", "missing", "or", "has", "'"]]


def test_nothing_found_says_what_the_search_without_the_filter_would_find(run: Run, shelf: tuple[Path, Path]) -> None:
    where = {"data": shelf[1], "cwd": shelf[0]}

    answer = run("search", '"missing the token"', **where)
    assert (answer.code, answer.out) == (1, "")
    assert re.search(
        r"nothing holds all of the exact text; without that filter there are \d+ results, first \S+:\d+", answer.err
    )
    assert "nothing of the chosen files matches; without" in run("search", "token", "-g", "*.rs", **where).err
    assert "nothing matches without" in run("search", '"zzyy xx"', **where).err
    assert run("search", '"missing the token"', "-q", **where).err == ""


def test_a_batch_reads_each_line_so(run: Run, shelf: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    lines = b'"token is missing"\ntoken -missing\n-missing\n'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines)))
    answer = run("search", "--batch", data=shelf[1], cwd=shelf[0])

    rows = [json.loads(line) for line in answer.out.splitlines()]
    assert sorted(hit["file"] for hit in rows[0]["results"]) == ["errors.py", "upper.md", "words.md"]
    assert {hit["file"] for hit in rows[1]["results"]} == {"signs.js"}
    assert "nothing but words to leave out" in rows[2]["error"]
    assert answer.code == 2


def test_a_search_without_exact_text_loads_nothing_of_it(tree: Path, data: Path) -> None:
    modules = loaded(["search", "kiwi", "--json"], data, tree)

    assert not modules & {"ragcli.session.query_syntax", "ragcli.retrieval.exact_text"}


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[RagService, dict[str, str]]:
    """Several hundred small files of few words, so that most texts are in far more than the first batch looks at."""
    words = ("the", "alpha", "beta", "Gamma", "is", "not", "of_a", "straße", "x1", "über", "token_name")
    files = {
        f"f{n:03}.txt": " ".join(words[(n * k + k * k) % len(words)] for k in range(1, 9)) + "\n" for n in range(400)
    }
    rag = engine.service()
    engine.index(rag, engine.write(tmp_path_factory.mktemp("many"), dict(files)))
    return rag, files


@given(st.data())
def test_no_file_that_holds_the_text_is_missed(many: tuple[RagService, dict[str, str]], data: st.DataObject) -> None:
    rag, files = many
    source = files[data.draw(st.sampled_from(sorted(files)))].strip()
    start = data.draw(st.integers(0, len(source) - 1))
    text = source[start : start + data.draw(st.integers(1, 20))]
    if not text.strip():
        return
    expected = {name for name, content in files.items() if " ".join(text.split()).lower() in content.lower()}

    exact = ExactFlags(fixed=True).read(text)
    results = rag.query(text, 400, QueryOptions(exact=exact)).results
    assert {result.file for result in results} == expected
    few = rag.query(text, 5, QueryOptions(exact=exact)).results
    ten = rag.query(text, 10, QueryOptions(exact=exact)).results
    assert [result.id for result in few] == [result.id for result in ten][: len(few)]
