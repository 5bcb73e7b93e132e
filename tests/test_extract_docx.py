"""Word documents: everything a reader sees, once, in reading order, with the heading above it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.config.options import STANDARD, Limits
from ragcli.documents import NormalizedDocument
from ragcli.errors import DocumentProcessingError, FailureCode
from ragcli.extract.office.docx import DocxExtractor
from ragcli.model import DocumentFormat
from tests.office_files import A, W, context, docx, package, paragraph, relations, run, xlsx

WPS = 'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
V = 'xmlns:v="urn:schemas-microsoft-com:vml"'


def read(raw: bytes, limits: Limits = STANDARD) -> NormalizedDocument:
    return DocxExtractor().extract(raw, context(DocumentFormat.DOCX, limits))


def text(body: str, **more: object) -> str:
    return read(docx(body, **more)).text


def table(*rows: list[str]) -> str:
    body = ("<w:tr>" + "".join(f"<w:tc>{cell}</w:tc>" for cell in row) + "</w:tr>" for row in rows)
    return f"<w:tbl><w:tblPr/>{''.join(body)}</w:tbl>"


def box(content: str) -> str:
    """A text box as Word writes it: once for new readers and once for old ones."""
    inner = f"<w:txbxContent>{content}</w:txbxContent>"
    return (
        f'<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:wsp {WPS}><wps:txbx>{inner}</wps:txbx>'
        f"</wps:wsp></w:drawing></mc:Choice><mc:Fallback><w:pict><v:shape {V}><v:textbox>{inner}</v:textbox></v:shape>"
        "</w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )


def notes(kind: str, *texts: str) -> str:
    rows = (f'<w:{kind} w:id="{n}">{paragraph(text)}</w:{kind}>' for n, text in enumerate(texts, 1))
    separator = f'<w:{kind} w:type="separator" w:id="0">{paragraph("never shown")}</w:{kind}>'
    return f"<w:{kind}s {W}>{separator}{''.join(rows)}</w:{kind}s>"


def test_changes_are_accepted():
    body = (
        f'<w:p><w:ins w:id="1">{run("inserted ")}</w:ins>'
        '<w:del w:id="2"><w:r><w:delText>deleted</w:delText></w:r></w:del>'
        f'<w:moveFrom w:id="3">{run("old place")}</w:moveFrom><w:moveTo w:id="4">{run("new place")}</w:moveTo></w:p>'
        "<w:tbl><w:tr><w:trPr><w:del/></w:trPr><w:tc><w:p><w:r><w:t>gone row</w:t></w:r></w:p></w:tc></w:tr>"
        "<w:tr><w:tc><w:p><w:r><w:t>kept row</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
    )

    assert text(body) == "inserted new place\nkept row\n"


def test_a_deleted_paragraph_mark_and_a_drop_cap_join_lines():
    body = (
        paragraph("to", "<w:rPr><w:del/></w:rPr>")
        + paragraph("gether")
        + paragraph("D", '<w:framePr w:dropCap="drop"/>')
        + paragraph("rop")
        + paragraph("last", "<w:rPr><w:del/></w:rPr>")
    )

    assert text(body) == "together\nDrop\nlast\n"


@pytest.mark.parametrize(
    "wrapped",
    [
        '<w:hyperlink r:id="rId9">{}</w:hyperlink>',
        "<w:sdt><w:sdtPr><w:alias/></w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>",
        '<w:smartTag w:element="place">{}</w:smartTag>',
        '<w:customXml w:element="x">{}</w:customXml>',
        '<w:fldSimple w:instr="AUTHOR">{}</w:fldSimple>',
        '<w:bdo w:val="rtl">{}</w:bdo>',
        "<w:unknownWrapper>{}</w:unknownWrapper>",
    ],
)
def test_text_in_any_wrapper_stands_in_its_place(wrapped):
    assert text(f"<w:p>{run('a ')}{wrapped.format(run('inside'))}{run(' b')}</w:p>") == "a inside b\n"
    block = f"<w:sdt><w:sdtContent>{paragraph('inside')}</w:sdtContent></w:sdt>"
    assert text(paragraph("a") + block + paragraph("b")) == "a\ninside\nb\n"


def test_fields_show_their_result_and_not_their_code():
    body = (
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> DATE \\* MERGEFORMAT </w:instrText></w:r>'
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run("16 June")}'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
    )

    assert text(body) == "16 June\n"


def test_tabs_breaks_and_signs_separate_or_stand_for_what_they_show():
    body = (
        "<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:cr/><w:t>d</w:t><w:noBreakHyphen/><w:t>e</w:t>"
        '<w:sym w:font="Arial" w:char="00A7"/><w:sym w:font="Symbol" w:char="F0B7"/><w:sym w:char="zz"/></w:r></w:p>'
    )

    assert text(body) == "a\tb\nc\nd-e§\n"


def test_a_text_box_is_read_once_after_its_paragraph_in_either_form():
    assert text(f"<w:p>{run('before')}{box(paragraph('boxed'))}{run(' after')}</w:p>") == "before after\nboxed\n"

    content = f"<w:txbxContent>{paragraph('old')}</w:txbxContent>"
    assert text(f"<w:p><w:r><w:pict><v:textbox {V}>{content}</v:textbox></w:pict></w:r></w:p>") == "old\n"
    empty_choice = "<w:p><mc:AlternateContent><mc:Choice/><mc:Fallback>{}</mc:Fallback></mc:AlternateContent></w:p>"
    assert text(empty_choice.format(run("fallback"))) == "fallback\n"


def test_tables_stand_where_they_are_and_rows_keep_their_cells():
    inner = table([paragraph("x"), paragraph("y")])
    body = paragraph("a") + table([paragraph("1"), paragraph("2"), ""], [paragraph("3") + inner, ""]) + paragraph("b")

    assert text(body) == "a\n1 | 2\n3 x | y\nb\n"


def test_long_cells_become_paragraphs_of_their_own():
    long = "word " * 60

    assert text(table([paragraph(long) + paragraph("p2"), paragraph(long)])).count("\n") == 3


def test_cells_that_are_columns_of_lines_are_read_line_by_line():
    names, sums = ("".join(map(paragraph, words)) for words in (["Income", "Tax", "Net"], ["100", "20", "80"]))

    assert text(table([names, sums])) == "Income | 100\nTax | 20\nNet | 80\n"
    assert text(table([names, paragraph("one")])) == "Income Tax Net | one\n"


def test_notes_and_comments_follow_what_cites_them_and_are_never_lost():
    cited = "<w:r><w:footnoteReference w:id='1'/></w:r>"
    body = (
        f"<w:p>{run('one')}{cited}{cited}</w:p>"
        + table([f"<w:p>{run('cell')}<w:r><w:endnoteReference w:id='1'/></w:r></w:p>", paragraph("d")])
        + f"<w:p>{run('two')}<w:r><w:commentReference w:id='5'/></w:r></w:p>"
    )
    comments = f'<w:comments {W}><w:comment w:id="5" w:author="Ann">{paragraph("why?")}</w:comment></w:comments>'
    raw = docx(
        body,
        rels=[
            ("a", "footnotes", "footnotes.xml"),
            ("b", "endnotes", "endnotes.xml"),
            ("c", "comments", "/word/comments.xml"),
        ],
        parts={
            "word/footnotes.xml": notes("footnote", "foot", "uncited"),
            "word/endnotes.xml": notes("endnote", "end"),
            "word/comments.xml": comments,
        },
    )

    assert (
        read(raw).text
        == "one\n[footnote] foot\ncell | d\n[endnote] end\ntwo\n[comment: Ann] why?\n[footnote] uncited\n"
    )


def test_headers_and_footers_come_last_and_once():
    body = paragraph("body") + (
        '<w:p><w:pPr><w:sectPr><w:footerReference r:id="f"/><w:headerReference r:id="h"/></w:sectPr></w:pPr></w:p>'
        '<w:sectPr><w:headerReference r:id="h"/><w:headerReference r:id="h2"/></w:sectPr>'
    )
    raw = docx(
        body,
        rels=[("h", "header", "h.xml"), ("h2", "header", "h2.xml"), ("f", "footer", "f.xml"), ("x", "header", "x.xml")],
        parts={
            "word/h.xml": f"<w:hdr {W}>{paragraph('company')}</w:hdr>",
            "word/h2.xml": f"<w:hdr {W}>{paragraph('company')}</w:hdr>",
            "word/f.xml": f"<w:ftr {W}>{paragraph('page foot')}</w:ftr>",
            "word/x.xml": f"<w:hdr {W}>{paragraph('no section shows me')}</w:hdr>",
        },
    )

    document = read(raw)

    assert document.text == "body\n\ncompany\npage foot\n"
    assert document.blocks[-1].metadata == {}


def heading(text: str, style: str) -> str:
    return paragraph(text, f'<w:pStyle w:val="{style}"/>')


STYLES = (
    f'<w:styles {W}><w:style w:styleId="T"><w:name w:val="Title"/></w:style>'
    '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="Mine"><w:name w:val="Chapter"/><w:basedOn w:val="berschrift1"/></w:style>'
    '<w:style w:styleId="H2"><w:name w:val="x"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>'
    '<w:style w:styleId="Ring"><w:name/><w:basedOn w:val="Ring"/></w:style></w:styles>'
)


def test_each_section_carries_its_heading_path():
    body = (
        paragraph("front") + heading("Book", "T") + heading("One", "berschrift1") + paragraph("a")
        + heading("Sub", "H2") + paragraph("b") + heading("Two", "Mine") + heading("round", "Ring")
        + paragraph("Direct", '<w:outlineLvl w:val="2"/>') + heading("long " * 60, "Mine")
    )  # fmt: skip

    document = read(docx(body, rels=[("s", "styles", "styles.xml")], parts={"word/styles.xml": STYLES}))

    headings = [block.metadata.get("heading") for block in document.blocks]
    assert headings == [None, "Book", "Book > One", "Book > One > Sub", "Book > Two", "Book > Two > Direct"]
    assert [document.text[block.start : block.end].split("\n")[0] for block in document.blocks] == [
        "front", "Book", "One", "Sub", "Two", "Direct",
    ]  # fmt: skip


def test_diagrams_charts_shapes_and_picture_descriptions_are_text():
    dgm = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
    c = "http://schemas.openxmlformats.org/drawingml/2006/chart"
    wp = "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
    body = (
        f'<w:p><w:r><w:drawing><wp:docPr xmlns:wp="{wp}" descr="A red barn"/><dgm:relIds xmlns:dgm="{dgm}" r:dm="d"/>'
        f'<c:chart xmlns:c="{c}" r:id="c"/><a:p><a:r><a:t>shape</a:t></a:r></a:p></w:drawing></w:r></w:p>'
        f'<w:p><w:r><w:drawing><wp:docPr xmlns:wp="{wp}" descr="image001.png"/></w:drawing></w:r></w:p>'
    )
    point = f'<dgm:pt type="{{}}"><dgm:t><a:p {A}><a:r><a:t>{{}}</a:t></a:r></a:p></dgm:t></dgm:pt>'
    points = point.format("node", "smart") + point.format("pres", "repeated")
    series = (
        "<c:tx><c:strRef><c:strCache><c:pt idx='0'><c:v>Sales</c:v></c:pt></c:strCache></c:strRef></c:tx>"
        "<c:cat><c:pt idx='0'><c:v>East</c:v></c:pt></c:cat><c:val><c:pt idx='0'><c:v>5</c:v></c:pt></c:val>"
    )
    raw = docx(
        body,
        rels=[("d", "diagramData", "d.xml"), ("c", "chart", "c.xml")],
        parts={
            "word/d.xml": f'<dgm:dataModel xmlns:dgm="{dgm}">{points}</dgm:dataModel>',
            "word/c.xml": f'<c:chartSpace xmlns:c="{c}"><c:ser>{series}</c:ser></c:chartSpace>',
        },
    )

    assert read(raw).text == "[picture] A red barn\nsmart\nSales\nEast: 5\nshape\n"


def test_ruby_and_formulas_are_read():
    ruby = f"<w:r><w:ruby><w:rt>{run('とうきょう')}</w:rt><w:rubyBase>{run('東京')}</w:rubyBase></w:ruby></w:r>"
    formula = '<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:r><m:t>x+1</m:t></m:r></m:oMath>'

    assert text(f"<w:p>{ruby}{formula}</w:p>") == "東京(とうきょう)x+1\n"


def test_strict_ooxml_odd_names_and_macro_types_are_read():
    strict = "http://purl.oclc.org/ooxml/"
    raw = package(
        {
            "_rels/.rels": relations([("a", "officeDocument", "/Word\\Main%20Part.xml")]).replace(
                "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
                strict + "officeDocument/relationships",
            ),
            "word/main part.xml": (
                f'<q:document xmlns:q="{strict}wordprocessingml/main"><q:body><q:p><q:pPr><q:outlineLvl q:val="0"/>'
                "</q:pPr><q:r><q:t>strict</q:t></q:r></q:p></q:body></q:document>"
            ),
        }
    )

    document = read(raw)

    assert document.text == "strict\n" and document.blocks[0].metadata == {"heading": "strict"}


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        (xlsx({"S": ""}), "no Word document"),
        (package({"a.xml": "<a/>"}), "no main part"),
        (docx("", rels=[("a", "glossaryDocument", "g.xml"), ("b", "glossaryDocument", "h.xml")]), "glossary"),
        (b"PK", "cut short"),
    ],
)
def test_what_is_no_sound_document_is_refused_with_a_reason(raw, word):
    with pytest.raises(DocumentProcessingError, match=word) as caught:
        read(raw)

    assert caught.value.code is FailureCode.EXTRACTION and caught.value.__cause__ is None


def test_a_document_without_text_has_no_blocks():
    document = read(docx("<w:p/><w:sectPr/>"))

    assert (document.text, document.blocks) == ("", ())


def test_what_is_not_read_is_noted():
    assert "altChunk" in read(docx('<w:altChunk r:id="x"/>' + paragraph("a"))).notes[0]


def test_deep_nesting_within_the_cap_is_read():
    depth = 120
    wrapped = "<w:sdt><w:sdtContent>" * depth + paragraph("deep") + "</w:sdtContent></w:sdt>" * depth
    cells = "<w:tbl><w:tr><w:tc>" * 80 + paragraph("cell") + "</w:tc></w:tr></w:tbl>" * 80

    assert text(wrapped) == "deep\n" and text(cells) == "cell\n"
    assert text(f"<w:p>{'<w:ins>' * 240}{run('run')}{'</w:ins>' * 240}</w:p>") == "run\n"


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["", "T", "berschrift1", "H2"]), st.text(alphabet="ab é\u200b\U0001f600", max_size=400)
        ),
        max_size=40,
    ),
    st.integers(8, 2_000),
)
def test_blocks_tile_the_text_within_the_cap_and_every_word_is_there(lines, cap):
    body = "".join(heading(line, style) if style else paragraph(line) for style, line in lines)
    raw = docx(body, rels=[("s", "styles", "styles.xml")], parts={"word/styles.xml": STYLES})

    document = read(raw, STANDARD._replace(max_block_chars=cap))

    edges = [0, *(block.end for block in document.blocks)]
    assert [block.start for block in document.blocks] == edges[:-1] and edges[-1] == len(document.text)
    assert all(block.end - block.start <= cap for block in document.blocks)
    assert all(block.start < cut < block.end for block in document.blocks for cut in block.cuts)
    assert document.text.split() == [word for _, line in lines for word in line.split()]


def test_many_lines_are_cut_into_blocks_of_readable_size():
    document = read(docx(paragraph("word " * 20) * 1_000))

    assert max(block.end - block.start for block in document.blocks) <= 8 * 1024 + 1
