"""The shape of a query, the names and roles of paths, and feedback: read from strings alone."""

import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.retrieval import weights
from ragcli.retrieval.feedback import best_of_prose, expansion
from ragcli.retrieval.path_signals import asked_roles, file_name, old_versions, roles
from ragcli.retrieval.query import Name, read_query
from tests.candidates import candidate


def evenly(terms: Sequence[str]) -> list[float]:
    """Every term as rare as every other."""
    return [1.0] * len(terms)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("router", [Name("router")]),
        ("how is a request routed", []),
        (
            "Session.resolve_redirects",
            [Name("resolve_redirects", ("Session",)), Name("resolve_redirects")],
        ),
        ("what does std::vector hold", [Name("vector", ("std",))]),
        ("how use() mounts", [Name("use")]),
        ("the mergeConfig step", [Name("mergeConfig")]),
        ("How Router works", [Name("Router")]),
        ("HTTP status", []),
    ],
)
def test_names_of_a_query(text: str, names: list[Name]) -> None:
    assert set(read_query(text).names) >= set(names)
    assert bool(read_query(text).names) == bool(names)


def test_words_are_stems_without_those_that_name_nothing() -> None:
    assert read_query("how are the routes registered").words == ("rout", "regist")


def test_paths_and_phrases_of_a_query() -> None:
    query = read_query('see src/app/main.py and utils.js for "boundary  Layer"')

    assert query.paths == ("src/app/main.py", "utils.js")
    assert query.phrases == ("boundary layer",)


@given(st.text(max_size=200))
def test_any_text_is_a_query(text: str) -> None:
    query = read_query(text)

    assert all(name.name for name in query.names)
    assert all(query.paths)


@pytest.mark.parametrize("unit", ["a", "a.", "a/", "a_", "A:", "é", '"', "a b ", "()", "\\"])
def test_a_long_query_is_read_in_time_that_does_not_explode(unit: str) -> None:
    began = time.process_time()
    read_query(unit * 200_000)

    assert time.process_time() - began < 20  # an order of magnitude, not a speed: backtracking would take hours


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("src/core/mergeConfig.js", ("merg", "config")),
        ("axum/src/extract/mod.rs", ("extract",)),
        ("pkg/dependencies/utils.py", ("depend",)),
        ("utils.py", ("util",)),
        ("papers/0000123.txt", ()),
        (".github/workflows/ci.yml", ("ci",)),
    ],
)
def test_a_file_s_name_as_words(path: str, words: tuple[str, ...]) -> None:
    assert file_name(path).words == words


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("tests/a.py", {"test"}),
        ("pkg/a_test.go", {"test"}),
        ("src/FooTest.java", {"test"}),
        ("src/contest.py", set()),
        ("src/latest.py", set()),
        ("docs_src/a.py", {"example"}),
        ("third_party/z.c", {"vendored"}),
        ("pkg/_internal/a.py", {"private"}),
        ("pkg/__init__.py", {"reexport"}),
        ("a.min.js", {"generated"}),
        ("src/Attest.java", set()),
    ],
)
def test_roles_of_a_file(path: str, role: set[str]) -> None:
    assert roles(path) == role


def test_what_a_query_asks_for() -> None:
    assert asked_roles(read_query("unit tests of the parser").words) == {"test"}
    assert asked_roles(read_query("parser").words) == frozenset()


def test_only_directories_beside_a_newer_version_are_old() -> None:
    assert old_versions(["a/v1/x", "a/v2/x", "b/v1/x", "v3/x", "v10/x"]) == {"a/v1/", "v3/"}


@given(st.lists(st.tuples(st.floats(0.01, 50), st.text("abc éあ1", max_size=40)), max_size=12))
def test_expansion_is_bounded_sorted_and_lighter_than_the_query(scored: list[tuple[float, str]]) -> None:
    terms = expansion(scored, evenly)

    assert len(terms) <= weights.FEEDBACK_TERMS
    assert terms == sorted(terms)
    assert all(0 < term.weight <= weights.FEEDBACK + 1e-12 for term in terms)


def test_feedback_learns_rare_words_before_those_that_everything_says() -> None:
    common = {"day": 0.05, "one": 0.05}
    found = [(3.0, "one day the sitagliptin arm"), (2.9, "one day a sitagliptin dose")]

    terms = expansion(found, lambda terms: [common.get(term, 5.0) for term in terms])

    assert max(terms, key=lambda term: term.weight).term == "sitagliptin"
    assert {term.term: term.weight for term in terms}["day"] < weights.FEEDBACK / 10


def test_feedback_looks_up_a_bounded_number_of_terms_once() -> None:
    asked: list[list[str]] = []

    def idf(terms: Sequence[str]) -> list[float]:
        asked.append(list(terms))
        return [1.0] * len(terms)

    expansion([(1.0, " ".join(f"word{n}x" for n in range(500)))], idf)

    assert [len(terms) for terms in asked] == [weights.FEEDBACK_LOOKED_UP]


def test_feedback_learns_what_the_best_chunks_share() -> None:
    terms = expansion([(3.0, "shock wave boundary"), (2.5, "shock wave heat"), (1.0, "wing")], evenly)

    heaviest = sorted(terms, key=lambda term: -term.weight)[:2]
    assert {term.term for term in heaviest} == {"shock", "wave"}


def test_feedback_comes_from_the_best_chunks_of_prose_only() -> None:
    prose = [candidate(f"{n:02}.md", rank=n) for n in range(1, 15)]
    code = [candidate(f"{n}.py", rank=n) for n in range(1, 20)]

    assert best_of_prose(prose[::-1]) == prose[: weights.FEEDBACK_CHUNKS]
    assert best_of_prose(prose + code) == []


def test_a_pool_that_nothing_was_chosen_from_gives_no_feedback() -> None:
    assert best_of_prose([candidate(f"{n}.md", rank=n) for n in range(1, weights.FEEDBACK_CHUNKS + 1)]) == []
