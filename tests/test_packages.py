"""Packages that are refused before any parser opens them, and why."""

import io
import struct
import warnings
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.config.options import STRICT
from ragcli.errors import DocumentProcessingError, FailureCode
from ragcli.extract.office.docx import DocxExtractor
from ragcli.extract.office.packages import PackageRefused, refusal, scan
from ragcli.extract.office.pptx import PptxExtractor
from ragcli.extract.office.xlsx import XlsxExtractor
from ragcli.model import DocumentFormat
from tests.office_files import CONTENT_TYPES, context, docx, inline, package, paragraph, pptx, shape, xlsx

LIMITS = STRICT._replace(max_raw_binary=64 * 1024)


def refused(raw: bytes, kind: str = "ooxml", **limits: int) -> PackageRefused:
    with pytest.raises(PackageRefused) as caught:
        scan(raw, LIMITS._replace(**limits), kind=kind)
    return caught.value


def epub(parts: dict[str, str | bytes]) -> bytes:
    return package({"META-INF/container.xml": "<container/>", **parts}, content_types=None)


@pytest.mark.parametrize("raw", [docx(paragraph("a")), xlsx({"S": ""}), pptx([shape("a")])])
def test_sound_packages_pass(raw):
    scan(raw, LIMITS, kind="ooxml")


def test_no_content_types_is_refused():
    assert "[Content_Types].xml" in refused(package({"a.xml": "<a/>"}, content_types=None)).reason
    assert "[Content_Types].xml" in refused(package({}, content_types=None)).reason


@pytest.mark.parametrize("second", ["word/document.xml", "WORD/Document.xml", "word\\document.xml"])
def test_two_entries_of_one_name_are_refused_in_any_spelling(second):
    buffer = io.BytesIO(docx(paragraph("a")))
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "a") as archive:
        warnings.simplefilter("ignore", UserWarning)  # zipfile warns of the very thing under test
        archive.writestr(second, "<a/>")

    assert "two entries" in refused(buffer.getvalue()).reason


def test_too_many_entries_are_a_limit():
    raw = package({f"x{n}.xml": "<a/>" for n in range(20)})

    found = refused(raw, max_zip_entries=20)

    assert found.is_limit and "max_zip_entries" in found.reason
    scan(raw, LIMITS._replace(max_zip_entries=21), kind="ooxml")


def test_depth_is_a_limit_and_the_cap_itself_is_allowed():
    for kind, wrap in (("ooxml", package), ("epub", epub)):
        for depth, fits in ((256, True), (257, False)):
            raw = wrap({"a.xml": "<a>" * depth + "</a>" * depth})
            if fits:
                scan(raw, LIMITS, kind=kind)
            else:
                assert refused(raw, kind).is_limit


def test_html_without_end_tags_is_not_deep():
    sloppy = "<html>" + "<p>one<br>" * 300 + "</html>"

    scan(epub({"a.html": sloppy}), LIMITS, kind="epub")
    assert refused(epub({"a.html": "<p>" * 300 + "</p>" * 300}), "epub").is_limit


def test_nodes_are_counted_over_all_parts():
    raw = package({f"{n}.xml": "<a>" + "<b/>" * 99 + "</a>" for n in range(10)})

    assert refused(raw, max_xml_nodes=999).is_limit
    scan(raw, LIMITS._replace(max_xml_nodes=1_020), kind="ooxml")


def test_inflation_counts_every_entry_and_not_only_xml():
    for kind, wrap in (("ooxml", package), ("epub", epub)):
        found = refused(wrap({"media/picture.png": b"\0" * (8 * LIMITS.max_raw_binary)}), kind)
        assert found.is_limit and "max_inflation" in found.reason


def test_a_part_that_would_not_fit_memory_as_a_tree_is_a_limit():
    """Sheets are streamed and pivot caches are never read: there only the cap on nodes holds."""
    big = "<a>" + "<row/>" * 1_000 + "</a>"

    assert refused(package({"word/document.xml": big}), extraction_memory=300_000).is_limit
    for name in ("xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/pivotCache/records1.xml", "xl/calcChain.xml"):
        scan(package({name: big}), LIMITS._replace(extraction_memory=300_000), kind="ooxml")


def test_a_lie_about_the_inflated_size_is_refused():
    """A part that declares one byte inflates past it: nothing is read on the word of the directory."""
    raw = bytearray(package({"a.xml": "<a>" + " " * 1000 + "</a>"}))
    at = raw.index(b"a.xml", raw.rindex(b"PK\x01\x02", 0, raw.rindex(b"PK\x05\x06"))) - 46
    raw[at + 24 : at + 28] = struct.pack("<I", 3)

    assert "damaged" in refused(bytes(raw)).reason


def test_a_part_that_is_not_well_formed_is_refused_also_when_only_declared_as_xml():
    declared = CONTENT_TYPES.replace(
        "</Types>", '<Override PartName="/odd.dat" ContentType="application/x+xml"/></Types>'
    )

    assert "not well-formed" in refused(package({"word/a.xml": "<a><b></a>"})).reason
    assert "not well-formed" in refused(package({"odd.dat": "<a>"}, content_types=declared)).reason
    assert "not well-formed" in refused(package({}, content_types="<Types")).reason
    scan(package({"odd.dat": "<a>"}), LIMITS, kind="ooxml")


@pytest.mark.parametrize(
    "doctype",
    ['<!DOCTYPE a [<!ENTITY b "c">]>', '<!DOCTYPE a SYSTEM "http://localhost/a.dtd">', "<!DOCTYPE a>"],
)
def test_a_doctype_is_refused(doctype):
    assert "DOCTYPE" in refused(package({"a.xml": f"<?xml version='1.0'?>{doctype}<a>x</a>"})).reason
    assert "DOCTYPE" in refused(package({}, content_types=doctype + CONTENT_TYPES)).reason


def test_a_damaged_picture_does_not_cost_the_text_but_a_damaged_part_does():
    raw = package({"media/a.png": b"12345678" * 50, "b.xml": "<b>" + "12345678" * 50 + "</b>"})
    entries = {entry.filename: entry for entry in zipfile.ZipFile(io.BytesIO(raw)).infolist()}

    def flipped(name: str) -> bytes:
        at = entries[name].header_offset + 30 + len(name) + 4
        return raw[:at] + bytes([raw[at] ^ 0xFF]) + raw[at + 1 :]

    scan(flipped("media/a.png"), LIMITS, kind="ooxml")
    assert refused(flipped("b.xml")).reason


def ole(stream: str) -> bytes:
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 504 + stream.encode("utf-16-le")


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        (ole("EncryptedPackage"), "password"),
        (ole("Workbook"), ".xls"),
        (ole("WordDocument"), ".doc"),
        (ole("PowerPoint Document"), ".ppt"),
        (ole("Other"), "OLE"),
        (b"just text", "no zip"),
        (b"", "no zip"),
        (docx(paragraph("a"))[:-30], "cut short"),
    ],
)
def test_what_is_no_package_says_what_it_is(raw, word):
    for kind in ("ooxml", "epub"):
        assert word in refused(raw, kind).reason


def test_zip_encryption_and_unbounded_compressions_are_refused():
    raw = bytearray(package({"a.xml": "<a/>"}))
    raw[raw.rindex(b"PK\x01\x02") + 8] |= 1
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("[Content_Types].xml", CONTENT_TYPES)

    assert "encrypted" in refused(bytes(raw)).reason
    assert "compression" in refused(buffer.getvalue()).reason


def test_a_book_may_have_sloppy_chapters_but_no_entities_in_package_files():
    scan(epub({"a.xhtml": "<!DOCTYPE html><html><p>&nbsp;<br></html>"}), LIMITS, kind="epub")

    assert "entities" in refused(epub({"a.opf": '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'}), "epub").reason
    assert "container" in refused(package({"a.opf": "<a/>"}), "epub").reason
    assert "DRM" in refused(epub({"META-INF/encryption.xml": '<e Algorithm="x/xmlenc#aes256-cbc"/>'}), "epub").reason


def test_a_cap_is_a_limit_and_the_rest_an_extraction_failure():
    about = context(DocumentFormat.DOCX)

    assert refusal(PackageRefused("a", is_limit=True), about).code is FailureCode.LIMIT
    assert refusal(PackageRefused("a"), about).code is FailureCode.EXTRACTION


def test_a_hundred_thousand_entries_are_not_even_listed(monkeypatch):
    entry = b"PK\x01\x02" + b"\0" * 42
    directory = entry * 100_000
    raw = directory + b"PK\x05\x06" + b"\0" * 4 + struct.pack("<HHIIH", 0xFFFF, 0xFFFF, len(directory), 0, 0)
    monkeypatch.setattr(zipfile, "ZipFile", None)

    assert refused(raw).is_limit


FILES = [
    (DocxExtractor(), DocumentFormat.DOCX, docx(paragraph("a") * 3)),
    (XlsxExtractor(), DocumentFormat.XLSX, xlsx({"S": f"<row>{inline('A1', 'a')}</row>"}, strings=["<t>s</t>"])),
    (PptxExtractor(), DocumentFormat.PPTX, pptx([shape("a"), shape("b")])),
]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(FILES), st.data())
def test_any_damage_to_the_bytes_ends_in_a_document_or_one_clear_failure(file, data):
    extractor, format, raw = file
    damaged = bytearray(raw)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        damaged[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    try:
        document = extractor.extract(bytes(damaged), context(format))
    except DocumentProcessingError as error:
        assert "\n" not in error.detail
    else:
        assert [block.start for block in document.blocks[1:]] == [block.end for block in document.blocks[:-1]]
