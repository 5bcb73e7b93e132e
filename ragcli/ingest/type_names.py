"""What people call a language or a format: names, usual aliases and extensions, to what an index says of its files.

Pure. Knows the tables of languages and formats, and no index.
"""

from collections.abc import Iterable

from ragcli.extract.source.languages import EXTENSIONS, language_named
from ragcli.ingest.formats import extensions
from ragcli.model import DocumentFormat

# ripgrep's names that are no extension, no language of the table, and no alias there.
_ALSO = {
    "make": ".mk", "docker": ".dockerfile", "protobuf": "protobuf", "objcpp": "objectivec", "node": "javascript",
    "shellscript": "shell", "viml": "vim", "vimscript": "vim", "asciidoc": ".adoc", "jupyter": "notebook",
    "tf": "hcl", "ruby": "ruby", "posix": "shell", "word": "docx", "excel": "xlsx", "powerpoint": "pptx",
}  # fmt: skip
# Extensions that several languages share: asked for by extension, they are files of that extension.
_SHARED = frozenset(("h", "m", "v", "pl", "pp", "inc", "cls"))
_FORMAT_WORDS = {"code": DocumentFormat.SOURCE_CODE, "source": DocumentFormat.SOURCE_CODE}
_PROSE = tuple(f for f in DocumentFormat if f not in (DocumentFormat.AUTO, DocumentFormat.SOURCE_CODE))


def type_named(value: str, present: Iterable[str]) -> str:
    """What `-t VALUE` means: a language or a format in lower case, an extension as `.rst`, or '' where it is unknown.

    `present` are the languages of the index; a name of one of them is always that.
    """
    key = value.strip().lower().removeprefix(".")
    if key in {language.lower() for language in present}:
        return key
    key = _ALSO.get(key, key)
    if key.startswith("."):
        return key
    if key in _SHARED:
        return f".{key}"
    if named := language_named(key):
        return named
    if format := format_named(key):
        return format.lower() if format != DocumentFormat.TEXT or key == "text" else f".{key}"
    return EXTENSIONS.get(key, "")


def format_named(value: str) -> str:
    """The name of a format by its name or an extension of it; '' where there is none. Source code has no extension."""
    key = value.strip().lower().removeprefix(".").replace("-", "_")
    if key in _FORMAT_WORDS:
        return _FORMAT_WORDS[key].value
    for format in (*_PROSE, DocumentFormat.SOURCE_CODE):
        if key == format.value.lower():
            return format.value
    return next((format.value for format in _PROSE if key in extensions(format)), "")


def type_names() -> list[str]:
    """All names of languages and formats, for a suggestion."""
    from ragcli.extract.source.languages import ALIASES, BY_NAME

    return sorted({*BY_NAME, *ALIASES, *_ALSO, *(format.lower() for format in _PROSE)})


def format_names() -> list[str]:
    """The names of formats, as `--format` shows them."""
    return [format.value for format in (*_PROSE, DocumentFormat.SOURCE_CODE)]
