"""Languages are told from names and content; where tree-sitter cannot serve, the file says so and stays searchable."""

import subprocess
import sys

import pytest

from ragcli.config.options import STANDARD, STRICT, Limits
from ragcli.documents import ExtractionContext, NormalizedDocument
from ragcli.extract import registry
from ragcli.extract.source import bounded_parse as parsing
from ragcli.extract.source import symbols
from ragcli.extract.source.languages import (
    BY_NAME,
    EXTENSIONS,
    LANGUAGES,
    SHEBANGS,
    grammar_for,
    language_for,
    language_named,
)
from ragcli.model import DocumentFormat


def read(name: str, text: str, language: str = "", limits: Limits = STRICT) -> NormalizedDocument:
    context = ExtractionContext(name, DocumentFormat.SOURCE_CODE, limits, language_hint=language)
    return registry.extract(text.encode(), context)


def names(document: NormalizedDocument) -> list[str]:
    return [str(b.metadata["qualified_symbol"]) for b in document.blocks if "symbol" in b.metadata]


def reader(document: NormalizedDocument) -> tuple[object, object]:
    return document.metadata["parser"], document.metadata.get("fallback_reason")


@pytest.mark.parametrize(
    ("path", "head", "language"),
    [
        ("src/App.java", "", "java"), ("a/b.KT", "", "kotlin"), ("x.tsx", "", "typescript"),
        ("x.mjs", "", "javascript"),
        ("Rakefile", "", "ruby"), ("deep/CMakeLists.txt", "", "cmake"), ("config.py.in", "", "python"),
        ("run", "#!/usr/bin/env -S python3.11 -u\n", "python"), ("run", "#!/bin/bash -e\n", "shell"),
        ("run", "#! /usr/bin/env FOO=1 node\n", "javascript"), ("tool", "# -*- mode: ruby -*-\n", "ruby"),
        ("tool", "/* vim: set ft=cpp : */\n", "cpp"), ("page", "\n<?php echo 1;", "php"),
        ("main", "// c\npackage main\n\nimport", "go"), ("part", "/* c */\n#include <stdio.h>\n", "c"),
        ("a.h", "int f(void);\n", "c"), ("a.h", "#include <vector>\nclass A {\n};\n", "cpp"),
        ("a.h", "@interface Foo : Bar\n@end\n", "objectivec"), ("a.m", "function y = f(x)\n", "matlab"),
        ("a.C", "", "cpp"), ("a.pl", "use strict;\n", "perl"), ("README", "Read me.\n", "source"),
        ("x.unknown", "", "source"), (".gitignore", "*.py\n", "source"), (".py", "", "source"), ("", "", "source"),
    ],
)  # fmt: skip
def test_the_language_is_told_by_name_then_shebang_then_content(path, head, language):
    assert language_for(path, head) == language


def test_a_hint_beats_the_extension_and_an_unknown_hint_counts_for_nothing():
    assert read("a.txt", "def f(): pass\n", language="Python").language == "python"
    assert read("a.py", "def f(): pass\n", language="klingon").language == "python"
    assert language_named("C++") == "cpp"


def test_no_extension_name_or_shebang_stands_in_two_rows():
    for column in ("extensions", "names", "shebangs"):
        words = [word for row in LANGUAGES for word in getattr(row, column).split()]
        assert len(words) == len(set(words))
    assert set(EXTENSIONS.values()) | set(SHEBANGS.values()) <= set(BY_NAME)


def test_a_dialect_has_its_own_grammar_only_within_its_language():
    assert grammar_for("typescript", "a.tsx").endswith("tsx")
    assert grammar_for("typescript", "a.ts").endswith("typescript")
    assert grammar_for("python", "a.tsx") == grammar_for("python", "a.py")
    assert grammar_for("cobol", "a.cob") == ""


def test_telling_languages_loads_no_parser():
    code = "import sys, ragcli.extract.source.languages; print(any('tree_sitter' in name for name in sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "False"


def test_a_language_without_a_grammar_takes_the_structural_adapter():
    document = read("a.jl", "# adds\nfunction add(a, b)\n    a + b\nend\n\nstruct P\n    x\nend\n")

    assert reader(document) == ("structural", "grammar-unavailable")
    assert names(document) == ["add", "P"]
    assert document.text[: document.blocks[0].end].startswith("# adds\n")


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.pl", "package X;\nsub f {\n  1;\n}\n\nsub g { 2 }\n", ["f", "g"]),
        ("a.clj", "(ns x)\n\n(defn add [a b]\n  (+ a b))\n\n(defmacro m [x] x)\n", ["add", "m"]),
        ("a.proto", 'import "x";\nmessage Ship {\n  string name = 1;\n}\n\nservice Port {\n}\n', ["Ship", "Port"]),
        ("a.tf", 'resource "aws_x" "main" {\n  a = 1\n}\n\nvariable "b" {\n}\n', ["aws_x.main", "b"]),
        ("a.dart", "class A {\n  int f(int x) {\n    return x;\n  }\n}\n\nvoid main() {\n}\n", ["A", "A.f", "main"]),
        ("a.vb", "Public Class A\n    Public Sub F()\n    End Sub\nEnd Class\n", ["A", "A.F"]),
        ("a.ps1", "function Get-Ship {\n  1\n}\n", ["Get-Ship"]),
        ("a.r", "add <- function(a, b) {\n  a + b\n}\n", ["add"]),
        ("a.f90", "module m\ncontains\n  subroutine s(x)\n  end subroutine s\nend module m\n", ["m", "m.s"]),
        ("a.erl", "-module(x).\nadd(A, 0) -> A;\nadd(A, B) -> A + B.\n\nsub(A) -> A.\n", ["add", "sub"]),
        ("a.ml", "let add a b =\n  a + b\n\ntype Ship = int\n", ["add", "Ship"]),
        ("a.sv", "module top(input a);\n  wire b;\nendmodule\n", ["top"]),
        ("a.m", "@implementation Foo\n- (int)bar:(int)x {\n  return x;\n}\n@end\n", ["Foo", "bar"]),
        ("a.scss", ".harbour {\n  color: red;\n}\n\n@mixin wave($x) {\n}\n", [".harbour", "wave($x)"]),
        ("a.asm", "start:\n  mov a, b\n  ret\n\nloop2:\n  jmp start\n", ["start", "loop2"]),
        ("a.cob", "       IDENTIFICATION DIVISION.\n       PROGRAM-ID. ZQ.\n       MAIN-PARA.\n           STOP RUN.\n",
         ["ZQ", "MAIN-PARA"]),
    ],
)  # fmt: skip
def test_the_structural_adapter_finds_the_definitions_of_each_family(path, text, expected):
    document = read(path, text)

    assert names(document) == expected
    assert reader(document) == ("structural", "grammar-unavailable")


def test_no_symbol_by_any_pattern_is_generic():
    assert reader(read("a.cob", "       DISPLAY 'x'.\n")) == ("generic", "no-symbols")
    assert reader(read("strange.code", "nothing here\n")) == ("generic", "no-symbols")


def test_a_file_of_loose_code_that_parses_is_no_fallback():
    assert reader(read("__init__.py", "from x import y\n")) == ("tree-sitter", None)


def test_a_missing_grammar_falls_back(monkeypatch):
    monkeypatch.setitem(BY_NAME, "python", BY_NAME["python"]._replace(grammar="no_such_wheel.language"))

    document = read("a.py", "def f():\n    return 1\n")

    assert reader(document) == ("structural", "grammar-unavailable")
    assert names(document) == ["f"]


def test_one_syntax_error_does_not_cost_the_symbols_after_it():
    document = read("a.py", "import os\n\ndata = [1, 2,\n\n\ndef after():\n    return 1\n")

    assert names(document) == ["after"]
    assert reader(document) == ("structural", "parse-failed")


def test_an_unparsed_stretch_is_searched_for_definitions_by_pattern():
    good = "def a():\n    return 1\n\n\nclass B:\n    def c(self):\n        return 2\n\n\n"
    broken = "x = (((\n\n\ndef lost():\n    y = [1,\n    return 3\n"

    assert set(names(read("a.py", good + broken))) >= {"a", "B", "B.c", "lost"}


def test_half_typed_code_keeps_its_text():
    text = "class A {\n  void f() {\n    if (x \n\n  int g() { return 1; }\n"
    document = read("A.java", text)

    assert "".join(document.text[b.start : b.end] for b in document.blocks) == text


def test_a_file_over_the_parsing_cap_takes_the_structural_path():
    text = "def f():\n    return 1\n" + "x = 1\n" * 400_000
    document = read("a.py", text, limits=STANDARD)

    assert reader(document) == ("structural", "too-large")
    assert names(document) == ["f"]
    assert max(block.end - block.start for block in document.blocks) <= STANDARD.max_block_chars


def test_a_parse_that_costs_too_much_is_given_up(monkeypatch):
    monkeypatch.setattr(parsing, "BASE_STEPS", 0)
    monkeypatch.setattr(parsing, "STEPS_PER_BYTE", 0.0)

    document = read("a.py", "def f():\n    return 1\n" * 200)

    assert reader(document) == ("structural", "timeout")
    assert read("a.py", "def f():\n    return 1\n").metadata["parser"] == "tree-sitter"


def test_a_tree_that_is_slow_to_query_is_given_up():
    assert reader(read("a.py", "(" * 100_000)) == ("generic", "timeout")


def test_nonsense_that_explodes_the_parser_is_given_up():
    assert reader(read("A.java", "x=>" * 20_000))[1] == "timeout"


def test_deep_nesting_needs_no_recursion():
    text = "def f():\n    return " + "(" * 5_000 + "1" + ")" * 5_000 + "\n"

    assert "".join(symbols_text(read("a.py", text))) == text


def symbols_text(document: NormalizedDocument) -> list[str]:
    return [document.text[b.start : b.end] for b in document.blocks]


def test_a_parser_serves_again_after_it_gave_up():
    read("A.java", "x=>" * 20_000)

    assert names(read("A.java", "class A { int f() { return 1; } }\n")) == ["A", "A.f"]
    assert symbols._tools.cache_info().currsize >= 1


def test_threads_that_read_sources_at_once_do_not_share_a_parser():
    code = """
import sys, threading
from ragcli.extract.source.bounded_parse import ParseTimeoutError
from ragcli.extract.source.symbols import read_symbols
from ragcli.config.options import STRICT
sys.setswitchinterval(1e-6)
text = "".join(f"class C{n}:\\n    def f{n}(self):\\n        return {n}\\n" for n in range(400))
found = []
def read():
    for _ in range(12):
        try:
            found.append(len(read_symbols(text, "python", "tree_sitter_python.language", STRICT).symbols))
        except ParseTimeoutError:  # its last resorts count the time and memory of all threads
            pass
threads = [threading.Thread(target=read) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert set(found) == {800}, found
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
