"""Read PowerPoint presentations slide by slide, in the order of the show: title, shapes, notes, comments.

May not follow links or read embedded files. Hidden slides are read and counted like others; slide numbers, dates and
the texts of layouts are left out, because every slide repeats them.
"""

from collections.abc import Iterator
from typing import Any

from pptx.oxml import element_class_lookup

from ragcli.documents import ExtractionContext, NormalizedDocument
from ragcli.extract.builder import Piece, assemble
from ragcli.extract.office.drawing import Graphics, alternative, paragraphs
from ragcli.extract.office.opc import Element, Package, local, relation_id, short
from ragcli.extract.office.packages import PackageRefused, refusal
from ragcli.model import DocumentFormat, Metadata

_TITLES = frozenset({"title", "ctrTitle"})
_REPEATED = frozenset({"sldNum", "dt"})
_REPEATED_IN_NOTES = _REPEATED | {"hdr", "ftr", "sldImg"}
# Stands beside each chunk of the slide.
_MAX_HEADING = 120


class PptxExtractor:
    """Presentations by slide."""

    id = "pptx"
    version = "1"
    formats = frozenset({DocumentFormat.PPTX})

    def extract(self, raw: bytes, context: ExtractionContext) -> NormalizedDocument:
        """Read one presentation; raise DocumentProcessingError where the package is refused."""
        try:
            return _read(Package(raw, context.limits), context)
        except PackageRefused as refused:
            failure = refusal(refused, context)
        raise failure


def _read(package: Package, context: ExtractionContext) -> NormalizedDocument:
    main = package.main("ppt/presentation.xml")
    presentation = package.root(main)
    if local(presentation.tag) != "presentation":
        raise PackageRefused("it holds no presentation")
    relations = package.by_id(main)
    pieces: list[Piece] = []
    notes: list[str] = []
    seen: set[str] = set()
    listed = [element for element in presentation.iter() if short(element.tag) == "p:sldId"]
    for number, element in enumerate(listed, 1):
        relation = relations.get(relation_id(element))
        if relation is None or relation.target not in package:
            notes.append(f"slide {number} is missing")
        elif relation.target not in seen:
            seen.add(relation.target)
            pieces.append(_slide(package, relation.target, number))
    return assemble(pieces, DocumentFormat.PPTX, context.limits.max_block_chars, title=package.title(), notes=notes)


def _slide(package: Package, part: str, number: int) -> Piece:
    graphics = Graphics(package, part)
    titles: list[str] = []
    rest: list[str] = []
    for shape in _shapes(package.root(part, element_class_lookup)):
        kind = _placeholder(shape)
        if kind not in _REPEATED:
            (titles if kind in _TITLES else rest).extend(graphics.lines(shape))
    metadata: Metadata = {"slide": number}
    heading = " ".join(" ".join(titles).split())[:_MAX_HEADING]
    if heading:
        metadata = {**metadata, "heading": heading}
    return Piece([*titles, *rest, *_notes(package, part), *_comments(package, part)], metadata)


def _shapes(slide: Element) -> Iterator[Element]:
    """Yield the shapes of a slide or notes page, back to front, which is also how a screen reader reads them."""
    for element in slide.iter():
        if short(element.tag) == "p:spTree":
            yield from _chosen(element)
            return


def _chosen(tree: Element) -> Iterator[Element]:
    for child in tree:
        if short(child.tag) == "mc:AlternateContent":
            branch = alternative(child)
            if branch is not None:
                yield from _chosen(branch)
        else:
            yield child


def _placeholder(shape: Any) -> str:
    """Return the type of a placeholder ('body' where it says none), '' for other shapes."""
    placeholder = getattr(shape, "ph", None)
    return "" if placeholder is None else str(placeholder.get("type", "body"))


def _notes(package: Package, slide: str) -> list[str]:
    lines: list[str] = []
    for part in package.related(slide, "notesSlide"):
        graphics = Graphics(package, part)
        for shape in _shapes(package.root(part, element_class_lookup)):
            if _placeholder(shape) not in _REPEATED_IN_NOTES:
                lines += [line for line in graphics.lines(shape) if line.strip()]
    return [f"[notes] {lines[0]}", *lines[1:]] if lines else []


def _comments(package: Package, slide: str) -> list[str]:
    """List the comments on a slide, in the old form (p:text) and the threaded one (paragraphs)."""
    lines: list[str] = []
    for part in package.related(slide, "comments"):
        root = package.root(part)
        texts = [element.text or "" for element in root.iter() if short(element.tag) == "p:text"]
        lines += [f"[comment] {' '.join(text.split())}" for text in texts or paragraphs(root) if text.strip()]
    return lines
