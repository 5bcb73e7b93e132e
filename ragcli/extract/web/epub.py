"""EPUB books as text: the chapters in the order of the spine, in sections under their headings.

ebooklib reads the package, its manifest and its spine; pages are read one at a time, where ebooklib would hold the
whole book with its pictures. Opens no link out of the package and runs no script. The package is looked through for
bombs before a part is read.
"""

import io
import posixpath
import unicodedata
import zipfile
from typing import NamedTuple
from urllib.parse import quote, unquote
from xml.sax.saxutils import quoteattr

from ebooklib import epub
from lxml import etree

from ragcli.documents import Block, ExtractionContext, NormalizedDocument
from ragcli.errors import FailureCode
from ragcli.extract.charset import decode_html
from ragcli.extract.decode import normalize
from ragcli.extract.heading_path import SEPARATOR
from ragcli.extract.office.packages import PackageRefused, open_archive, part_names, refusal, scan
from ragcli.extract.refusal import refused
from ragcli.extract.web.html import section_blocks
from ragcli.extract.web.html_text import MAX_TREE_TAGS, Rendered, render
from ragcli.model import DocumentFormat, Scalar

_CONTAINER = "META-INF/container.xml"
_PAGES = (".xhtml", ".html", ".htm", ".xml", ".svg")
_MAX_TITLE = 200
_NAMED = 3  # missing parts that a note names; it counts the rest
_OPF, _DC, _ANY_DC = "http://www.idpf.org/2007/opf", epub.NAMESPACES["DC"], "http://purl.org/dc/"
# Stands for each part while ebooklib reads the package: an empty table of contents is all it must find in one.
_UNREAD = b'<html><nav class="toc"><ol/></nav></html>'


class _Book(NamedTuple):
    """A package document: its title, the spine as part names, and how the spine came to be."""

    title: str
    spine: list[str]
    notes: list[str]


class EpubExtractor:
    """A book: each spine item once, where it first stands."""

    id = "epub"
    version = "2"
    formats = frozenset({DocumentFormat.EPUB})

    def extract(self, raw: bytes, context: ExtractionContext) -> NormalizedDocument:
        try:
            scan(raw, context.limits, kind="epub")
            archive = open_archive(raw, context.limits)
            parts = part_names(archive, "epub")
        except PackageRefused as reason:
            raise refusal(reason, context) from None
        with archive:
            book = _package(raw, archive, parts, context)
            return _document(archive, parts, book, context)


def _document(
    archive: zipfile.ZipFile, parts: dict[str, zipfile.ZipInfo], book: _Book, context: ExtractionContext
) -> NormalizedDocument:  # fmt: skip
    pieces: list[str] = []
    blocks: list[Block] = []
    missing: list[str] = []
    at = tags = 0
    for name in dict.fromkeys(book.spine):
        if name not in parts:
            missing.append(name)
            continue
        if not name.lower().endswith(_PAGES):
            continue
        source = normalize(decode_html(archive.read(parts[name]))[0])
        tags += source.count("<")  # the time for trees is the book's, not each page's
        page = render(source, xml=True, max_tree_tags=MAX_TREE_TAGS if tags <= MAX_TREE_TAGS else 0)
        if not page.text.strip():
            continue
        text = page.text.rstrip("\n") + "\n\n"
        at += len(text)
        if at > context.limits.max_text:
            detail = f"more than {context.limits.max_text} characters of text (max_text)"
            raise refused(context, detail, FailureCode.LIMIT)
        pieces.append(text)
        shown = {"chapter": _chapter(page, name)}
        blocks += _placed(section_blocks(text, 0, page.marks, shown, context.limits.max_block_chars), at - len(text))
    notes = (*book.notes, *_missing_note(missing))
    metadata: dict[str, Scalar] = {"title": book.title} if book.title else {}
    return NormalizedDocument("".join(pieces), tuple(blocks), context.format, metadata=metadata, notes=notes)


def _placed(blocks: list[Block], base: int) -> list[Block]:
    """Put a chapter's blocks where it stands in the book; chapters stay apart though they share a title."""
    return [block._replace(start=base + block.start, end=base + block.end, mergeable=False) for block in blocks]


def _missing_note(missing: list[str]) -> list[str]:
    if not missing:
        return []
    shown = ["".join(c if c.isprintable() else "?" for c in name[:80]) for name in missing[:_NAMED]]
    named = ", ".join(shown) + (", ..." if len(missing) > _NAMED else "")
    return [f"{len(missing)} spine items are missing from the package: {named}"]


def _chapter(page: Rendered, name: str) -> str:
    """Name a chapter by its first heading, its title, or its file."""
    first = next((heading for _, heading in page.marks if heading), "")
    return (first.partition(SEPARATOR)[0] or page.title or posixpath.basename(name).rpartition(".")[0])[:_MAX_TITLE]


def _package(
    raw: bytes, archive: zipfile.ZipFile, parts: dict[str, zipfile.ZipInfo], context: ExtractionContext
) -> _Book:  # fmt: skip
    """Read the package document that the container names first."""
    folded = {_folded(part): part for part in sorted(parts, reverse=True)}
    container = _xml(archive.read(parts[_CONTAINER]))
    roots = [unquote(found.get("full-path", "")) for found in container.iter("{*}rootfile")]
    root = next((name for root in roots if (name := _part(parts, folded, "", root)) in parts), None)
    if root is None:
        raise refused(context, "the book's container names no package document that is there")
    package = _Reader(raw, root, _completed(_xml(archive.read(parts[root])))).load()
    hrefs: dict[str, str] = {}
    pages: list[str] = []
    for item in package.get_items():
        name = _part(parts, folded, posixpath.dirname(root), item.file_name)
        hrefs.setdefault(item.id, name)
        if "html" in (item.media_type or "") and not isinstance(item, epub.EpubNav):
            pages.append(name)
    title = " ".join((package.title or "").split())[:_MAX_TITLE]
    order = [id for id, _ in package.spine if id is not None]
    unknown = sum(id not in hrefs for id in order)
    notes = [f"{unknown} spine items are not in the manifest"] if unknown else []
    spine = [hrefs[id] for id in order if id in hrefs]
    if not any(name in parts for name in spine) and pages:
        return _Book(title, pages, [*notes, "the spine names no chapter: chapters in the order of the manifest"])
    return _Book(title, spine, notes)


class _Reader(epub.EpubReader):  # type: ignore[misc]  # ebooklib has no types
    """ebooklib's reader, given the package document and no other part.

    Else a missing item or an odd list of contents would fail the book, and of two packages the last would count.
    """

    def __init__(self, raw: bytes, name: str, package: bytes) -> None:
        super().__init__(io.BytesIO(raw), {"ignore_ncx": True})
        self._given = (name, package)

    def read_file(self, name: str) -> bytes:
        root, package = self._given
        if name == _CONTAINER:
            kind = 'media-type="application/oebps-package+xml"'
            return f"<c xmlns={_quoted('CONTAINERNS')}><rootfile {kind} full-path={quoteattr(root)}/></c>".encode()
        return package if name == root else _UNREAD


def _quoted(namespace: str) -> str:
    return quoteattr(epub.NAMESPACES[namespace])


def _xml(data: bytes) -> etree._Element:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
    return etree.fromstring(data, parser)


def _completed(package: etree._Element) -> bytes:
    """Add what ebooklib takes for granted and other readers do not: namespaces, the three sections, a title, hrefs."""
    for element in package.iter(etree.Element):
        name = etree.QName(element)
        dublin = (name.namespace or "").startswith(_ANY_DC) or name.localname == "title"
        element.tag = f"{{{_DC}}}{name.localname.lower()}" if dublin else f"{{{_OPF}}}{name.localname}"
    sections = [package.find(f"{{{_OPF}}}{name}") for name in ("metadata", "manifest", "spine")]
    metadata, manifest, spine = (
        etree.SubElement(package, f"{{{_OPF}}}{name}") if found is None else found
        for name, found in zip(("metadata", "manifest", "spine"), sections, strict=True)
    )
    title = next(package.iter(f"{{{_DC}}}title"), None)
    etree.SubElement(metadata, f"{{{_DC}}}title").text = "" if title is None else title.text  # the first counts
    spine.attrib.pop("toc", None)
    for item in list(manifest):
        if not (item.get("id") and item.get("href")):
            manifest.remove(item)
        elif "nav" not in item.get("properties", "").split():
            item.attrib.pop("properties", None)  # a page that says it is the cover would lose its own name
    completed: bytes = etree.tostring(package)
    return completed


def _part(parts: dict[str, zipfile.ZipInfo], folded: dict[str, str], base: str, path: str) -> str:
    """Give the name of the part that an unquoted href means: without its fragment, as it was written, or without case.

    A `#` may also belong to the name, and an archive may hold names that are still quoted.
    """
    bare = path.partition("#")[0]
    names = [posixpath.normpath(posixpath.join(base, form)).lstrip("/") for form in (bare, quote(bare), path)]
    for name in names:
        if name in parts:
            return name
    return folded.get(_folded(names[0]), names[0])


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
