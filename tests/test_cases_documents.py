"""Cases after public bug reports about documents. The id of a case stands in the name of its test."""

import io
import json
import math
import random
import re
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from ragcli.config.options import STANDARD
from ragcli.documents import IndexReport
from ragcli.model import Failure, SearchResult
from ragcli.session.service import RagService
from tests.cases import indexed, run
from tests.engine import index, service, write
from tests.office_files import A, W, docx, inline, paragraph, pptx, relations, shape, slide, xlsx
from tests.office_files import run as text_run
from tests.pdf_files import CATALOG, PAGES, objects, pdf, shown, stream, written
from tests.test_extract_docx import box, notes, table
from tests.test_extract_epub import container, package, page, zipped
from tests.test_extract_pptx import DGM, cell, frame

Files = dict[str, str | bytes]


class Library(NamedTuple):
    """The files of all cases, each case in a directory of its own, and their index."""

    root: Path
    rag: RagService
    report: IndexReport

    def text(self, name: str) -> str:
        """What is stored of a file, runs of white space squeezed to one space."""
        return " ".join(self.rag.show(name).text.split())

    def hits(self, query: str, k: int = 10) -> list[SearchResult]:
        return self.rag.search(query, k)

    def first(self, query: str) -> str:
        return self.hits(query, 1)[0].file

    def failure(self, name: str) -> Failure:
        """What the report says of a file, which it names by nothing else."""
        (found,) = [failure for failure in self.report.failed if failure.file == name]
        return found


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    root = tmp_path_factory.mktemp("library")
    for case, made in CASES.items():
        write(root / case, made())
    rag = service()
    return Library(root, rag, index(rag, root))


def words(count: int, seed: int) -> str:
    """Plain words, the same in each run, none of them a marker."""
    known = ("amber", "basin", "cedar", "delta", "ember", "fjord", "grove", "hazel", "inlet", "jetty", "knoll", "larch")
    return " ".join(random.Random(seed).choices(known, k=count))


# -- text

LATE = (4096, 8192, 65536, 1048576)


def late_letters() -> Files:
    made: Files = {}
    for offset in LATE:
        ascii_part = (words(40, offset) + "\n") * (offset // 40)
        raw = ascii_part.encode()[: offset - 2] + f" é Größenänderung zqlate{offset}\n".encode()
        assert raw[offset - 1 : offset + 1] == "é".encode()
        made[f"late{offset}.txt"] = raw
    return made


def test_letters_after_a_long_ascii_start_are_utf8(library: Library) -> None:
    for offset in LATE:
        name = f"late_letters/late{offset}.txt"
        assert library.first(f"zqlate{offset}") == name
        text = library.text(name)
        assert "Größenänderung" in text
        assert not {"Ã", "\ufffd"} & {*text}
        assert library.rag.show(name).metadata["encoding"] == "utf-8"


def marks() -> Files:
    text = "zqquokka first line\nnaïve façade, 30 €\nlast line\n"
    return {
        "u8bom.txt": b"\xef\xbb\xbf" + text.encode(),
        "u16le.txt": b"\xff\xfe" + text.encode("utf-16-le"),
        "u16be.txt": b"\xfe\xff" + text.encode("utf-16-be"),
        "u32le.txt": b"\xff\xfe\0\0" + text.encode("utf-32-le"),
        "u32be.txt": b"\0\0\xfe\xff" + text.encode("utf-32-be"),
        "cp1252.txt": text.encode("cp1252"),
        "crlf16.txt": b"\xff\xfe" + text.replace("\n", "\r\n").encode("utf-16-le"),
    }


def test_byte_order_marks_and_a_code_page_side_by_side(library: Library) -> None:
    found = {result.file: result for result in library.hits("zqquokka")}
    assert set(found) == {f"marks/{name}" for name in marks()}
    for name, result in found.items():
        assert (result.start_line, result.end_line) == (1, 3)
        text = library.rag.show(name).text
        assert text.startswith("zqquokka first line\nnaïve façade, 30 €\n")
        assert text.count("\n") == 3
        assert not {"\ufeff", "\ufffd", "\0"} & {*text}


def late_nul() -> Files:
    before = ("zqbefore " + words(2500, 1))[:12000]
    return {"log.txt": f"{before}\0 {words(3000, 2)} zqafter\n", "dump.txt": "\0\0 zqdump text\n"}


def test_a_late_nul_hides_nothing_and_is_stored_as_something_visible(library: Library) -> None:
    for word, name in (
        ("zqbefore", "late_nul/log.txt"),
        ("zqafter", "late_nul/log.txt"),
        ("zqdump", "late_nul/dump.txt"),
    ):
        assert library.first(word) == name
        assert "\0" not in library.rag.show(name).text
    assert "\0" not in library.rag.build_context_prompt("zqdump")


def line_ends() -> Files:
    return {
        "crlf.py": "import os\r\nX = 1\r\n\r\n\r\n# comment\r\ndef zqfunc():\r\n    return 'zqcrlf'\r\n",
        "ff.txt": "one\x0cpage\ntwo\x0bvt\nthree\x0c\nzqff here\n",
        "seps.txt": "one\u2028still one\u0085still one\ntwo\rstill two\nzqseps here\n",
        "noeol.txt": "first\nzqnoeol last",
    }


def test_line_numbers_are_those_of_grep(library: Library, tmp_path: Path) -> None:
    (chunk,) = [chunk for chunk in library.rag.show("line_ends/crlf.py").chunks if "zqfunc" in chunk.content]
    assert (chunk.start_line, chunk.end_line) == (5, 7)
    assert chunk.metadata["symbol_start_line"] == 6
    whole = "".join(chunk.content for chunk in library.rag.show("line_ends/crlf.py").chunks)
    assert whole == str(line_ends()["crlf.py"]).replace("\r\n", "\n")

    assert run("index", str(library.root / "line_ends"), data=tmp_path).code == 0
    for query, line in (("zqcrlf", "crlf.py:7"), ("zqff", "ff.txt:4"), ("zqseps", "seps.txt:3"),
                        ("zqnoeol", "noeol.txt:2")):  # fmt: skip
        done = run("search", query, data=tmp_path, cwd=library.root / "line_ends")
        assert done.out.startswith(f"{line}:".encode()), (query, done.out)


def one_line() -> Files:
    unit = "function f{0}(a,b){{return a.map(x=>x*b+{0})}};var v{0}=[{0},{0}];"
    script = "".join(unit.format(number) for number in range(5_000))
    rows = [{"id": number, "v": f"item{number}"} for number in range(8_000)]
    return {
        "bundle.min.js": script[:200_000] + ";var zqmini=1;" + script[200_000:],
        "blob.txt": "head " + "m" * 50_000 + " zqblob",
        "data.json": json.dumps({"rows": rows}, separators=(",", ":")),
    }


def test_a_file_of_one_line_is_cut_within_the_cap_and_found(library: Library, tmp_path: Path) -> None:
    """In a pipe a line is its whole text, cut nowhere but at the cap of a chunk, as grep's is: the contract says
    `path:line:text` exactly. A terminal gets what is around the word, with marks where it was cut."""
    for name, content in one_line().items():
        stored = library.rag.show(f"one_line/{name}")
        assert all(len(chunk.content.encode()) <= STANDARD.max_chunk_bytes for chunk in stored.chunks)
        assert "".join(chunk.content for chunk in stored.chunks) == content
    for word, name in (("zqmini", "bundle.min.js"), ("zqblob", "blob.txt"), ("item7999", "data.json")):
        assert library.first(word) == f"one_line/{name}"

    assert run("index", str(library.root / "one_line"), data=tmp_path).code == 0
    for form, most in (("--pretty", 2_000), ("--plain", STANDARD.max_chunk_bytes + 100)):
        out = run("search", "zqblob", form, data=tmp_path, cwd=library.root / "one_line").out.decode()
        assert "zqblob" in out
        assert max(map(len, out.splitlines())) <= most
        assert ("…" in out) == (form == "--pretty")


def test_where_nothing_is_to_be_indexed_nothing_is_found_until_something_is(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    blank: Files = {"empty.md": "", "spaces.txt": "  \n\t\n \n", "bom.txt": b"\xef\xbb\xbf",
                    "punct.txt": "--- *** !!!\n", "stop.md": "the and of\n"}  # fmt: skip
    write(tmp_path / "blank", blank)
    for name in ("none", "blank"):
        rag = service()
        report = index(rag, tmp_path / name)
        assert report.failed == []
        assert rag.search("anything") == rag.search("the and of !!!") == []
        assert rag.get_status().without_text == (3 if name == "blank" else 0)
        write(tmp_path / name, {"first.txt": "zqfirst\n"})
        index(rag, tmp_path / name)
        (result,) = rag.search("zqfirst")
        assert result.file == "first.txt"
        assert result.score > 0 and math.isfinite(result.score)


def test_through_the_command_line_an_empty_answer_is_a_list(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    done = run("index", str(tmp_path / "none"), data=tmp_path / "data")
    assert (done.code, "0 files" in done.err) == (0, True)
    done = run("search", "anything", "--json", data=tmp_path / "data", cwd=tmp_path / "none")
    assert (done.code, done.json()["results"]) == (1, [])


# -- PDF

LOOPS = {"prev": "zqprev", "pagetree": "zqtree", "xobject": "zqxobj", "outline": "zqoutline"}


def looping_pdf() -> Files:
    form = objects([shown("zqxobj page") + "/X1 Do"], resources="/XObject << /X1 6 0 R >>")
    form[6] = stream(
        "/X1 Do", "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X1 6 0 R >> >>"
    )
    tree = objects([shown("zqtree page")])
    tree[PAGES] = f"<< /Type /Pages /Kids [{PAGES} 0 R 4 0 R] /Count 2 >>"
    outline = objects([shown("zqoutline page")])
    outline[CATALOG] = f"<< /Type /Catalog /Pages {PAGES} 0 R /Outlines 6 0 R >>"
    outline[6] = "<< /Type /Outlines /First 7 0 R /Last 8 0 R /Count 2 >>"
    outline[7] = "<< /Title (one) /Parent 6 0 R /Next 8 0 R >>"
    outline[8] = "<< /Title (two) /Parent 6 0 R /Next 7 0 R >>"
    length = objects([""])
    length[5] = f"<< /Length 5 0 R >>\nstream\n{shown('zqlength page')}\nendstream"
    sections = objects([shown("zqprev page")])
    start = written(sections).rindex(b"xref\n0 ")
    return {
        "good.pdf": pdf(shown("zqgoodpdf plain page")),
        "prev.pdf": written(sections, f"/Prev {start}"),
        "pagetree.pdf": written(tree),
        "xobject.pdf": written(form),
        "outline.pdf": written(outline),
        "self_length.pdf": written(length),
    }


def test_a_loop_in_a_pdf_ends_with_its_text_or_a_reason(library: Library) -> None:
    """That a document's time is limited is shown beside the workers."""
    assert library.first("zqgoodpdf") == "looping_pdf/good.pdf"
    for name, word in LOOPS.items():
        assert library.first(word) == f"looping_pdf/{name}.pdf"
    assert "zqlength page" in library.text("looping_pdf/self_length.pdf")


def scanned_pdf() -> Files:
    drawn = "0.5 g 100 100 300 300 re f\n"
    whole = pdf(*(shown(f"zqcut {number}") for number in range(5)))
    return {
        "scan.pdf": pdf(drawn),
        "mixed.pdf": pdf(drawn, shown("zqsecondpage on page two"), drawn),
        "zero.pdf": b"",
        "notpdf.pdf": "zqnotpdf is only text\n",
        "cut.pdf": whole[: len(whole) // 2],
    }


def test_a_pdf_without_text_is_named(library: Library, tmp_path: Path) -> None:
    """The contract counts a scan as a file without text, not as a failure, so that `--strict` does not refuse it."""
    (result,) = library.hits("zqsecondpage")
    assert (result.file, result.metadata["page"]) == ("scanned_pdf/mixed.pdf", 2)
    for name in ("zero", "notpdf", "cut"):
        assert library.failure(f"scanned_pdf/{name}.pdf").code == "EXTRACTION"

    done = run("index", str(library.root / "scanned_pdf"), data=tmp_path)
    assert done.code == 0
    assert "scan.pdf: no text layer (needs OCR)" in done.err
    assert "mixed.pdf: text on 1 of 3 pages" in done.err
    assert "1 chunk" in done.err
    for name in ("zero", "notpdf", "cut"):
        assert f"{name}.pdf: EXTRACTION: " in done.err
    status = run("status", "--json", data=tmp_path, cwd=library.root / "scanned_pdf").json()
    assert (status["files"], status["without_text"], len(status["failed"])) == (2, 1, 3)
    assert run("index", str(library.root / "scanned_pdf"), "--strict", data=tmp_path).code == 6


# -- Office files and books

ONE = ["zqparaone", "zqlinktext", "zqcellone", "zqcelltwo", "zqcontrol", "zqinline", "zqtextbox", "zqinserted",
       "zqleft", "zqright", "zqupper", "zqlower", "zqfootnote", "zqheader", "zqparatwo"]  # fmt: skip


def word() -> Files:
    control = "<w:sdt><w:sdtPr/><w:sdtContent>{}</w:sdtContent></w:sdt>"
    body = (
        paragraph("Opening zqparaone")
        + f'<w:p>{text_run("See ")}<w:hyperlink r:id="rId9">{text_run("zqlinktext")}</w:hyperlink></w:p>'
        + table([paragraph("zqcellone"), paragraph("zqcelltwo")])
        + control.format(paragraph("zqcontrol"))
        + f"<w:p>{text_run('Name: ')}{control.format(text_run('zqinline'))}</w:p>"
        + f"<w:p>{box(paragraph('zqtextbox'))}</w:p>"
        + f'<w:p><w:ins w:id="1">{text_run("zqinserted")}</w:ins>'
        + '<w:del w:id="2"><w:r><w:delText>zqdeleted</w:delText></w:r></w:del></w:p>'
        + "<w:p><w:r><w:t>zqleft</w:t><w:tab/><w:t>zqright</w:t></w:r></w:p>"
        + "<w:p><w:r><w:t>zqupper</w:t><w:br/><w:t>zqlower</w:t></w:r></w:p>"
        + f'<w:p>{text_run("Noted")}<w:r><w:footnoteReference w:id="1"/></w:r></w:p>'
        + paragraph("Closing zqparatwo")
        + '<w:p><w:pPr><w:sectPr><w:headerReference w:type="default" r:id="rId8"/></w:sectPr></w:pPr></w:p>'
    )
    parts = {
        "word/footnotes.xml": notes("footnote", "zqfootnote"),
        "word/header1.xml": f"<w:hdr {W}>{paragraph('zqheader')}</w:hdr>",
    }
    rels = [("rId7", "footnotes", "footnotes.xml"), ("rId8", "header", "header1.xml"),
            ("rId9", "hyperlink", "https://example.invalid/")]  # fmt: skip
    return {"one.docx": docx(body, rels=rels, parts=parts)}


def test_all_that_word_shows_is_text_once_and_in_order(library: Library) -> None:
    text = library.text("word/one.docx")
    for word in ONE:
        assert library.first(word) == "word/one.docx", word
        assert text.count(word) == 1, word
    order = [text.index(word) for word in (*ONE[:6], "zqparatwo")]
    assert order == sorted(order)
    assert "zqdeleted" not in text


def workbook() -> Files:
    rows = (
        f'<row r="1">{"".join(inline(f"{at}1", name) for at, name in zip("ABCD", O20_HEADER, strict=True))}</row>'
        f'<row r="2">{inline("A2", "bolt")}<c r="B2"><v>3</v></c><c r="C2"><f>SUM(B2:B3)</f></c>'
        '<c r="D2" s="1"><v>45292</v></c></row>'
        f'<row r="3">{inline("A3", "nut")}<c r="B3"><v>4.5</v></c><c r="C3" t="b"><v>1</v></c></row>'
        f'<row r="4">{inline("A4", "gear")}<c r="C4" t="str"><f>UPPER(A4)</f><v>zqcached</v></c>'
        '<c r="D4" t="e"><v>#DIV/0!</v></c></row>'
        f'<row r="25">{inline("A25", "last")}{inline("B25", "zqrow25")}</row>'
    )
    raw = xlsx({"Stock": rows}, styles='<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>')
    return {"sheet.xlsx": with_dimension(raw)}


O20_HEADER = ("item", "amount", "sum", "when")


def with_dimension(raw: bytes) -> bytes:
    """The same workbook, whose sheet claims to hold one cell."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = parts["xl/worksheets/sheet1.xml"]
    parts["xl/worksheets/sheet1.xml"] = sheet.replace(b"<sheetData>", b'<dimension ref="A1"/><sheetData>')
    return zipped(dict(parts))


def test_a_workbook_is_read_to_its_last_cell_without_noise(library: Library) -> None:
    text = library.text("workbook/sheet.xlsx")
    for right in ("zqrow25", "zqcached", "bolt", "2024-01-01", "SUM(B2:B3)"):
        assert right in text
    for wrong in ("None", "NaN", "nan", "Unnamed", "45292"):
        assert wrong not in text
    result = library.hits("zqrow25")[0]
    assert result.metadata["sheet"] == "Stock"
    assert result.metadata["header"] == "item | amount | sum | when"


def slides() -> Files:
    group = f"<p:grpSp><p:grpSp>{shape('zqgroup')}</p:grpSp></p:grpSp>"
    cells = frame(f"<a:tbl><a:tr>{cell('zqtablecell')}</a:tr></a:tbl>")
    smart = frame(f'<dgm:relIds {DGM} r:dm="d"/>')
    point = "<dgm:pt><dgm:t><a:p><a:r><a:t>zqsmart</a:t></a:r></a:p></dgm:t></dgm:pt>"
    # The builder names slides against their order, so this is the first of the show.
    parts = {
        "ppt/slides/_rels/slide3.xml.rels": relations(
            [("d", "diagramData", "../diagrams/data1.xml"), ("n", "notesSlide", "../notesSlides/notesSlide1.xml")]
        ),
        "ppt/diagrams/data1.xml": f"<dgm:dataModel {DGM} {A}>{point}</dgm:dataModel>",
        "ppt/notesSlides/notesSlide1.xml": slide(shape("zqnotes", placeholder="body"), "p:notes"),
        "ppt/slides/slide2.xml": slide(shape("zqhidden")).replace("<p:sld ", '<p:sld show="0" '),
    }
    first = shape("zqfirst") + shape("zqtitle", placeholder="title") + group + cells + smart
    return {"deck.pptx": pptx([first, shape("replaced"), shape("zqthird")], parts=parts)}


def test_slides_count_by_position_and_nothing_on_them_is_lost(library: Library) -> None:
    """A hidden slide is read and counted like the others: it is part of the file."""
    text = library.text("slides/deck.pptx")
    for word in ("zqtitle", "zqfirst", "zqgroup", "zqtablecell", "zqsmart", "zqnotes", "zqhidden", "zqthird"):
        assert library.first(word) == "slides/deck.pptx", word
    assert "None" not in text
    assert text.index("zqfirst") < text.index("zqhidden") < text.index("zqthird")
    assert [library.hits(word)[0].metadata["slide"] for word in ("zqfirst", "zqhidden", "zqthird")] == [1, 2, 3]


def book() -> Files:
    items = {"nav": "nav.xhtml", "c3": "c3.xhtml", "c1": "text/chap%20one.xhtml#top", "ghost": "ghost.xhtml",
             "c2": "c2.xhtml"}  # fmt: skip
    opf = package(items, ["c1", "ghost", "c2", "c3"]).replace("<spine>", '<spine toc="ncx">')
    return {
        "book.epub": zipped({
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container("OEBPS/content.opf"),
            "OEBPS/content.opf": opf,
            "OEBPS/c3.xhtml": page("<p>zqchapthree</p>"),
            "OEBPS/text/chap one.xhtml": page('<h1 id="top">zqchapone</h1>'),
            "OEBPS/c2.xhtml": page("<p>zqchaptwo</p>"),
            "OEBPS/nav.xhtml": page("<nav>zqnavword</nav>"),
        })
    }  # fmt: skip


def test_chapters_come_in_the_order_of_reading_and_a_missing_one_is_named(library: Library) -> None:
    text = library.text("book/book.epub")
    places = [text.index(word) for word in ("zqchapone", "zqchaptwo", "zqchapthree")]
    assert places == sorted(places)
    assert text.find("zqnavword") == -1 or text.index("zqnavword") > places[0]
    assert any("book.epub" in notice and "ghost.xhtml" in notice for notice in library.report.notices)


# -- markup and data


def html_page() -> Files:
    return {
        "sjis.html": '<!doctype html><meta charset="Shift_JIS"><p>検索用の文書</p>'.encode("shift_jis"),
        "cp1251.html": (
            "<html><head><meta http-equiv='Content-Type' content='text/html; charset=windows-1251'></head>"
            "<body>Привет мир</body></html>"
        ).encode("cp1251"),
        "decoy.html": (
            '<!doctype html><!-- <meta charset="shift_jis"> --><meta name="keywords" '
            'content="fonts, charset=euc-kr, css"><p>crème brûlée</p>'
        ),
        "deep.html": "<html><body>" + "<div>" * 3000 + "zqdeephtml" + "</div>" * 3000 + "</body></html>",
        "parts.html": (
            "<html><head><style>.zqstyle{color:red}</style><script>var zqscript=1;</script></head><body>"
            "<!-- zqcomment --><p>zqvisible Tom &amp; Jerry 5 &lt; 6</p><table><tr><td>zqcella</td><td>zqcellb</td>"
            "</tr></table>zqbra<br>zqbrb<template>zqtemplate</template><script>if (a<b) { zqscript() }</script>"
            "</body></html>"
        ),
    }


def test_a_page_is_what_a_browser_shows_in_the_charset_it_declares(library: Library) -> None:
    for name, words_of in (("sjis", "検索用の文書"), ("cp1251", "Привет мир"), ("decoy", "crème brûlée")):
        assert words_of in library.text(f"page/{name}.html")
    assert library.text("page/deep.html") == "zqdeephtml"
    text = library.text("page/parts.html")
    assert "zqvisible Tom & Jerry 5 < 6" in text
    assert {"zqcella", "zqcellb", "zqbra", "zqbrb"} <= {*text.split()}
    for hidden in ("zqscript", "zqstyle", "zqcomment", "zqtemplate"):
        assert hidden not in text
        assert library.hits(hidden) == []


def entities() -> Files:
    laughs = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    big = "zq" * 25_000
    return {
        "bomb.xml": f'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e0 "zqha">{laughs}]><r>&e9;</r>',
        "quad.xml": f'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "{big}">]><r>{"&a;" * 2_000}</r>',
        "xxe.xml": '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "canary.txt">]><r>before &x; after</r>',
        "canary.txt": "zqcanary secret of another file\n",
        "entity_ok.xml": '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY co "zqcompany">]><r>&co;</r>',
        "ok.xml": '<?xml version="1.0"?><r><a>zqxmlok</a></r>',
        "cutoff.xml": '<?xml version="1.0"?><r><a>zqxmlbad',
    }


def test_entities_neither_burst_nor_read_another_file(library: Library) -> None:
    for word, name in (("zqxmlok", "ok"), ("zqcompany", "entity_ok"), ("zqxmlbad", "cutoff")):
        assert library.first(word) == f"entities/{name}.xml"
    for name in ("bomb", "quad"):
        failure = library.failure(f"entities/{name}.xml")
        assert (failure.code, "max_inflation" in failure.reason) == ("LIMIT", True)
    assert [result.file for result in library.hits("zqcanary")] == ["entities/canary.txt"]
    assert "zqcanary" not in library.text("entities/xxe.xml")


def json_trouble() -> Files:
    return {
        "deep.json": '{"k":' * 20_000 + '"zqdeepjson"' + "}" * 20_000,
        "nan.json": '{"a": NaN, "b": -Infinity, "t": "zqnan"}\n',
        "bigint.json": '{"n": ' + "7" * 5_000 + ', "t": "zqbigint"}\n',
        "dup.json": '{"k": "zqdupone", "k": "zqduptwo"}\n',
        "lone.json": '{"t": "zqlone \\ud83d end"}\n',
        "comments.json": '{\n  // zqjsonc comment\n  "a": [1, 2,],\n}\n',
        "bom.json": b'\xef\xbb\xbf{"t": "zqbomjson"}\n',
        "two.json": '{"t": "zqdocone"}\n{"t": "zqdoctwo"}\n',
    }


JSON_WORDS = {
    "zqdeepjson": "deep", "zqnan": "nan", "zqbigint": "bigint", "zqdupone": "dup", "zqduptwo": "dup", "zqlone": "lone",
    "zqjsonc": "comments", "zqbomjson": "bom", "zqdocone": "two", "zqdoctwo": "two",
}  # fmt: skip


def test_json_of_every_kind_of_trouble_is_found(library: Library, tmp_path: Path) -> None:
    for word, name in JSON_WORDS.items():
        assert library.first(word) == f"json_trouble/{name}.json", word
    assert run("index", str(library.root / "json_trouble"), data=tmp_path).code == 0
    for form in ("--plain", "--json"):
        done = run("search", "zqlone", form, data=tmp_path, cwd=library.root / "json_trouble")
        assert done.code == 0
        assert b"zqlone" in done.out


def csv_dialects() -> Files:
    return {
        "semi.csv": "name;note;price\nbolt;zqsemi, with comma;1,50\n",
        "bom.csv": b"\xef\xbb\xbfident,val\n1,zqbomcell\n",
        "cr.csv": b"name,val\rfirst,1\rzqcr,2\r",
        "multi.csv": 'name,note\na,"plain"\nb,"line one\nzqmulti line two"\nc,end\n',
        "huge.csv": f"id,blob,tail\n1,{'h' * 200_000},zqhugeend\n",
        "ragged.csv": "a,b\n1\n1,2,3,zqragged\n\n",
        "quotes.csv": '"a","b' * 60_000,
    }


CSV_WORDS = {
    "zqsemi": "semi", "zqbomcell": "bom", "ident": "bom", "zqcr": "cr", "zqmulti": "multi", "zqhugeend": "huge",
    "zqragged": "ragged",
}  # fmt: skip


def test_csv_of_any_dialect_is_found_with_its_lines(library: Library) -> None:
    for word, name in CSV_WORDS.items():
        assert library.first(word) == f"csv_dialects/{name}.csv", word
    assert "\ufeff" not in library.text("csv_dialects/bom.csv")
    (result,) = library.hits("zqmulti")
    assert result.start_line <= 3 and result.end_line >= 4
    assert len(library.rag.show("csv_dialects/quotes.csv").text) == 360_000


def old_notebooks() -> Files:
    picture = random.Random(27).randbytes(60_000).hex()
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "zqnbmd text"]},
        {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": ["x = 'zqnbcode'\n", "print(x)"],
         "outputs": [{"output_type": "stream", "name": "stdout", "text": ["\x1b[31mzqnbout\x1b[0m\n"]},
                     {"output_type": "display_data", "metadata": {},
                      "data": {"image/png": picture, "text/plain": ["<Figure>"]}}]},
    ]  # fmt: skip
    old = {"cell_type": "code", "input": ["y = 'zqnbold'"], "outputs": [], "language": "python"}
    plain = {"cell_type": "markdown", "metadata": {}, "source": "zqnbstr as one string"}
    return {
        "big.ipynb": json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}),
        "v3.ipynb": json.dumps({"nbformat": 3, "metadata": {}, "worksheets": [{"cells": [old]}]}),
        "strsource.ipynb": json.dumps({"nbformat": 4, "metadata": {}, "cells": [plain]}),
        "nocells.ipynb": "{}",
        "broken.ipynb": '{"cells": [{"cell_type": "markdown", "source": ["zqnbcut',
    }


def test_notebooks_of_any_age_are_cells_and_no_pictures(library: Library) -> None:
    text = library.rag.show("old_notebooks/big.ipynb").text
    assert {"zqnbcode", "zqnbmd", "zqnbout"} <= {*re.findall(r"\w+", text)}
    assert len(text) < 200
    assert "\x1b" not in text
    assert library.first("zqnbold") == "old_notebooks/v3.ipynb"
    assert library.first("zqnbstr") == "old_notebooks/strsource.ipynb"
    for name in ("nocells", "broken"):
        assert library.failure(f"old_notebooks/{name}.ipynb").code == "EXTRACTION"


CASES = {
    "late_letters": late_letters,
    "marks": marks,
    "late_nul": late_nul,
    "line_ends": line_ends,
    "one_line": one_line,
    "looping_pdf": looping_pdf,
    "scanned_pdf": scanned_pdf,
    "word": word,
    "workbook": workbook,
    "slides": slides,
    "book": book,
    "page": html_page,
    "entities": entities,
    "json_trouble": json_trouble,
    "csv_dialects": csv_dialects,
    "old_notebooks": old_notebooks,
}


def test_no_file_of_any_case_costs_another_its_place(library: Library) -> None:
    """What failed is known by name, all else is indexed, and a second index of the same tree is the same."""
    names = {f"{case}/{name}" for case, made in CASES.items() for name in made()}
    failed = {failure.file for failure in library.report.failed}
    assert failed == {
        "scanned_pdf/zero.pdf",
        "scanned_pdf/notpdf.pdf",
        "scanned_pdf/cut.pdf",
        "entities/bomb.xml",
        "entities/quad.xml",
        "old_notebooks/nocells.ipynb",
        "old_notebooks/broken.ipynb",
    }
    assert {info.file for info in library.rag.list_files()} == names - failed
    small = indexed(library.root / "old_notebooks"), indexed(library.root / "old_notebooks")
    assert small[0].get_status().generation == small[1].get_status().generation
