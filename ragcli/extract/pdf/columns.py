"""Find text columns that a page draws line by line across them. Knows nothing of PDF but where runs of text begin.

Most pages draw one column after the other and need nothing of this; it acts only where rows of text plainly
alternate between the same edges and each side reads like prose. Tables stay as they are.
"""

from collections import Counter
from collections.abc import Sequence
from statistics import median

_MIN_ROWS = 8  # fewer lines side by side are a heading, a form or a table as often as columns
_SHARE = 0.6  # of the rows with something on both sides
_MIN_GAP = 100.0  # points between the left edges of two columns; a page of A4 with four columns keeps this
_GRAIN = 4.0  # points within which two runs share an edge
_MIN_WIDTH = 18  # characters of a column's usual line; the cells of tables are shorter


def column_edges(starts: Sequence[tuple[float, float]]) -> list[float]:
    """Give the left edges of the columns after the first, for runs (x, y) in the order drawn; none without columns."""
    rows = _rows(starts)
    shared: Counter[int] = Counter()
    sided = 0
    for row in rows:
        far = {round(x / _GRAIN) for x in row[1:] if x - row[0] > _MIN_GAP}
        sided += bool(far)
        shared.update(far)
    if sided < _MIN_ROWS:
        return []
    edges: list[float] = []
    # Two cells together: an edge may fall on their border.
    for cell in sorted(shared):
        together = shared[cell] + shared[cell + 1]
        edge = (cell - 1) * _GRAIN
        if together >= _SHARE * sided and (not edges or edge - edges[-1] > _MIN_GAP):
            edges.append(edge)
    return edges


def column_of(x: float, edges: Sequence[float]) -> int:
    """Give the number of the column that a run belongs to, from 0."""
    return sum(x >= edge for edge in edges)


def are_prose(columns: Sequence[str]) -> bool:
    """Tell whether each column reads like lines of prose rather than cells."""
    return all(_usual_width(column) >= _MIN_WIDTH for column in columns)


def _usual_width(column: str) -> float:
    widths = [len(line.strip()) for line in column.split("\n") if line.strip()]
    return median(widths) if len(widths) >= _MIN_ROWS else 0.0


def _rows(starts: Sequence[tuple[float, float]]) -> list[list[float]]:
    """Group runs that follow one another on one baseline; a row begins at its leftmost run."""
    rows: list[list[float]] = []
    last = float("nan")
    for x, y in starts:
        if abs(y - last) <= 1.0:
            rows[-1].append(x)
        else:
            rows.append([x])
        last = y
    return rows
