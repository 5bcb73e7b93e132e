"""What a search prints can be given to `show`: lines, symbols, chunks, pages, sheets, slides; and what is none."""

import json
import re
from pathlib import Path

import pytest
from openpyxl import Workbook

from ragcli.cli.app import main
from tests.cli.conftest import Run
from tests.office_files import pptx, shape, slide
from tests.pdf_files import pdf
from tests.pdf_files import shown as drawn

SOURCE = (
    "import os\n\n\nclass Store:\n    '''Keeps things.'''\n\n    def commit(self):\n        '''Commit a mango.'''\n"
    "        return os.sync()\n\n    def abort(self):\n        return None\n\n\ndef commit():\n    return 1\n"
)
LINES = "".join(f"line {number} of the poem\n" for number in range(1, 301))
NAMES = ("a:7:b.txt", "a#b.txt", "esc\x1b[31m.txt", "-dash.txt", "two\nlines.txt", "plain.txt:3")


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An indexed tree of documents with parts, and its data directory."""
    root, data = tmp_path_factory.mktemp("shelf"), tmp_path_factory.mktemp("data")
    (root / "src").mkdir()
    (root / "src/store.py").write_text(SOURCE)
    (root / "poem.txt").write_text(LINES)
    for name in NAMES:
        (root / name).write_text(f"papaya one\npapaya two\npapaya three in {name!r}\n")
    (root / "plain.txt").write_text("papaya 1\npapaya 2\npapaya 3\npapaya 4\n")
    pages = ("the first page has kiwis", "the second page has figs", "the third page")
    (root / "book.pdf").write_bytes(pdf(*(drawn(text) for text in pages)))
    workbook = Workbook()
    workbook.active.title = "Data"
    workbook.active.append(["apple", 1])
    workbook.create_sheet("Q3 Totals").append(["banana", 2])
    workbook.save(root / "sums.xlsx")
    (root / "talk.pptx").write_bytes(pptx([slide(shape(f"slide of {fruit}")) for fruit in ("plums", "pears")]))
    assert main(["index", str(root), "-q", "--workers", "0", "--data-dir", str(data)]) == 0
    return root, data


def shown(run: Run, shelf: tuple[Path, Path], *words: str, cwd: str = "") -> str:
    answer = run("show", *words, "--text", data=shelf[1], cwd=shelf[0] / cwd)
    assert answer.code == 0, answer.err
    return answer.out


@pytest.mark.parametrize(
    ("lines", "first", "last"),
    [("10-12", 10, 12), ("10", 10, 10), ("299-", 299, 300), ("299-900", 299, 300), ("1-300", 1, 300)],
)
def test_lines_of_a_file_are_those_that_an_editor_numbers_so(
    run: Run, shelf: tuple[Path, Path], lines: str, first: int, last: int
) -> None:
    expected = "".join(LINES.splitlines(keepends=True)[first - 1 : last])
    assert shown(run, shelf, f"poem.txt:{lines}") == expected
    assert shown(run, shelf, f"../poem.txt:{lines}", cwd="src") == expected
    assert shown(run, shelf, f"{shelf[0]}/poem.txt:{lines}") == expected
    first_, last_ = lines.partition("-")[::2]
    if first_ != "299" or last_:
        assert shown(run, shelf, f"poem.txt#L{first_}" + (f"-L{last_}" if last_ else "")) == expected


def test_neighbours_are_lines_around_lines_and_chunks_around_a_chunk(run: Run, shelf: tuple[Path, Path]) -> None:
    assert shown(run, shelf, "poem.txt:10", "-n", "1") == "".join(LINES.splitlines(keepends=True)[8:11])
    assert shown(run, shelf, "poem.txt:1", "-n", "1") == "".join(LINES.splitlines(keepends=True)[:2])
    chunks = json.loads(run("show", "poem.txt", "--json", data=shelf[1], cwd=shelf[0]).out)["chunks"]
    assert len(chunks) > 2
    assert shown(run, shelf, chunks[1]["id"]) == chunks[1]["content"]
    assert shown(run, shelf, chunks[1]["id"], "-n", "1") == "".join(chunk["content"] for chunk in chunks[:3])
    assert shown(run, shelf, chunks[0]["id"], "-n", "1") == "".join(chunk["content"] for chunk in chunks[:2])


def test_a_symbol_is_shown_with_all_that_is_in_it(run: Run, shelf: tuple[Path, Path]) -> None:
    assert shown(run, shelf, "src/store.py#Store.commit").strip().endswith("return os.sync()")
    assert shown(run, shelf, "store.py#Store.commit()", cwd="src").strip().endswith("return os.sync()")
    whole = shown(run, shelf, "src/store.py#Store")
    assert whole.lstrip().startswith("class Store:") and "def abort(self)" in whole and "return 1" not in whole
    missing = run("show", "src/store.py#nosuch", data=shelf[1], cwd=shelf[0])
    assert missing.code == 3 and "no such symbol nosuch" in missing.err and "Store.commit" in missing.err


def test_pages_sheets_and_slides_are_shown_by_number_or_name(run: Run, shelf: tuple[Path, Path]) -> None:
    assert "figs" in shown(run, shelf, "book.pdf", "--page", "2")
    assert "kiwis" not in shown(run, shelf, "book.pdf", "--page", "2")
    assert "kiwis" in shown(run, shelf, "book.pdf", "--page", "2", "-n", "1")
    assert "figs" in shown(run, shelf, "book.pdf#page=2")
    assert "figs" in shown(run, shelf, "book.pdf#page=2:the second page has figs")
    for sheet in ("Q3 Totals", "q3 totals", "2"):
        assert "banana" in shown(run, shelf, "sums.xlsx", "--sheet", sheet)
    assert "banana" in shown(run, shelf, "sums.xlsx#sheet=Q3 Totals")
    assert "apple" not in shown(run, shelf, "sums.xlsx", "--sheet", "2")
    assert "pears" in shown(run, shelf, "talk.pptx", "--slide", "2")
    for words, hint in (
        (("book.pdf", "--page", "9"), "1-3"),
        (("sums.xlsx", "--sheet", "9"), "Data, Q3 Totals"),
        (("poem.txt", "--page", "1"), "no pages"),
    ):
        answer = run("show", *words, data=shelf[1], cwd=shelf[0])
        assert answer.code == 3 and hint in answer.err, answer.err


def test_all_that_a_search_prints_can_be_given_back(run: Run, shelf: tuple[Path, Path]) -> None:
    root, data = shelf
    for cwd in (root, root / "src"):
        for form in ("--plain", "--pretty"):
            out = run("search", "papaya", "-k", "50", form, data=data, cwd=cwd).out
            printed = out.splitlines() if form == "--plain" else re.findall(r"^\d+\. (.*)$", out, re.M)
            assert len(printed) == len(NAMES) + 1
            for line in printed:
                answer = run("show", line, "--text", data=data, cwd=cwd)
                assert answer.code == 0 and answer.out.startswith("papaya"), (line, answer)
                if form == "--plain":
                    assert line.endswith(answer.out.rstrip("\n")), (line, answer.out)
    results = json.loads(run("search", "papaya", "mango", "-k", "50", "--json", data=data, cwd=root).out)["results"]
    assert {result["file"] for result in results} > set(NAMES)
    for result in results:
        assert shown(run, shelf, result["id"]) == result["content"]


def test_an_added_document_takes_lines_too(run: Run, tmp_path: Path) -> None:
    where = {"data": tmp_path / "d", "cwd": tmp_path}
    (tmp_path / "note").write_text("one mango\ntwo kiwis\nthree figs\n")
    id = run("add", "-s", "notes", "--file", "note", **where).out.strip()

    line = run("search", "-s", "notes", "kiwis", **where).out.rstrip("\n")
    assert line == f"<{id}>:2:two kiwis"
    for name in (line, f"<{id}>:2", f"{id}:2"):
        assert run("show", "-s", "notes", name, "--text", **where).out == "two kiwis\n"
    assert run("show", "-s", "notes", f"<{id}>", "--text", **where).out == "one mango\ntwo kiwis\nthree figs\n"


def test_a_part_as_json_has_its_lines_and_text(run: Run, shelf: tuple[Path, Path]) -> None:
    value = json.loads(run("show", "poem.txt:10-11", "--json", data=shelf[1], cwd=shelf[0]).out)

    assert (value["schema"], value["file"], value["start_line"], value["end_line"]) == (1, "poem.txt", 10, 11)
    assert value["content"] == "line 10 of the poem\nline 11 of the poem\n"
    assert [chunk["start_line"] <= 10 for chunk in value["chunks"]] == [True]


def test_a_part_for_people_has_numbers_and_its_place(run: Run, shelf: tuple[Path, Path]) -> None:
    out = run("show", "poem.txt:99-101", data=shelf[1], cwd=shelf[0]).out
    assert out == "poem.txt:99-101\n" + "".join(f"  {n:>3}  line {n} of the poem\n" for n in (99, 100, 101))
    assert "Store.commit" in run("show", "src/store.py#Store.commit", data=shelf[1], cwd=shelf[0]).out.splitlines()[0]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("poem.txt:0",), 2, "counted from 1"),
        (("poem.txt:9-3",), 2, "comes before"),
        (("poem.txt:900",), 3, "300 lines"),
        (("nosuch.txt:3",), 3, "nothing is stored of nosuch.txt:3"),
        (("0123456789abcdef",), 3, "nothing is stored"),
        (("poem.txt:3", "--page", "1"), 2, "names a part"),
        (("book.pdf", "--page", "1", "--slide", "1"), 2, "exclude each other"),
        (("poem.txt", "-n", "2"), 2, "-n wants a part"),
        ((":" * 5000,), 3, "nothing is stored"),
    ],
)
def test_what_is_no_part_is_one_clear_line(
    run: Run, shelf: tuple[Path, Path], words: tuple[str, ...], code: int, said: str
) -> None:
    answer = run("show", *words, data=shelf[1], cwd=shelf[0])

    assert (answer.code, answer.out) == (code, "")
    assert said in answer.err
