"""A file's format follows its name, and where the name says nothing the way its bytes begin."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.extract.source.languages import EXTENSIONS, LANGUAGES
from ragcli.ingest.formats import accepts, detect, extensions, is_binary_format, language_of
from ragcli.model import DocumentFormat as F

TABLE = {
    F.TEXT: "txt text log rst adoc org tex ini cfg conf properties po",
    F.MARKDOWN: "md markdown mdx qmd",
    F.HTML: "html htm xhtml",
    F.XML: "xml xsd xsl svg plist rss atom",
    F.JSON: "json jsonc geojson",
    F.JSONL: "jsonl ndjson",
    F.YAML: "yaml yml",
    F.TOML: "toml",
    F.CSV: "csv tsv",
    F.NOTEBOOK: "ipynb",
    F.PDF: "pdf",
    F.DOCX: "docx docm",
    F.XLSX: "xlsx xlsm",
    F.PPTX: "pptx",
    F.EPUB: "epub",
    F.RTF: "rtf",
    F.SOURCE_CODE: "java kt js ts tsx py go rs rb php scala c h cpp cs swift sh sql css",
}
CASES = [(format, extension) for format, words in TABLE.items() for extension in words.split()]
PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


@pytest.mark.parametrize(("format", "extension"), CASES)
def test_an_extension_decides_in_any_case_and_whatever_the_bytes(format: F, extension: str) -> None:
    """The table of the formats; bytes do not override a name."""
    for path in (f"a/b.{extension}", f"B.c.{extension.upper()}"):
        assert detect(path, None) is format
        assert detect(path, PNG) is format
        assert detect(path, b"%PDF-1.7") is format
        assert extension in extensions(format)
        assert accepts(format, path)


@pytest.mark.parametrize(
    "name", ["README", "LICENSE", "Makefile", "Dockerfile", "COPYING", "sub/dir.d/makefile", ".mailmap"]
)
def test_well_known_names_are_text(name: str) -> None:
    """Names without an extension that hold text by custom need no look inside."""
    assert detect(name, None) is F.TEXT


@pytest.mark.parametrize("name", ["Rakefile", "CMakeLists.txt", ".bashrc", "BUILD"])
def test_names_of_programs_are_source_code(name: str) -> None:
    """The table of languages knows whole names too, and they come before the extension."""
    assert detect(name, None) is F.SOURCE_CODE


@pytest.mark.parametrize(
    ("head", "format"),
    [
        (b"", F.TEXT),
        (b"some words\n", F.TEXT),
        ("größer\n".encode("latin-1"), F.TEXT),
        ("words\n".encode("utf-16"), F.TEXT),
        (b"#!/usr/bin/env python3\nprint()\n", F.SOURCE_CODE),
        (b"#!/bin/sh\n", F.SOURCE_CODE),
        (b"\xef\xbb\xbf#!/bin/sh\n", F.SOURCE_CODE),
        (b"#!/opt/nobody/knows\n", F.TEXT),
        (PNG, None),
        (b"%PDF-1.7\n\xe2\xe3", None),
        (b"PK\x03\x04" + bytes(30), None),
        (b"\x7fELF" + bytes(60), None),
    ],
)
@pytest.mark.parametrize("name", ["unknown", "a.unknown", ".hidden", "x."])
def test_an_unknown_name_is_decided_by_how_its_bytes_begin(name: str, head: bytes, format: F | None) -> None:
    """Text is TEXT, a script with a known interpreter is SOURCE_CODE, a binary is unknown; no head: unknown."""
    assert detect(name, head) is format
    assert detect(name, None) is None


@given(st.text(max_size=20), st.none() | st.binary(max_size=200))
def test_any_name_and_bytes_have_an_answer(path: str, head: bytes | None) -> None:
    """Detection never fails, and a format that it names by extension accepts the name."""
    format = detect(path, head)

    assert format is None or format is not F.AUTO
    if format not in (None, F.SOURCE_CODE):
        assert accepts(format, path)


@pytest.mark.parametrize(
    ("format", "path", "taken"),
    [
        (F.AUTO, "anything", True),
        (F.TEXT, "anything.pdf", True),
        (F.PDF, "a.PDF", True),
        (F.PDF, "a.txt", False),
        (F.PDF, "pdf", False),
        (F.PDF, ".pdf", False),
        (F.SOURCE_CODE, "Rakefile", True),
        (F.SOURCE_CODE, "a.md", False),
        (F.MARKDOWN, "sub.md/readme", False),
    ],
)
def test_a_declared_format_takes_its_own_extensions_only(format: F, path: str, taken: bool) -> None:
    """Strict, but for AUTO and TEXT, which take any name."""
    assert accepts(format, path) is taken


def test_each_extension_belongs_to_one_format() -> None:
    """The formats share no extension, and AUTO has them all."""
    own = [extension for format in F if format is not F.AUTO for extension in extensions(format)]

    assert sorted(own) == sorted(extensions(F.AUTO))
    assert len(own) == len(set(own))
    assert all(extension == extension.lower() for extension in own)


def test_every_language_is_reached_by_its_extensions() -> None:
    """No extension of the language table is taken by another format."""
    assert extensions(F.SOURCE_CODE) == frozenset(EXTENSIONS)
    assert len({EXTENSIONS[extension] for extension in extensions(F.SOURCE_CODE)}) == len(LANGUAGES)


def test_six_formats_are_binary() -> None:
    """PDF, the office formats, EPUB and RTF are read by a library, all others as text."""
    assert {format for format in F if is_binary_format(format)} == {F.PDF, F.DOCX, F.XLSX, F.PPTX, F.EPUB, F.RTF}


@pytest.mark.parametrize(
    ("path", "head", "language"),
    [
        ("a.py", None, "python"),
        ("a.h", b"class A { public: };\n", "cpp"),
        ("tool", b"#!/usr/bin/env ruby\n", "ruby"),
        ("tool", "#!/bin/sh\n".encode("utf-16"), "shell"),
        ("tool", b"\xff\xfe\xfd", "source"),
        ("tool", None, "source"),
    ],
)
def test_the_language_comes_from_name_then_content(path: str, head: bytes | None, language: str) -> None:
    """The head may be in any encoding."""
    assert language_of(path, head) == language
