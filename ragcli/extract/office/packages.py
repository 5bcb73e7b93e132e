"""Look through a zip package (OOXML or EPUB) before any parser opens it, and refuse what is broken or hostile.

May not extract text, nor keep more of the package in memory than one buffer.
"""

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Literal
from xml.parsers import expat

from ragcli.config.options import Limits
from ragcli.documents import ExtractionContext
from ragcli.errors import DocumentProcessingError, FailureCode

CONTENT_TYPES = "[content_types].xml"

_BUFFER = 256 * 1024
_OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# Stream names in the directory of an OLE file are UTF-16; the first that is found tells what the file is.
_OLE_STREAMS = (
    ("EncryptedPackage", "it is encrypted with a password; save a copy without one"),
    ("Workbook", "it is an old binary workbook (.xls) under another name; save it as .xlsx"),
    ("WordDocument", "it is an old binary document (.doc) under another name; save it as .docx"),
    ("PowerPoint Document", "it is an old binary presentation (.ppt) under another name; save it as .pptx"),
)
# Rows and shared strings are read as a stream, some parts never; every other part becomes a tree and then lines.
# Measured on paragraphs of one word, with lxml 6.1: 250 bytes a node for the tree, 400 with what is made of it; text
# is held three times.
_TREE_BYTES_A_NODE = 400
_TREE_BYTES_A_BYTE = 3
_STREAMED = re.compile(r"(^|/)(worksheets/|sharedstrings)")
_UNREAD = re.compile(r"(^|/)(pivotcache/|calcchain|customxml/)")
# A streamed part is freed at the end of each row or string: without one, it would be a tree.
STREAM_WINDOW = 16 * 1024 * 1024
_EPUB_XML = (".xhtml", ".html", ".htm", ".opf", ".ncx", ".xml")
_EPUB_CONTENT = (".xhtml", ".html", ".htm")
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, NotImplementedError, ValueError, LookupError, EOFError, OSError, struct.error
)  # fmt: skip

Kind = Literal["ooxml", "epub"]


class PackageRefused(Exception):
    """Why a package is not read; `is_limit` where a cap said no."""

    def __init__(self, reason: str, is_limit: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_limit = is_limit


def refusal(refused: PackageRefused, context: ExtractionContext) -> DocumentProcessingError:
    """Turn a refused package into the document's failure."""
    code = FailureCode.LIMIT if refused.is_limit else FailureCode.EXTRACTION
    return DocumentProcessingError(code, context.source, context.uri, str(context.format), refused.reason)


def scan(raw: bytes, limits: Limits, *, kind: Kind) -> None:
    """Refuse a package that passes a cap, is damaged or encrypted, or has an XML part that is not well-formed.

    Sizes are counted while inflating, never believed. EPUB chapters may be sloppy XHTML and carry a DOCTYPE: there
    only the caps, entity declarations of package files and DRM count.
    """
    archive = open_archive(raw, limits)
    names = part_names(archive, kind)
    if kind == "ooxml" and CONTENT_TYPES not in names:
        raise PackageRefused("the package has no [Content_Types].xml")
    if kind == "epub" and "META-INF/container.xml" not in names:
        raise PackageRefused("the book has no META-INF/container.xml")
    xml = _xml_parts(archive, names, kind)
    _check_sizes(archive, names, xml, limits)
    for name in xml:
        _check_xml(archive, names[name], name, limits, kind)
    if kind == "epub":
        _check_drm(archive, names)


def open_archive(raw: bytes, limits: Limits) -> zipfile.ZipFile:
    """Open a zip whose directory is within the cap on entries; name what the bytes are where they are no zip."""
    if raw.startswith(_OLE_MAGIC):
        raise PackageRefused(_ole_reason(raw))
    if _directory_size(raw) > limits.max_zip_entries:
        raise PackageRefused(f"more than {limits.max_zip_entries} zip entries (max_zip_entries)", is_limit=True)
    try:
        archive = zipfile.ZipFile(io.BytesIO(raw))
    except _DAMAGE:
        damaged = raw.startswith(b"PK")
        raise PackageRefused("the zip package is damaged or cut short" if damaged else "it is no zip package") from None
    if len(archive.infolist()) > limits.max_zip_entries:
        raise PackageRefused(f"more than {limits.max_zip_entries} zip entries (max_zip_entries)", is_limit=True)
    return archive


def part_names(archive: zipfile.ZipFile, kind: Kind) -> dict[str, zipfile.ZipInfo]:
    """Map part names to entries; OOXML names are compared without case, and back-slashes count as slashes."""
    names: dict[str, zipfile.ZipInfo] = {}
    for entry in archive.infolist():
        if entry.filename.endswith("/"):
            continue
        name = entry.filename
        if kind == "ooxml":
            name = name.replace("\\", "/").lstrip("/").lower()
        if name in names:
            raise PackageRefused("the package has two entries of one name")
        if entry.flag_bits & 0x1:
            raise PackageRefused("the zip package is encrypted with a password")
        # bzip2 and lzma cannot be inflated piece by piece with a bound; neither standard allows them.
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise PackageRefused("the zip package uses a compression other than deflate")
        names[name] = entry
    return names


def _ole_reason(raw: bytes) -> str:
    for stream, reason in _OLE_STREAMS:
        if stream.encode("utf-16-le") in raw:
            return reason
    return "it is an OLE file, not a zip package"


def _directory_size(raw: bytes) -> int:
    """Count the entries of the central directory without building them: zipfile needs a second for 100,000."""
    end = raw.rfind(b"PK\x05\x06", max(0, len(raw) - 65_557))
    if end < 0 or end + 16 > len(raw):
        return 0
    size = int.from_bytes(raw[end + 12 : end + 16], "little")
    start = 0 if size > end else end - size
    return raw.count(b"PK\x01\x02", start, end)


def _xml_parts(archive: zipfile.ZipFile, names: dict[str, zipfile.ZipInfo], kind: Kind) -> list[str]:
    if kind == "epub":
        return [name for name in names if name.lower().endswith(_EPUB_XML)]
    declared = _declared_types(_read(archive, names[CONTENT_TYPES]))
    parts = []
    for name in names:
        declared_type = declared.get(name) or declared.get(name.rpartition(".")[2], "")
        if name.endswith((".xml", ".rels")) or declared_type.endswith(("+xml", "/xml")):
            parts.append(name)
    return parts


def _declared_types(content_types: bytes) -> dict[str, str]:
    """Map part names and extensions to the lower-case content type that [Content_Types].xml declares."""
    types: dict[str, str] = {}

    def start(tag: str, attributes: dict[str, str]) -> None:
        key = attributes.get("PartName") or attributes.get("Extension") or ""
        types[key.lstrip("/").lower()] = attributes.get("ContentType", "").lower()

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(content_types, True)
    except (expat.ExpatError, ValueError, LookupError):
        raise PackageRefused("[Content_Types].xml is not well-formed XML") from None
    return types


def _refuse_doctype(*_: object) -> None:
    raise PackageRefused("an XML part has a DOCTYPE, which this format forbids")


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Read a small part whole; the content types of the largest packages stay far below a mebibyte."""
    data = bytearray()
    for piece in _pieces(archive, entry):
        data += piece
        if len(data) > 16 * 1024 * 1024:
            raise PackageRefused("a package file inflates past 16 MiB", is_limit=True)
    return bytes(data)


def _pieces(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    try:
        with archive.open(entry) as stream:
            while piece := stream.read(_BUFFER):
                yield piece
    except _DAMAGE:
        raise PackageRefused("the zip package is damaged: an entry does not inflate to its checksum") from None


def _check_sizes(
    archive: zipfile.ZipFile, names: dict[str, zipfile.ZipInfo], xml: list[str], limits: Limits
) -> None:  # fmt: skip
    """Inflate everything once, in pieces, against the caps on bytes and nodes: fast, so that bombs end early."""
    cap = limits.max_inflation * limits.max_raw_binary
    is_xml = frozenset(xml)
    inflated = nodes = 0
    for name, entry in names.items():
        in_part = held = 0
        before = inflated
        streamed = bool(_STREAMED.search(name))
        try:
            for piece in _pieces(archive, entry):
                inflated += len(piece)
                if inflated > cap:
                    raise PackageRefused(f"inflates past {cap} bytes (max_inflation)", is_limit=True)
                if name in is_xml:
                    held = 0 if b"row" in piece or b"si>" in piece else held + len(piece)
                    if streamed and held > STREAM_WINDOW:
                        raise PackageRefused(f"more than {STREAM_WINDOW} bytes in one row of a sheet", is_limit=True)
                    in_part += piece.count(b"<") - piece.count(b"</")
                    if nodes + in_part > limits.max_xml_nodes:
                        reason = f"more than {limits.max_xml_nodes} XML nodes (max_xml_nodes)"
                        raise PackageRefused(reason, is_limit=True)
        except PackageRefused as refused:
            if name in is_xml or refused.is_limit:
                raise
            # A damaged picture does not cost the text.
        tree = in_part * _TREE_BYTES_A_NODE + (inflated - before) * _TREE_BYTES_A_BYTE
        if tree > limits.extraction_memory and name in is_xml and not (streamed or _UNREAD.search(name)):
            raise PackageRefused("an XML part needs more than the memory cap (extraction_memory)", is_limit=True)
        nodes += in_part


def _check_xml(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str, limits: Limits, kind: Kind) -> None:
    """Walk one part with expat: well-formed, no DTD, not too deep.

    A chapter of a book may be HTML without end tags, which looks deep and is not: its depth counts only where the whole
    of it is well-formed, and what reads HTML has a bound of its own.
    """
    lenient = kind == "epub" and name.lower().endswith(_EPUB_CONTENT)
    too_deep = PackageRefused(f"XML nested deeper than {limits.max_xml_depth} (max_xml_depth)", is_limit=True)
    parser = expat.ParserCreate() if kind == "epub" else expat.ParserCreate(namespace_separator=" ")
    depth = deepest = 0

    def start(_name: str, _attributes: list[str]) -> None:
        nonlocal depth, deepest
        depth += 1
        if depth > deepest:
            deepest = depth
            if depth > limits.max_xml_depth and not lenient:
                raise too_deep

    def end(_name: str) -> None:
        nonlocal depth
        depth -= 1

    parser.ordered_attributes = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    if kind == "ooxml":
        parser.StartDoctypeDeclHandler = _refuse_doctype
    elif not lenient:
        parser.EntityDeclHandler = _refuse_entity
    try:
        for piece in _pieces(archive, entry):
            parser.Parse(piece, False)
        parser.Parse(b"", True)
    except (expat.ExpatError, ValueError, LookupError):
        if not lenient:
            raise PackageRefused(f"{_shown(name)} is not well-formed XML") from None
        return
    if deepest > limits.max_xml_depth:
        raise too_deep


def _refuse_entity(*_: object) -> None:
    raise PackageRefused("a package file declares XML entities")


def _shown(name: str) -> str:
    """A part name that is safe in a one-line message."""
    return "".join(c if c.isprintable() else "?" for c in name[:80])


def _check_drm(archive: zipfile.ZipFile, names: dict[str, zipfile.ZipInfo]) -> None:
    """Refuse a book whose chapters are encrypted; obfuscated fonts are common and harmless."""
    entry = names.get("META-INF/encryption.xml")
    if entry is not None and b"xmlenc#aes" in _read(archive, entry):
        raise PackageRefused("the book is encrypted (DRM)")
