"""XML documents as they stand, cut at elements and labelled with the element path. Resolves no entity, opens nothing.

The text is the file's own, markup included, so that its line numbers are an editor's and attributes can be found;
only letters that are spelt as character references are written out.
"""

import re
from typing import NamedTuple
from xml.parsers import expat

from ragcli.documents import Block, ExtractionContext, NormalizedDocument
from ragcli.errors import FailureCode
from ragcli.extract.charset import decode_xml
from ragcli.extract.decode import looks_binary, normalize
from ragcli.extract.embedded_data import without_embedded
from ragcli.extract.refusal import refused
from ragcli.extract.text import bounded_blocks, fallback_document
from ragcli.extract.web.xml_paths import Cutter
from ragcli.model import DocumentFormat

# A character reference is no entity: the letter is in the file, only spelt so that ASCII can carry it.
_REFERENCE = re.compile(r"&#([0-9]{1,7}|x[0-9a-fA-F]{1,6});")
_BREACH = 43  # XML_ERROR_AMPLIFICATION_LIMIT_BREACH of expat 2.4 and later: a bomb in attribute values
_LEAST_EXPANSION = 1024 * 1024  # entities that make less than this are no bomb, however small the file


class XmlExtractor:
    """Well-formed XML in blocks of about 100 lines under one element path; other text as plain text, and says so."""

    id = "xml"
    version = "2"
    formats = frozenset({DocumentFormat.XML})

    def extract(self, raw: bytes, context: ExtractionContext) -> NormalizedDocument:
        if looks_binary(raw):
            raise refused(context, "not XML: the bytes look like a binary format")
        decoded, encoding = decode_xml(raw)
        text = without_embedded(_REFERENCE.sub(_letter, normalize(decoded)))
        read = _read(text, context)
        if read.bomb:
            times = context.limits.max_inflation
            detail = f"its entities would expand to more than {times} times its size (max_inflation)"
            raise refused(context, detail, FailureCode.LIMIT)
        if not read.well_formed:
            return fallback_document(text, context, encoding, "not-well-formed")
        blocks: list[Block] = []
        for start, end, path in read.spans:
            blocks += bounded_blocks(text, Block(start, end, {"element": path}), context.limits.max_block_chars)
        return NormalizedDocument(text, tuple(blocks), context.format, metadata={"encoding": encoding})


def _letter(reference: re.Match[str]) -> str:
    """Give the letter that a numeric reference stands for; one to an ASCII character may be markup and stays."""
    digits = reference[1]
    code = int(digits[1:], 16) if digits[0] in "xX" else int(digits)
    return chr(code) if 0xA0 < code <= 0x10FFFF and chr(code).isprintable() else reference[0]


class _Read(NamedTuple):
    well_formed: bool
    bomb: bool
    spans: list[tuple[int, int, str]]


class _BombError(Exception):
    """The entities of a document would expand past the cap."""


def _read(text: str, context: ExtractionContext) -> _Read:
    """Parse without expanding anything; give where to cut."""
    cutter = Cutter(text)
    parser = expat.ParserCreate(encoding="utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, _: cutter.start(name, parser.CurrentByteIndex)
    parser.EndElementHandler = lambda _: cutter.end()
    _leave_undeclared(parser)
    if "<!ENTITY" in text:
        _watch_entities(parser, max(_LEAST_EXPANSION, context.limits.max_inflation * len(text)))
    try:
        parser.Parse(text.encode(), True)
    except _BombError:
        return _Read(True, True, [])
    except expat.ExpatError as error:
        return _Read(False, error.code == _BREACH, [])
    return _Read(True, False, cutter.spans())


def _leave_undeclared(parser: expat.XMLParserType) -> None:
    """Let names that no read declaration explains stand as they are; external DTDs and entities are never read."""

    def external(context: str | None, _base: str | None, system_id: str | None, _public_id: str | None) -> int:
        if system_id is None:  # the DTD that UseForeignDTD supposes: an empty one
            parser.ExternalEntityParserCreate(context).Parse(b"", True)
        return 1

    parser.UseForeignDTD(True)
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_UNLESS_STANDALONE)
    parser.ExternalEntityRefHandler = external


def _watch_entities(parser: expat.XMLParserType, cap: int) -> None:
    """Stop a document whose entities, were they expanded, would pass `cap` characters in all."""
    sizes: dict[str, int] = {}
    expanded = 0

    def declare(name: str, is_parameter: int, value: str | None, *_: object) -> None:
        nested = sum(sizes.get(part.partition(";")[0], 0) for part in (value or "").split("&")[1:])
        size = len(value or "") + nested
        if size > cap:
            raise _BombError
        if not is_parameter:
            sizes.setdefault(name, size)

    def other(data: str) -> None:
        nonlocal expanded
        if data.startswith("&") and data.endswith(";"):
            expanded += sizes.get(data[1:-1], 0)
            if expanded > cap:
                raise _BombError

    parser.EntityDeclHandler = declare
    # With a default handler expat reports an internal entity in place of expanding it.
    parser.DefaultHandler = other
