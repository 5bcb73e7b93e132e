"""EPUB: chapters in the order of the spine, whatever the archive, the manifest or the names look like."""

import io
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.config.options import STANDARD, Limits
from ragcli.documents import ExtractionContext, NormalizedDocument
from ragcli.errors import DocumentProcessingError, FailureCode
from ragcli.extract.registry import extract
from ragcli.ingest.chunkers import NormalizedDocumentChunker
from ragcli.model import DocumentFormat

PAGE = "application/xhtml+xml"


def container(*roots: str) -> str:
    files = "".join(f'<rootfile full-path="{root}" media-type="application/oebps-package+xml"/>' for root in roots)
    space = "urn:oasis:names:tc:opendocument:xmlns:container"
    return f'<container version="1.0" xmlns="{space}"><rootfiles>{files}</rootfiles></container>'


def package(items: dict[str, str], spine: list[str], title: str = "A Book") -> str:
    """A package document; `items` are hrefs by id."""
    manifest = "".join(f'<item id="{id}" href="{href}" media-type="{PAGE}"/>' for id, href in items.items())
    order = "".join(f'<itemref idref="{id}"/>' for id in spine)
    return (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></metadata>'
        f"<manifest>{manifest}</manifest><spine>{order}</spine></package>"
    )


def page(body: str, title: str = "") -> str:
    return f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>{title}</title></head><body>{body}</body></html>'


def zipped(parts: dict[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def book(items: dict[str, str], spine: list[str], pages: dict[str, str | bytes]) -> bytes:
    return zipped({
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": container("OPS/book.opf"),
        **{f"OPS/{name}": content for name, content in pages.items()},
        "OPS/book.opf": package(items, spine),
    })  # fmt: skip


def read(raw: bytes, limits: Limits = STANDARD) -> NormalizedDocument:
    return extract(raw, ExtractionContext("a.epub", DocumentFormat.EPUB, limits))


def chapters(document: NormalizedDocument) -> list[tuple[object, str]]:
    return [(block.metadata["chapter"], document.text[block.start : block.end].strip()) for block in document.blocks]


def test_chapters_come_in_the_order_of_the_spine():
    raw = book(
        {"c": "3.xhtml", "a": "1.xhtml", "nav": "nav.xhtml", "b": "2.xhtml"},
        ["b", "c", "a"],
        {"1.xhtml": page("last"), "nav.xhtml": page("contents"), "3.xhtml": page("middle"), "2.xhtml": page("first")},
    )

    document = read(raw)

    assert document.text.split() == ["first", "middle", "last"]
    assert document.metadata["title"] == "A Book"


def test_a_chapter_is_named_by_its_heading_its_title_or_its_file():
    raw = book(
        {"a": "one.xhtml", "b": "two.xhtml", "c": "three.xhtml"},
        ["a", "b", "c"],
        {
            "one.xhtml": page("<h1>Frogs</h1>hop<h2>Legs</h2>long"),
            "two.xhtml": page("x", "Toads"),
            "three.xhtml": page("y"),
        },
    )

    document = read(raw)

    assert chapters(document) == [
        ("Frogs", "Frogs\n\nhop"), ("Frogs", "Legs\n\nlong"), ("Toads", "x"), ("three", "y"),
    ]  # fmt: skip
    assert document.blocks[1].metadata["heading"] == "Frogs > Legs"


@pytest.mark.parametrize("href, name", [
    ("chap%20one.xhtml", "chap one.xhtml"),
    ("chap%20one.xhtml#top", "chap one.xhtml"),
    ("100%25.xhtml", "100%.xhtml"),
    ("a%20b.xhtml", "a%20b.xhtml"),
    ("text/../One.xhtml", "one.xhtml"),
    ("caf%C3%A9.xhtml", "cafe\u0301.xhtml"),
    ("../OPS/./one.xhtml", "one.xhtml"),
])  # fmt: skip
def test_an_href_finds_its_part(href, name):
    assert read(book({"a": href}, ["a"], {name: page("found")})).text.split() == ["found"]


def test_a_missing_part_is_noted_and_costs_nothing_else():
    document = read(book({"a": "1.xhtml", "g": "ghost.xhtml"}, ["g", "nowhere", "a"], {"1.xhtml": page("words")}))

    assert document.text.split() == ["words"]
    assert any("ghost.xhtml" in note for note in document.notes)
    assert any("not in the manifest" in note for note in document.notes)


def test_a_spine_that_names_nothing_gives_way_to_the_manifest():
    document = read(book({"a": "1.xhtml", "b": "2.xhtml"}, ["x"], {"1.xhtml": page("one"), "2.xhtml": page("two")}))

    assert document.text.split() == ["one", "two"]
    assert any("manifest" in note for note in document.notes)


def test_a_page_that_stands_twice_in_the_spine_is_read_once():
    assert read(book({"a": "1.xhtml"}, ["a", "a"], {"1.xhtml": page("words")})).text.split() == ["words"]


def test_chapters_of_one_title_stay_apart():
    raw = book({"a": "1.xhtml", "b": "2.xhtml"}, ["a", "b"], {"1.xhtml": page("x", "T"), "2.xhtml": page("y", "T")})

    assert len(NormalizedDocumentChunker().chunk(read(raw), STANDARD)) == 2


def test_of_two_package_documents_the_first_counts():
    raw = zipped({
        "META-INF/container.xml": container("a.opf", "b.opf"),
        "a.opf": package({"p": "a.xhtml"}, ["p"]), "b.opf": package({"p": "b.xhtml"}, ["p"]),
        "a.xhtml": page("first"), "b.xhtml": page("second"),
    })  # fmt: skip

    assert read(raw).text.split() == ["first"]


def test_sloppy_and_old_pages_are_read():
    declared = '<?xml version="1.0" encoding="windows-1251"?>'
    old = f"{declared}<html><body><p>Привет<br>мир<p>да</body></html>".encode("cp1251")

    assert read(book({"a": "1.html"}, ["a"], {"1.html": old})).text.split() == ["Привет", "мир", "да"]


ITEM = f'<item id="a" href="1.xhtml" media-type="{PAGE}"/>'
OEB = (
    '<package xmlns="http://openebook.org/namespaces/oeb-package/1.0/"><metadata>'
    '<dc-metadata xmlns:dc="http://purl.org/dc/elements/1.0/"><dc:Title>T</dc:Title></dc-metadata></metadata>'
    '<manifest><item id="a" href="1.xhtml" media-type="text/x-oeb1-document"/></manifest>'
    '<spine><itemref idref="a"/></spine></package>'
)


@pytest.mark.parametrize("document, title", [
    (f"<package><metadata><title>T</title></metadata><manifest>{ITEM}</manifest>"
     '<spine toc="ncx"><itemref idref="a"/></spine></package>', "T"),
    (f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{ITEM}</manifest></package>', None),
    (OEB, "T"),
    (package({"a": "1.xhtml"}, ["a"]).replace("<manifest>", "<!-- c --><?pi?><manifest><!-- c --><item/><item id='b'/>"
     "<item id='n' properties='nav' href='gone.xhtml' media-type='application/xhtml+xml'/>"
     "<item id='ncx' href='gone.ncx' media-type='application/x-dtbncx+xml'/>"), "A Book"),
    (package({"a": "1.xhtml"}, ["a"]).replace('<item id="a"', '<item properties="cover" id="a"'), "A Book"),
    ('<!DOCTYPE package SYSTEM "http://localhost/x.dtd">' + package({"a": "1.xhtml"}, ["a"]), "A Book"),
])  # fmt: skip
def test_a_package_document_that_leaves_things_out_is_read(document, title):
    raw = zipped({
        "META-INF/container.xml": container("book.opf"), "book.opf": document, "1.xhtml": page("<h1>One</h1>words"),
    })  # fmt: skip

    assert chapters(read(raw)) == [("One", "One\n\nwords")]
    assert read(raw).metadata.get("title") == title


def test_a_chapter_is_read_as_html_that_may_say_what_only_xhtml_says():
    raw = book({"a": "1.xhtml"}, ["a"], {"1.xhtml": page("one&nbsp;&eacute;<script src='x'/> <i/>two<![CDATA[<3>]]>")})

    assert read(raw).text.strip() == "one é two<3>"


def test_a_book_of_many_tags_is_read_whole():
    """Each page alone is small; together they are more than a tree may hold."""
    names = [f"{n}.xhtml" for n in range(3)]
    raw = book({n: n for n in names}, names, {n: page(f"<h1>{n}</h1>" + "<b>x</b>" * 12_000) for n in names})

    assert chapters(read(raw)) == [(n, f"{n}\n\n" + "x" * 12_000) for n in names]


@pytest.mark.parametrize("raw", [
    b"", b"plain words", book({"a": "1.xhtml"}, ["a"], {"1.xhtml": page("words")})[:300],
    zipped({"OPS/book.opf": package({}, [])}), zipped({"META-INF/container.xml": container("none.opf")}),
    zipped({"META-INF/container.xml": "<container"}),
    zipped({"META-INF/container.xml": container("b.opf"), "b.opf": "<package><secret"}),
])  # fmt: skip
def test_what_is_no_book_is_refused_in_one_line(raw):
    with pytest.raises(DocumentProcessingError) as caught:
        read(raw)

    assert caught.value.code == FailureCode.EXTRACTION
    assert "\n" not in caught.value.detail and "words" not in caught.value.detail


@pytest.mark.parametrize("limits, cap", [
    ({"max_zip_entries": 3}, "max_zip_entries"),
    ({"max_raw_binary": 1_000}, "max_inflation"),
    ({"max_text": 100}, "max_text"),
])  # fmt: skip
def test_over_a_cap_a_book_is_refused_by_name(limits, cap):
    raw = book({"a": "1.xhtml"}, ["a"], {"1.xhtml": page("word " * 2_000)})

    with pytest.raises(DocumentProcessingError) as caught:
        read(raw, STANDARD._replace(**limits))

    assert caught.value.code == FailureCode.LIMIT and cap in caught.value.detail


def test_a_book_of_pictures_is_empty():
    raw = book({"a": "1.png", "b": "2.xhtml"}, ["a", "b"], {"1.png": b"\x89PNG", "2.xhtml": page(" ")})

    assert read(raw).text == ""


@settings(max_examples=40, deadline=None)
@given(st.permutations(["a", "b", "c", "d"]), st.permutations(["a", "b", "c", "d"]))
def test_only_the_spine_decides_the_order(spine, archived):
    pages: dict[str, str | bytes] = {f"{id}.xhtml": page(f"<h1>{id}</h1><p>words of {id}</p>") for id in archived}

    document = read(book({id: f"{id}.xhtml" for id in sorted(spine)}, list(spine), pages))

    assert [chapter for chapter, _ in chapters(document)] == list(spine)
    assert "".join(document.text[b.start : b.end] for b in document.blocks) == document.text
