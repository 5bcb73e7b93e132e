"""Read text out of DrawingML: paragraphs, tables, diagrams (SmartArt) and charts, as all three office formats hold it.

May not open packages nor know of slides, sheets or pages.
"""

from collections.abc import Iterator

from ragcli.extract.opc import Element, Package, relation_id, short


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
    return "".join(pieces)


def table_rows(table: Element) -> list[str]:
    """List the rows of an a:tbl, cells joined by bars; cells that a merge covers are left out."""
    rows = []
    for row in table:
        if short(row.tag) != "a:tr":
            continue
        cells = []
        for cell in row:
            if short(cell.tag) == "a:tc" and not (_true(cell, "hMerge") or _true(cell, "vMerge")):
                cells.append(" ".join(" ".join(paragraphs(cell)).split()))
        if any(cells):
            rows.append(" | ".join(cells))
    return rows


def graphic_lines(frame: Element, package: Package, part: str) -> list[str]:
    """List the text of the diagrams and charts that a frame of `part` points at."""
    lines: list[str] = []
    for element in frame.iter():
        name = short(element.tag)
        if name == "dgm:relIds":
            lines += _linked(package, part, relation_id(element, "dm"), diagram_lines)
        elif name == "c:chart":
            lines += _linked(package, part, relation_id(element), chart_lines)
    return lines


def diagram_lines(data: Element) -> list[str]:
    """List the texts of a diagram's points; presentation points only repeat them."""
    lines = []
    for point in data.iter():
        if short(point.tag) == "dgm:pt" and point.get("type", "node") != "pres":
            text = " ".join(" ".join(paragraphs(point)).split())
            if text:
                lines.append(text)
    return lines


def chart_lines(chart: Element) -> list[str]:
    """List a chart's titles, then for each series its name and its points as `category: value`."""
    lines = []
    for element in chart.iter():
        name = short(element.tag)
        if name == "c:title":
            lines += paragraphs(element)
        elif name == "c:ser":
            lines += _series_lines(element)
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


def _linked(package: Package, part: str, identifier: str, read: object) -> list[str]:
    relation = package.by_id(part).get(identifier)
    if relation is None or relation.target not in package:
        return []
    return list(read(package.root(relation.target)))  # type: ignore[operator]


def _true(element: Element, attribute: str) -> bool:
    return element.get(attribute) in ("1", "true")


_TEXTUAL = frozenset({"w:t", "a:t", "m:t", "x:t", "dgm:relIds", "c:chart", "v:textpath"})


def alternative(element: Element) -> Element | None:
    """Choose one branch of an mc:AlternateContent, the first that holds text: the branches say the same thing."""
    branches = [child for child in element if short(child.tag) in ("mc:Choice", "mc:Fallback")]
    for branch in branches:
        if any(short(inner.tag) in _TEXTUAL for inner in branch.iter()):
            return branch
    return branches[0] if branches else None
