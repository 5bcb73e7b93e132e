"""YAML and TOML: the file's own text, cut before top-level keys and tables. Parses no value and resolves no alias.

Provenance is lines, so nothing here needs a parser: a file that is not valid is read as well as one that is, an alias
bomb is a few short lines, and no tag makes an object.
"""

import re

from ragcli.documents import Block, ExtractionContext, NormalizedDocument
from ragcli.extract.decode import read_text
from ragcli.extract.text import bounded_blocks
from ragcli.model import DocumentFormat

# A comment right above a key belongs to it, so the cut is before the comment.
_COMMENTS = r"^(?:#[^\n]*\n)*+"
_YAML_TOP = re.compile(
    rf"{_COMMENTS}(?:---(?=[ \t\n]|$)|[^\s#\-\[\]{{}}%][^\n]*?:(?=[ \t\n]|$)|-(?=[ \t]))", re.MULTILINE
)
_TOML_TABLE = re.compile(rf"{_COMMENTS}[ \t]*\[", re.MULTILINE)
_TOML_KEY = re.compile(rf"{_COMMENTS}[A-Za-z0-9_\"'][^\n=]*=", re.MULTILINE)


class YamlExtractor:
    """A YAML stream by its documents, top-level keys and items."""

    id = "yaml"
    version = "2"
    formats = frozenset({DocumentFormat.YAML})

    def extract(self, raw: bytes, context: ExtractionContext) -> NormalizedDocument:
        return _cut_at(raw, context, _YAML_TOP)


class TomlExtractor:
    """A TOML file by its tables; one without tables by its keys."""

    id = "toml"
    version = "2"
    formats = frozenset({DocumentFormat.TOML})

    def extract(self, raw: bytes, context: ExtractionContext) -> NormalizedDocument:
        return _cut_at(raw, context, _TOML_TABLE, _TOML_KEY)


def _cut_at(raw: bytes, context: ExtractionContext, *starts: re.Pattern[str]) -> NormalizedDocument:
    text, encoding = read_text(raw, context)
    cuts: tuple[int, ...] = ()
    for start in starts:
        cuts = cuts or tuple(match.start() for match in start.finditer(text) if match.start())
    blocks = tuple(bounded_blocks(text, Block(0, len(text), {}, True, cuts), context.limits.max_block_chars))
    return NormalizedDocument(text, blocks, context.format, metadata={"encoding": encoding})
