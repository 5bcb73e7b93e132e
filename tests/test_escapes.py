"""No output passes on a character that drives a terminal, turns a text around or hides in it."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.cli.terminal.output import json_text
from ragcli.model import SearchResult
from ragcli.prompt import evidence_block
from ragcli.text.escapes import prompt_text, prompt_value, safe_json, visible, visible_name
from ragcli.text.graphemes import splits_character

CONTROLS = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"]
DIRECTION = [*"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"]
INVISIBLE = [*"\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff", "\U000e0001", "\U000e0041", "\U000e007f"]
NO_UTF8 = ["\ud800", "\udc80", "\udfff"]


@pytest.mark.parametrize("character", [*CONTROLS, *DIRECTION, *NO_UTF8, "\u2028", "\u2029"])
def test_no_terminal_is_driven_or_turned_around(character: str) -> None:
    assert character not in visible(f"a{character}b")
    assert character not in visible_name(f"a{character}b")


@pytest.mark.parametrize("character", [*CONTROLS, *DIRECTION, *INVISIBLE, *NO_UTF8, "\ufffe", "\uffff"])
def test_a_prompt_shows_what_it_quotes(character: str) -> None:
    result = SearchResult(
        1, "id", f"a{character}.md", 1, 1, 1.0, {}, "TEXT", "", {f"k{character}": f"v{character}"}, f"x{character}y"
    )

    assert character not in evidence_block(result)
    assert character not in prompt_text(character) and character not in prompt_value(character)


@pytest.mark.parametrize("character", [*CONTROLS, *DIRECTION, *NO_UTF8, "\u2028", "\u2029"])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_json_keeps_the_value_and_shows_no_raw_character(character: str, ascii_only: bool) -> None:
    text = json_text({f"k{character}": f"a{character}b"}, ascii_only=ascii_only)

    assert character not in text
    assert json.loads(text) == {f"k{character}": f"a{character}b"}


@pytest.mark.parametrize("text", ["tab\tand\nline", "Ω déjà 漢字", "👩\u200d🚀 نمی\u200cخواهم"])
def test_ordinary_text_reaches_a_terminal_as_it_is(text: str) -> None:
    assert visible(text) == text
    assert safe_json(json.dumps(text, ensure_ascii=False)) == json.dumps(text, ensure_ascii=False)


def test_every_format_character_is_escaped_in_a_prompt() -> None:
    """Unicode's category Cf is what text can carry unseen; soft hyphens and shaping marks of scripts are left."""
    spared = {"\u00ad", "\u180e", *map(chr, range(0x600, 0x606)), "\u06dd", "\u070f", "\u0890", "\u0891", "\u08e2"}
    astral = [chr(code) for code in range(0xE0000, 0xE0080)]
    basic = [chr(code) for code in range(0x10000) if unicodedata.category(chr(code)) == "Cf"]
    unescaped = {c for c in (*basic, *astral) if prompt_text(c) == c} - spared

    assert unescaped == set()


@given(st.text(min_size=2), st.data())
def test_a_cut_that_tears_nothing_leaves_marks_and_joiners_together(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(1, len(text) - 1))
    if not splits_character(text, at):
        assert unicodedata.category(text[at]) not in ("Mn", "Mc", "Me")
        assert text[at] != "\u200d" and text[at - 1] != "\u200d"
