"""PDF: every page under its number, nothing that loops or bursts, nothing lost without a note."""

import io
import logging
import warnings

import pypdfium2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfReader, PdfWriter

from ragcli.config.options import Limits
from ragcli.documents import ExtractionContext, NormalizedDocument
from ragcli.errors import DocumentProcessingError, FailureCode
from ragcli.extract.pdf.columns import column_edges
from ragcli.extract.registry import extract
from ragcli.model import DocumentFormat
from tests.pdf_files import CATALOG, FONT, PAGES, objects, pdf, shown, stream, written


def read(raw: bytes, **limits: int) -> NormalizedDocument:
    return extract(raw, ExtractionContext("a.pdf", DocumentFormat.PDF, Limits(**limits)))


def refusal(raw: bytes, **limits: int) -> DocumentProcessingError:
    with pytest.raises(DocumentProcessingError) as caught:
        read(raw, **limits)
    return caught.value


def pages(document: NormalizedDocument) -> list[tuple[object, str]]:
    return [(block.metadata["page"], document.text[block.start : block.end].strip()) for block in document.blocks]


def encrypted(user_password: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(shown("behind a lock")))))
    writer.encrypt(user_password=user_password, owner_password="owner", algorithm="AES-256")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_each_page_is_a_block_under_its_number():
    document = read(pdf(shown("first words"), shown("second words"), shown("third words")))

    assert pages(document) == [(1, "first words"), (2, "second words"), (3, "third words")]
    assert document.notes == ()


def test_pages_without_text_are_counted_in_a_note_and_keep_their_numbers():
    drawing = "0.5 g 100 100 300 300 re f"

    document = read(pdf(drawing, shown("only here"), drawing))

    assert pages(document) == [(2, "only here")]
    assert document.notes == ("text on 1 of 3 pages",)


def test_a_scan_has_empty_text_and_says_what_it_needs():
    document = read(pdf("0.5 g 100 100 300 300 re f"))

    assert (document.text, document.blocks, document.notes) == ("", (), ("no text layer (needs OCR)",))


def test_the_empty_password_opens_a_file_and_any_other_does_not():
    assert pages(read(encrypted(""))) == [(1, "behind a lock")]
    assert "password" in refusal(encrypted("secret")).detail


@pytest.mark.parametrize("raw", [b"", b"plain words", b"%PDF-1.7\n", pdf(shown("words"))[:200]])
def test_what_is_no_whole_pdf_is_refused_in_one_line(raw):
    error = refusal(raw)

    assert error.code == FailureCode.EXTRACTION
    assert "\n" not in error.detail and "words" not in error.detail


def test_over_the_page_cap_a_file_is_refused_not_cut():
    raw = pdf(*[shown("words")] * 3)

    assert len(read(raw, max_pdf_pages=3).blocks) == 3
    error = refusal(raw, max_pdf_pages=2)
    assert error.code == FailureCode.LIMIT and "max_pdf_pages" in error.detail


def test_over_the_glyph_cap_a_file_is_refused_not_cut():
    raw = pdf(shown("few"), shown("x" * 101))

    assert len(read(raw, max_page_glyphs=101).blocks) == 2
    error = refusal(raw, max_page_glyphs=100)
    assert error.code == FailureCode.LIMIT and "max_page_glyphs" in error.detail and "page 2" in error.detail


def form(number: int, content: str, inner: str = "") -> str:
    resources = f"/Resources << /Font << /F1 {FONT} 0 R >> /XObject << {inner} >> >>"
    return stream(content, f"/Type /XObject /Subtype /Form /BBox [0 0 612 792] {resources}")


def test_glyphs_inside_forms_count_too():
    made = objects(["/X1 Do"], resources="/XObject << /X1 6 0 R >>")
    made[6] = form(6, "/X2 Do " * 20, "/X2 7 0 R")
    made[7] = form(7, shown("y" * 50))

    assert refusal(written(made), max_page_glyphs=100).code == FailureCode.LIMIT


def test_a_form_that_draws_itself_ends():
    made = objects([shown("around it") + "/X1 Do"], resources="/XObject << /X1 6 0 R >>")
    made[6] = form(6, "/X1 Do", "/X1 6 0 R")

    assert pages(read(written(made))) == [(1, "around it")]


@pytest.mark.parametrize("kids", ["[2 0 R 4 0 R]", "[4 0 R 2 0 R]", "[6 0 R 4 0 R]", "[4 0 R 99 0 R 4 0 R 6 0 R]"])
def test_a_page_tree_that_loops_gives_the_pages_that_can_be_reached(kids):
    made = objects([shown("reached")])
    made[PAGES] = f"<< /Type /Pages /Kids {kids} /Count 2 >>"
    made[6] = "<< /Type /Pages /Kids [6 0 R 2 0 R] /Count 1 >>"

    assert "reached" in read(written(made)).text


def test_a_loop_of_sections_or_outlines_ends():
    made = objects([shown("words")])
    made[CATALOG] = f"<< /Type /Catalog /Pages {PAGES} 0 R /Outlines 6 0 R >>"
    made[6] = "<< /Type /Outlines /First 7 0 R /Last 7 0 R /Count 1 >>"
    made[7] = "<< /Title (one) /Parent 6 0 R /Next 7 0 R >>"
    sections = written(made)
    start = sections.rindex(b"xref\n0 ")

    assert pages(read(written(made, f"/Prev {start}"))) == [(1, "words")]


ENDLESS_PICTURE = "BI /W 9 /H 9 ID abc"


def test_a_broken_page_costs_itself_only_and_is_noted():
    made = objects([shown("sound one"), "", shown("sound two")])
    made[7] = stream(ENDLESS_PICTURE)

    document = read(written(made))

    assert pages(document) == [(1, "sound one"), (3, "sound two")]
    assert document.notes == ("text on 2 of 3 pages", "could not read 1 of 3 pages: 2")


def test_a_file_whose_pages_are_all_broken_is_refused():
    made = objects([""])
    made[5] = stream(ENDLESS_PICTURE)

    assert refusal(written(made)).code == FailureCode.EXTRACTION


def test_ligatures_and_presentation_forms_become_letters():
    made = objects(["BT /F1 12 Tf 72 700 Td (a) Tj (b) Tj (c) Tj ET"])
    letters = "3 beginbfchar <61> <FB03> <62> <2F00> <63> <00AD> endbfchar"
    made[FONT] = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>"
    made[6] = stream(f"1 begincodespacerange <00> <FF> endcodespacerange {letters}")

    assert read(written(made)).text.strip() == "ffi\u4e00"


def test_a_hyphen_at_the_end_of_a_line_is_shown_as_it_is_printed():
    soft_hyphen = "\u00ad"

    soft = read(pdf(shown(f"inter{soft_hyphen}", y=700) + shown("national", y=686)))
    hard = read(pdf(shown("well-", y=700) + shown("known", y=686)))

    assert (soft.text.strip(), hard.text.strip()) == ("inter-\nnational", "well-\nknown")


def test_a_page_of_glyphs_without_letters_needs_ocr():
    made = objects([shown("abcdefgh" * 4)])
    names = " ".join(f"/g{number}" for number in range(10, 18))
    encoding = f"/Encoding << /Type /Encoding /Differences [97 {names}] >>"
    made[FONT] = (
        f"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1 1] /FontMatrix [1 0 0 1 0 0] /CharProcs << >> {encoding} >>"
    )

    document = read(written(made))

    assert (document.text, document.notes) == ("", ("no text layer (needs OCR)",))


def test_a_file_that_pdfium_refuses_is_read_by_pypdf(monkeypatch):
    def refuse(*_: object) -> None:
        raise pypdfium2.PdfiumError("no")

    monkeypatch.setattr(pypdfium2, "PdfDocument", refuse)

    assert pages(read(pdf(shown("read all the same")))) == [(1, "read all the same")]


LEFT = [f"left column line {number} tells of one thing" for number in range(12)]
RIGHT = [f"right column line {number} tells of another" for number in range(12)]


def side_by_side(*columns: list[str], edges: tuple[int, ...] = (60, 320)) -> str:
    rows = range(len(columns[0]))
    return "".join(
        shown(column[row], edge, 700 - 14 * row) for row in rows for column, edge in zip(columns, edges, strict=True)
    )


def test_columns_drawn_line_by_line_are_read_one_after_the_other():
    document = read(pdf(shown("a title over both", y=740) + side_by_side(LEFT, RIGHT)))

    assert document.text.split("\n\n")[:2] == ["a title over both\n" + "\n".join(LEFT), "\n".join(RIGHT)]


def test_a_table_keeps_its_rows():
    cells = [f"key {number}" for number in range(12)]

    document = read(pdf(side_by_side(cells, RIGHT)))

    assert document.text.startswith("key 0 " + RIGHT[0] + "\n")


@given(st.lists(st.tuples(st.floats(-1e4, 1e4), st.floats(-1e4, 1e4)), max_size=60))
def test_edges_of_columns_ascend_whatever_is_drawn(starts):
    edges = column_edges(starts)

    assert edges == sorted(set(edges))


def test_form_values_and_notes_are_part_of_their_page():
    made = objects([shown("Name:")], page_entries="/Annots [6 0 R 7 0 R 8 0 R]")
    made[6] = "<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (Ada Lovelace) >>"
    made[7] = "<< /Type /Annot /Subtype /FreeText /Contents (written beside it) >>"
    made[8] = "<< /Type /Annot /Subtype /Widget /FT /Btn /V /Off >>"

    assert pages(read(written(made))) == [(1, "Name:\nAda Lovelace\nwritten beside it")]


def test_a_field_whose_parents_loop_ends():
    made = objects([shown("words")], page_entries="/Annots [6 0 R]")
    made[6] = "<< /Type /Annot /Subtype /Widget /Parent 6 0 R >>"

    assert pages(read(written(made))) == [(1, "words")]


def test_the_title_is_kept_as_metadata():
    made = objects([shown("words")])
    made[6] = "<< /Title (A small book) >>"

    assert read(written(made, "/Info 6 0 R")).metadata["title"] == "A small book"


def test_nothing_is_logged_or_warned_and_the_logger_is_left_as_it_was(capfd):
    logger = logging.getLogger("pypdf")
    level = logger.level

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        read(pdf(shown("words")).replace(b"xref\n0", b"xref\n9"))

    assert capfd.readouterr() == ("", "")
    assert logger.level == level


SOUND = pdf(shown("words"), side_by_side(LEFT, RIGHT))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(SOUND) - 1), st.binary(min_size=1, max_size=8), st.booleans())
def test_damage_gives_a_document_or_a_refusal_and_nothing_else(at, patch, cut):
    damaged = SOUND[:at] + patch + (b"" if cut else SOUND[at + len(patch) :])

    try:
        document = read(damaged)
    except DocumentProcessingError as error:
        assert "\n" not in error.detail
    else:
        assert "".join(document.text[block.start : block.end] for block in document.blocks) == document.text


def test_in_a_broken_page_tree_a_page_keeps_its_own_resources():
    """What stands on the node above is for pages that say nothing themselves."""
    made = objects([shown("abc"), shown("abc")])
    made[PAGES] = (
        f"<< /Type /Pages /Kids [4 0 R 6 0 R {PAGES} 0 R] /Count 3 "
        f"/Resources << /Font << /F1 8 0 R >> >> /MediaBox [0 0 612 792] >>"
    )
    made[6] = f"<< /Type /Page /Parent {PAGES} 0 R /Contents 7 0 R >>"
    made[8] = (
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica "
        "/Encoding << /Type /Encoding /Differences [97 /x /y /z] >> >>"
    )

    assert [text for _, text in pages(read(written(made)))] == ["abc", "xyz"]
