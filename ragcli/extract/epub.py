"""EPUB books as text: the chapters in the order of the spine, in sections under their headings.

Opens no link out of the package and runs no script. The package is looked through for bombs before a part is read.
"""

import posixpath
import unicodedata
import zipfile
from typing import NamedTuple
from urllib.parse import unquote
from xml.parsers import expat

from ragcli.errors import FailureCode
from ragcli.extract.charset import decode_html
from ragcli.extract.decode import normalize
from ragcli.extract.failure import refused
from ragcli.extract.html import section_blocks
from ragcli.extract.html_text import Rendered, render
from ragcli.extract.packages import PackageRefused, open_archive, part_names, refusal, scan
from ragcli.model import Block, DocumentFormat, ExtractionContext, NormalizedDocument, Scalar

_CONTAINER = "META-INF/container.xml"
_PAGES = (".xhtml", ".html", ".htm", ".xml", ".svg")
_MAX_TITLE = 200
_NAMED = 3  # missing parts that a note names; it counts the rest


class _Book(NamedTuple):
    """A package document: its title, the spine as part names, and how the spine came to be."""

    title: str
    spine: list[str]
    notes: list[str]


class EpubExtractor:
    """A book: each spine item once, where it first stands."""

    id = "epub"
    version = "1"
    formats = frozenset({DocumentFormat.EPUB})

    def extract(self, raw: bytes, context: ExtractionContext) -> NormalizedDocument:
        try:
            scan(raw, context.limits, kind="epub")
            archive = open_archive(raw, context.limits)
            parts = part_names(archive, "epub")
        except PackageRefused as reason:
            raise refusal(reason, context) from None
        with archive:
            book = _package(archive, parts, context)
            return _document(archive, parts, book, context)


def _document(
    archive: zipfile.ZipFile, parts: dict[str, zipfile.ZipInfo], book: _Book, context: ExtractionContext
) -> NormalizedDocument:  # fmt: skip
    pieces: list[str] = []
    blocks: list[Block] = []
    missing: list[str] = []
    at = 0
    for name in dict.fromkeys(book.spine):
        if name not in parts:
            missing.append(name)
            continue
        if not name.lower().endswith(_PAGES):
            continue
        page = render(normalize(decode_html(archive.read(parts[name]))[0]), xml=True)
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
    return (first.partition(" > ")[0] or page.title or posixpath.basename(name).rpartition(".")[0])[:_MAX_TITLE]


def _package(archive: zipfile.ZipFile, parts: dict[str, zipfile.ZipInfo], context: ExtractionContext) -> _Book:
    """Read the package document that the container names first."""
    folded = {_folded(part): part for part in sorted(parts, reverse=True)}
    roots = [found.get("full-path", "") for tag, found, _ in _elements(archive, parts[_CONTAINER]) if tag == "rootfile"]
    root = next((name for root in roots if (name := _part(parts, folded, "", root)) in parts), None)
    if root is None:
        raise refused(context, "the book's container names no package document that is there")
    base = posixpath.dirname(root)
    title, order = "", []
    hrefs: dict[str, str] = {}
    pages: list[str] = []
    for tag, found, words in _elements(archive, parts[root]):
        if tag == "title" and not title:
            title = words[:_MAX_TITLE]
        elif tag == "item" and "id" in found and "href" in found:
            hrefs[found["id"]] = _part(parts, folded, base, found["href"])
            if "html" in found.get("media-type", "") and "nav" not in found.get("properties", "").split():
                pages.append(hrefs[found["id"]])
        elif tag == "itemref" and "idref" in found:
            order.append(found["idref"])
    unknown = sum(id not in hrefs for id in order)
    notes = [f"{unknown} spine items are not in the manifest"] if unknown else []
    spine = [hrefs[id] for id in order if id in hrefs]
    if not any(name in parts for name in spine) and pages:
        return _Book(title, pages, [*notes, "the spine names no chapter: chapters in the order of the manifest"])
    return _Book(title, spine, notes)


def _part(parts: dict[str, zipfile.ZipInfo], folded: dict[str, str], base: str, href: str) -> str:
    """Give the name of the part that an href means: percent-escapes resolved, else as written, else without case."""
    path = href.partition("#")[0]
    names = [posixpath.normpath(posixpath.join(base, form)).lstrip("/") for form in (unquote(path), path)]
    for name in names:
        if name in parts:
            return name
    return folded.get(_folded(names[0]), names[0])


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _elements(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> list[tuple[str, dict[str, str], str]]:
    """List a package file's elements: local name, attributes by local name, own text. The scan found it well-formed."""
    found: list[tuple[str, dict[str, str], list[str]]] = []
    open_: list[int] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        open_.append(len(found))
        found.append((_local(name), {_local(key): value for key, value in attributes.items()}, []))

    def text(data: str) -> None:
        if open_:
            found[open_[-1]][2].append(data)

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: open_.pop()
    parser.CharacterDataHandler = text
    parser.Parse(archive.read(entry), True)
    return [(name, attributes, " ".join("".join(words).split())) for name, attributes, words in found]


def _local(name: str) -> str:
    return name.rpartition(":")[2]
