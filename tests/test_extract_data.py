"""JSON, JSON lines, YAML, TOML and CSV keep every character and know where their values are."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.config.options import STANDARD, Limits
from ragcli.documents import ExtractionContext
from ragcli.extract.registry import extract
from ragcli.ingest.chunkers import NormalizedDocumentChunker
from ragcli.model import DocumentFormat

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=6), inner, max_size=5),
    max_leaves=25,
)


def read(raw: bytes | str, format: str, limits: Limits = STANDARD):
    raw = raw.encode() if isinstance(raw, str) else raw
    return extract(raw, ExtractionContext(f"a.{format.lower()}", DocumentFormat(format), limits))


def chunk_texts(document, limits: Limits = STANDARD) -> list[str]:
    return [document.text[c.start : c.end] for c in NormalizedDocumentChunker().chunk(document, limits)]


def resolve(value, pointer: str):
    for key in pointer.split("/")[1:]:
        key = key.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def big(value, copies: int = 40):
    """A document too large for one block, with the value many times at several depths."""
    return {"a/b": [value] * copies, "c~d": {"deep": [{"v": value, "n": n, "pad": "p" * 300} for n in range(copies)]}}


@given(VALUES, st.sampled_from([None, 1, 4]))
def test_each_json_pointer_leads_to_a_value_that_the_block_holds(value, indent):
    whole = big(value)
    document = read(json.dumps(whole, indent=indent), "JSON")

    assert "fallback" not in document.metadata
    for block in document.blocks:
        pointed = resolve(whole, str(block.metadata.get("pointer", "")))
        piece = document.text[block.start : block.end]
        if not isinstance(pointed, (dict, list)):
            assert json.dumps(pointed) in piece


def test_json_blocks_hold_whole_records_with_exact_lines():
    records = [{"id": n, "name": f"record {n}"} for n in range(1_000)]
    document = read(json.dumps({"items": records}, indent=2), "JSON")
    chunks = NormalizedDocumentChunker().chunk(document, STANDARD)

    assert len(chunks) > 20
    lines = document.text.split("\n")
    for chunk in chunks[1:]:
        assert chunk.metadata["pointer"] == "/items"
        assert lines[chunk.start_line - 1] == "    {"
        assert (
            "\n".join(lines[chunk.start_line - 1 : chunk.end_line]).strip()
            == document.text[chunk.start : chunk.end].strip()
        )


def test_a_large_member_has_its_own_pointer():
    document = read(json.dumps({"small": 1, "large": "x" * 9_000, "deep": {"in": ["y" * 9_000, 1]}}), "JSON")

    assert [b.metadata.get("pointer", "") for b in document.blocks] == ["/small", "/large", "/deep/in/0", "/deep/in/1"]


@pytest.mark.parametrize("text, reason", [
    ('{"k": "one", "k": "two"}', "duplicate-key"),
    ('{"pad": "%s", "k": "one", "k": "two"}' % ("x" * 9_000), "duplicate-key"),
    ('{"a": NaN, "b": -Infinity}', "not-a-number"),
    ('{"a": 1} {"b": 2}', "several-documents"),
    ('{"a": [%s]} {"b": 2}' % ("1," * 9_000 + "1"), "several-documents"),
    ('{\n// comment\n"a": 1}', "invalid-json"),
    ('{"a": [1, 2,],}', "invalid-json"),
    ("[%s]" % ("1," * 9_000), "invalid-json"),
    ('{"a": "%s"' % ("x" * 9_000), "invalid-json"),
    ("[" * 20_000 + "1" + "]" * 20_000, "too-deep"),
    ('{"k":' * 20_000 + "1" + "}" * 20_000, "too-deep"),
    ('[{"":' * 50_000, "too-deep"),
])  # fmt: skip
def test_what_is_not_strict_json_is_kept_as_text_and_says_why(text, reason):
    document = read(text, "JSON")

    assert document.text == text
    assert document.metadata["fallback_reason"] == reason
    assert all(b.metadata == {"parser": "text", "fallback": True, "fallback_reason": reason} for b in document.blocks)
    assert "".join(chunk_texts(document)) == text


@pytest.mark.parametrize("text", [
    "[%s]" % ("7" * 5_000), '{"t": "lone \\ud83d"}', '\ufeff{"t": 1}', '"word"', "3", " null ", "[]", "[ ]", "{\n}",
    "[%s[]]" % ("[], " * 5_000), '[%s{"a": {}}]' % ('{"b": [1, {}]}, ' * 2_000),
])  # fmt: skip
def test_strict_json_of_any_shape_is_no_fallback(text):
    document = read(text, "JSON")

    assert "fallback" not in document.metadata
    assert document.text == text.replace("\ufeff", "")


@pytest.mark.parametrize("format", ["JSON", "JSONL"])
@pytest.mark.parametrize("escaped, read_as", [
    (r'"caf\u00e9"', '"café"'),
    (r'"\u4e2d\u6587 \ud83d\ude00"', '"中文 😀"'),
    (r'"a\u0022b\u0000\u2028\n\u0041"', r'"a\u0022b\u0000\u2028\n\u0041"'),
    (r'"\\u00e9 \\\u00e9"', r'"\\u00e9 \\é"'),
    (r'"\ud83d \ude00 \u00e"', r'"\ud83d \ude00 \u00e"'),
])  # fmt: skip
def test_escaped_letters_are_read_as_letters_and_other_escapes_stay(format, escaped, read_as):
    assert read(escaped, format).text == read_as


def test_millions_of_numbers_are_packed_in_bounded_blocks():
    document = read("[" + ",".join(["12.5"] * 200_000) + "]", "JSON")

    assert "fallback" not in document.metadata
    assert max(b.end - b.start for b in document.blocks) < 10_000


def test_json_lines_are_cut_between_records():
    text = "".join(json.dumps({"id": n, "text": "word " * 40}) + "\n" for n in range(200))
    pieces = chunk_texts(read(text, "JSONL"))

    assert "".join(pieces) == text
    assert len(pieces) > 10
    assert all(piece.startswith('{"id"') and piece.endswith("}\n") for piece in pieces)


def test_yaml_is_cut_before_top_level_keys_with_their_comments():
    text = "".join(f"# about {n}\nkey{n}:\n  - {'value ' * 30}\n\n  # inner\n  - x\n" for n in range(60))
    pieces = chunk_texts(read(text, "YAML"))

    assert len(pieces) > 3
    assert all(piece.startswith("# about") for piece in pieces)


def test_toml_is_cut_before_tables():
    text = "".join(f"# about {n}\n[table{n}]\nkey = 'x'\narray = [\n  1,\n]\n\n" for n in range(200))
    pieces = chunk_texts(read(text, "TOML"))

    assert len(pieces) > 3
    assert all(piece.startswith("# about") for piece in pieces)


@pytest.mark.parametrize("text", [
    "key: value\n\tbad: tab\n  - list\nwords: here\n",
    '!!python/object/apply:os.system ["false"]\n',
    'a: &a ["x","x"]\nb: &b [*a,*a]\nc: [*b,*b]\n',
    "{{ template }}: [\n",
])  # fmt: skip
def test_yaml_that_is_not_valid_or_not_safe_is_text(text):
    assert read(text, "YAML").text == text


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_rows_after_the_first_block_carry_the_header(mark):
    text = mark.join(["id", "name", "a note"]) + "\n"
    text += "".join(mark.join([str(n), f"name {n}", "some text, and; more"]) + "\n" for n in range(400))
    text = text if mark in "|\t" else text.replace("some text, and; more", '"some text, and; more"')
    document = read(text, "CSV")
    chunks = NormalizedDocumentChunker().chunk(document, STANDARD)

    assert document.text == text
    assert "header" not in chunks[0].metadata
    assert {c.metadata["header"] for c in chunks[1:]} == {"id | name | a note"}


def test_a_record_with_line_ends_inside_quotes_is_not_cut():
    text = "name,note\n" + "".join(f'row{n},"first ""line""\nsecond, line\nthird"\n' for n in range(300))
    pieces = chunk_texts(read(text, "CSV"))

    assert len(pieces) > 3
    assert all(piece.startswith(("name", "row")) for piece in pieces)


@pytest.mark.parametrize("first_row", ["1,2,3", "only a title", ",,x"])
def test_a_first_row_that_names_no_columns_is_no_header(first_row):
    text = first_row + "\n" + "4,5,6\n" * 500

    assert all("header" not in block.metadata for block in read(text, "CSV").blocks)


def test_years_may_name_columns_and_decimal_commas_are_no_delimiter():
    document = read("country;2019;2020\n" + "Norway;5,1;5,3\n" * 500, "CSV")

    assert document.blocks[-1].metadata["header"] == "country | 2019 | 2020"


def test_a_line_that_names_the_separator_is_obeyed():
    document = read("sep=|\nname|a, b\n" + "x,y|1, 2\n" * 500, "CSV")

    assert document.blocks[-1].metadata["header"] == "name | a, b"


def test_a_title_above_the_header_row_is_passed_over():
    document = read("Report of today\nname,count\n" + "x,1\n" * 1_000, "CSV")

    assert document.blocks[-1].metadata["header"] == "name | count"


def test_a_header_row_is_shown_at_bounded_length():
    document = read(",".join(f"column{n}" for n in range(1_000)) + "\n" + "x\n" * 3_000, "CSV")

    assert len(document.blocks[-1].metadata["header"]) <= 500


@pytest.mark.parametrize("text", [
    '"a","b' * 50_000, '"' * 300_001, 'a,b\n' + ',"\n' * 50_000, 'a,b\n' + 'x,"y""\n' * 50_000,
    "id,blob\n1," + "x" * 200_000, 'a,b\n1,2\n"never closed,3\nlast words\n', '"a" "b", "c\n' * 1_000,
])  # fmt: skip
def test_unbalanced_quotes_and_huge_cells_are_read_in_linear_time_and_lose_nothing(text):
    document = read(text, "CSV")

    assert document.text == text
    assert "".join(chunk_texts(document)) == text


@given(st.text(st.sampled_from('ab,;"\n\r \t|'), max_size=80))
def test_any_delimited_text_is_kept_whole_and_cut_inside_its_blocks(text):
    document = read(text, "CSV")

    for block in document.blocks:
        assert all(block.start < cut < block.end for cut in block.cuts)
    if text.strip():
        assert "".join(chunk_texts(document)) == document.text


@given(st.text(st.sampled_from('{}[]",:1ae \n\\/'), max_size=60), st.sampled_from(["JSON", "JSONL", "YAML", "TOML"]))
def test_any_text_is_read_as_data_and_kept(text, format):
    document = read(text, format)

    assert document.text == text


def test_a_large_json_document_is_packed_so_that_its_chunks_stay_under_the_cap():
    records = json.dumps([{"id": n, "text": "x" * 80} for n in range(10_000)])
    limits = Limits(max_chunks=100)

    assert "".join(chunk_texts(read(records, "JSON", limits), limits)) == records
