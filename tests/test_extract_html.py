"""HTML: what a reader sees, in the page's own charset, under its headings; in time linear in the page."""

import re
from html import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.config.options import Limits
from ragcli.documents import ExtractionContext, NormalizedDocument
from ragcli.errors import DocumentProcessingError, FailureCode
from ragcli.extract.registry import extract
from ragcli.extract.web.html_text import MAX_TAGS, render
from ragcli.model import DocumentFormat


def read(page: str | bytes, **limits: int) -> NormalizedDocument:
    raw = page.encode() if isinstance(page, str) else page
    return extract(raw, ExtractionContext("a.html", DocumentFormat.HTML, Limits(**limits)))


def sections(document: NormalizedDocument) -> list[tuple[str, str]]:
    return [(str(b.metadata.get("heading", "")), document.text[b.start : b.end].strip()) for b in document.blocks]


def test_sections_carry_the_path_of_their_headings():
    page = "<p>lead<h1>A</h1>one<h2>B <em>b</em></h2><p>two</p><h3>C</h3>three<h2>D</h2>four<h1>E</h1>five"

    assert sections(read(page)) == [
        ("", "lead"),
        ("A", "A\n\none"),
        ("A > B b", "B b\n\ntwo"),
        ("A > B b > C", "C\n\nthree"),
        ("A > D", "D\n\nfour"),
        ("E", "E\n\nfive"),
    ]


def test_an_empty_heading_opens_no_section():
    assert sections(read("<h1>A</h1>one<h2> </h2>two<h3><img src=x></h3>three")) == [("A", "A\n\none\n\ntwo\n\nthree")]


@pytest.mark.parametrize("page, text", [
    ("<table><tr><td>a</td><td>b</td></tr><tr><td>c<td>d</table>", "a\tb\nc\td"),
    ("a<br>b<br/>c", "a\nb\nc"),
    ("<p>a<p>b", "a\n\nb"),
    ("<ul><li>a<li>b</ul>c", "a\nb\n\nc"),
    ("<div>a</div><div>b</div>", "a\nb"),
    ("a <b>b</b>c<i> d</i>\n\n e", "a bc d e"),
    ("<dl><dt>a<dd>b</dl>", "a\nb"),
    ("<select><option>a<option>b</select>", "a\nb"),
    ("a<span>b</span>", "ab"),
    ("a&nbsp;&nbsp;b", "a b"),
    ("in&shy;ter<wbr>national", "international"),
])  # fmt: skip
def test_blocks_cells_and_breaks_stand_apart_and_words_together(page, text):
    assert read(page).text == text


def test_preformatted_text_stays_as_it_is():
    page = "<p>a</p><pre>\ndef f():\n    return  <b>1</b>\n\n\nend\n</pre><p>b  c</p>"

    assert read(page).text == "a\n\ndef f():\n    return  1\n\n\nend\n\nb c"


@pytest.mark.parametrize("hidden", [
    "<script>x = '<p>hidden</p>'</script>",
    "<SCRIPT type='application/json'>{\"hidden\": 1}</SCRIPT >",
    "<style>.hidden {}</style>",
    "<template><p>hidden <b>too</b></template>",
    "<!-- hidden > -->",
    "<!-->",
    "<!doctype html [ <!ENTITY hidden 'x'> ]>",
    "<?php hidden ?>",
    "<div hidden>hidden<div>hidden</div>hidden</div>",
    "<p hidden>hidden<p>",
    "<li hidden>hidden<li>",
    '<span style="color:red; display : none">hidden</span>',
    '<a title="hidden > <b>" href=hidden></a>',
    "<iframe>hidden</iframe>",
    "<input type=hidden value=hidden>",
])  # fmt: skip
def test_what_a_browser_does_not_show_is_no_text(hidden):
    assert read(f"<body>before {hidden} after</body>").text.split() == ["before", "after"]


def test_character_references_are_resolved_in_text_only():
    assert read("Tom &amp; Jerry 5 &lt; 6 < 7 &#x41;&eacute;&nosuch; <a title='&lt;p>'>x</a>").text == (
        "Tom & Jerry 5 < 6 < 7 Aé&nosuch; x"
    )


def test_a_title_that_the_page_does_not_say_comes_first():
    assert read("<title>Guide to\n frogs</title><p>They hop.").text == "Guide to frogs\n\nThey hop."
    assert read("<title>Frogs</title><h1>Frogs</h1>They hop.").text == "Frogs\n\nThey hop."
    assert read("<title>Frogs</title><p>x").metadata["title"] == "Frogs"


@pytest.mark.parametrize("head, codec, words", [
    ('<meta charset="Shift_JIS">', "shift_jis", "検索用の文書"),
    ("<meta http-equiv='Content-Type' content='text/html; charset=windows-1251'>", "cp1251", "Привет мир"),
    ("<META CHARSET=KOI8-R>", "koi8_r", "Привет мир"),
    ('<?xml version="1.0" encoding="ISO-8859-2"?>', "iso8859_2", "Zażółć gęślą"),
    ('<meta charset="gb2312">', "gb18030", "中文页面"),
    ("", "utf-8-sig", "crème brûlée"),
    ('<meta charset="latin-1">', "utf-16", "crème brûlée"),
    ('<meta name="keywords" content="charset=euc-kr"><!-- <meta charset="big5"> -->', "utf-8", "crème brûlée"),
    ("<script>var m = '<meta charset=\"big5\">'</script>", "utf-8", "crème brûlée"),
    ('<meta charset="iso-8859-1">', "utf-8", "crème brûlée"),
    ('<meta charset="rot13">', "utf-8", "crème brûlée"),
])  # fmt: skip
def test_the_declared_charset_counts_unless_the_bytes_contradict_it(head, codec, words):
    page = f"{head}<title>t</title><p>{words}</p>"

    assert words in read(page.encode(codec)).text


def test_depth_costs_no_recursion_and_no_text():
    depth = 5_000

    assert read("<div>" * depth + "needle" + "</div>" * depth).text == "needle"
    assert read("<b>" * depth + "needle").text == "needle"


@pytest.mark.parametrize("piece", [
    "<a ", '<a b="', "<a b='", "<", "</", "<!--", "<![CDATA[", "<title>", "<textarea>", "&#", "<script", "<a =", "<p>x",
    "<h6>a", "<!doctype [",
])  # fmt: skip
def test_unfinished_markup_is_read_in_one_pass(piece):
    """A reader that starts over at each tag would run into the time limit of the suite."""
    document = read(piece * (400_000 // len(piece)), max_blocks=1_000_000)

    assert len(document.text) <= 400_000


def test_text_after_an_unfinished_tag_is_kept():
    assert "kept" in read("<p>one <a href='x kept").text
    assert "kept" in read("<p>one <a title=\"x>y</p><p>kept</p><b c='d'>kept").text
    assert "kept" in read("<title>one <p>kept").text


def test_a_page_of_more_tags_than_time_allows_is_refused_by_number():
    with pytest.raises(DocumentProcessingError, match=f"{MAX_TAGS:,} tags") as caught:
        read("<p>" * (MAX_TAGS + 1))

    assert caught.value.code == FailureCode.LIMIT
    assert caught.value.uri == "a.html"


def test_cdata_of_xhtml_is_text_and_an_empty_script_is_empty():
    page = '<html xmlns="http://www.w3.org/1999/xhtml"><script src="x"/><p>a<![CDATA[ <b> ]]>c</p></html>'

    assert read(page).text == "a <b> c"


def test_a_binary_named_html_is_refused():
    with pytest.raises(DocumentProcessingError) as caught:
        read(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))

    assert caught.value.code == FailureCode.EXTRACTION


def test_a_long_section_is_cut_into_blocks_within_the_cap():
    document = read("<h1>H</h1>" + "<p>some words here</p>" * 200, max_block_chars=100)

    assert max(b.end - b.start for b in document.blocks) <= 100
    assert {b.metadata["heading"] for b in document.blocks} == {"H"}


def test_of_two_attributes_with_one_name_the_first_counts():
    assert read("<img ALT='x &amp; y' b alt='other words'>").text == "x & y"


words = st.text(st.characters(categories=("Lu", "Ll", "Nd", "Po", "Sm")), min_size=1, max_size=8)


@given(st.lists(words, min_size=1, max_size=8))
def test_escaped_text_comes_back_word_for_word(parts):
    page = "<p>" + " ".join(escape(part) for part in parts) + "</p>"

    assert render(page).text == " ".join(parts)


markup = st.lists(
    st.sampled_from(["<p>", "</p>", "<h2>", "</h2>", "<pre>", "</pre>", "<td>", "<tr>", "<br>", "<b hidden>", "</b>",
                     "<script>", "</script>", "<!--", "-->", "<", ">", "a ", "b\n", "&amp;", "<title>", "</title>"]),
    max_size=30,
)  # fmt: skip


@settings(deadline=None)
@given(markup)
def test_whatever_the_markup_blocks_tile_a_text_without_loose_ends(parts):
    document = read("".join(parts))

    assert "".join(document.text[b.start : b.end] for b in document.blocks) == document.text
    assert not re.search(r"\A\n|[ \t]\n\S", document.text) or "<pre>" in parts


odd_markup = st.lists(
    st.sampled_from(["<xmp>", "</xmp>", "<textarea>", "\n", " \n ", "<svg>", "</svg>", "<h1>", "<li>", "</ul>", "<p>",
                     "</table>", "<br/>", "<![CDATA[", "]]>", "<a b='", '<a b="', "<a {x}=1>", "<o:p>", "<!-- c -->",
                     "<body>", "</head>", "é", "\xad", "words", "<div style='display:none'>", "</div>", "<template>",
                     "<?x", "<img alt='two words'>", "<pre>", "<h2>", "<table>", "</p>", "<title>", "<script>"]),
    max_size=30,
)  # fmt: skip


@settings(deadline=None)
@given(markup | odd_markup, st.booleans())
def test_a_page_too_large_for_a_tree_has_the_same_text_and_headings(parts, xml):
    page = "".join(parts)

    assert render(page, xml=xml, max_tree_tags=-1) == render(page, xml=xml)
