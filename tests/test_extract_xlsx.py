"""Workbooks: what a reader sees in the cells, by sheet and range, without blanks, serial numbers or noise."""

import io

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.config.options import STANDARD, Limits
from ragcli.documents import NormalizedDocument
from ragcli.errors import DocumentProcessingError, FailureCode
from ragcli.extract.office.xlsx import XlsxExtractor
from ragcli.model import DocumentFormat
from tests.office_files import A, R, X, context, docx, inline, package, relations, xlsx

DATES = (
    '<numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd hh:mm"/><numFmt numFmtId="165" formatCode="[h]:mm"/>'
    '<numFmt numFmtId="166" formatCode="0.0%"/><numFmt numFmtId="167" formatCode="0 &quot;days%&quot;"/></numFmts>'
    "<cellStyleXfs><xf numFmtId='14'/></cellStyleXfs><cellXfs>"
    + "".join(f'<xf numFmtId="{number}"/>' for number in (0, 14, 164, 165, 166, 167, 31, 20))
    + "</cellXfs>"
)


def read(raw: bytes, limits: Limits = STANDARD) -> NormalizedDocument:
    return XlsxExtractor().extract(raw, context(DocumentFormat.XLSX, limits))


def lines(rows: str, **more: object) -> list[str]:
    """The lines of a sheet S, without its name."""
    text = read(xlsx({"S": rows}, **more)).text
    return text.split("\n")[1:-1]


def cell(value: str, kind: str = "n", style: int = 0) -> str:
    return f'<row><c t="{kind}" s="{style}"><v>{value}</v></c></row>'


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        (cell("0", "s"), "plain"),
        (cell("1", "s"), "rich text"),
        (cell("2", "s"), "東京"),
        (cell("3", "s"), "a b c"),
        (f"<row>{inline('A1', 'in line')}</row>", "in line"),
        ('<row><c t="inlineStr"><is><r><t>in </t></r><r><t><![CDATA[<rich>]]></t></r></is></c></row>', "in <rich>"),
        (cell("1", "b"), "TRUE"),
        (cell("0", "b"), "FALSE"),
        (cell("#DIV/0!", "e"), "#DIV/0!"),
        (cell("cached", "str"), "cached"),
        (cell("42"), "42"),
        (cell("0.30000000000000004"), "0.3"),
        (cell("1E+20"), "1e+20"),
        (cell("007"), "7"),
        (cell("-3.50"), "-3.5"),
        (cell("words"), "words"),
        ('<row><c><f>SUM(A1:A2)</f><v>7</v></c></row>', "7"),
        ('<row><c><f>_xlfn.XLOOKUP(A1)</f></c></row>', "=XLOOKUP(A1)"),
        ('<row><c t="str"><f>A1</f><v></v></c><c><v>1</v></c></row>', "1"),
    ],
)  # fmt: skip
def test_a_cell_shows_its_value(row, shown):
    strings = [
        "<t>plain</t>",
        "<r><t>rich </t></r><r><rPr/><t>text</t></r>",
        "<t>東京</t><rPh><t>とうきょう</t></rPh>",
        "<t>a_x000D_\n\tb_x0020_c</t>",
    ]

    assert lines(row, strings=strings) == [shown]


@pytest.mark.parametrize(
    "row",
    [cell("9", "s"), cell("x", "s"), cell("", "s"), cell("nan"), cell("inf"), "<row/>", "<row><c/></row>", cell(" ")],
)
def test_what_shows_nothing_leaves_nothing(row):
    assert read(xlsx({"S": row})).text == ""


@pytest.mark.parametrize(
    ("value", "style", "shown"),
    [
        ("45292", 1, "2024-01-01"),
        ("45292.5", 2, "2024-01-01 12:00:00"),
        ("45292.999999", 2, "2024-01-02"),
        ("1.5", 3, "36:00:00"),
        ("0.25", 4, "25%"),
        ("0.25", 5, "0.25"),
        ("45292", 6, "2024-01-01"),
        ("0.5", 7, "12:00:00"),
        ("-5", 1, "1899-12-25"),
        ("1e300", 1, "1e+300"),
        ("45292", 99, "45292"),
    ],
)
def test_a_number_is_shown_through_its_format(value, style, shown):
    assert lines(cell(value, style=style), styles=DATES) == [shown]


def test_the_1904_calendar_and_iso_dates():
    early = '<workbookPr date1904="1"/>'

    assert lines(cell("43830", style=1), styles=DATES, workbook=early) == ["2024-01-01"]
    assert lines(cell("2021-01-01T00:00:00", "d") + cell("2021-01-01T10:00:00Z", "d") + cell("soon", "d")) == [
        "2021-01-01", "2021-01-01 10:00:00", "soon",
    ]  # fmt: skip


def test_rows_do_not_depend_on_the_declared_dimension_or_on_references():
    body = "<row><c><v>1</v></c><c><v>2</v></c></row><row r='25'><c r='D25'><v>3</v></c><c><v>4</v></c></row>"
    sheet = f'<worksheet {X}><dimension ref="A1"/><sheetData>{body}</sheetData></worksheet>'
    raw = package(
        {
            "_rels/.rels": relations([("rId1", "officeDocument", "xl/workbook.xml")]),
            "xl/workbook.xml": f'<workbook {X} {R}><sheets><sheet name="S" r:id="a"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": relations([("a", "worksheet", "/XL/Sheet.xml")]),
            "xl\\sheet.xml": sheet,
        }
    )

    document = read(raw)

    assert document.text == "S\n1 | 2\n3 | 4\n"
    assert document.blocks[0].metadata == {"sheet": "S", "cells": "A1:E25"}


def test_prefixed_and_strict_namespaces_are_read():
    strict = "http://purl.oclc.org/ooxml/"
    raw = package(
        {
            "_rels/.rels": relations([("a", "officeDocument", "xl/workbook.xml")]),
            "xl/workbook.xml": (
                f'<q:workbook xmlns:q="{strict}spreadsheetml/main" xmlns:z="{strict}officeDocument/relationships">'
                '<q:sheets><q:sheet name="S" z:id="a"/></q:sheets></q:workbook>'
            ),
            "xl/_rels/workbook.xml.rels": relations([("a", "worksheet", "s.xml")]),
            "xl/s.xml": (
                f'<q:worksheet xmlns:q="{strict}spreadsheetml/main"><q:sheetData><q:row><q:c t="inlineStr"><q:is>'
                "<q:t>here</q:t></q:is></q:c></q:row></q:sheetData></q:worksheet>"
            ),
        }
    )

    assert read(raw).text == "S\nhere\n"


def test_empty_cells_keep_their_place_and_wide_gaps_do_not_spread():
    row = f"<row>{inline('B1', 'b')}{inline('D1', 'd')}{inline('XFD1', 'far')}</row>"

    assert lines(row) == ["b |  | d | far"]


def test_sheets_come_in_the_order_of_their_tabs_with_range_and_header():
    header = f"<row r='2'>{inline('A2', 'item')}{inline('B2', 'price')}</row>"
    body = "".join(f"<row r='{n}'>{inline(f'A{n}', 'bolt')}<c r='B{n}'><v>{n}</v></c></row>" for n in range(3, 123))
    title = f"<row r='1'>{inline('A1', 'Prices 2024')}</row>"

    document = read(xlsx({"Last": f"<row>{inline('A1', 'z')}</row>", "First": title + header + body}))

    assert [dict(block.metadata) for block in document.blocks] == [
        {"sheet": "Last", "cells": "A1:A1"},
        {"sheet": "First", "cells": "A1:B50", "header": "item | price"},
        {"sheet": "First", "cells": "A51:B100", "header": "item | price"},
        {"sheet": "First", "cells": "A101:B122", "header": "item | price"},
    ]
    assert document.text.startswith("Last\nz\n\nFirst\nPrices 2024\nitem | price\nbolt | 3\n")


def test_comments_text_boxes_and_chart_titles_follow_the_rows():
    c = "http://schemas.openxmlformats.org/drawingml/2006/chart"
    rels = relations(
        [("a", "comments", "../comments1.xml"), ("b", "threadedComment", "../t.xml"), ("c", "drawing", "../d.xml")]
    )
    run = "<a:r><a:t>{}</a:t></a:r>"
    parts = {
        "xl/worksheets/_rels/sheet1.xml.rels": rels,
        "xl/comments1.xml": (
            f"<comments {X}><commentList><comment ref='A1'><text><r><t>Ann:</t></r><r><t> why</t></r></text></comment>"
            "<comment ref='B2'><text><t>[Threaded comment] placeholder</t></text></comment></commentList></comments>"
        ),
        "xl/t.xml": "<t><threadedComment ref='B2'><text>really</text></threadedComment></t>",
        "xl/d.xml": f"<d {A} {R}><a:p>{run.format('box')}</a:p><c:chart xmlns:c='{c}' r:id='x'/></d>",
        "xl/_rels/d.xml.rels": relations([("x", "chart", "c.xml")]),
        "xl/c.xml": (
            f"<c:chartSpace xmlns:c='{c}' {A}><c:title><a:p>{run.format('Sales')}</a:p></c:title>"
            "<c:ser><c:val><c:pt><c:v>5</c:v></c:pt></c:val></c:ser></c:chartSpace>"
        ),
    }

    document = read(xlsx({"S": f"<row>{inline('A1', 'a')}</row>"}, parts=parts))

    assert document.text == "S\na\n\n[comment B2] really\n[comment A1] Ann: why\nbox\nSales\n"
    assert document.blocks[1].metadata == {"sheet": "S"}
    assert read(xlsx({"S": ""}, parts=parts)).text.startswith("S\n[comment B2] really\n")


def workbook(sheets: str, rows: list[tuple[str, str, str]]) -> bytes:
    sheet = f"<worksheet {X}><sheetData><row>{inline('A1', 'a')}</row></sheetData></worksheet>"
    return package(
        {
            "_rels/.rels": relations([("rId1", "officeDocument", "xl/workbook.xml")]),
            "xl/workbook.xml": f"<workbook {X} {R}><sheets>{sheets}</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": relations(rows),
            "xl/a.xml": sheet,
        }
    )


@pytest.mark.parametrize("second", ["a", "b"])
def test_a_sheet_listed_twice_is_refused(second):
    raw = workbook(
        f'<sheet name="1" r:id="a"/><sheet name="2" r:id="{second}"/>',
        [("a", "worksheet", "a.xml"), ("b", "worksheet", "./a.xml")],
    )

    with pytest.raises(DocumentProcessingError, match="one sheet twice"):
        read(raw)


def test_a_missing_sheet_is_noted_and_the_others_are_read():
    raw = workbook('<sheet name="1" r:id="x"/><sheet name="2" r:id="a"/>', [("a", "worksheet", "a.xml")])

    document = read(raw)

    assert document.text == "2\na\n" and "missing" in document.notes[0]


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        (docx(""), "no workbook"),
        (package({"_rels/.rels": relations([("a", "officeDocument", "b.bin")]), "b.bin": "x"}), ".xlsb"),
        (b"", "no zip"),
    ],
)
def test_what_is_no_workbook_is_refused_with_a_reason(raw, word):
    with pytest.raises(DocumentProcessingError, match=word) as caught:
        read(raw)

    assert caught.value.code is FailureCode.EXTRACTION


def test_one_long_string_in_many_cells_ends_at_the_cap_on_text():
    raw = xlsx({"S": cell("0", "s") * 1_000}, strings=[f"<t>{'y' * 10_000}</t>"])

    with pytest.raises(DocumentProcessingError, match="max_text") as caught:
        read(raw, STANDARD._replace(max_text=100_000))

    assert caught.value.code is FailureCode.LIMIT


def test_a_row_without_end_is_a_limit():
    raw = xlsx({"S": f"<row>{inline('A1', 'x' * 17 * 1024 * 1024)}</row>"})

    with pytest.raises(DocumentProcessingError, match="in one row") as caught:
        read(raw)

    assert caught.value.code is FailureCode.LIMIT


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.text(alphabet="abcé日 ", min_size=1, max_size=20),
    st.dates(),
)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(VALUES, max_size=6), max_size=30))
def test_what_openpyxl_writes_is_found_again_cell_by_cell(rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    buffer = io.BytesIO()
    book.save(buffer)

    document = read(buffer.getvalue())

    shown = document.text.replace(" | ", " ").split()
    wanted = [word for row in rows for value in row for word in _words(value)]
    assert shown == (["Sheet", *wanted] if wanted else [])
    edges = [0, *(block.end for block in document.blocks)]
    assert [block.start for block in document.blocks] == edges[:-1] and edges[-1] == len(document.text)


def _words(value: object) -> list[str]:
    if value is None:
        return []
    return str(value).upper().split() if isinstance(value, bool) else str(value).split()


@pytest.mark.parametrize("number", [*range(27, 37), *range(50, 59)])
def test_dates_of_east_asian_editions_are_dates(number):
    styles = f'<styleSheet {X}><cellXfs><xf numFmtId="{number}"/></cellXfs></styleSheet>'

    assert lines(cell("45292", style=0), styles=styles) == ["2024-01-01"]
