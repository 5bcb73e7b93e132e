"""Turn the symbols that an adapter found in a source text into blocks that tile it. Pure: reads no syntax, no files.

A symbol's block takes the doc comments and decorators directly above it and the rest of its last line. What lies
between two methods of a class belongs to the class; what lies between symbols belongs to nobody and may merge. Blank
lines and lone closing brackets go with the block before them, so that no chunk is made of them alone.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from ragcli.config.options import Limits
from ragcli.documents import Block
from ragcli.model import Metadata

CLASS_KINDS = frozenset((
    "class", "interface", "struct", "enum", "trait", "impl", "object", "protocol", "extension", "record", "union",
    "module", "actor", "annotation", "mixin",
))  # fmt: skip
SCOPE = "scope"  # a namespace: it qualifies names but owns no lines
SIGNATURE_CHARS = 240
NESTED_LINES = 8  # a function inside one too large for a chunk is a unit of its own from this many lines

Span = tuple[int, int]

_TAIL = re.compile(r"[ \t;,)\]}]*(?:(?://|#|--|/\*|\(\*|\{-)[^\n]*)?(?:\n|\Z)")
_CLOSING = re.compile(
    r"(?:[ \t]*#[ \t]*(?:endif|else)\b[^\n]*|\}[ \t;]*(?://[^\n]*|/\*[^\n]*\*/)"
    r"|\b(?:end|End|END)(?:[ \t]+\w+){0,2}(?![\w.])|\b(?:fi|done|esac)\b|[^\w#}]|[#}])*"
)
_MODIFIERS = re.compile(r"[ \t]*(?:\w+(?:\([^()\n]*\))?[ \t]+){1,4}")  # also macros: `API(2) static`
_ANNOTATIONS = re.compile(r"(?:@(?!interface\b)[\w.:]+(?:\((?:[^()]|\([^()]*\))*\))?\s*|#?\[[^\[\]]*\]\s*)+")
_LINE_COMMENT = re.compile(r"[ \t](?://|#|--)[ \t][^\n]*")


class Symbol(NamedTuple):
    """A definition in a text, in characters. `start` counts decorators and wrappers, `own_start` is the definition's.

    `head_end` is where its body begins (`end` when it has none), `scope` a prefix of its qualified name that the
    nesting does not tell (a receiver's type), `part` that it is one of several clauses under one name.
    """

    start: int
    own_start: int
    end: int
    head_end: int
    name: str
    kind: str
    scope: str = ""
    part: bool = False


class _Unit(NamedTuple):
    symbol: Symbol
    parent: int  # index of the unit around it, -1 at the top
    kind: str
    qualified: str


def blocks_of(
    text: str,
    symbols: Sequence[Symbol],
    attachments: Sequence[Span],
    lines: Sequence[int],
    language: str,
    limits: Limits,
) -> list[Block]:
    """Tile the text with one block a symbol (more for one that holds others) and mergeable blocks between them.

    `attachments` are the spans, in order, of what belongs to the symbol directly below: comments, attributes. Where the
    symbols would make more chunks than a document may have, only the outermost are kept, and then none.
    """
    units = _nested(text, _joined(text, symbols, attachments), lines, limits)
    if len(units) > limits.max_chunks // 2:
        units = [unit for unit in units if unit.parent < 0]
        if len(units) > limits.max_chunks // 2:
            units = []
    known: dict[int, Metadata] = {-1: {"language": language}}
    blocks = []
    for start, end, owner in _segments(text, units, _spans(text, units, attachments)):
        metadata = known.get(owner)
        if metadata is None:
            metadata = known[owner] = _metadata(text, units[owner], lines, language)
        blocks.append(Block(start, end, metadata, owner < 0))
    return blocks


def _joined(text: str, symbols: Sequence[Symbol], attachments: Sequence[Span]) -> list[Symbol]:
    """Put symbols in order, outer before inner, and make one of the neighbouring clauses of a name."""
    joined: list[Symbol] = []
    starts = [start for start, _ in attachments]
    stack: list[int] = []  # what is open where the symbol begins, and last the sibling before it
    in_order = True
    for symbol in sorted(symbols, key=lambda s: (s.own_start, -s.end)):
        before = -1
        while stack and joined[stack[-1]].end <= symbol.own_start:
            before = stack.pop()
        around = joined[stack[-1]] if stack else None
        if around is not None and _is_wrapper(around, symbol):
            continue
        if before >= 0 and _is_clause(text, joined[before], symbol, attachments, starts):
            part = joined[before].part and symbol.part
            joined[before] = joined[before]._replace(end=symbol.end, part=part)
            in_order = False  # perhaps: it may now end behind what holds it
            stack.append(before)
        else:
            joined.append(symbol)
            stack.append(len(joined) - 1)
    return joined if in_order else sorted(joined, key=lambda s: (s.own_start, -s.end))


def _is_wrapper(around: Symbol, symbol: Symbol) -> bool:
    """Tell whether both are one definition, the inner without `export` or `type` and perhaps without a semicolon."""
    return symbol.end > around.end - 2 and (around.name, around.kind) == (symbol.name, symbol.kind)


def _is_clause(text: str, last: Symbol, symbol: Symbol, attachments: Sequence[Span], starts: list[int]) -> bool:
    if not (last.part or symbol.part) or (last.name, last.kind) != (symbol.name, symbol.kind):
        return False
    return not _uncovered(text, last.end, symbol.start, attachments, starts)


def _uncovered(text: str, start: int, end: int, attachments: Sequence[Span], starts: list[int]) -> bool:
    """Tell whether something but blanks, separators and attachments lies in between."""
    index = bisect_right(starts, start - 1)
    while index < len(starts) and starts[index] < end:
        if text[start : starts[index]].strip(" \t\n;,"):
            return True
        start = max(start, attachments[index][1])
        index += 1
    return bool(text[start:end].strip(" \t\n;,"))


def _nested(text: str, symbols: Sequence[Symbol], lines: Sequence[int], limits: Limits) -> list[_Unit]:
    """Give each symbol its parent and qualified name, without those that stay inside the function around them."""
    units: list[_Unit] = []
    stack: list[int] = []
    for symbol in symbols:
        own_start = symbol.own_start
        while stack and units[stack[-1]].symbol.end <= own_start:
            stack.pop()
        parent = stack[-1] if stack else -1
        outer = units[parent] if stack else None
        kind = symbol.kind
        if outer is not None:
            around = outer.symbol
            if symbol.end > around.end or own_start == around.own_start:
                continue
            if outer.kind in CLASS_KINDS:
                kind = "method" if kind == "function" else kind
            elif outer.kind != SCOPE and not _stands_alone(symbol, around, lines, limits):
                continue
        elif symbol.scope and kind == "function":
            kind = "method"
        prefix = outer.qualified if outer is not None else ""
        qualified = ".".join(filter(None, (prefix, symbol.scope, symbol.name)))
        units.append(_Unit(symbol, parent, kind, qualified))
        stack.append(len(units) - 1)
    return units


def _stands_alone(symbol: Symbol, outer: Symbol, lines: Sequence[int], limits: Limits) -> bool:
    def height(of: Symbol) -> int:
        return bisect_right(lines, of.end) - bisect_right(lines, of.start) + 1

    too_large = height(outer) > limits.max_chunk_lines or outer.end - outer.start > limits.max_chunk_bytes
    return too_large and height(symbol) >= NESTED_LINES


def _spans(text: str, units: Sequence[_Unit], attachments: Sequence[Span]) -> list[Span]:
    """Extend each unit over what is attached to it; spans nest and never cross."""
    starts, after = _starts(text, units, attachments)
    spans: list[Span] = []
    for index, unit in enumerate(units):
        end = unit.symbol.end
        if text.startswith("\n", end):  # so it is nearly always
            tail_end = end + 1
        else:
            tail = _TAIL.match(text, end)
            tail_end = end if tail is None else tail.end()
        ceiling = spans[unit.parent][1] if unit.parent >= 0 else len(text)
        if after[index] < len(units):
            ceiling = min(ceiling, starts[after[index]])
        if tail_end <= ceiling:
            end = tail_end
        spans.append((starts[index], end))
    return spans


def _starts(text: str, units: Sequence[_Unit], attachments: Sequence[Span]) -> tuple[list[int], list[int]]:
    """Find where each unit's block begins, and for each the index of the first unit that is not inside it."""
    attached_ends = [end for _, end in attachments]
    starts: list[int] = []
    after = [len(units)] * len(units)
    stack: list[int] = []
    for index, unit in enumerate(units):
        floor = units[unit.parent].symbol.own_start if unit.parent >= 0 else 0
        while stack and stack[-1] != unit.parent:
            closed = stack.pop()
            after[closed] = index
            floor = max(floor, units[closed].symbol.end)
        stack.append(index)
        starts.append(_start(text, unit.symbol, floor, attachments, attached_ends))
    return starts, after


def _start(text: str, symbol: Symbol, floor: int, attachments: Sequence[Span], attached_ends: list[int]) -> int:
    start = max(symbol.start, floor)
    index = bisect_right(attached_ends, start) - 1
    while index >= 0 and attachments[index][0] >= floor:
        begin, end = attachments[index]
        gap = text[end:start]
        line = text.rfind("\n", floor, begin) + 1 or floor
        apart = 2 if text.startswith("/**", begin) else 1  # some write a blank line below a doc comment
        if (gap and not gap.isspace()) or gap.count("\n") > apart or text[line:begin].strip():
            break
        start = begin
        index -= 1
    line = text.rfind("\n", floor, start) + 1 or floor
    before = text[line:start]
    if not before or before.isspace() or _MODIFIERS.fullmatch(before):
        return line
    return start


def _segments(text: str, units: Sequence[_Unit], spans: Sequence[Span]) -> list[tuple[int, int, int]]:
    """Cut the text into (start, end, owner) runs that tile it; the owner is the index of a unit, -1 for nobody."""
    out: list[tuple[int, int, int]] = []
    lead = 0  # where the first run begins: it takes blank lines and brackets before it

    def emit(start: int, end: int, owner: int) -> None:
        if start >= end:
            return
        while owner >= 0 and units[owner].kind == SCOPE:
            owner = units[owner].parent
        if out:
            first, _, before = out[-1]
            opens = owner >= 0 and start == spans[owner][0]
            closing = None if opens else _CLOSING.match(text, start, end)
            if not opens and (closing is None or closing.end() == end or before == owner == -1):
                out[-1] = (first, end, before)
                return
            if text[start].isspace():
                begin = text.rfind("\n", start, end - len(text[start:end].lstrip())) + 1
                if begin > start:
                    out[-1] = (first, begin, before)
                    start = begin
            out.append((start, end, owner))
        elif not text[start:end].isspace():
            out.append((lead, end, owner))

    position = 0
    stack = [-1]
    for index, unit in enumerate(units):
        while stack[-1] != unit.parent:
            closed = stack.pop()
            emit(position, spans[closed][1], closed)
            position = max(position, spans[closed][1])
        emit(position, spans[index][0], unit.parent)
        position = spans[index][0]
        stack.append(index)
    for closed in reversed(stack[1:]):
        emit(position, spans[closed][1], closed)
        position = max(position, spans[closed][1])
    emit(position, len(text), -1)
    return out if out or not text else [(0, len(text), -1)]


def _metadata(text: str, unit: _Unit, lines: Sequence[int], language: str) -> Metadata:
    symbol = unit.symbol
    own_start = symbol.own_start
    if text[own_start] in "@[#" and language != "css":
        skipped = _ANNOTATIONS.match(text, own_start, symbol.end)
        if skipped is not None and skipped.end() < symbol.end:
            own_start = skipped.end()
    last = max(own_start, symbol.end - 1)
    return {
        "symbol": symbol.name,
        "qualified_symbol": unit.qualified,
        "kind": unit.kind,
        "signature": _signature(text, own_start, symbol),
        "symbol_start_line": bisect_right(lines, own_start),
        "symbol_end_line": bisect_right(lines, last),
        "language": language,
    }


def _signature(text: str, own_start: int, symbol: Symbol) -> str:
    end = symbol.head_end
    if end >= symbol.end or end <= own_start:
        newline = text.find("\n", own_start, symbol.end)
        end = newline if newline >= 0 else symbol.end
    head = text[own_start : min(end, own_start + 4 * SIGNATURE_CHARS)]
    if "#" in head or "//" in head or "--" in head:
        head = _LINE_COMMENT.sub("", head)
    head = " ".join(head.split())
    head = head.rstrip("{;, ").rstrip(":= ") or head
    return head if len(head) <= SIGNATURE_CHARS else head[: SIGNATURE_CHARS - 1].rstrip() + "…"
