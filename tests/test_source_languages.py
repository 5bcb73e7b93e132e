"""Each language's sample file splits at its symbols as its outline, read and approved by eye, says.

`python -m tests.test_source_languages` writes the outlines anew; read the difference before you commit it.
"""

from pathlib import Path

import pytest

from ragcli.config.options import STRICT
from ragcli.documents import ExtractionContext, NormalizedDocument
from ragcli.extract import registry
from ragcli.extract.source.languages import LANGUAGES, grammar_for, language_for
from ragcli.model import DocumentFormat

SAMPLES = Path(__file__).parent / "samples" / "source"
FILES = sorted(path for path in SAMPLES.iterdir() if path.suffix != ".outline")


def read(name: str, text: str, language: str = "") -> NormalizedDocument:
    context = ExtractionContext(name, DocumentFormat.SOURCE_CODE, STRICT, language_hint=language)
    return registry.extract(text.encode(), context)


def outline(document: NormalizedDocument) -> str:
    """One line a block: its lines, kind, qualified name, the symbol's own lines, signature or first line of text."""
    rows = []
    for block in document.blocks:
        text = document.text[block.start : block.end]
        first = document.text.count("\n", 0, block.start) + 1
        last = document.text.count("\n", 0, block.start + len(text.rstrip())) + 1
        data = block.metadata
        if "symbol" in data:
            own = f"{data['symbol_start_line']}-{data['symbol_end_line']}"
            rows.append(f"{first}-{last} {data['kind']} {data['qualified_symbol']} [{own}] {data['signature']}")
        else:
            rows.append(f"{first}-{last} - {text.strip().splitlines()[0]}")
    return "\n".join([f"{document.language} {document.metadata['parser']}", *rows, ""])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_sample_splits_at_its_symbols(path):
    document = read(path.name, path.read_text())

    assert outline(document) == path.with_name(path.name + ".outline").read_text()


def test_every_language_with_a_grammar_has_a_sample_that_its_grammar_reads():
    read_by_grammar = {read(path.name, path.read_text()).language for path in FILES if grammar_for_path(path)}

    assert {row.name for row in LANGUAGES if row.grammar and not row.query} <= read_by_grammar


def grammar_for_path(path: Path) -> str:
    text = path.read_text()
    return grammar_for(language_for(path.name, text), path.name)


def symbols(document: NormalizedDocument) -> dict[str, str]:
    """Qualified names and the text of their first block."""
    found: dict[str, str] = {}
    for block in document.blocks:
        if "symbol" in block.metadata:
            found.setdefault(str(block.metadata["qualified_symbol"]), document.text[block.start : block.end])
    return found


def test_doc_comments_decorators_and_annotations_belong_to_the_symbol_below():
    python = symbols(read("a.py", "import x\n# about f\n@route('/')\n@cached\ndef f():\n    pass\n"))
    java = symbols(read("A.java", "class A {\n  /** doc */\n  @Override\n  int f() { return 1; }\n}\n"))
    rust = symbols(read("a.rs", "use x;\n/// doc\n#[inline]\nfn f() {}\n"))

    assert python["f"].startswith("# about f\n@route")
    assert java["A.f"].startswith("  /** doc */\n  @Override\n")
    assert rust["f"].startswith("/// doc\n#[inline]\n")


def test_a_comment_apart_by_a_blank_line_or_behind_code_is_not_a_doc_comment():
    document = read("a.py", "# license\n\ndef f():\n    pass\nx = 1  # about x\ndef g():\n    pass\n")

    assert symbols(document)["f"].startswith("def f")
    assert symbols(document)["g"].startswith("def g")


def test_a_javadoc_comment_may_stand_apart_by_one_blank_line_and_no_more():
    near = symbols(read("A.java", "import x;\n\n/** doc */\n\nclass A {\n}\n"))
    far = symbols(read("A.java", "import x;\n\n/** doc */\n\n\nclass A {\n}\n"))

    assert near["A"].startswith("/** doc */\n\nclass A")
    assert far["A"].startswith("class A")


def test_symbols_that_share_a_line_are_cut_between_them():
    found = symbols(read("a.js", "function a() { return 1; } function b() { return 2; }\n"))

    assert found == {"a": "function a() { return 1; }", "b": " function b() { return 2; }\n"}


def test_a_macro_before_a_definition_and_one_that_makes_a_definition():
    before = symbols(read("a.c", "API(2) int\nf(void)\n{\n}\n"))
    call = symbols(read("a.c", "SYSCALL_DEFINE2(open, int, a)\n{\n}\n\nTEST(A, b) {\n  return;\n}\n"))
    typed = symbols(read("a.cc", "class EXPORT_API Port {\n  int f() { return 1; }\n};\n"))

    assert before["f"].startswith("API(2) int")
    assert list(call) == ["open", "A.b"]
    assert list(typed) == ["Port", "Port.f"]


def test_columns_of_text_beyond_ascii_are_characters():
    text = "# → — π 🦊\ndef öffnen(x):\n    return 'π🦊'\n\n\ndef 计算(y):\n    return 'é'\n"
    found = symbols(read("a.py", text))

    assert list(found) == ["öffnen", "计算"]
    assert found["计算"] == "def 计算(y):\n    return 'é'\n"


def test_a_byte_order_mark_is_no_part_of_a_name():
    document = registry.extract(
        b"\xef\xbb\xbfdef f():\r\n    pass\r\n", ExtractionContext("a.py", DocumentFormat.SOURCE_CODE, STRICT)
    )

    assert symbols(document) == {"f": "def f():\n    pass\n"}


def test_a_function_inside_a_function_is_a_unit_only_where_the_outer_one_needs_splitting():
    inner = "    def inner():\n" + "        x = 1\n" * 10
    small = read("a.py", "def outer():\n" + inner)
    large = read("a.py", "def outer():\n" + inner + "    y = 2\n" * 100)

    assert list(symbols(small)) == ["outer"]
    assert list(symbols(large)) == ["outer", "outer.inner"]


def test_a_symbol_over_the_limits_is_one_block_with_cuts_at_its_statements():
    statements = "".join(f"    # about {n}\n    call(\n        {n},\n    )\n" for n in range(60))
    document = read("a.py", "def long():\n" + statements)
    (block,) = document.blocks

    assert block.metadata["symbol"] == "long"
    assert len(block.cuts) == 60
    assert all(document.text.startswith("    # about", cut) for cut in block.cuts)


def test_loose_code_has_no_symbol_and_may_merge_and_symbols_may_not():
    document = read("a.py", "import a\nX = 1\ndef f():\n    pass\nmain()\n")

    assert [("symbol" in block.metadata, block.mergeable) for block in document.blocks] == [
        (False, True), (True, False), (False, True),
    ]  # fmt: skip


def test_no_block_is_made_of_blank_lines_or_brackets_alone():
    document = read("A.java", "\n\nclass A {\n\n  int a() { return 1; }\n\n}\n\n\n\nclass B {\n}\n;\n\n")

    assert [document.text[b.start : b.end].strip()[0].isalpha() for b in document.blocks] == [True, True, True]


def test_where_symbols_would_exceed_the_chunks_of_a_document_only_the_outermost_are_kept_then_none():
    methods = "".join(f"class C{n}:\n" + "".join(f"    def m{k}(self): pass\n" for k in range(3)) for n in range(200))
    functions = "".join(f"def f{n}(): pass\n" for n in range(2_000))

    assert {block.metadata["kind"] for block in read("a.py", methods).blocks} == {"class"}
    assert not symbols(read("a.py", functions))


if __name__ == "__main__":
    for sample in FILES:
        sample.with_name(sample.name + ".outline").write_text(outline(read(sample.name, sample.read_text())))
