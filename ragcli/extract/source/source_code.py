"""Source code to symbol blocks: tree-sitter where a grammar is installed, else the structural adapter, else lines.

Says which of the three read the file and why (`parser`, `fallback`, `fallback_reason`); never fails over what the code
looks like, since every text can be tiled with lines.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ragcli.config.options import MIB, Limits
from ragcli.documents import Block, ExtractionContext, NormalizedDocument
from ragcli.extract.decode import read_text
from ragcli.extract.source.languages import grammar_for, language_for, language_named
from ragcli.extract.source.structural import read_structure
from ragcli.extract.source.symbol_blocks import Span, Symbol, blocks_of
from ragcli.extract.text import bounded_blocks, line_starts
from ragcli.model import DocumentFormat, Scalar

MAX_PARSED_BYTES = 2 * MIB  # a tree takes some 30 times the file's size in memory
LOOSE_CHARS = 2_000  # code of no symbol is cut to chunks of about this size
REPAIR_LINES = 3  # an unparsed stretch from this height may hide definitions


class _Outline(NamedTuple):
    """What one adapter made of a text."""

    symbols: list[Symbol]
    attachments: list[Span]
    cuts: Callable[[], list[int]]  # where statements begin; asked only where a block is too large
    parser: str
    reason: str = ""


class SourceCodeContentExtractor:
    """Splits source code at its symbols."""

    id = "source"
    version = "2"
    formats = frozenset({DocumentFormat.SOURCE_CODE})

    def extract(self, raw: bytes, context: ExtractionContext) -> NormalizedDocument:
        """Tile the decoded text with symbol blocks; the language is the hint's, else detected."""
        text, encoding = read_text(raw, context)
        language = language_named(context.language_hint) or language_for(context.uri, text)
        lines = line_starts(text)
        outline = _outline(text, lines, language, context)
        blocks = blocks_of(text, outline.symbols, outline.attachments, lines, language, context.limits)
        if not outline.symbols and outline.parser == "structural":
            outline = outline._replace(parser="generic")
        metadata: dict[str, Scalar] = {
            "language": language,
            "parser": outline.parser,
            "fallback": outline.parser != "tree-sitter",
        }
        if outline.reason:
            metadata["fallback_reason"] = outline.reason
        if encoding.lower() not in ("utf-8", "ascii"):
            metadata["encoding"] = encoding
        fitted = _fitted(text, blocks, outline, lines, context.limits)
        return NormalizedDocument(text, tuple(fitted), DocumentFormat.SOURCE_CODE, language, metadata)


def _outline(text: str, lines: Sequence[int], language: str, context: ExtractionContext) -> _Outline:
    reason = "grammar-unavailable"
    grammar = grammar_for(language, context.uri)
    if grammar and len(text) > MAX_PARSED_BYTES:
        reason = "too-large"
    elif grammar:
        parsed = _parsed(text, lines, language, grammar, context.limits)
        if isinstance(parsed, _Outline):
            return parsed
        reason = parsed
    symbols, attachments = read_structure(text, lines, language)
    if not symbols and reason == "grammar-unavailable":
        reason = "no-symbols"
    return _Outline(symbols, attachments, list, "structural", reason)


def _parsed(text: str, lines: Sequence[int], language: str, grammar: str, limits: Limits) -> _Outline | str:
    """Read the text with tree-sitter; the reason why not where that fails."""
    from ragcli.extract.source import symbols as tree
    from ragcli.extract.source.bounded_parse import ParseTimeoutError

    try:
        reading = tree.read_symbols(text, language, grammar, limits)
    except tree.GrammarUnavailableError:
        return "grammar-unavailable"
    except ParseTimeoutError:
        return "timeout"
    found, attachments = reading.symbols, reading.attachments
    broken = [span for span in reading.errors if _height(span, lines) >= REPAIR_LINES]
    if broken:
        guessed, guessed_attachments = read_structure(text, lines, language)
        if guessed and not found:
            return "parse-failed"
        found = found + _repaired(guessed, found, broken)
        attachments = attachments or guessed_attachments

    def cuts() -> list[int]:
        return tree.statement_cuts(reading.tree, text, lines, limits.max_chunk_lines, limits.max_chunk_bytes)

    return _Outline(found, attachments, cuts, "tree-sitter")


def _repaired(guessed: Sequence[Symbol], found: Sequence[Symbol], broken: Sequence[Span]) -> list[Symbol]:
    """Keep the guessed symbols that lie in an unparsed stretch and touch nothing that was parsed."""
    taken = sorted((symbol.own_start, symbol.end) for symbol in found)
    starts = [start for start, _ in taken]
    kept = []
    for symbol in guessed:
        inside = any(start <= symbol.own_start < end for start, end in broken)
        at = bisect_left(starts, symbol.own_start)
        clear = (at == len(taken) or starts[at] >= symbol.end) and (at == 0 or taken[at - 1][1] <= symbol.own_start)
        if inside and clear:
            kept.append(symbol)
    return kept


def _height(span: Span, lines: Sequence[int]) -> int:
    return bisect_right(lines, span[1]) - bisect_right(lines, span[0]) + 1


def _fitted(text: str, blocks: list[Block], outline: _Outline, lines: Sequence[int], limits: Limits) -> list[Block]:
    """Give blocks that will be split their cuts, and part those over the block limit at a line end."""

    tallest, most_bytes = limits.max_chunk_lines, limits.max_chunk_bytes
    may_be_tall = len(lines) > tallest

    def large(start: int, end: int, mergeable: bool) -> bool:
        size = end - start
        if mergeable:
            return size > LOOSE_CHARS
        if size * 4 > most_bytes:
            return True
        return may_be_tall and size >= tallest and _height((start, end), lines) > tallest

    is_large = [large(start, end, mergeable) for start, end, _, mergeable, _ in blocks]
    if not any(is_large):
        return blocks
    cuts = outline.cuts()
    fitted: list[Block] = []
    for block, split in zip(blocks, is_large, strict=True):
        if split:
            inside = cuts[bisect_right(cuts, block.start) : bisect_left(cuts, block.end)]
            pieces = bounded_blocks(text, block._replace(cuts=tuple(inside)), limits.max_block_chars)
            fitted.extend(piece._replace(cuts=piece.cuts[piece.cuts[:1] == (piece.start,) :]) for piece in pieces)
        else:
            fitted.append(block)
    return fitted
