"""Walk one flow of a Word document (body, cell, note, header) and gather its lines in reading order.

May not open packages nor arrange sections. Text boxes come after their paragraph, notes and comments after the
paragraph or table row that cites them; deleted and moved-away text and field codes are left out.
"""

from collections.abc import Iterator
from typing import NamedTuple

from ragcli.extract.office.drawing import Graphics, alternative, description, paragraph_text
from ragcli.extract.office.opc import Element, short

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
# Deleted or moved-away text, field codes, and properties that hold no text of the document.
_UNSEEN = frozenset(
    {
        "w:del", "w:moveFrom", "w:delText", "w:instrText", "w:delInstrText", "w:pPr", "w:rPr", "w:sdtPr", "w:sdtEndPr",
        "w:rubyPr", "w:tblPr", "w:trPr", "w:tcPr",
    }
)  # fmt: skip
_SIGNS = {"w:tab": "\t", "w:ptab": "\t", "w:br": "\n", "w:cr": "\n", "w:noBreakHyphen": "-", "w:t": "", "m:t": ""}
_ASIDES = {"w:footnoteReference": "footnote", "w:endnoteReference": "endnote", "w:commentReference": "comment"}
# A heading is short; longer paragraphs that wear its style are text.
_MAX_HEADING = 250
# A table row whose cells hold several lines is written as one line while a reader still takes it in at a glance.
_MAX_ROW = 400
# Cells with as many short lines each are a table inside a row: line by line they belong together.
_MIN_COLUMN = 3
_MAX_COLUMN_LINE = 80


class Line(NamedTuple):
    """A line of the document; `level` is 0 for a title, 1 to 9 for a heading, None for text."""

    text: str
    level: int | None = None


class _Paragraph:
    """What one paragraph gathers: its text, and what is shown after it."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.boxes: list[Element] = []
        self.extra: list[str] = []


class Story:
    """One flow of text (the body, a cell, a note, a header) on its way to lines."""

    def __init__(
        self,
        graphics: Graphics,
        levels: dict[str, int],
        asides: dict[tuple[str, str], list[str]],
        in_cell: bool = False,
    ) -> None:
        self.lines: list[Line] = []
        self.notes: set[str] = set()
        self._graphics = graphics
        self._levels = levels
        self._asides = asides
        self._in_cell = in_cell
        self._due: list[str] = []
        self._carried = ""

    def read(self, container: Element) -> None:
        """Read the blocks of a container: paragraphs, tables, and whatever wraps them."""
        for child in container:
            name = short(child.tag)
            if name == "w:p":
                self._paragraph(child)
            elif name == "w:tbl":
                self._table(child)
            elif name == "mc:AlternateContent":
                branch = alternative(child)
                if branch is not None:
                    self.read(branch)
            elif name == "w:altChunk":
                self.notes.add("an embedded part (altChunk) was not read")
            elif name not in _UNSEEN:
                self.read(child)

    def finish(self) -> None:
        """Write what is still held back: a carried text, and notes and comments that nothing cites."""
        if self._carried.strip():
            self.lines.append(Line(self._carried))
        for key in sorted(self._asides, key=lambda key: (key[0], len(key[1]), key[1])):
            self._due += self._asides.pop(key)
        self._flush()

    def _paragraph(self, element: Element) -> None:
        found = _Paragraph()
        self._inline(element, found)
        text = self._carried + "".join(found.text)
        self._carried = ""
        properties = element.find(f"{W}pPr")
        if _runs_on(properties):
            self._carried = text
        elif text.strip():
            level = self._level(properties) if len(text) <= _MAX_HEADING else None
            self.lines.append(Line(text.strip("\n"), level))
        for box in found.boxes:
            self.read(box)
        self.lines += [Line(text) for text in found.extra if text.strip()]
        if not self._in_cell:
            self._flush()

    def _flush(self) -> None:
        self.lines += [Line(text) for text in self._due]
        self._due = []

    def _level(self, properties: Element | None) -> int | None:
        if properties is None:
            return None
        outline = outline_level(properties)
        if outline is not None:
            return outline
        style = properties.find(f"{W}pStyle")
        return None if style is None else self._levels.get(style.get(f"{W}val", ""))

    def _inline(self, element: Element, found: _Paragraph) -> None:
        for child in element:
            name = short(child.tag)
            if name in _UNSEEN:
                continue
            if name in _SIGNS:
                found.text.append(_SIGNS[name] or (child.text or "").replace("\n", " "))
            elif name == "mc:AlternateContent":
                branch = alternative(child)
                if branch is not None:
                    self._inline(branch, found)
            elif name == "w:ruby":
                self._ruby(child, found)
            elif name == "w:txbxContent":
                found.boxes.append(child)
            elif name in _ASIDES:
                self._due += self._asides.pop((_ASIDES[name], child.get(f"{W}id", "")), [])
            else:
                self._object(child, name, found)

    def _object(self, element: Element, name: str, found: _Paragraph) -> None:
        """Read what may stand in a run beside text; an unknown wrapper is walked through."""
        if name in ("dgm:relIds", "c:chart", "cx:chart"):
            found.extra += self._graphics.lines(element)
        elif name == "a:p":
            found.extra.append(paragraph_text(element))
        elif name == "v:textpath":
            found.extra.append(element.get("string", ""))
        elif name == "wp:docPr":
            found.extra += description(element)
        elif name == "w:sym":
            found.text.append(_symbol(element))
        else:
            self._inline(element, found)

    def _ruby(self, element: Element, found: _Paragraph) -> None:
        """Write the base text, then its reading in brackets."""
        for child in element.findall(f"{W}rubyBase"):
            self._inline(child, found)
        reading = _Paragraph()
        for child in element.findall(f"{W}rt"):
            self._inline(child, reading)
        if "".join(reading.text).strip():
            found.text += ["(", *reading.text, ")"]

    def _table(self, table: Element) -> None:
        for row in _kin(table, "w:tr"):
            if row.find(f"{W}trPr/{W}del") is not None:
                continue
            cells = []
            for cell in _kin(row, "w:tc"):
                if cell.find(f"{W}tcPr/{W}cellDel") is None:
                    inner = Story(self._graphics, self._levels, self._asides, in_cell=True)
                    inner.read(cell)
                    if inner._carried.strip():
                        inner.lines.append(Line(inner._carried))
                    cells.append([line.text for line in inner.lines])
                    self._due += inner._due
                    self.notes |= inner.notes
            self.lines += [Line(text) for text in _row_lines(cells)]
            if not self._in_cell:
                self._flush()


def _row_lines(cells: list[list[str]]) -> list[str]:
    """Write a row as one line, or as lines of their own where its cells are columns of short lines or long texts."""
    if _are_columns(filled := [lines for lines in cells if lines]):
        return [" | ".join(line) for line in zip(*filled, strict=True)]
    flat = [" ".join(" ".join(lines).split()) for lines in cells]
    while flat and not flat[-1]:
        flat.pop()
    if not flat:
        return []
    if sum(map(len, flat)) <= _MAX_ROW or all(len(lines) <= 1 for lines in cells):
        return [" | ".join(flat)]
    return [line for lines in cells for line in lines]


def _are_columns(filled: list[list[str]]) -> bool:
    if len(filled) < 2 or len(filled[0]) < _MIN_COLUMN or any(len(lines) != len(filled[0]) for lines in filled):
        return False
    return all(len(line) <= _MAX_COLUMN_LINE for lines in filled for line in lines)


def _kin(parent: Element, wanted: str) -> Iterator[Element]:
    """Yield the rows of a table or cells of a row, through content controls and other wrappers."""
    for child in parent:
        name = short(child.tag)
        if name == wanted:
            yield child
        elif name == "mc:AlternateContent":
            branch = alternative(child)
            if branch is not None:
                yield from _kin(branch, wanted)
        elif name not in _UNSEEN:
            yield from _kin(child, wanted)


def _runs_on(properties: Element | None) -> bool:
    """Tell whether the next paragraph goes on in the same line: a drop cap, or a deleted paragraph mark."""
    if properties is None:
        return False
    frame = properties.find(f"{W}framePr")
    if frame is not None and frame.get(f"{W}dropCap", "none") != "none":
        return True
    mark = properties.find(f"{W}rPr")
    return mark is not None and (mark.find(f"{W}del") is not None or mark.find(f"{W}moveFrom") is not None)


def _symbol(element: Element) -> str:
    """Return the character of a w:sym; symbol fonts live in the private area, which says nothing."""
    try:
        code = int(element.get(f"{W}char", ""), 16)
    except ValueError:
        return ""
    return "" if not 0x20 <= code < 0xD800 else chr(code)


def outline_level(properties: Element) -> int | None:
    """Return the level 1 to 9 that paragraph properties claim outright, None for body text."""
    outline = properties.find(f"{W}outlineLvl")
    value = "" if outline is None else outline.get(f"{W}val", "")
    return int(value) + 1 if value in tuple("012345678") else None
