"""Read Word documents (docx, docm) as the reader sees them once all changes are accepted, with the heading path.

May not follow links, run macros or read embedded files. The words stand in reading order: text boxes, notes and
comments after the paragraph or table row that holds or cites them, headers and footers at the end, once each.
"""

import re
from collections.abc import Iterator

from docx.oxml.parser import element_class_lookup

from ragcli.documents import ExtractionContext, NormalizedDocument
from ragcli.extract.builder import BLOCK_BYTES, Piece, assemble, split_lines
from ragcli.extract.heading_path import SEPARATOR, HeadingPath, under
from ragcli.extract.office.docx_story import Line, Story, W, outline_level
from ragcli.extract.office.drawing import Graphics
from ragcli.extract.office.opc import Element, Package, relation_id, short
from ragcli.extract.office.packages import PackageRefused, refusal
from ragcli.model import DocumentFormat, Metadata

# Paths stand beside each chunk: a part of one is cut here, so that hostile headings cannot swell an index.
_MAX_HEADING = 120

# Styles are based on styles a few levels deep; a ring or an endless chain ends here.
_MAX_STYLE_DEPTH = 32


class DocxExtractor:
    """Word documents by heading path."""

    id = "docx"
    version = "1"
    formats = frozenset({DocumentFormat.DOCX})

    def extract(self, raw: bytes, context: ExtractionContext) -> NormalizedDocument:
        """Read one document; raise DocumentProcessingError where the package is refused."""
        try:
            return _read(Package(raw, context.limits), context)
        except PackageRefused as refused:
            failure = refusal(refused, context)
        raise failure


def _read(package: Package, context: ExtractionContext) -> NormalizedDocument:
    main = package.main("word/document.xml")
    document = package.root(main)
    if short(document.tag) != "w:document":
        raise PackageRefused("it holds no Word document")
    if sum(relation.kind == "glossaryDocument" for relation in package.relations(main)) > 1:
        raise PackageRefused("the document names its glossary more than once")
    levels = _heading_levels(package, main)
    asides = _asides(package, main, levels)
    story = Story(Graphics(package, main), levels, asides)
    for body in document:
        story.read(body)
    story.finish()
    pieces = [*_sections(story.lines), *_margins(package, main, document)]
    return assemble(
        pieces, DocumentFormat.DOCX, context.limits.max_block_chars, title=package.title(), notes=sorted(story.notes)
    )


def _heading_levels(package: Package, main: str) -> dict[str, int]:
    """Map the ids of heading styles to their levels, also of styles that are based on them."""
    names: dict[str, str] = {}
    bases: dict[str, str] = {}
    own: dict[str, int] = {}
    for part in package.related(main, "styles"):
        for style in package.root(part, element_class_lookup).iterfind(f"{W}style"):
            identifier = style.styleId or ""
            names[identifier] = _value(style.name).lower()
            bases[identifier] = _value(style.basedOn)
            level = _level_of_name(names[identifier])
            if level is None and style.pPr is not None:
                level = outline_level(style.pPr)
            if level is not None:
                own[identifier] = level
    return {style: level for style in names if (level := _inherited(style, own, bases)) is not None}


def _value(element: Element | None) -> str:
    """Return w:val; the library's own accessor refuses the document where it is missing."""
    return "" if element is None else str(element.get(f"{W}val", ""))


def _inherited(style: str, own: dict[str, int], bases: dict[str, str]) -> int | None:
    for _ in range(_MAX_STYLE_DEPTH):
        if style in own:
            return own[style]
        style = bases.get(style, "")
    return None


def _level_of_name(name: str) -> int | None:
    if name == "title":
        return 0
    match = re.fullmatch(r"heading ([1-9])", name)
    return int(match[1]) if match else None


def _asides(package: Package, main: str, levels: dict[str, int]) -> dict[tuple[str, str], list[str]]:
    """Read footnotes, endnotes and comments, by kind and id; the separator lines of notes are left out."""
    found: dict[tuple[str, str], list[str]] = {}
    for kind in ("footnote", "endnote", "comment"):
        for part in package.related(main, f"{kind}s"):
            graphics = Graphics(package, part)
            for note in package.root(part).iterfind(f"{W}{kind}"):
                if note.get(f"{W}type", "normal") != "normal":
                    continue
                story = Story(graphics, levels, {})
                story.read(note)
                story.finish()
                author = " ".join(note.get(f"{W}author", "").split())
                label = f"[{kind}: {author}]" if author else f"[{kind}]"
                lines = [line.text.strip() for line in story.lines]
                if lines:
                    found[kind, note.get(f"{W}id", "")] = [f"{label} {lines[0]}", *lines[1:]]
    return found


def _margins(package: Package, main: str, document: Element) -> Iterator[Piece]:
    """Yield one piece with the text of all headers, then all footers, that some section shows; each line once."""
    relations = package.by_id(main)
    parts: dict[str, None] = {}
    for kind in ("headerReference", "footerReference"):
        for element in document.iter(f"{W}{kind}"):
            relation = relations.get(relation_id(element))
            if relation is not None and relation.target in package:
                parts[relation.target] = None
    seen: dict[str, None] = {}
    for part in parts:
        story = Story(Graphics(package, part), {}, {})
        story.read(package.root(part))
        story.finish()
        seen.update(dict.fromkeys(line.text for line in story.lines))
    if seen:
        yield Piece(list(seen), {})


def _sections(lines: list[Line]) -> Iterator[Piece]:
    """Yield the lines under each heading, the heading first, in pieces that fit a chunk."""
    path: HeadingPath = ()
    section: list[str] = []
    for line in lines:
        if line.level is not None:
            yield from _pieces(section, path)
            heading = " ".join(line.text.split())[:_MAX_HEADING]
            path = under(path, line.level, heading)
            section = []
        section.append(line.text)
    yield from _pieces(section, path)


def _pieces(section: list[str], path: HeadingPath) -> Iterator[Piece]:
    metadata: Metadata = {"heading": SEPARATOR.join(text for _, text in path)} if path else {}
    for lines in split_lines(section, BLOCK_BYTES):
        yield Piece(lines, metadata)
