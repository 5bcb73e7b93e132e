"""XML: the file's own text, cut at elements; no entity is ever resolved."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.config.options import Limits
from ragcli.documents import ExtractionContext, NormalizedDocument
from ragcli.errors import DocumentProcessingError, FailureCode
from ragcli.extract.registry import extract
from ragcli.model import DocumentFormat


def read(source: str | bytes, **limits: int) -> NormalizedDocument:
    raw = source.encode() if isinstance(source, str) else source
    return extract(raw, ExtractionContext("a.xml", DocumentFormat.XML, Limits(**limits)))


def spans(document: NormalizedDocument) -> list[tuple[object, str]]:
    return [(block.metadata.get("element"), document.text[block.start : block.end]) for block in document.blocks]


def test_the_text_is_the_file_itself_with_attributes_and_lines():
    source = '<?xml version="1.0"?>\n<r>\n  <a href="http://x/">link</a>\n</r>\n'

    assert spans(read(source)) == [("/r", source)]


def test_blocks_begin_where_outer_elements_begin_and_name_their_path():
    entry = "  <entry>\n" + "    <line>some words</line>\n" * 58 + "  </entry>\n"

    found = spans(read("<feed>\n" + entry * 4 + "</feed>\n"))

    assert [path for path, _ in found] == ["/feed", "/feed/entry", "/feed/entry", "/feed/entry"]
    assert all(text.startswith("  <entry>\n") for _, text in found[1:])


def test_a_block_of_unlike_neighbours_carries_the_path_of_their_parent():
    source = "<r>\n" + "<a>one</a>\n<b>two</b>\n" * 80 + "</r>\n"

    assert {path for path, _ in spans(read(source))} == {"/r"}


def test_blocks_stay_near_a_hundred_lines():
    document = read("<r>\n" + "<a>é</a>\n" * 1_000 + "</r>\n")

    assert max(text.count("\n") for _, text in spans(document)) <= 101


@pytest.mark.parametrize(
    "encoding, declared", [("utf-16", "utf-16"), ("latin-1", "iso-8859-1"), ("utf-8-sig", "utf-8")]
)
def test_the_declared_encoding_counts(encoding, declared):
    source = f'<?xml version="1.0" encoding="{declared}"?><r>Le château près de la forêt</r>'

    assert "Le château près de la forêt" in read(source.encode(encoding)).text


def test_external_entities_are_not_opened(tmp_path):
    canary = tmp_path / "canary.txt"
    canary.write_text("canary words")

    for declaration in (f'<!ENTITY x SYSTEM "{canary}">', f'<!ENTITY % x SYSTEM "{canary.as_uri()}"> %x;'):
        assert "canary words" not in read(f"<!DOCTYPE r [{declaration}]><r>&x;</r>").text


def test_a_harmless_entity_stays_as_it_is_written():
    source = '<!DOCTYPE r [<!ENTITY co "Example">]><r>&co; &lt; &undeclared;</r>'

    assert spans(read(source)) == [("/r", source)]


def test_letters_spelt_as_numbers_are_written_out_and_markup_is_not():
    source = "<r a='&#233;'>caf&#xe9; &#60;b&#62; &#10; &#xD800; &#x110000;</r>"

    assert read(source).text == "<r a='é'>café &#60;b&#62; &#10; &#xD800; &#x110000;</r>"


def laughs(levels: int, place: str) -> str:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, levels))
    return f'<!DOCTYPE r [<!ENTITY e0 "ha">{entities}]>' + place.replace("@", f"&e{levels - 1};")


@pytest.mark.parametrize("source", [
    laughs(10, "<r>@</r>"),
    laughs(10, '<r a="@"/>'),
    f'<!DOCTYPE r [<!ENTITY a "{"x" * 50_000}">]><r>{"&a;" * 2_000}</r>',
    f'<!DOCTYPE r [<!ENTITY a "{"x" * 50_000}">]><r b="{"&a;" * 2_000}"/>',
])  # fmt: skip
def test_entities_that_would_burst_are_refused_by_name(source):
    with pytest.raises(DocumentProcessingError) as caught:
        read(source)

    assert caught.value.code == FailureCode.LIMIT and "max_inflation" in caught.value.detail


def test_entities_that_name_each_other_end():
    assert read('<!DOCTYPE r [<!ENTITY a "&b;"><!ENTITY b "&a;">]><r>words</r>').text.endswith("<r>words</r>")


def test_what_is_not_well_formed_is_read_as_text_and_says_so():
    document = read("<r><a>readable words</b></r>")

    assert document.text == "<r><a>readable words</b></r>"
    assert document.blocks[0].metadata == {"parser": "text", "fallback": True, "fallback_reason": "not-well-formed"}
    assert document.metadata["fallback"] is True


def test_depth_costs_no_recursion_and_long_paths_are_shortened():
    depth = 20_000

    document = read("<a>" * depth + "needle" + "</a>" * depth, max_blocks=100_000)

    assert "needle" in document.text
    assert max(len(str(path)) for path, _ in spans(document)) < 200


def test_a_binary_named_xml_is_refused():
    with pytest.raises(DocumentProcessingError) as caught:
        read(b"PK\x03\x04" + bytes(100))

    assert caught.value.code == FailureCode.EXTRACTION


trees = st.recursive(
    st.sampled_from(["words", "é😀", "\n", "  "]),
    lambda inner: st.builds(lambda name, parts: f"<{name}>{''.join(parts)}</{name}>", st.sampled_from(["a", "b", "ü"]),
                            st.lists(inner, max_size=5)),
    max_leaves=30,
)  # fmt: skip


@settings(deadline=None)
@given(trees, st.integers(1, 60))
def test_blocks_tile_any_document(tree, times):
    source = "<r>" + (tree + "\n") * times + "</r>"

    document = read(source)

    assert "".join(text for _, text in spans(document)) == document.text == source
    assert all(path and str(path).startswith("/r") for path, _ in spans(document))
