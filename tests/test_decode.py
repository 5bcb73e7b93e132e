"""Encodings, line ends and binaries."""

import codecs
import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.extract.decode import decode, looks_binary, normalize

CLEAN = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0\r\ufeff"))


@pytest.mark.parametrize("mark, encoding", [
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
])  # fmt: skip
def test_a_byte_order_mark_is_obeyed_and_removed(mark, encoding):
    text = "naïve façade, 30 €\nlast line\n"

    raw = mark + text.encode(encoding)
    assert decode(raw) == (text, encoding)
    assert not looks_binary(raw)


@given(CLEAN)
def test_utf8_comes_back_as_it_was(text):
    assert decode(text.encode()) == (text, "utf-8") or "\0" in text
    assert normalize(text) == text


@given(st.binary(max_size=300))
def test_any_bytes_become_storable_text(raw):
    text = normalize(decode(raw)[0])

    text.encode("utf-8")
    assert "\0" not in text
    assert "\ufeff" not in text
    assert normalize(text) == text


@pytest.mark.parametrize("offset", [4_095, 8_191, 65_535, 1_048_575])
def test_a_late_letter_across_a_block_border_is_utf8(offset):
    raw = b"w" * offset + "Größe".encode()
    raw = raw[:offset] + "ö".encode() + raw[offset:]

    assert decode(raw)[1] == "utf-8"


def test_a_late_letter_of_a_code_page_is_found_by_the_lines_around_it():
    raw = b"plain ascii words\n" * 5_000 + "naïve façade in Windows-1252, 30 €\n".encode("cp1252")

    assert "naïve façade" in decode(raw)[0]


@pytest.mark.parametrize("encoding, text", [
    ("shift_jis", "日本語のテキストです。これは文字コードの判定のための文章です。"),
    ("euc_jp", "日本語のテキストです。これは文字コードの判定のための文章です。"),
    ("iso2022_jp", "日本語のテキストです。"),
    ("gb18030", "中文文本示例，这是用来测试编码识别的一段文字。"),
    ("euc_kr", "한국어 텍스트입니다. 문자 집합을 알아내기 위한 글입니다."),
    ("cp1251", "Это проверка кодировки, несколько обычных слов."),
    ("cp1253", "Αυτό είναι ένα κείμενο για δοκιμή της κωδικοποίησης."),
    ("cp1252", "„Größe“ – naïve façade, 30 €"),
    ("latin-1", "Garçon élève José"),
    ("cp1252", "é"),
])  # fmt: skip
def test_common_code_pages_are_recognized(encoding, text):
    assert decode(text.encode(encoding))[0] == text


def test_damaged_utf8_keeps_its_good_letters():
    text, encoding = decode("good start é ".encode() + b"\xff" + " good end ü".encode())

    assert encoding == "utf-8"
    assert text == "good start é \ufffd good end ü"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_mark_is_text(encoding):
    text = "Some words in wide letters\nand more of them\n"

    raw = text.encode(encoding)
    assert decode(raw) == (text, encoding)
    assert not looks_binary(raw)


@pytest.mark.parametrize("raw, lines", [
    ("a\r\nb\r\nc", "a\nb\nc"),
    ("a\rb\rc", "a\nb\nc"),
    ("a\rb\nc", "a\rb\nc"),
    ("a\r\r\nb", "a\nb"),
    ("a\x0bb\x0cc\x85d\u2028e\n", "a\x0bb\x0cc\x85d\u2028e\n"),
])  # fmt: skip
def test_a_line_ends_at_lf_or_crlf_and_at_cr_only_where_no_lf_is(raw, lines):
    assert normalize(raw) == lines


def test_text_with_a_few_nuls_is_text_and_the_nuls_are_visible():
    raw = b"zqbefore\n" * 500 + b"\0" + b"zqafter\n" * 500

    assert not looks_binary(raw)
    assert normalize(decode(raw)[0]).count("\ufffd") == 1


@pytest.mark.parametrize("raw", [
    b"\x89PNG\r\n\x1a\n" + bytes(100),
    b"PK\x03\x04" + bytes(range(256)),
    b"%PDF-1.7\n%text",
    random.Random(1).randbytes(5_000),
    b"head of text\n" + random.Random(2).randbytes(5_000),
    bytes(1_000),
    b"\xff\xfe" + random.Random(3).randbytes(5_000),
])  # fmt: skip
def test_binaries_are_seen(raw):
    assert looks_binary(raw)


@pytest.mark.parametrize("text", ["", "a", "RIFF is a format", "ID3 tags", "\x1b[31mred\x1b[0m\f\n" * 50, "漢字" * 50])
def test_texts_are_no_binaries(text):
    assert not looks_binary(text.encode())


def test_a_head_cut_inside_a_character_is_text():
    raw = "漢".encode() * 100

    assert not looks_binary(raw[:-1])


def test_decoding_runs_on_this_very_file():
    with open(os.path.abspath(__file__), "rb") as file:
        assert "naïve façade" in decode(file.read())[0]


@pytest.mark.parametrize("head, encoding", [
    ("# -*- coding: iso-8859-2 -*-\n", "iso8859_2"),
    ("#!/usr/bin/ruby\n# coding: ISO_8859-2\n", "iso8859_2"),
    ("# vim: set fileencoding=latin2 :\n", "iso8859_2"),
    (";; -*- mode: lisp; coding: iso-latin-2-unix -*-\n", "iso8859_2"),
    ('msgid ""\nmsgstr ""\n"Project: x\\n"\n"Content-Type: text/plain; charset=iso-8859-2\\n"\n', "iso8859_2"),
    ('@charset "iso-8859-2";\n', "iso8859_2"),
    ("# coding: cp852\n", "cp852"),
])  # fmt: skip
def test_a_declared_encoding_is_obeyed(head, encoding):
    text = head + "Zażółć gęślą jaźń\n"
    assert decode(text.encode(encoding)) == (text, encoding)


def test_a_vim_modeline_at_the_end_and_a_japanese_coding_line_are_obeyed():
    text = "Zażółć gęślą jaźń\n\n# vim: ts=4 fenc=iso-8859-2\n"
    assert decode(text.encode("iso8859_2"))[0] == text
    text = "#!/usr/bin/python\n# coding: euc-jp\nname = '検索する'  # 短い\n"
    assert decode(text.encode("euc_jp")) == (text, "euc_jp")


@pytest.mark.parametrize("label", ["utf-8", "rot13", "unicode_escape", "euc-jp", "nonsense", "ascii2"])
def test_a_declaration_that_the_bytes_contradict_is_not_obeyed(label):
    raw = f"# coding: {label}\n".encode() + "déjà vu, naïve façade\n".encode("cp1252")
    assert "déjà vu, naïve façade" in decode(raw)[0]


def test_utf8_text_under_an_old_declaration_is_utf8():
    text = "# coding: latin-1\nZażółć\n"
    assert decode(text.encode()) == (text, "utf-8")
