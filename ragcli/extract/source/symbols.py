"""Read the symbols of a source text with tree-sitter: parse, run the language's query, map bytes to characters.

The only module that knows tree-sitter, which it imports when first used. It never recurses over a tree and never asks a
node for its parent or siblings, which tree-sitter answers in time that grows with the file.

A query file marks a definition with its kind (`@function`, `@class` ...; `@function.part` for one of several clauses),
the node around it that belongs to it with `@outer`, one before it that it begins with by `@head`, where its body begins
with `@body`, a type that its name hangs on with `@in`; and its name with `@name`, `@path` (the last part names, those
before it qualify), `@label` (a name that is no plain word), or `@declarator` (a C declarator). Comments and attributes
are `@attach`; `@_word` serves predicates. Where two patterns match a node, the one that stands first counts.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from ragcli.config.options import Limits
from ragcli.extract.source.bounded_parse import ParseTimeoutError, is_tangled, parse
from ragcli.extract.source.languages import BY_NAME
from ragcli.extract.source.query_scope import places
from ragcli.extract.source.symbol_blocks import Span, Symbol

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Query, Tree

    _Match = tuple[int, dict[str, list[Node]]]

NAME_CHARS = 160
ARGUMENT_DEPTH = 8
DECLARATOR_DEPTH = 12  # pointers to arrays of functions ... a name deeper than this is not worth the walk
# Query matches are objects; a window bounds how many live at once. Ordinary files are one window.
WINDOW_BYTES = 1 << 18

_ROLES = frozenset(("outer", "name", "path", "label", "declarator", "in", "body", "head", "attach", "error", "_word"))
_MACRO = re.compile(r"[A-Z][A-Z0-9_]*\Z")
_MACRO_CALL = re.compile(r"([A-Z][A-Z0-9_]*)\s*\(\s*(\w+)\s*(?:,\s*(\w+)\s*)?[,)]")


class GrammarUnavailableError(Exception):
    """The grammar's wheel is not installed, or too old or too new for the installed tree-sitter."""


class Reading(NamedTuple):
    """What a parse tells, in characters: definitions, attached comments, ranges that did not parse."""

    symbols: list[Symbol]
    attachments: list[Span]
    errors: list[Span]
    tree: "Tree"


def read_symbols(text: str, language: str, grammar: str, limits: Limits) -> Reading:
    """Parse the text and collect what the language's query finds where it counts under the limits of chunks.

    GrammarUnavailableError where the language has no grammar installed.
    """
    tools = _tools(language, grammar)
    if tools is None:
        raise GrammarUnavailableError(grammar)
    known, query = tools
    data = text.encode("utf-8", "replace")
    tree = parse(known, data)
    if is_tangled(tree.root_node):
        raise ParseTimeoutError
    symbols, attachments, errors = _collected(_matches(query, tree.root_node, data, language, limits), data)
    if len(data) != len(text):
        symbols, attachments, errors = _in_characters(data, symbols, attachments, errors)
    return Reading(
        [symbol if text[symbol.end - 1] > " " else _trimmed(text, symbol) for symbol in symbols],
        [span if text[span[1] - 1] > " " else (span[0], _trim(text, *span)) for span in attachments],
        errors,
        tree,
    )


def statement_cuts(tree: "Tree", text: str, lines: Sequence[int], max_lines: int, max_bytes: int) -> list[int]:
    """List where statements begin inside nodes too large for a chunk: offsets of line starts, ascending.

    No cut parts a comment from the statement below it.
    """
    cuts: set[int] = set()
    stack = [(tree.root_node, -2)]
    while stack:
        node, previous_comment = stack.pop()  # the row where the comment before the node's first child ended
        for child in node.children:
            row, column = child.start_point
            end_row = child.end_point.row
            line = lines[row]
            if previous_comment < row - 1 and (column == 0 or text[line : line + column].isspace()):
                cuts.add(line)
            if end_row - row >= max_lines or child.end_byte - child.start_byte > max_bytes:
                stack.append((child, previous_comment))
            previous_comment = end_row if "comment" in child.type or "attribute" in child.type else -2
    return sorted(cuts)


@cache
def _tools(language: str, grammar: str) -> "tuple[Language, Query] | None":
    """Load a grammar and compile its query, once a process; None where that is not to be had, so that it is not sought
    again for each file."""
    module, _, function = grammar.rpartition(".")
    try:
        from tree_sitter import Language, Query

        loaded = Language(getattr(import_module(module), function)())
        name = BY_NAME[language].query or language
        source = files("ragcli.extract.source.languages").joinpath(f"{name}.scm").read_text(encoding="utf-8")
        return loaded, Query(loaded, source)
    except (ImportError, AttributeError, ValueError):
        return None
    except OSError as error:  # out of descriptors, perhaps: the next file may have more luck
        raise GrammarUnavailableError(grammar) from error


def _matches(query: "Query", root: "Node", data: bytes, language: str, limits: Limits) -> "Iterator[_Match]":
    from tree_sitter import QueryCursor

    cursor = QueryCursor(query)
    if len(data) > WINDOW_BYTES:
        for start in range(0, len(data), WINDOW_BYTES):
            cursor.set_byte_range(start, start + WINDOW_BYTES)
            yield from cursor.matches(root)
        return
    for node, depth in places(root, language, limits):
        cursor.set_max_start_depth(depth)
        yield from cursor.matches(node)


def _collected(matches: "Iterable[_Match]", data: bytes) -> tuple[list[Symbol], list[Span], list[Span]]:
    """Return definitions, attachments in order, and errors; all in bytes."""
    best: dict[Span, tuple[int, Symbol]] = {}
    attached: set[Span] = set()
    errors: set[Span] = set()
    for pattern, captures in matches:
        if "attach" in captures:
            attached.add(captures["attach"][0].byte_range)
        elif "error" in captures:
            errors.add(captures["error"][0].byte_range)
        elif kind := _kind(captures):
            span = captures[kind][0].byte_range
            if "head" in captures:
                span = (captures["head"][0].start_byte, span[1])
            if span not in best or pattern < best[span][0]:
                symbol = _symbol(kind, span, captures, data)
                if symbol is not None:
                    best[span] = (pattern, symbol)
    return [symbol for _, symbol in best.values()], sorted(attached), sorted(errors)


def _kind(captures: "dict[str, list[Node]]") -> str:
    """Return the capture that stands for a definition, '' where none does."""
    for key in captures:
        if key not in _ROLES:
            return key
    return ""


def _symbol(kind: str, span: Span, captures: "dict[str, list[Node]]", data: bytes) -> Symbol | None:
    """Make a symbol of one match, in bytes; None where nothing names it."""
    start, end = span
    node = captures[kind][0]
    scope, name = _named(captures, node, data)
    if not name:
        return None
    if "in" in captures:
        scope = _clean(_text(captures["in"][-1], data))
    outer = captures["outer"][0].start_byte if "outer" in captures else start
    body = captures["body"][0] if "body" in captures else node.child_by_field_name("body")
    head_end = body.start_byte if body is not None else end
    part = kind.endswith(".part")
    return Symbol(outer, start, end, head_end, name, kind[:-5] if part else kind, scope, part)


def _named(captures: "dict[str, list[Node]]", node: "Node", data: bytes) -> tuple[str, str]:
    """Return the scope that the name itself tells, and the name."""
    if "name" in captures:
        return "", _clean(_text(captures["name"][0], data))
    if "path" in captures:
        scope, _, name = _clean(_without_arguments(_text(captures["path"][0], data)).replace(":", ".")).rpartition(".")
        return scope, name
    if "label" in captures:
        return "", " ".join(_text(captures["label"][0], data).split())[:NAME_CHARS]
    if "declarator" not in captures:
        return "", ""
    declarator = captures["declarator"][0]
    scope, name = _declared(declarator, data)
    if declarator.type != "call_expression" and (not _MACRO.match(name) or node.child_by_field_name("type")):
        return scope, name
    # TEST(Suite, Case) { ... }, SYSCALL_DEFINE(name, ...) { ... }
    macro = _MACRO_CALL.match(_text(declarator, data))
    if macro is None:
        return (scope, name) if declarator.type != "call_expression" else ("", "")
    return (macro[2], macro[3]) if "TEST" in macro[1] and macro[3] else ("", macro[2])


def _declared(node: "Node", data: bytes) -> tuple[str, str]:
    """Follow a C declarator to the name it declares: its scope and itself."""
    for _ in range(DECLARATOR_DEPTH):
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next((child for child in node.named_children[:4] if child.type.endswith("declarator")), None)
        if inner is None:
            break
        node = inner
    if node.type.endswith("declarator"):
        return "", ""
    name = _without_arguments(_text(node, data))
    if node.type != "operator_cast" and "operator" not in name:
        scope, _, name = name.rpartition("::")
        return _clean(scope), _clean(name)
    return "", _clean(name.split("(")[0] if node.type == "operator_cast" else name)


def _text(node: "Node", data: bytes) -> str:
    start, end = node.byte_range
    return data[start : min(end, start + 4 * NAME_CHARS)].decode("utf-8", "ignore")


def _clean(name: str) -> str:
    """Make one bounded word of a name: no type arguments at its end, no blanks, dots between its parts."""
    if name.isidentifier():
        return name[:NAME_CHARS]
    name = " ".join(name.split())
    name = _without_arguments(name)
    if len(name) > 1 and name[0] in "\"'`[" and name[-1] in "\"'`]":
        name = name[1:-1]
    return re.sub(r"::|\\|\.{2,}", ".", name).strip(". &*")[:NAME_CHARS]


def _without_arguments(name: str) -> str:
    """Leave out type arguments, nested ones too."""
    if "<" not in name or "operator" in name:
        return name
    for _ in range(ARGUMENT_DEPTH):
        shorter = re.sub(r"<[^<>]*>", "", name)
        if shorter == name:
            break
        name = shorter
    return name.partition("<")[0] or name


def _in_characters(
    data: bytes, symbols: list[Symbol], attachments: list[Span], errors: list[Span]
) -> tuple[list[Symbol], list[Span], list[Span]]:
    """Count every offset in characters, in one pass over the bytes."""
    marks = {mark for symbol in symbols for mark in symbol[:4]}
    marks.update(mark for spans in (attachments, errors) for span in spans for mark in span)
    known: dict[int, int] = {}
    at = characters = 0
    for mark in sorted(marks):
        characters += len(data[at:mark].decode("utf-8", "ignore"))
        known[mark] = characters
        at = mark
    return (
        [
            Symbol(known[start], known[own_start], known[end], known[head_end], name, kind, scope, part)
            for start, own_start, end, head_end, name, kind, scope, part in symbols
        ],
        [(known[start], known[end]) for start, end in attachments],
        [(known[start], known[end]) for start, end in errors],
    )  # fmt: skip


def _trim(text: str, start: int, end: int) -> int:
    """Leave out the line end that some grammars count to a node."""
    while end > start and text[end - 1].isspace():
        end -= 1
    return end


def _trimmed(text: str, symbol: Symbol) -> Symbol:
    end = _trim(text, symbol.own_start, symbol.end)
    return symbol._replace(end=end, head_end=min(end, symbol.head_end))
