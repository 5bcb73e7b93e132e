"""Presentations: the text of each slide in the order of the show, with its number."""

import pytest

from ragcli.documents import NormalizedDocument
from ragcli.errors import DocumentProcessingError, FailureCode
from ragcli.extract.office.pptx import PptxExtractor
from ragcli.model import DocumentFormat
from tests.office_files import A, P, R, context, docx, package, pptx, relations, shape, slide

C = 'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
DGM = 'xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"'


def read(raw: bytes) -> NormalizedDocument:
    return PptxExtractor().extract(raw, context(DocumentFormat.PPTX))


def text(*slides: str, **more: object) -> str:
    return read(pptx(list(slides), **more)).text


def frame(content: str) -> str:
    return f"<p:graphicFrame><a:graphic><a:graphicData>{content}</a:graphicData></a:graphic></p:graphicFrame>"


def cell(content: str, attributes: str = "") -> str:
    return f"<a:tc {attributes}><a:txBody><a:p><a:r><a:t>{content}</a:t></a:r></a:p></a:txBody></a:tc>"


def test_slides_come_in_the_order_of_the_show_and_count_by_position():
    document = read(pptx([shape("first"), "", shape("third")]))

    assert document.text == "first\n\nthird\n"
    assert [block.metadata for block in document.blocks] == [{"slide": 1}, {"slide": 3}]


def test_a_hidden_slide_is_read_and_counted():
    hidden = slide(shape("hidden")).replace("<p:sld ", '<p:sld show="0" ')

    raw = package(
        {
            "_rels/.rels": relations([("a", "officeDocument", "ppt/p.xml")]),
            "ppt/p.xml": f"<p:presentation {P} {R}><p:sldIdLst><p:sldId r:id='a'/><p:sldId r:id='b'/></p:sldIdLst>"
            "</p:presentation>",
            "ppt/_rels/p.xml.rels": relations([("a", "slide", "s.xml"), ("b", "slide", "t.xml")]),
            "ppt/s.xml": hidden,
            "ppt/t.xml": slide(shape("shown")),
        }
    )

    document = read(raw)

    assert document.text == "hidden\n\nshown\n"
    assert [block.metadata["slide"] for block in document.blocks] == [1, 2]


def test_the_title_stands_first_and_labels_the_slide():
    document = read(pptx([shape("body") + shape("The", "title", placeholder="ctrTitle")]))

    assert document.text == "The\ntitle\nbody\n"
    assert document.blocks[0].metadata == {"slide": 1, "heading": "The title"}


def test_groups_tables_breaks_fields_and_formulas_are_read():
    group = f"<p:grpSp><p:grpSp>{shape('grouped')}</p:grpSp></p:grpSp>"
    merged = cell("", "hMerge='1'")
    rows = f"<a:tr>{cell('a')}{cell('b')}{merged}</a:tr>"
    table = frame(f"<a:tbl>{rows}<a:tr>{cell('')}{cell('c')}</a:tr><a:tr>{cell('')}</a:tr></a:tbl>")
    breaks = (
        "<p:sp><p:txBody><a:p><a:r><a:t>one</a:t></a:r><a:br/><a:r><a:t>two</a:t></a:r><a:fld><a:t> field</a:t></a:fld>"
        '<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math">'
        "<m:r><m:t> x</m:t></m:r></m:oMath>"
        "</a:p></p:txBody></p:sp>"
    )

    assert text(group + table + breaks) == "grouped\na | b\n | c\none\ntwo field x\n"


def test_letters_stacked_by_breaks_are_a_word():
    letters = "<a:br/>".join(f"<a:r><a:t>{letter}</a:t></a:r>" for letter in "Head3")

    assert text(f"<p:sp><p:txBody><a:p>{letters}</a:p></p:txBody></p:sp>") == "Head3\n"


def test_smartart_charts_and_picture_descriptions_are_read_once():
    smart = frame(f'<dgm:relIds {DGM} r:dm="d"/>')
    chart = frame(f'<c:chart {C} r:id="c"/>')
    picture = '<p:pic><p:nvPicPr><p:cNvPr id="1" name="x" descr="A red barn"/></p:nvPicPr></p:pic>'
    point = "<dgm:pt {}><dgm:t><a:p><a:r><a:t>{}</a:t></a:r></a:p></dgm:t></dgm:pt>"
    points = point.format("", "smart") + point.format("type='pres'", "again")
    values = "<c:val><c:numRef><c:pt idx='0'><c:v>5</c:v></c:pt></c:numRef></c:val>"
    series = f"<c:ser><c:tx><c:v>Sales</c:v></c:tx>{values}</c:ser>"
    parts = {
        "ppt/slides/_rels/slide1.xml.rels": relations(
            [("d", "diagramData", "../diagrams/data1.xml"), ("c", "chart", "/ppt/charts/c.xml")]
        ),
        "ppt/diagrams/data1.xml": f"<dgm:dataModel {DGM} {A}>{points}</dgm:dataModel>",
        "ppt/charts/c.xml": f"<c:chartSpace {C} {A}>{series}</c:chartSpace>",
    }

    assert text(smart + chart + chart + picture, parts=parts) == "smart\nSales\n5\n[picture] A red barn\n"


def test_alternate_content_is_read_once():
    both = (
        "<mc:AlternateContent><mc:Choice Requires='x'>{}</mc:Choice><mc:Fallback>{}</mc:Fallback></mc:AlternateContent>"
    )

    assert text(both.format(shape("new"), shape("old"))) == "new\n"
    assert text(both.format("", shape("old"))) == "old\n"


def test_a_new_kind_of_chart_is_read_instead_of_the_excuse_for_old_readers():
    cx = 'xmlns:cx="http://schemas.microsoft.com/office/drawing/2014/chartex"'
    new = frame(f"<cx:chart {cx} r:id='x'/>")
    both = (
        f"<mc:AlternateContent><mc:Choice Requires='cx1'>{new}</mc:Choice>"
        f"<mc:Fallback>{shape('not available in your version')}</mc:Fallback></mc:AlternateContent>"
    )
    chart = "<cx:title><a:p><a:r><a:t>Funnel</a:t></a:r></a:p></cx:title><cx:lvl><cx:pt>Leads</cx:pt><cx:pt/></cx:lvl>"
    parts = {
        "ppt/slides/_rels/slide1.xml.rels": relations([("x", "chartEx", "../c.xml")]),
        "ppt/c.xml": f"<cx:chartSpace {cx} {A}>{chart}</cx:chartSpace>",
    }

    assert text(both, parts=parts) == "Funnel\nLeads\n"


def test_nesting_up_to_the_cap_is_read():
    assert text("<p:grpSp>" * 240 + shape("deep") + "</p:grpSp>" * 240) == "deep\n"
    nested = "<mc:AlternateContent><mc:Choice>" * 100
    assert text(nested + shape("deep") + "</mc:Choice></mc:AlternateContent>" * 100) == "deep\n"


def test_notes_and_comments_follow_their_slide_and_numbers_and_dates_are_left_out():
    numbers = shape("17", placeholder="sldNum") + shape("1 May", placeholder="dt") + shape("ACME", placeholder="ftr")
    notes = (
        shape("head", placeholder="hdr") + shape("said", "more", placeholder="body") + shape("2", placeholder="sldNum")
    )
    parts = {
        "ppt/slides/_rels/slide2.xml.rels": relations(
            [("n", "notesSlide", "../n.xml"), ("c", "comments", "../c.xml"), ("m", "comments", "../m.xml")]
        ),
        "ppt/n.xml": slide(notes, "p:notes"),
        "ppt/c.xml": f"<p:cmLst {P}><p:cm><p:text>old comment</p:text></p:cm></p:cmLst>",
        "ppt/m.xml": f"<cmLst {A}><cm><txBody><a:p><a:r><a:t>new comment</a:t></a:r></a:p></txBody></cm></cmLst>",
    }

    document = read(pptx([shape("a") + numbers, shape("b")], parts=parts))

    assert document.text == "a\nACME\n[notes] said\nmore\n[comment] old comment\n[comment] new comment\n\nb\n"


def test_a_missing_slide_is_noted_and_a_repeated_one_is_read_once():
    raw = package(
        {
            "_rels/.rels": relations([("a", "officeDocument", "ppt/p.xml")]),
            "ppt/p.xml": (
                f"<p:presentation {P} {R}><p:sldIdLst><p:sldId r:id='x'/><p:sldId r:id='a'/><p:sldId r:id='a'/>"
                "<p:sldId/></p:sldIdLst></p:presentation>"
            ),
            "ppt/_rels/p.xml.rels": relations([("a", "slide", "s.xml")]),
            "ppt/s.xml": slide(shape("once")),
        }
    )

    document = read(raw)

    assert document.text == "once\n" and document.blocks[0].metadata == {"slide": 2}
    assert document.notes == ("slide 1 is missing", "slide 4 is missing")


def test_a_slide_over_the_cap_on_one_block_becomes_several_blocks():
    raw = pptx([shape("title", placeholder="title") + shape(*["word"] * 100)])
    limits = context(DocumentFormat.PPTX).limits._replace(max_block_chars=64)

    document = PptxExtractor().extract(raw, context(DocumentFormat.PPTX, limits))

    assert all(block.end - block.start <= 64 for block in document.blocks)
    assert {block.metadata["heading"] for block in document.blocks} == {"title"}


def test_an_empty_show_has_no_text():
    assert read(pptx([])).text == "" and read(pptx(["", shape()])).blocks == ()


@pytest.mark.parametrize(
    ("raw", "word"), [(docx(""), "no presentation"), (package({}), "no main part"), (b"x", "no zip")]
)
def test_what_is_no_presentation_is_refused_with_a_reason(raw, word):
    with pytest.raises(DocumentProcessingError, match=word) as caught:
        read(raw)

    assert caught.value.code is FailureCode.EXTRACTION
