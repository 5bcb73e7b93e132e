"""Which format a file is read as: by its name, and where the name says nothing by how its bytes begin.

Opens no file and parses none. A name that is known decides, whatever the bytes are (a broken PDF is a PDF that fails,
not a text); bytes only tell text from binary, and a script by its `#!` line.
"""

from ragcli.extract.decode import decode, looks_binary
from ragcli.extract.source.languages import BY_NAME, EXTENSIONS, NAMES, UNKNOWN, language_for
from ragcli.model import DocumentFormat

HEAD_BYTES = 16 * 1024  # as much of a file as detection wants to see

_F = DocumentFormat
_WORDS: dict[DocumentFormat, str] = {
    _F.TEXT: "txt text log rst adoc asciidoc org tex ini cfg conf properties po pot",
    _F.MARKDOWN: "md markdown mdx qmd",
    _F.HTML: "html htm xhtml",
    _F.XML: "xml xsd xsl xslt svg plist rss atom",
    _F.JSON: "json jsonc geojson",
    _F.JSONL: "jsonl ndjson",
    _F.YAML: "yaml yml",
    _F.TOML: "toml",
    _F.CSV: "csv tsv",
    _F.NOTEBOOK: "ipynb",
    _F.PDF: "pdf",
    _F.DOCX: "docx docm",
    _F.XLSX: "xlsx xlsm",
    _F.PPTX: "pptx",
    _F.EPUB: "epub",
    _F.RTF: "rtf",
}
_EXTENSIONS = {format: frozenset(words.split()) for format, words in _WORDS.items()}
_OF_EXTENSION: dict[str, DocumentFormat] = {
    **dict.fromkeys(EXTENSIONS, _F.SOURCE_CODE),
    **{extension: format for format, extensions in _EXTENSIONS.items() for extension in extensions},
}
# Names without a telling extension, in lower case, that hold text by custom.
_TEXT_WORDS = """
    readme license licence copying notice authors contributors maintainers changelog changes news history install todo
    version credits thanks codeowners makefile gnumakefile kbuild kconfig dockerfile containerfile procfile
    .gitattributes .gitmodules .mailmap .editorconfig .dockerignore
"""
_TEXT_NAMES = frozenset(_TEXT_WORDS.split())
_BINARY = frozenset((_F.PDF, _F.DOCX, _F.XLSX, _F.PPTX, _F.EPUB, _F.RTF))


def detect(path: str, head: bytes | None) -> DocumentFormat | None:
    """Decide the format of a file; None when it is unknown: by name alone without a head, else because it is binary."""
    name = path.rpartition("/")[2]
    if name in NAMES:  # before the extension: CMakeLists.txt
        return _F.SOURCE_CODE
    stem, _, extension = name.rpartition(".")
    if stem:
        known = _OF_EXTENSION.get(extension.lower())
        if known is not None:
            return known
    if name.lower() in _TEXT_NAMES:
        return _F.TEXT
    if head is None or looks_binary(head):
        return None
    script = head.removeprefix(b"\xef\xbb\xbf").startswith(b"#!")
    return _F.SOURCE_CODE if script and language_of(path, head) in BY_NAME else _F.TEXT


def language_of(path: str, head: bytes | None) -> str:
    """Name the programming language of a file, `source` when nothing tells."""
    text = decode(head[:HEAD_BYTES])[0] if head else ""
    return language_for(path, text) or UNKNOWN


def extensions(format: DocumentFormat) -> frozenset[str]:
    """List the extensions of a format, in lower case and without the dot; AUTO has all of them."""
    if format is _F.AUTO:
        return frozenset(_OF_EXTENSION)
    if format is _F.SOURCE_CODE:
        return frozenset(extension for extension, of in _OF_EXTENSION.items() if of is _F.SOURCE_CODE)
    return _EXTENSIONS[format]


def accepts(format: DocumentFormat, path: str) -> bool:
    """Tell whether a declared format takes a file of this name: AUTO and TEXT take any, others by their extensions."""
    if format in (_F.AUTO, _F.TEXT):
        return True
    name = path.rpartition("/")[2]
    stem, _, extension = name.rpartition(".")
    if stem and _OF_EXTENSION.get(extension.lower()) is format:
        return True
    return format is _F.SOURCE_CODE and name in NAMES


def is_binary_format(format: DocumentFormat) -> bool:
    """Tell whether a format is read by a library from bytes that are no text."""
    return format in _BINARY
