"""Renders a search: blocks for people, and exact lines for programs. Returns text, writes none."""

from collections.abc import Iterator, Mapping

from ragcli.cli.rendering.shown_paths import result_path
from ragcli.cli.terminal.styles import BOLD, CYAN, DIM, MATCH, NUMBER, PATH, STALE, Terminal, cells, cut, link, paint
from ragcli.model import Scalar, SearchOutcome, SearchResult
from ragcli.text import excerpt
from ragcli.text.escapes import visible, visible_name

EXCERPT_LINES = 4
_TAB = "    "


def blocks(
    outcome: SearchOutcome, terminal: Terminal, cwd: str, *, context: int | None = None, explain: bool = False
) -> Iterator[str]:
    """Yield a readable block of lines for each result, a blank line between two."""
    wanted = excerpt.terms(outcome.query)
    for number, result in enumerate(outcome.results):
        lines = [*_header(outcome.root, result, terminal, cwd)]
        if explain:
            lines += [paint(terminal, DIM, cut(text, terminal.width)) for text in _explanation(result)]
        lines += _excerpt(result, wanted, terminal, context)
        yield ("\n" if number else "") + "".join(f"{line}\n" for line in lines)


def plain(outcome: SearchOutcome, terminal: Terminal, cwd: str) -> Iterator[str]:
    """Yield exactly `path:line:text` for each hit: its best line, controls shown as escapes."""
    wanted = excerpt.terms(outcome.query)
    for result in outcome.results:
        lines = excerpt.lines_of(result.content)
        best = excerpt.best_line(lines, wanted) if result.line is None else _exact_line(result, lines)
        path = paint(terminal, PATH, visible_name(result_path(outcome.root, result, cwd)))
        number = paint(terminal, NUMBER, str(result.start_line + best))
        text = _highlighted(visible(lines[best]), wanted, terminal) if terminal.color else visible(lines[best])
        yield f"{path}:{number}:{text}\n"


def files(outcome: SearchOutcome) -> list[str]:
    """Return the files of the results, each once, best first; added documents have none."""
    return list(dict.fromkeys(result.file for result in outcome.results if result.file))


def place(metadata: Mapping[str, Scalar]) -> str:
    """Say where in its document a chunk is: page, sheet, slide, symbol, heading."""
    parts = []
    for key, text in (("page", "page {}"), ("slide", "slide {}"), ("sheet", "sheet {}"), ("cells", "{}"),
                      ("chapter", "{}"), ("cell", "cell {}"), ("pointer", "{}"), ("element", "{}")):  # fmt: skip
        if metadata.get(key) not in (None, ""):
            parts.append(text.format(metadata[key]))
    symbol = metadata.get("qualified_symbol") or metadata.get("symbol")
    if symbol:
        parts.append(f"{metadata['kind']} {symbol}" if metadata.get("kind") else str(symbol))
    if metadata.get("heading") and not metadata.get("chapter"):
        parts.append(str(metadata["heading"]))
    return ", ".join(parts)


def _header(root: str, result: SearchResult, terminal: Terminal, cwd: str) -> Iterator[str]:
    """Write rank, path and lines, then where in the document: on one line if it fits, never breaking the path."""
    path = visible_name(result_path(root, result, cwd))
    lines = f"{result.start_line}-{result.end_line}" if result.end_line > result.start_line else str(result.start_line)
    location = f"{path}:{lines}"
    shown = f"{paint(terminal, PATH, path)}:{paint(terminal, NUMBER, lines)}"
    if result.file:
        shown = link(terminal, f"{result.root or root}/{result.file}", shown)
    head = f"{paint(terminal, BOLD, str(result.rank))}. {shown}"
    used = cells(f"{result.rank}. {location}")
    if result.stale:
        mark = "(changed since indexed)"
        head += f" {paint(terminal, STALE, mark)}" if used + 1 + len(mark) <= terminal.width else ""
        used += 1 + len(mark)
    where = visible_name(place(result.metadata) if result.file else _own_metadata(result))
    if not where:
        yield head
    elif used + 2 + cells(where) <= terminal.width:
        yield f"{head}  {paint(terminal, CYAN, where)}"
    else:
        yield head
        yield "   " + paint(terminal, CYAN, cut(where, terminal.width - 3))
    if result.stale and used > terminal.width:
        yield "   " + paint(terminal, STALE, cut("(changed since indexed)", terminal.width - 3))


def _own_metadata(result: SearchResult) -> str:
    pairs = " ".join(f"{key}={value}" for key, value in sorted(result.metadata.items()))
    return f"added document {pairs}".rstrip()


def _excerpt(result: SearchResult, wanted: excerpt.Terms, terminal: Terminal, context: int | None) -> Iterator[str]:
    lines = excerpt.lines_of(result.content)
    if result.line is not None:
        best = _exact_line(result, lines)
        span = (best, min(best + EXCERPT_LINES, len(lines)))
        start, stop = (
            _without_blank_edges(lines, *span) if context is None else excerpt.around(best, context, len(lines))
        )
    elif context is None:
        start, stop = _without_blank_edges(lines, *excerpt.window(lines, wanted, EXCERPT_LINES))
    else:
        start, stop = excerpt.around(excerpt.best_line(lines, wanted), context, len(lines))
    gutter = len(str(result.start_line + stop - 1))
    indent = _common_indent(lines[start:stop])
    room = max(terminal.width - gutter - 4, 1)
    for offset in range(start, stop):
        number = paint(terminal, DIM, f"{result.start_line + offset:>{gutter}}")
        text = _fitted(visible(lines[offset].expandtabs(len(_TAB)))[indent:].rstrip(), wanted, room)
        yield f"   {number} {_highlighted(text, wanted, terminal)}".rstrip()


def _fitted(text: str, wanted: excerpt.Terms, room: int) -> str:
    """Cut a line to the room; a match far to the right is brought into view."""
    if cells(text) <= room:
        return text
    found = excerpt.spans(text, wanted)
    if found and cells(text[: found[0][1]]) >= room:
        start = max(found[0][0] - room // 4, 0)
        text = "…" + text[start + 1 :]
    return cut(text, room)


def _highlighted(text: str, wanted: excerpt.Terms, terminal: Terminal) -> str:
    if not terminal.color:
        return text
    pieces, at = [], 0
    for start, stop in excerpt.spans(text, wanted):
        pieces += [text[at:start], paint(terminal, MATCH, text[start:stop])]
        at = stop
    return "".join([*pieces, text[at:]])


def _explanation(result: SearchResult) -> Iterator[str]:
    streams = ", ".join(f"{name} #{place.rank} {place.score:.4g}" for name, place in sorted(result.streams.items()))
    yield f"   score {result.score:.9g}" + (f" from {streams}" if streams else "")
    for name, share in sorted(result.parts.items()):
        yield f"   {share:+.9g} {visible_name(name)}"


def _exact_line(result: SearchResult, lines: list[str]) -> int:
    """The index of the line on which the exact text of a result begins."""
    return min(max((result.line or 0) - result.start_line, 0), len(lines) - 1)


def _without_blank_edges(lines: list[str], start: int, stop: int) -> excerpt.Span:
    while start < stop - 1 and not lines[start].strip():
        start += 1
    while stop - 1 > start and not lines[stop - 1].strip():
        stop -= 1
    return start, stop


def _common_indent(lines: list[str]) -> int:
    expanded = [line.expandtabs(len(_TAB)) for line in lines if line.strip()]
    return min((len(line) - len(line.lstrip(" ")) for line in expanded), default=0)
