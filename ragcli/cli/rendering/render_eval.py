"""Renders an evaluation for people. Returns text, writes none."""

from collections.abc import Callable, Iterator, Sequence

from ragcli.cli.terminal.styles import BOLD, Terminal, cells, paint
from ragcli.evaluation.evaluate import Answer, Comparison, Summary
from ragcli.evaluation.measures import Difference, Interval
from ragcli.evaluation.report import Report, measure_names
from ragcli.text.escapes import visible_name

_ALL = "all"


def report_lines(report: Report, terminal: Terminal) -> Iterator[str]:
    """Yield a table of measures with their intervals, then the comparison, then the failures.

    On a terminal too narrow for it the table shows the means alone.
    """
    names = measure_names(report.k)
    lines = list(_table(report, names, _interval))
    if terminal.is_terminal and max(map(cells, lines)) > terminal.width:
        lines = list(_table(report, names, _mean))
    yield paint(terminal, BOLD, lines[0])
    yield from lines[1:]
    if report.comparison:
        yield from _comparison(names, report.comparison)
    for answer in report.failures:
        yield from _failure(answer, terminal)


def _table(report: Report, names: Sequence[str], shown: Callable[[Interval], str]) -> Iterator[str]:
    rows = [*report.categories.items(), (_ALL, report.all)]
    table = [("", "queries", *names), *(_row(visible_name(label) or "-", found, shown) for label, found in rows)]
    if report.other:
        table.append(_row(f"with {visible_name(report.against)}".rstrip(), report.other, shown))
    widths = [max(cells(row[column]) for row in table) for column in range(len(table[0]))]
    for first, *others in table:
        columns = (_padding(cell, width) + cell for cell, width in zip(others, widths[1:], strict=True))
        yield "  ".join((first + _padding(first, widths[0]), *columns))


def _padding(cell: str, width: int) -> str:
    return " " * (width - cells(cell))


def _row(label: str, summary: Summary, shown: Callable[[Interval], str]) -> tuple[str, ...]:
    return label, str(summary.queries), *map(shown, summary.measures)


def _interval(one: Interval) -> str:
    return f"{one.mean:.3f} [{one.low:.3f} {one.high:.3f}]"


def _mean(one: Interval) -> str:
    return f"{one.mean:.3f}"


def _comparison(names: Sequence[str], found: Comparison) -> Iterator[str]:
    yield ""
    yield f"difference: {found.better} queries better, {found.worse} worse, {found.equal} the same"
    for name, one in zip(names, found.differences, strict=True):
        yield f"  {name:<10} {_difference(one)}"


def _difference(one: Difference) -> str:
    return f"{one.mean:+.4f} [{one.low:+.4f} {one.high:+.4f}]  p = {one.p:.4f}"


def _failure(answer: Answer, terminal: Terminal) -> Iterator[str]:
    query = answer.query
    yield ""
    yield paint(terminal, BOLD, f"{answer.scores.ndcg:.3f}  {visible_name(query.text)}")
    for target, place in zip(query.targets, answer.places, strict=True):
        lines = f":{target.start}-{target.end}" if target.has_lines else ""
        yield f"  {f'{place:>3}.' if place else '   -'} {visible_name(target.name)}{lines}"
    if answer.above:
        yield "  above:"
    for rank, hit in enumerate(answer.above, 1):
        yield f"  {rank:>3}. {visible_name(hit.name)}:{hit.start_line}-{hit.end_line}  {hit.score:.4f}"
