"""Which files get into an answer: the cap per file, copies of one text, and what could shut a file out."""

from pathlib import Path

import pytest

from ragcli.config.options import QueryOptions, SearchFilter
from ragcli.retrieval.query import read_query
from ragcli.retrieval.ranking import Ranked, copies_last
from ragcli.session.service import RagService
from tests.candidates import candidate
from tests.cases import indexed
from tests.engine import write

LONG = "\n\n".join(f"## Part {n}\n\n" + "zqmast sail mast zqmast " * 5 + f"number {n}" for n in range(400))


def one_long_file_and(others: int) -> dict[str, str | bytes]:
    return {"long.md": LONG, **{f"n/o{n:02}.md": f"zqmast once in {n}\n" + "amber basin " * 40 for n in range(others)}}


def files(rag: RagService, query: str, k: int = 10, **options: object) -> list[str]:
    return [result.file for result in rag.query(query, k, QueryOptions(**options)).results]  # type: ignore[arg-type]


@pytest.mark.parametrize("signals_on", [True, False])
@pytest.mark.parametrize("most", [1, 3])
def test_a_long_file_takes_no_more_than_its_share_whatever_the_pool_holds(
    tmp_path: Path, most: int, signals_on: bool
) -> None:
    rag = indexed(write(tmp_path, one_long_file_and(40)))

    found = files(rag, "zqmast", max_per_file=most, signals=signals_on)

    assert len(found) == 10
    assert found.count("long.md") == most
    everything = files(rag, "zqmast", 100, max_per_file=most, signals=signals_on)
    assert len(everything) == 40 + most
    assert everything[:10] == found or not signals_on


@pytest.mark.parametrize("signals_on", [True, False])
def test_one_more_strong_file_takes_no_place_from_the_others(tmp_path: Path, signals_on: bool) -> None:
    rag = indexed(write(tmp_path, one_long_file_and(40) | {"strong.md": LONG.replace("number", "figure")}))

    found = files(rag, "zqmast", signals=signals_on)

    assert len(found) == 10
    assert found.count("long.md") == found.count("strong.md") == 3


def test_the_only_file_that_matches_is_shown_whole(tmp_path: Path) -> None:
    rag = indexed(write(tmp_path, {"long.md": LONG, "other.md": "amber basin\n"}))

    assert files(rag, "zqmast") == ["long.md"] * 10
    assert (
        files(indexed(write(tmp_path, one_long_file_and(3))), "zqmast", where=SearchFilter(("long.md",)))
        == ["long.md"] * 10
    )


def test_copies_shut_out_no_file_however_many_there_are(tmp_path: Path) -> None:
    copies = {f"dup/c{n:03}.txt": "zqtie copy text here\n" for n in range(300)}
    rag = indexed(write(tmp_path, copies | {"unique.md": "one zqtie among " + "amber basin cedar " * 30}))

    assert files(rag, "zqtie", 3) == ["dup/c000.txt", "unique.md", "dup/c001.txt"]


def test_of_copies_the_one_nearest_to_the_root_comes_first(tmp_path: Path) -> None:
    text = "def charge_card(card, amount):\n    return gateway.charge(card, amount)\n"
    rag = indexed(
        write(tmp_path, {"a/deep/er/pay.py": text, "src/pay.py": text, "backup/old/pay.py": text, "b.py": "card = 1\n"})
    )

    found = files(rag, "charge card")

    assert found[0] == "src/pay.py"
    assert found[-2:] == ["a/deep/er/pay.py", "backup/old/pay.py"] or found[1] == "b.py"
    assert files(rag, "backup charge card")[0] == "backup/old/pay.py", "the query names that copy's directory"


def test_the_copy_that_stays_is_of_the_file_asked_for_then_of_no_role_then_nearest_to_the_root() -> None:
    def first(query: str, *paths: str) -> str:
        hits = [Ranked(candidate(path, digest=b"x"), 1.0, {}) for path in paths]
        return copies_last(hits, read_query(query))[0].candidate.path

    assert first("dispatch", ".hidden/b/rules.md", "z/rules.md") == "z/rules.md"
    assert first("dispatch", "vendor/rules.md", "src/core/rules.md") == "src/core/rules.md"
    assert first("vendor/rules.md dispatch", "src/core/rules.md", "vendor/rules.md") == "vendor/rules.md"
    assert first("dispatch", "b/rules.md", "a/rules.md") == "a/rules.md"


@pytest.mark.parametrize("signals_on", [True, False])
def test_a_word_cut_in_parts_is_not_found_by_its_least_part(tmp_path: Path, signals_on: bool) -> None:
    rag = indexed(
        write(
            tmp_path,
            {"four.md": "there are 4 of them\n", "k.md": "kubernetes and pods\n", "k4.md": "kubernetes4 and pods\n",
             "8/8.md": "amber\n"},
        )
    )  # fmt: skip

    assert files(rag, "kubernetes4", signals=signals_on) == ["k4.md", "k.md"]
    assert files(rag, "utf8", signals=signals_on) == files(rag, "utf-8", signals=signals_on) == []
    assert set(files(rag, "4", signals=signals_on)) == {"four.md", "k4.md"}
