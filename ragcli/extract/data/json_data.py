"""JSON and JSON lines: the file's own text, in blocks that know their place (an RFC 6901 pointer, a line).

No value is interpreted but for letters written as escapes. What is not strict JSON (comments, NaN, a key twice,
several documents, too deep) is read as plain text, so that nothing is lost. Values are skipped by the C scanner of the
json module, containers too large for one block are walked with a stack of our own, so that no depth ends the process.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ragcli.config.options import Limits
from ragcli.documents import Block, ExtractionContext, NormalizedDocument
from ragcli.extract.decode import read_text
from ragcli.extract.text import bounded_blocks, fallback_document, plain_document
from ragcli.model import DocumentFormat, Scalar

# Consecutive children of one parent share a block up to this size: enough neighbours to tell what a record is about.
# The brackets around them may add lines, and a chunk holds 100.
_PACK_CHARS, _PACK_LINES = 8 * 1024, 90
# Each level of large containers is scanned once more; beyond this many times the text it is no document but a bomb.
_MOST_SCANS = 32
# Values looked at one by one take some 5 µs each; a file of more is a table of numbers, where pointers say little.
_MOST_VALUES = 1_000_000
_BEHIND = {"{": "},", "[": "],", '"': '",'}
_GUESSES = 4
_MOST_INDENT = 200
_POINTER_CHARS = 1_000
# One escape, so that an escaped backslash before a u is no escape of a letter; a surrogate pair is one.
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)
_SPACE = re.compile(r"[ \t\n\r]*")
_COMMA = re.compile(r"[ \t\n\r]*,[ \t\n\r]*")
_KEY = re.compile(r'[ \t\n\r]*("[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*+")[ \t\n\r]*:[ \t\n\r]*')


class _NotStrict(ValueError):
    """The text is not one strict JSON document; the message is the reason that is shown."""


class _Place(NamedTuple):
    """A pointer; where the full one would be too long it stops at an ancestor, and so does every pointer below."""

    pointer: str
    exact: bool = True


class _Piece(NamedTuple):
    """A run of small children, or one large container, then `value` is where it opens, else -1."""

    start: int
    value: int
    place: _Place


class JsonExtractor:
    """One JSON document in blocks of whole members and elements."""

    id = "json"
    version = "2"
    formats = frozenset({DocumentFormat.JSON})

    def extract(self, raw: bytes, context: ExtractionContext) -> NormalizedDocument:
        text, encoding = _read(raw, context)
        if not text.strip():
            return plain_document(text, context, {"encoding": encoding})
        try:
            marks = _Walk(text, _pack_chars(len(text), context.limits)).marks()
        except _NotStrict as reason:
            return fallback_document(text, context, encoding, str(reason))
        except RecursionError:
            return fallback_document(text, context, encoding, "too-deep")
        except ValueError:
            return fallback_document(text, context, encoding, "invalid-json")
        blocks: list[Block] = []
        for index, (start, pointer) in enumerate(marks):
            end = marks[index + 1][0] if index + 1 < len(marks) else len(text)
            shown: dict[str, Scalar] = {"pointer": pointer} if pointer else {}
            block = Block(start, end, shown, mergeable=False)
            blocks.extend(bounded_blocks(text, block, context.limits.max_block_chars))
        return NormalizedDocument(text, tuple(blocks), DocumentFormat.JSON, metadata={"encoding": encoding})


class JsonLinesExtractor:
    """Records a line; a cut is at a line's start."""

    id = "jsonl"
    version = "2"
    formats = frozenset({DocumentFormat.JSONL})

    def extract(self, raw: bytes, context: ExtractionContext) -> NormalizedDocument:
        text, encoding = _read(raw, context)
        cuts = tuple(match.end() for match in re.finditer("\n", text))
        blocks = tuple(bounded_blocks(text, Block(0, len(text), {}, True, cuts), context.limits.max_block_chars))
        return NormalizedDocument(text, blocks, DocumentFormat.JSONL, metadata={"encoding": encoding})


def _read(raw: bytes, context: ExtractionContext) -> tuple[str, str]:
    """Return text and encoding; letters written as \\u escapes become letters, so that a search for them finds them."""
    text, encoding = read_text(raw, context)
    return (_ESCAPE.sub(_letter, text) if "\\u" in text else text), encoding


def _letter(match: re.Match[str]) -> str:
    """Return the printable character beyond ASCII that an escape stands for; any other escape stays."""
    escape = match[0]
    if len(escape) < 6 or int(escape[2:6], 16) <= 0xA0:
        return escape
    char = chr(int(escape[2:6], 16)) if len(escape) == 6 else str(json.loads(f'"{escape}"'))
    return char if char.isprintable() else escape


class _Walk:
    """Splits one document into runs of children; a block begins at a mark and ends at the next."""

    def __init__(self, text: str, pack_chars: int) -> None:
        self._text = text
        self._pack_chars = pack_chars
        self._scans_left, self._values_left = _MOST_SCANS * len(text), _MOST_VALUES
        self._closed = 0  # behind the bracket that was closed last
        self._decoder = json.JSONDecoder(
            object_pairs_hook=_distinct, parse_int=str, parse_float=str, parse_constant=_refuse_constant
        )

    def marks(self) -> list[tuple[int, str]]:
        """Return where each block begins and the pointer of what it holds, in order, the first at 0."""
        text, start = self._text, self._space(0)
        if self._small(0, len(text)) or text[start] not in "{[":
            marks = [(0, "")]
            self._closed = self._skip(start)
        else:
            marks = self._walk(start)
        if self._space(self._closed) != len(text):
            raise _NotStrict("several-documents")
        return marks

    def _walk(self, start: int) -> list[tuple[int, str]]:
        """Make a block of each run; the brackets of large containers go with what is next to them."""
        marks: list[tuple[int, str]] = []
        stack = [self._pieces(start, _Place(""))]
        begin = 0
        while stack:
            piece = next(stack[-1], None)
            if piece is None:
                stack.pop()
                continue
            begin = self._line_start(piece.start) if begin < 0 else begin
            if piece.value >= 0:
                stack.append(self._pieces(piece.value, piece.place))
            else:
                marks.append((begin, piece.place.pointer))
                begin = -1
        return marks

    def _pieces(self, at: int, parent: _Place) -> Iterator[_Piece]:
        """Yield the runs and large containers inside the container that opens at `at`, in order."""
        text, is_object = self._text, self._text[at] == "{"
        keys: set[str] = set()
        count, run, run_key, run_length, leaping = 0, -1, "", 0, True
        at = self._space(at + 1)
        while count or not text.startswith("}" if is_object else "]", at):
            start, key = at, str(count)
            if is_object:
                at, key = self._key(at, keys)
            elif leaping and run < 0:
                leap, length = self._leap(at)
                leaping = length > 0
                if leaping:
                    yield _Piece(start, -1, parent if length > 1 else _below(parent, key))
                    count, at = count + length, self._space(leap)
                    continue
            end = self._skip(at)
            if run >= 0 and not self._small(run, end):
                yield _Piece(run, -1, parent if run_length > 1 else _below(parent, run_key))
                run = -1
            if run < 0 and text[at] in "{[" and not self._small(at, end):
                yield _Piece(start, at, _below(parent, key))
            elif run < 0:
                run, run_key, run_length = start, key, 1
            else:
                run_length += 1
            count += 1
            comma = _COMMA.match(text, end)
            if comma is None:
                at = self._space(end)
                break
            at = comma.end()
        if not text.startswith("}" if is_object else "]", at):
            raise ValueError("neither comma nor closing bracket")
        if run >= 0:
            yield _Piece(run, -1, parent if run_length > 1 else _below(parent, run_key))
        self._closed = at + 1

    def _leap(self, at: int) -> tuple[int, int]:
        """Take a run of elements on one line at once: return where the next one begins and how many they are, or 0.

        An array of millions of numbers or points would take minutes one by one. The comma to leap to is guessed, and
        the guess is checked by decoding what lies before it.
        """
        text, stop = self._text, at + self._pack_chars
        behind = _BEHIND.get(text[at : at + 1], ",")
        if "\n" in text[at:stop]:
            return at, 0
        for _ in range(_GUESSES):
            stop = text.rfind(behind, at, stop)
            if stop < 0:
                break
            comma = stop + len(behind) - 1
            try:
                return comma + 1, len(self._decoder.decode(f"[{text[at:comma]}]"))
            except (ValueError, RecursionError):
                continue  # inside a value, or not strict; the latter is met again one by one
        return at, 0

    def _key(self, at: int, keys: set[str]) -> tuple[int, str]:
        """Read a key that is none of `keys` yet; return where its value begins, and the key."""
        match = _KEY.match(self._text, at)
        if match is None:
            raise ValueError("no key")
        key = str(json.loads(match[1]))
        if key in keys:
            raise _NotStrict("duplicate-key")
        keys.add(key)
        return match.end(), key

    def _line_start(self, at: int) -> int:
        """Return the start of the line where `at` is the first thing in it, else `at`."""
        start = self._text.rfind("\n", max(0, at - _MOST_INDENT), at) + 1
        return start if start and not self._text[start:at].strip(" \t") else at

    def _skip(self, at: int) -> int:
        """Return where the value at `at` ends, after checking all of it."""
        end = self._decoder.raw_decode(self._text, at)[1]
        self._scans_left -= end - at
        self._values_left -= 1
        if self._scans_left < 0 or self._values_left < 0:
            raise _NotStrict("too-deep" if self._scans_left < 0 else "too-many-values")
        return end

    def _space(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        return match.end() if match else at

    def _small(self, start: int, end: int) -> bool:
        return end - start <= self._pack_chars and self._text.count("\n", start, end) < _PACK_LINES


def _pack_chars(size: int, limits: Limits) -> int:
    """Return the size of a block: larger than wanted only where a document would have too many chunks else."""
    most = limits.max_chunk_bytes * 9 // 10
    return max(1, min(most, max(_PACK_CHARS, size * 5 // 4 // limits.max_chunks)))


def _below(parent: _Place, key: str) -> _Place:
    if not parent.exact:
        return parent
    pointer = f"{parent.pointer}/{key.replace('~', '~0').replace('/', '~1')}"
    return _Place(pointer) if len(pointer) <= _POINTER_CHARS else _Place(parent.pointer, exact=False)


def _distinct(pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) != len(pairs):
        raise _NotStrict("duplicate-key")


def _refuse_constant(name: str) -> None:
    raise _NotStrict("not-a-number")
