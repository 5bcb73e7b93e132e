"""Select the subtrees to run the definition query on, skipping the bodies of small functions.

A definition inside a function is left out by the tiling unless the function is too large for a chunk; most of a source
lies inside functions. Reads node types and sizes only; does not import tree-sitter.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ragcli.config.options import Limits

if TYPE_CHECKING:
    from tree_sitter import Node

ANY_DEPTH = (1 << 32) - 1


class _Shape(NamedTuple):
    """Node types of a grammar: what wraps a definition (with the field it is in), what has a body of definitions, what
    has one of statements, and what holds no definition. Any other type may hold some anywhere."""

    wrapper: str
    wrapped: str
    classes: frozenset[str]
    functions: frozenset[str]
    simple: frozenset[str]


_SHAPES = {
    "python": _Shape(
        "decorated_definition",
        "definition",
        frozenset(("class_definition",)),
        frozenset(("function_definition",)),
        frozenset((
            "comment", "expression_statement", "import_statement", "import_from_statement", "future_import_statement",
            "assert_statement", "pass_statement", "return_statement", "delete_statement", "raise_statement",
            "global_statement", "nonlocal_statement", "type_alias_statement",
        )),
    )
}  # fmt: skip


def places(root: "Node", language: str, limits: Limits) -> Iterator[tuple["Node", int]]:
    """Nodes to query, and how deep below each a match may begin. A definition may be found more than once."""
    shape = _SHAPES.get(language)
    if shape is None or root.has_error:
        yield root, ANY_DEPTH
        return
    stack = [root]
    while stack:
        block = stack.pop()
        yield block, 1
        for child in block.children:
            kind = child.type
            if kind in shape.simple:
                continue
            node: Node | None = child
            if kind == shape.wrapper:
                node = child.child_by_field_name(shape.wrapped)
                kind = "" if node is None else node.type
            body = None if node is None else node.child_by_field_name("body")
            if node is not None and body is not None and kind in shape.classes:
                yield node, 1  # comments between its head and its body
                stack.append(body)
            elif body is None or kind not in shape.functions or _is_large(child, limits):
                yield child, ANY_DEPTH


def _is_large(node: "Node", limits: Limits) -> bool:
    # A line more, since a node may end where a line begins.
    lines = node.end_point.row - node.start_point.row + 2
    return lines > limits.max_chunk_lines or node.end_byte - node.start_byte > limits.max_chunk_bytes
