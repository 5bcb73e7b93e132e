"""Cases after public bug reports about searching. The id of a case stands in the name of its test."""

import math
import shutil
import unicodedata
from pathlib import Path

import pytest

from ragcli.config.options import QueryOptions, SearchFilter
from ragcli.errors import UsageError
from ragcli.session.service import RagService
from tests.cases import indexed, run
from tests.engine import write

COLLECTIONS = {
    "two": {"a.txt": "a zqfoggy morning near the old mill\n", "b.txt": "a plain note about other things\n"},
    "half": {"a.txt": "zqhalf red\n", "b.txt": "zqhalf blue\n", "c.txt": "green word\n", "d.txt": "yellow word\n"},
    "all": {"many.txt": "zqall zqall zqall zqall zqall\n", "one.txt": "zqall amber basin cedar delta\n",
            "two.txt": "zqall zqall amber basin cedar\n"},
    "single": {"only.txt": "zqone is alone\n"},
}  # fmt: skip


def files(rag: RagService, query: str, k: int = 10) -> list[str]:
    return [result.file for result in rag.search(query, k)]


def test_small_collections_find_what_is_there(tmp_path: Path) -> None:
    rags = {name: indexed(write(tmp_path / name, dict(content))) for name, content in COLLECTIONS.items()}

    assert files(rags["two"], "zqfoggy") == ["a.txt"]
    assert set(files(rags["half"], "zqhalf")) == {"a.txt", "b.txt"}
    assert files(rags["all"], "zqall") == ["many.txt", "two.txt", "one.txt"]
    assert files(rags["single"], "zqone") == ["only.txt"]
    for rag in rags.values():
        for query in ("zqfoggy", "zqhalf", "zqall", "zqone", "word", "amber"):
            for result in rag.search(query, 50):
                assert result.score > 0 and math.isfinite(result.score)
                assert all(place.score > 0 for place in result.streams.values())
    assert len(rags["two"].search("zqfoggy plain", 50)) == 2
    for k in (0, -1):
        with pytest.raises(UsageError):
            rags["two"].search("zqfoggy", k)
        assert run("search", "x", "-k", str(k), data=tmp_path / "none").code == 2


LINES = """run with --strict-headers
please don't panic
C++ and C#
@zqname
debian 12.5
path Uploads/zqfile
a=b;c
100%
the and of
"""
FINDS = ["--strict-headers", '"--strict-headers"', "don't panic", "C++", "@zqname", "12.5", "Uploads/zqfile",
         "zqname AND", "NOT zqname", "(zqname", '"zqname', "zqname*", "zq[name zqname", "path:zqfile"]  # fmt: skip


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("queries")
    write(folder / "tree", {"q.md": LINES, "other.md": "nothing of interest here\n"})
    assert run("index", str(folder / "tree"), data=folder / "data").code == 0
    return folder


def test_user_text_is_never_a_query_language(hostile: Path) -> None:
    rag = indexed(hostile / "tree")
    for query in FINDS:
        assert files(rag, query)[:1] == ["q.md"], query
    for query in ("   ", "...", '""', "*", "\N{FOX FACE}", "a" * 100_000, "\0", "(" * 10_000, "zq " * 30_000):
        assert files(rag, query) in ([], ["q.md"]), query[:20]
    for query in ("   ", "...", '""', "*", "\N{FOX FACE}", "a" * 100_000):
        assert files(rag, query) == [], query[:20]
    rag.search("the and of")


@pytest.mark.parametrize(
    "query", ["--strict-headers", "-amber", "(zqname", '"zqname', "\N{FOX FACE}", "", "   ", "*"], ids=ascii
)
def test_through_the_command_line_each_query_has_its_exit_code(hostile: Path, query: str) -> None:
    done = run("search", "--json", "--", query, data=hostile / "data", cwd=hostile / "tree")
    found = any(word in query for word in ("strict", "zqname"))
    assert done.code == (0 if found else 1) or (not query.strip() and done.code == 2)
    if found:
        assert done.json()["results"][0]["file"] == "q.md"


WORDS = {
    "zh.md": "全文检索系统使用倒排索引。\n", "ja.md": "データベースの検索\n", "ko.md": "휴가 신청 절차\n",
    "fr_nfc.md": unicodedata.normalize("NFC", "pâtisserie forêt façade\n"),
    "fr_nfd.md": unicodedata.normalize("NFD", "pâtisserie forêt façade\n"),
    "plain.md": "patisserie round the corner\n", "full.md": "ＡＢＣ１２３ 全角\n",
    "tr.md": "İstanbul\n", "de.md": "Straße\n",
}  # fmt: skip


def test_any_script_and_any_normal_form_is_found(tmp_path: Path) -> None:
    rag = indexed(write(tmp_path, dict(WORDS)))
    for query, first in (("倒排索引", "zh.md"), ("检索", "zh.md"), ("検索", "ja.md"), ("データ", "ja.md"),
                         ("신청", "ko.md"), ("ABC123", "full.md"), ("straße", "de.md"), ("STRASSE", "de.md"),
                         ("istanbul", "tr.md")):  # fmt: skip
        assert files(rag, query)[:1] == [first], query
    assert set(files(rag, "索")) == {"zh.md", "ja.md"}, "both hold it"
    for word in ("pâtisserie", "forêt"):
        answers = [files(rag, unicodedata.normalize(form, word)) for form in ("NFC", "NFD")]
        assert set(answers[0]) == set(answers[1])
        for found in answers:
            assert set(found[:2]) == {"fr_nfc.md", "fr_nfd.md"}, "exact accents come first"


SPELLINGS = {
    "tatweel.md": "كتـــاب", "arabic.md": "كتاب", "persian.md": "کتاب",
    "yeh.md": "المستشفي", "maksura.md": "المستشفى", "farsi.md": "المستشفی",
    "marbuta.md": "مدرسة", "heh.md": "مدرسه", "harakat.md": "مَدْرَسَة",
    "indic.md": "رقم ١٢٣٤", "persian_digits.md": "رقم ۱۲۳۴", "ascii.md": "رقم 1234", "devanagari.md": "संख्या १२३४",
}  # fmt: skip


@pytest.mark.parametrize(
    "group",
    [
        ("tatweel.md", "arabic.md", "persian.md"),
        ("yeh.md", "maksura.md", "farsi.md"),
        ("marbuta.md", "heh.md", "harakat.md"),
    ],
)
def test_spellings_of_an_arabic_word_find_each_other_and_the_exact_one_is_first(
    tmp_path: Path, group: tuple[str, ...]
) -> None:
    rag = indexed(write(tmp_path, {name: f"{text}\n" for name, text in SPELLINGS.items()}))

    for name in group:
        found = files(rag, SPELLINGS[name])
        assert set(found) == set(group)
        assert found[0] == name or name == "harakat.md" or name == "tatweel.md"


def test_digits_of_any_script_are_the_same_number(tmp_path: Path) -> None:
    rag = indexed(write(tmp_path, {name: f"{text}\n" for name, text in SPELLINGS.items()}))
    numbers = {"indic.md": "١٢٣٤", "persian_digits.md": "۱۲۳۴", "ascii.md": "1234", "devanagari.md": "१२३४"}

    for name, number in numbers.items():
        found = files(rag, number)
        assert set(found) == set(numbers)
        assert found[0] == name
        by_stream = [r.streams for r in rag.query(number, 10, QueryOptions(signals=False)).results]
        assert all("bm25" in streams for streams in by_stream), "the English stream reads them too"


@pytest.mark.parametrize("stored", ["NFC", "NFD"])
def test_composed_and_decomposed_names_are_one_to_globs_and_to_show(tmp_path: Path, stored: str) -> None:
    name = unicodedata.normalize(stored, "été/café.md")
    rag = indexed(write(tmp_path, {name: "zqname\n", "other.md": "zqname\n"}))

    for form in ("NFC", "NFD"):
        asked = unicodedata.normalize(form, "été/café.md")
        assert rag.show(asked).file == name
        for glob in (asked, unicodedata.normalize(form, "caf[é].md"), unicodedata.normalize(form, "été/")):
            found = rag.query("zqname", 10, QueryOptions(where=SearchFilter((glob,)))).results
            assert [result.file for result in found] == [name], glob


def copies(folder: Path, *, backwards: bool = False) -> Path:
    made = {f"dup/c{number:02}.txt": "zqtie copy text here\n" for number in range(12)}
    made["unique.md"] = (
        "# Notes\n\nA longer text that speaks of zqtie once among " + "amber basin cedar delta " * 10 + ".\n"
    )
    made |= {"pair/x.md": "amber zqpair\n", "pair/y.md": "basin zqpair\n"}
    return write(folder, dict(sorted(made.items(), reverse=backwards)))


def test_ties_have_one_order_whatever_the_process_and_the_order_of_creation(tmp_path: Path) -> None:
    data = tmp_path / "data"
    tree = copies(tmp_path / "tree")
    assert run("index", str(tree), "--workers", "1", data=data).code == 0
    outputs = {
        run("search", "zqtie", "-k", "5", "--json", data=data, cwd=tree, PYTHONHASHSEED=str(seed)).out
        for seed in range(4)
    }
    assert len(outputs) == 1
    assert run("index", str(tree), "--rebuild", "--workers", "4", data=data).code == 0
    outputs.add(run("search", "zqtie", "-k", "5", "--json", data=data, cwd=tree).out)
    assert len(outputs) == 1

    rag = indexed(tree)
    found = files(rag, "zqtie", 5)
    assert "unique.md" in found
    assert [name for name in found if name.startswith("dup")] == sorted(
        name for name in found if name.startswith("dup")
    )
    assert files(rag, "zqpair") == ["pair/x.md", "pair/y.md"]
    shutil.rmtree(tree)
    copies(tree, backwards=True)
    assert files(indexed(tree), "zqtie", 20) == files(rag, "zqtie", 20)
    assert len(files(rag, "zqtie", 20)) == 13, "copies come last and are not lost"
