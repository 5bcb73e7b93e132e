"""Find definitions by line patterns, for languages without a grammar and files that a grammar cannot read.

One pattern row a language family, linear time, no nesting deeper than indentation shows; a definition ends where the
indentation does. What it finds is a good guess, never the reason for losing text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ragcli.extract.source.languages import BY_NAME
from ragcli.extract.source.symbol_blocks import Span, Symbol

LINE_CHARS = 400  # a definition's name stands in the first of them; longer lines are data or minified
COMMENT_CHARS = 8_000

_MODIFIERS = (
    "export|default|declare|public|private|protected|internal|static|abstract|final|sealed|open|override|async|const"
    "|unsafe|extern|inline|virtual|partial|readonly|pub|mut|data|inner|suspend|operator|infix|tailrec|inout|local|global"
    "|shared|external|payable|view|pure|cdef|cpdef|multi|base|macro|noncomputable|friend|overloads|shadows|recursive"
    "|elemental|module|automatic|virtual|typedef|case|implicit|lazy|actual|expect|fileprivate|mutating|indirect|required"
)
_WORDS = (
    "def|defp|defmodule|defmacro|defprotocol|defimpl|fn|func|fun|function|sub|proc|method|macro|class|struct|interface"
    "|trait|enum|module|namespace|object|protocol|type|impl|record|union|extension|contract|library|event|modifier|role"
    "|actor|mixin|iterator|template|abstract type|mutable struct|classdef|grammar|test|message|service|annotation"
)
_AFTER = r"(?=[ \t]*(?:[(<:{=\[;,|?\n]|->|\Z|(?:extends|implements|inherits|is|where|do|with|for|returns?|of|in)\b))"
_KEYWORD = (
    rf"^[ \t]*(?:(?:{_MODIFIERS})[ \t]+){{0,6}}(?P<word>{_WORDS})(?:[ \t]+|[ \t]*<[^>\n]{{0,80}}>[ \t]*)"
    rf"(?P<name>[A-Za-z_$][\w$.:!?-]{{0,120}}){_AFTER}"
)
_NOT_A_HEAD = r"(?![ \t]*(?:if|else|for|foreach|while|switch|return|do|case|throw|new|delete|catch|using|lock|goto|await|yield|assert|sizeof|typeof|import|package|include|define)\b)"  # noqa: E501
_C_HEAD = (
    rf"^{_NOT_A_HEAD}[ \t]*(?:[\w:<>,.~@\[\]]{{1,80}}[ \t*&]+){{1,8}}(?P<bare>~?\w[\w:~]{{0,120}})[ \t]*"
    r"\([^;\n{=]{0,300}(?:\{|\n|\Z)"
    rf"|^(?P<bare2>\w{{1,80}}::~?\w[\w:~]{{0,120}})[ \t]*\([^;\n{{]{{0,300}}(?:\{{|\n|\Z)"
)
_SCRIPT = (
    r"|^[ \t]*(?:export[ \t]+)?(?:const|let|var)[ \t]+(?P<bare>[\w$]{1,120})[ \t]*(?::[^=\n]{0,120})?=[ \t]*"
    r"(?:async[ \t]*)?(?:function\b|\([^()\n]{0,200}\)[ \t]*(?::[^=\n]{0,80})?=>|\w+[ \t]*=>)"
    rf"|^{_NOT_A_HEAD}[ \t]+(?:(?:async|static|get|set|public|private|protected|readonly|function)[ \t]+){{0,4}}"
    r"(?P<bare2>[\w$#]{1,120})[ \t]*\([^;\n]{0,300}\)[^;\n(]{0,80}\{[ \t]*$"
)
_BASIC_WORDS = "function|procedure|subroutine|sub|program|module|class|structure|type|interface|property|package|task|constructor|destructor|enum|namespace"  # noqa: E501
_CASED, _ANY_CASE = re.MULTILINE, re.MULTILINE | re.IGNORECASE


class _Family(NamedTuple):
    """A row of patterns. Groups: `name` with its `word`, or a `bare` name of kind `bare_kind`; `scope` a receiver.

    `flat` definitions reach to the next one, others as far as the indentation; `part` merges neighbours of one name.
    """

    pattern: re.Pattern[str]
    bare_kind: str = "function"
    flat: bool = False
    part: bool = False


def _family(*alternatives: str, flags: int = _CASED, **more: object) -> _Family:
    return _Family(re.compile("|".join(alternatives), flags), **more)  # type: ignore[arg-type]


_FAMILIES: Mapping[str, _Family] = {
    "keyword": _family(_KEYWORD),
    "c": _family(_KEYWORD, _C_HEAD),
    "script": _family(_KEYWORD + _SCRIPT),
    "go": _family(
        r"^(?P<word>func)[ \t]+(?:\([ \t]*(?:\w+[ \t]+)?\*?(?P<scope>\w+)[^)\n]*\)[ \t]*)?(?P<name>\w+)[ \t]*[\[(]",
        r"^type[ \t]+(?P<bare>\w+)\b",
        bare_kind="type",
    ),
    "objc": _family(
        r"^@(?P<word>interface|implementation|protocol)[ \t]+(?P<name>\w+)(?![^\n]*;)",
        r"^[-+][ \t]*\([^)\n]{0,200}\)[ \t]*(?P<bare3>\w+)",
        _KEYWORD.replace("(?P<word>", "(?P<word2>").replace("(?P<name>", "(?P<name2>"),
        _C_HEAD,
    ),
    "shell": _family(
        r"^[ \t]*(?P<word>function)[ \t]+(?P<name>[\w:.-]{1,120})", r"^[ \t]*(?P<bare>[\w:.-]{1,120})[ \t]*\([ \t]*\)"
    ),
    "lisp": _family(
        r"^\((?P<word>def[\w*/!:-]{0,40}|define[\w*-]{0,40}|module|func|export)[ \t]+"
        r"(?:\^\S+[ \t]+)?\(?(?P<name>[^\s()\[\]\"';]{1,120})"
    ),
    "erlang": _family(r"^(?P<bare>[a-z]\w{0,120})\([^\n]{0,300}?(?:->|:-|-->|\.[ \t]*$)", part=True),
    "equation": _family(
        r"^[ \t]*(?P<word>type|data|newtype|class|instance|module|trait)[ \t]+(?:rec[ \t]+|type[ \t]+)?"
        r"(?P<name>[A-Z]\w{0,120})",
        r"^(?:(?:let|and|val|pub|inline|rec|member)[ \t]+){1,4}(?P<bare>[a-z_]\w{0,120}'*)",
        r"^(?!(?:module|import|where|else|then|in|open|infix[lr]?|type|data|class|instance|deriving)\b)"
        r"(?P<bare2>[a-z_]\w{0,120}'*)(?=[ \t][^\n=]{0,200}=|[ \t]*::?[^\n]{1,200}|[ \t]*=[^=])",
        part=True,
    ),
    "assign": _family(r"^[ \t]*(?P<bare>[\w.]{1,120})[ \t]*(?:<-|<<-|=)[ \t]*function\b"),
    "schema": _family(
        r"^[ \t]*(?:extend[ \t]+)?(?P<word>message|service|enum|type|input|interface|union|scalar|resource|data|module"
        r"|variable|output|provider|struct|exception|model|record|table|param|root_type|directive|query|mutation"
        r"|fragment|subscription|protocol)[ \t]+[\"@]?(?P<scope>[\w.-]+(?=\"[ \t]+\"))?(?:\"[ \t]+\")?"
        r"(?P<name>[\w.-]{1,120})"
    ),
    "call": _family(r"^[ \t]*(?P<word>function|macro)[ \t]*\([ \t]*(?P<name>[\w${}]{1,120})", flags=_ANY_CASE),
    "basic": _family(
        rf"^[ \t]*(?:(?:{_MODIFIERS}|real|integer|logical|character|double precision|type)[ \t]+){{0,5}}"
        rf"(?P<word>{_BASIC_WORDS})[ \t]+(?:body[ \t]+)?(?P<name>[A-Za-z_][\w.]{{0,120}})",
        r"^[ \t]*(?P<bare>[A-Za-z_]\w{0,120})[ \t]*=[ \t]*(?:class|record|interface)\b",
        flags=_ANY_CASE,
        bare_kind="class",
    ),
    "cobol": _family(
        r"^.{0,6}[ \t]+PROGRAM-ID\.[ \t]+(?P<bare>[\w-]{1,60})",
        r"^(?:.{6} |[ \t]{0,3})(?!END-|EXIT|STOP|GOBACK)(?P<bare2>[A-Z0-9][\w-]{0,60})(?:[ \t]+SECTION)?\.[ \t]*$",
        flags=_ANY_CASE,
        bare_kind="paragraph",
        flat=True,
    ),
    "label": _family(
        r"^(?P<bare>[A-Za-z_@?][\w$@?.]{0,120}):(?!=)",
        r"^:(?P<bare2>[A-Za-z]\w{0,120})",
        r"^(?P<bare3>\w{1,120})[ \t]+proc\b",
        flags=_ANY_CASE,
        bare_kind="label",
        flat=True,
    ),
    "hardware": _family(
        r"^[ \t]*(?P<word>module|entity|architecture|package|function|task|interface|class|primitive|program|component)"
        r"[ \t]+(?:automatic[ \t]+|body[ \t]+|static[ \t]+)?(?P<name>[A-Za-z_]\w{0,120})",
        flags=_ANY_CASE,
    ),
    "css": _family(
        r"^[ \t]*@(?P<word>mixin|function|media|keyframes|supports|include|layer)[ \t]+(?P<name>[^{};\n]{1,120})",
        r"^[ \t]*(?P<bare>[.#&:\[\w*>+~%-][^{};\n]{0,160})\{",
        bare_kind="rule",
    ),
    "sql": _family(
        r"^[ \t]*create[ \t]+(?:or[ \t]+replace[ \t]+|global[ \t]+|temp(?:orary)?[ \t]+|unique[ \t]+|materialized[ \t]+"
        r"|definer[^\n ]{0,80}[ \t]+){0,4}(?P<word>table|view|function|procedure|trigger|index|type|schema|package)"
        r"[ \t]+(?:if[ \t]+not[ \t]+exists[ \t]+|body[ \t]+|concurrently[ \t]+){0,2}(?P<name>[\w.\"`\[\]]{1,160})",
        flags=_ANY_CASE,
        flat=True,
    ),
}
_KINDS: Mapping[str, str] = {
    **dict.fromkeys(("def", "defp", "fn", "func", "fun", "sub", "proc", "procedure", "subroutine"), "function"),
    **dict.fromkeys(("defun", "define", "defn", "defn-", "defmethod", "defgeneric", "iterator", "task"), "function"),
    **dict.fromkeys(("macro", "defmacro", "define-syntax", "template"), "macro"),
    **dict.fromkeys(("defmodule", "module", "package", "library"), "module"),
    **dict.fromkeys(("classdef", "role", "contract", "implementation", "defclass", "service"), "class"),
    **dict.fromkeys(("struct", "structure", "mutable struct", "defstruct", "defrecord", "message", "model"), "struct"),
    **dict.fromkeys(("defvar", "defparameter", "defconst", "defconstant", "defcustom"), "variable"),
    **dict.fromkeys(("test", "deftest", "ert-deftest"), "test"),
    **dict.fromkeys(("method", "constructor", "destructor"), "method"),
    **dict.fromkeys(("data", "newtype", "abstract type"), "type"),
    "defprotocol": "protocol", "defimpl": "impl", "instance": "impl", "mixin": "mixin", "impl": "impl",
}  # fmt: skip
_CLOSER = re.compile(r"[)\]}]|@end\b|\$\$|end|loop\b|return\b(?=.{0,3}$)|--\}", re.IGNORECASE)
_OPENER = re.compile(r"\{|\(|begin\b|contains\b|var\b|const\b|label\b|is\b|as\b|where\b|#", re.IGNORECASE)
_OPENS = ("{", "(", "[", ":", "=", "=>", "->", " do", " then", " begin")
_INDENT = re.compile(r"^([ \t]*)(?=[^\s])", re.MULTILINE)
_PAIRS = (("/*", "*/"), ("(*", "*)"), ("{-", "-}"), ("<!--", "-->"), ("<#", "#>"), ("{", "}"), ("(:", ":)"))
_BLOCKS: Mapping[str, str] = {
    mark: rf"{re.escape(mark)}(?s:.{{0,{COMMENT_CHARS}}}?){re.escape(close)}" for mark, close in _PAIRS
}


def read_structure(text: str, lines: Sequence[int], language: str) -> tuple[list[Symbol], list[Span]]:
    """Return the definitions that the language's pattern row finds, and the comments and attributes to attach."""
    row = BY_NAME.get(language)
    family = _FAMILIES[row.family if row is not None else "keyword"]
    heads = list(_heads(text, family))
    if not heads:
        return [], []
    ends = _flat_ends(text, heads) if family.flat else _ends(text, heads)
    symbols = [
        Symbol(head.start, head.start, end, _head_end(text, head, end), head.name, head.kind, head.scope, family.part)
        for head, end in zip(heads, ends, strict=True)
    ]
    return symbols, _attachments(text, row.comment if row is not None else "// # /*")


class _Head(NamedTuple):
    line: int  # offset of its line's start
    start: int
    name: str
    kind: str
    scope: str


def _heads(text: str, family: _Family) -> Iterator[_Head]:
    last = -1
    for found in family.pattern.finditer(text):
        groups = found.groupdict()
        name = groups.get("name") or groups.get("name2")
        if name:
            word = " ".join((groups.get("word") or groups.get("word2") or "").lower().split())
            kind = _KINDS.get(word, word or "function")
        else:
            name = next(value for key, value in groups.items() if key.startswith("bare") and value)
            kind = family.bare_kind if groups.get("bare3") is None else "method"
        line = found.start()
        if line > last:
            last = line
            start = line + len(found[0]) - len(found[0].lstrip(" \t"))
            clean = name.strip(' "`[]{').rstrip(".:").replace("::", ".")
            yield _Head(line, start, clean, kind, groups.get("scope") or "")


def _head_end(text: str, head: _Head, end: int) -> int:
    newline = text.find("\n", head.start, end)
    stop = min(newline if newline >= 0 else end, head.start + LINE_CHARS)
    brace = text.find("{", head.start, stop)
    return brace if brace > head.start else stop


def _flat_ends(text: str, heads: Sequence[_Head]) -> list[int]:
    borders = [head.line for head in heads[1:]] + [len(text)]
    return [max(head.start + 1, len(text[head.start : end].rstrip()) + head.start)
            for head, end in zip(heads, borders, strict=True)]  # fmt: skip


def _ends(text: str, heads: Sequence[_Head]) -> list[int]:
    """Find where each definition's indentation ends, in one pass over the lines."""
    ends = [len(text.rstrip())] * len(heads)
    stack: list[tuple[int, int]] = []  # (indentation, index)
    upcoming, last = 0, 0
    for found in _INDENT.finditer(text):
        indent = len(found[1].expandtabs(8)) if "\t" in found[1] else len(found[1])
        start = found.end()
        newline = text.find("\n", start)
        stop = newline if newline >= 0 else len(text)
        is_head = upcoming < len(heads) and heads[upcoming].line == found.start()
        while stack and indent <= stack[-1][0]:
            line = text[start : min(stop, start + LINE_CHARS)].rstrip()
            if not is_head and indent == stack[-1][0]:
                if _OPENER.match(line) or (_CLOSER.match(line) and line.endswith(_OPENS)):
                    break
                if _CLOSER.match(line):
                    ends[stack.pop()[1]] = stop
                    break
            ends[stack.pop()[1]] = last
        if is_head:
            stack.append((indent, upcoming))
            upcoming += 1
        last = stop
    return [max(end, head.start + 1) for end, head in zip(ends, heads, strict=True)]


def _attachments(text: str, comment: str) -> list[Span]:
    marks = comment.split()
    singles = "|".join(re.escape(mark) for mark in marks if mark not in _BLOCKS)
    lines = rf"[ \t]*(?:@\w|\[\w|#\[|template[ \t]*<{'|' + singles if singles else ''})[^\n]*"
    blocks = [_BLOCKS[mark] for mark in marks if mark in _BLOCKS]
    pattern = re.compile("|".join(f"^[ \\t]*{block}" for block in blocks) + ("|" if blocks else "") + f"^{lines}", re.M)
    return [(found.end() - len(found[0].lstrip()), found.end()) for found in pattern.finditer(text)]
