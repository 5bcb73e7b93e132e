"""Read text out of DrawingML: paragraphs, tables, diagrams (SmartArt) and charts, as all three office formats hold it.

May not open packages nor know of slides, sheets or pages.
"""

import re
from collections.abc import Iterator

from ragcli.extract.office.opc import Element, Package, qualified, relation_id, short

_ONE_WORD = re.compile(r"[!-~]+|.*\.(?:png|jpe?g|gif|wmf|emf|svg|bmp|tiff?)", re.IGNORECASE)
# What makes one branch of an mc:AlternateContent worth more than another: text, or else a described picture.
_TEXTUAL = tuple(
    qualified(name)
    for name in (
        "w:t", "w:sym", "w:footnoteReference", "w:endnoteReference", "w:commentReference", "a:t", "m:t", "v:textpath",
        "dgm:relIds", "c:chart", "cx:chart",
    )
)  # fmt: skip
_DESCRIBED = tuple(qualified(name) for name in ("wp:docPr", "p:cNvPr", "xdr:cNvPr"))


def alternative(element: Element) -> Element | None:
    """Choose one branch of an mc:AlternateContent, the first that holds text: the branches say the same thing.

    None where nothing is to be read in any, so that nested alternatives are not searched again and again.
    """
    branches = [child for child in element if short(child.tag) in ("mc:Choice", "mc:Fallback")]
    for wanted in (_TEXTUAL, _DESCRIBED):
        for branch in branches:
            if next(branch.iter(*wanted), None) is not None:
                return branch
    return None


def paragraphs(container: Element) -> list[str]:
    """List the texts of all paragraphs (a:p) below an element, in document order."""
    texts = []
    for element in container.iter():
        if short(element.tag) == "a:p":
            text = paragraph_text(element)
            if text.strip():
                texts.append(text)
    return texts


def paragraph_text(paragraph: Element) -> str:
    """Join the runs, fields, breaks and formulas of one a:p."""
    pieces = []
    for element in paragraph.iter():
        name = short(element.tag)
        if name in ("a:t", "m:t"):
            pieces.append((element.text or "").replace("\n", " "))
        elif name == "a:br":
            pieces.append("\n")
    text = "".join(pieces)
    letters = text.split("\n")
    # Upright writing is often made with a line break after each letter; the reader still sees a word.
    stacked = len(letters) > 2 and all(len(letter) == 1 for letter in letters)
    return "".join(letters) if stacked else text


def table_rows(table: Element) -> list[str]:
    """List the rows of an a:tbl, cells joined by bars."""
    rows = []
    for row in table:
        if short(row.tag) != "a:tr":
            continue
        cells = [" ".join(" ".join(paragraphs(cell)).split()) for cell in row if short(cell.tag) == "a:tc"]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            rows.append(" | ".join(cells))
    return rows


def description(properties: Element) -> list[str]:
    """Return what the author says a picture shows, as one labelled line; file names and codes say nothing."""
    text = " ".join(properties.get("descr", "").split())
    return [f"[picture] {text}"] if text and not _ONE_WORD.fullmatch(text) else []


class Graphics:
    """Reads the shapes of one part; each diagram or chart it points at is read once, however often it is shown."""

    def __init__(self, package: Package, part: str, *, chart_values: bool = True) -> None:
        self._package = package
        self._targets = package.by_id(part)
        self._chart_values = chart_values
        self._seen: set[str] = set()

    def lines(self, element: Element) -> list[str]:
        """List the lines of an element: paragraphs, table rows, diagrams and charts, in document order."""
        name = short(element.tag)
        if name == "a:p":
            return [paragraph_text(element)]
        if name == "a:tbl":
            return table_rows(element)
        if name == "dgm:relIds":
            return self._linked(relation_id(element, "dm"))
        if name in ("c:chart", "cx:chart"):
            return self._linked(relation_id(element))
        if name in ("p:cNvPr", "xdr:cNvPr"):
            return description(element)
        if name == "mc:AlternateContent":
            branch = alternative(element)
            return [] if branch is None else self.lines(branch)
        return [line for child in element for line in self.lines(child) if line.strip()]

    def _linked(self, identifier: str) -> list[str]:
        relation = self._targets.get(identifier)
        if relation is None or relation.target not in self._package or relation.target in self._seen:
            return []
        self._seen.add(relation.target)
        root = self._package.root(relation.target)
        return diagram_lines(root) if relation.kind == "diagramData" else chart_lines(root, self._chart_values)


def diagram_lines(data: Element) -> list[str]:
    """List the texts of a diagram's points; presentation points only repeat them."""
    lines = []
    for point in data.iter():
        if short(point.tag) == "dgm:pt" and point.get("type", "node") != "pres":
            text = " ".join(" ".join(paragraphs(point)).split())
            if text:
                lines.append(text)
    return lines


def chart_lines(chart: Element, values: bool = True) -> list[str]:
    """List a chart's titles, and with `values` each series: its name, its points as `category: value`."""
    lines = []
    for element in chart.iter():
        name = short(element.tag)
        if name in ("c:title", "cx:title"):
            lines += paragraphs(element)
        elif name == "c:ser" and values:
            lines += _series_lines(element)
        elif name in ("cx:lvl", "cx:txData") and values:
            points = (" ".join((point.text or "").split()) for point in element)
            lines.append("; ".join(filter(None, points)))
    return lines


def _series_lines(series: Element) -> list[str]:
    values: dict[str, dict[str, str]] = {}
    for child in series:
        values[short(child.tag)] = dict(_cached(child))
    title = " ".join(values.get("c:tx", {}).values())
    labels = values.get("c:cat") or values.get("c:xVal") or {}
    numbers = values.get("c:val") or values.get("c:yVal") or {}
    points = []
    for index in sorted({*labels, *numbers}, key=lambda i: (len(i), i)):
        points.append(": ".join(filter(None, (labels.get(index, ""), numbers.get(index, "")))))
    return [line for line in (title, "; ".join(points)) if line]


def _cached(reference: Element) -> Iterator[tuple[str, str]]:
    """Yield (index, text) of the cached points below a reference; a literal c:v stands alone."""
    for element in reference.iter():
        if short(element.tag) == "c:v" and element.text:
            index = element.getparent().get("idx", "0")
            yield index, " ".join(element.text.split())
