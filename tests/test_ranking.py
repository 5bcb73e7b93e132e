"""Ranking: the plain fusion exactly, and what our signals prefer, whatever order the candidates come in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.config.options import QueryOptions
from ragcli.model import Candidate, StreamScore
from ragcli.retrieval import feedback, signals, weights
from ragcli.retrieval.query import read_query
from ragcli.retrieval.ranking import Ranked, cap_per_file, copies_last, fuse, rank
from tests.candidates import candidate

PLAIN = QueryOptions(signals=False)
OURS = QueryOptions(max_per_file=0)
EXPLAINED = QueryOptions(explain=True, max_per_file=0)


def paths(query: str, *candidates: Candidate) -> list[str]:
    return [hit.candidate.path for hit in rank(query, candidates, OURS)]


def in_streams(path: str, **ranks: int) -> Candidate:
    return candidate(path)._replace(streams={name: StreamScore(rank, 1.0) for name, rank in ranks.items()})


def pools() -> st.SearchStrategy[list[Candidate]]:
    one = st.builds(
        candidate,
        st.sampled_from(["a.py", "b/a.py", "b/test_c.py", "v1/d.py", "v2/d.py", "notes.md", "vendor/e.c"]),
        st.sampled_from([0.0, 0.5, 1.0, 3.25]),
        bm25=st.sampled_from([0.0, 1.0, 2.5]),
        line=st.integers(1, 50),
        symbol=st.sampled_from(["", "parse", "Parser", "load_all"]),
        digest=st.sampled_from([b"1", b"2", b"3", b"4", b"5"]),
    )
    return st.lists(one, max_size=12, unique_by=lambda c: c.id)


def place(hits: list[Ranked]) -> list[tuple[str, int, float]]:
    return [(hit.candidate.path, hit.candidate.start_line, hit.score) for hit in hits]


def test_fusion_is_weight_by_sixty_plus_rank() -> None:
    both, first, second = in_streams("a", bm25=2, tfidf=1), in_streams("b", bm25=1), in_streams("c", tfidf=2)

    hits = rank("q", [second, first, both], PLAIN)

    assert [hit.candidate.path for hit in hits] == ["a", "b", "c"]
    assert [hit.score for hit in hits] == [round(0.6 / 62 + 0.4 / 61, 9), round(0.6 / 61, 9), round(0.4 / 62, 9)]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=8), st.randoms())
def test_fusion_does_not_depend_on_the_order_of_candidates(ranks: list[tuple[int, int]], random) -> None:
    found = [in_streams(f"{n}", bm25=a, tfidf=b) for n, (a, b) in enumerate(ranks)]
    shuffled = random.sample(found, len(found))

    assert place(fuse(found, weights.FUSED_STREAMS)) == place(fuse(shuffled, weights.FUSED_STREAMS))


@given(st.integers(1, 50), st.integers(1, 49))
def test_fusion_is_monotone_in_each_rank(better: int, by: int) -> None:
    one = fuse([in_streams("a", bm25=better, tfidf=3)], weights.FUSED_STREAMS)[0]
    other = fuse([in_streams("a", bm25=better + by, tfidf=3)], weights.FUSED_STREAMS)[0]

    assert one.score > other.score


@given(pools(), st.sampled_from(["parse", "Parser.load_all", "how are tests parsed", "b/a.py", ""]), st.randoms())
def test_order_and_scores_do_not_depend_on_the_order_of_candidates(pool: list[Candidate], query: str, random) -> None:
    shuffled = random.sample(pool, len(pool))

    assert place(rank(query, pool, OURS)) == place(rank(query, shuffled, OURS))


@given(pools(), st.sampled_from(["parse", "load_all", "how are notes parsed"]))
def test_explained_parts_add_up_to_the_score_and_change_nothing(pool: list[Candidate], query: str) -> None:
    explained = rank(query, pool, EXPLAINED)

    assert place(explained) == place(rank(query, pool, OURS))
    for hit in explained:
        assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=1e-6)


@given(pools(), st.integers(1, 4))
def test_the_cap_holds_where_several_files_are_found(pool: list[Candidate], most: int) -> None:
    hits = rank("parse", pool, QueryOptions(max_per_file=most))

    files = [hit.candidate.path for hit in hits]
    if len(set(files)) > 1:
        assert max(map(files.count, files)) <= most


def test_a_single_file_is_not_capped() -> None:
    hits = [Ranked(candidate("a.py", line=n), 1.0, {}) for n in range(5)]

    assert len(cap_per_file(hits, 3)) == 5
    assert len(cap_per_file([*hits, Ranked(candidate("b.py"), 0.5, {})], 3)) == 4


def test_copies_stand_behind_everything_else() -> None:
    first, copy, other = (
        Ranked(candidate("a.py", digest=b"x"), 3.0, {}),
        Ranked(candidate("vendor/a.py", digest=b"x"), 2.0, {}),
        Ranked(candidate("b.py", digest=b"y"), 1.0, {}),
    )

    assert copies_last([first, copy, other], read_query("parse")) == [first, other, copy]


def test_the_definition_of_a_name_precedes_its_uses() -> None:
    use = candidate("use.py", 3.0, symbol="main", kind="function")
    definition = candidate("lib.py", 2.0, symbol="resolve_redirects", kind="function")

    assert paths("resolve_redirects", use, definition) == ["lib.py", "use.py"]
    assert paths("resolveRedirects", use, definition) == ["lib.py", "use.py"]


@pytest.mark.parametrize("query", ["Session.send", "Session::send", "Session->send", "Session:send", "Session#send"])
def test_a_qualified_name_prefers_its_scope(query: str) -> None:
    wanted = candidate("a.py", symbol="send", qualified_symbol="Session.send", kind="method")
    other = candidate("b.py", 1.1, symbol="send", qualified_symbol="Adapter.send", kind="method")

    assert paths(query, wanted, other)[0] == "a.py"


def test_a_file_of_that_name_precedes_others() -> None:
    assert paths("load the config", candidate("src/tools.js"), candidate("src/config.js", 0.9))[0] == "src/config.js"
    assert paths("routing", candidate("src/a/mod.rs"), candidate("src/routing/mod.rs", 0.9))[0] == "src/routing/mod.rs"


@pytest.mark.parametrize(
    ("lowered", "asked_with"),
    [
        ("tests/router.py", "test"),
        ("src/router_test.go", "test"),
        ("src/router.spec.ts", "spec"),
        ("examples/router.py", "example"),
        ("vendor/router.py", "vendored"),
        ("router_pb2.py", "generated"),
    ],
)
def test_files_of_a_role_are_lowered_unless_asked_for(lowered: str, asked_with: str) -> None:
    plain, other = candidate("aside/rules.py", 1.9), candidate(lowered, 2.0)

    assert paths("dispatch", plain, other)[0] == "aside/rules.py"
    assert paths(f"dispatch {asked_with}", plain, other)[0] == lowered


def test_an_old_version_beside_a_newer_one_is_lowered() -> None:
    old, new = candidate("src/v3/parse.ts", 1.2), candidate("src/v4/parse.ts", 1.0)

    assert paths("safe parse", old, new)[0] == "src/v4/parse.ts"
    assert paths("safe parse", old, candidate("src/w4/parse.ts"))[0] == "src/v3/parse.ts"


def test_several_good_chunks_of_one_file_lift_it() -> None:
    alone = candidate("a.py", 1.0)
    together = [candidate("b.py", 0.95, line=n) for n in (1, 20, 40)]

    assert paths("routes", alone, *together)[:2] == ["b.py", "a.py"]


def test_files_stand_side_by_side() -> None:
    strong = [candidate("a.py", 1.0 - n / 100, line=10 * n + 1) for n in range(3)]
    others = [candidate(f"{name}.py", 0.8) for name in "bcd"]

    assert paths("routes", *strong, *others)[:4] == ["a.py", "b.py", "c.py", "d.py"]


def test_a_long_document_of_prose_is_not_lifted_by_its_many_chunks() -> None:
    novel = [candidate("novel.pdf", 0.98, line=n, format="PDF") for n in (1, 20, 40, 60)]
    drug = candidate("drug.docx", 1.0, format="DOCX")

    assert paths("dose each day", drug, *novel)[0] == "drug.docx"


def test_a_second_page_of_prose_is_not_lowered_below_other_documents() -> None:
    pages = [candidate("guide.pdf", 1.0 - n / 100, line=10 * n + 1, format="PDF") for n in range(2)]

    assert paths("exclusion of fields", *pages, candidate("other.pdf", 0.8, format="PDF")) == [
        "guide.pdf", "guide.pdf", "other.pdf",
    ]  # fmt: skip


def test_a_tree_is_source_by_its_files_however_many_chunks_its_documents_have() -> None:
    manual = [candidate("manual.pdf", 1.2 - n / 100, line=n + 1, format="PDF") for n in range(40)]
    sources = [candidate(f"{name}/parse.py") for name in "abc"]

    assert signals.mostly_source([*manual, *sources])
    assert paths("parse", *manual, *sources)[0] == "a/parse.py"


def test_prose_is_not_ranked_by_depth() -> None:
    deep = candidate("notes/2024/q3/meetings/minutes.md", 1.0, format="MARKDOWN")
    high = candidate("minutes.md", 0.99, format="MARKDOWN")

    assert paths("salary round", deep, high)[0] == deep.path


def test_roles_are_no_matter_among_prose() -> None:
    results, other = candidate("tests/blood.md", 1.0), candidate("other/blood.md", 0.9)

    assert paths("iron level", results, other)[0] == "tests/blood.md"


def test_prose_beside_code_is_lowered_unless_a_guide_is_asked_for() -> None:
    guide, code = candidate("guide/commands.md", 1.3), candidate("core/commands.py", 1.0)

    assert paths("custom commands", guide, code)[0] == "core/commands.py"
    assert paths("how to write custom commands", guide, code)[0] == "guide/commands.md"
    assert paths("documentation of custom commands", guide, code)[0] == "guide/commands.md"


def test_a_path_in_the_query_brings_its_file_to_the_top() -> None:
    asked, other = candidate("src/flask/app.py", 0.4), candidate("src/flask/cli.py", 1.0)

    assert paths("flask/app.py", asked, other)[0] == asked.path
    assert paths("where does app.py start", asked, other)[0] == asked.path
    notes, newer = candidate("releases/5.2.txt", 0.4), candidate("releases/6.0.txt", 1.0)
    assert paths("release notes 5.2", notes, newer)[0] == notes.path


def test_a_quoted_phrase_lifts_the_chunk_that_holds_it() -> None:
    holds, scattered = candidate("a.txt", 0.8, format="TEXT"), candidate("b.txt", 1.0, format="TEXT")
    texts = {holds.key: "the Boundary\n   layer flow", scattered.key: "layer of the boundary"}

    hits = rank('"boundary layer"', [holds, scattered], OURS, lambda keys: [texts[key] for key in keys])

    assert hits[0].candidate == holds


def test_nothing_found_is_nothing() -> None:
    assert rank("anything", [], OURS) == []
    assert rank("anything", [candidate("a.py", 0.0)], OURS) == []


def test_of_a_qualified_name_the_innermost_scope_counts() -> None:
    inner = candidate("a.py", symbol="send", qualified_symbol="Session.send", kind="method")
    outer = candidate("b.py", 1.1, symbol="send", qualified_symbol="requests.send", kind="method")

    assert paths("requests.Session.send", inner, outer)[0] == "a.py"


def test_only_so_many_chunks_of_a_file_speak_for_it() -> None:
    most = weights.COHERENCE_CHUNKS

    source = candidate("a.py")

    assert signals.coherence(source, [1.0] * (most - 1)) < signals.coherence(source, [1.0] * most)
    assert signals.coherence(source, [1.0] * 1000) == signals.coherence(source, [1.0] * most)


def test_feedback_learns_no_more_of_a_word_for_being_repeated_often() -> None:
    few, many = (
        feedback.expansion([(1.0, "harbour " * times + "kiwi")], lambda terms: [1.0] * len(terms))
        for times in (weights.FEEDBACK_TIMES, 400)
    )

    assert few == many
    assert [term.term for term in few] == ["harbour", "kiwi"]
