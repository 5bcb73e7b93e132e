"""Both analyzers: the exact English one, the code-aware one, and that counting equals listing."""

import re
import subprocess
import sys
import unicodedata
from collections import Counter
from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.analysis import analyzers as analysis
from ragcli.analysis.analyzers import (
    code_query,
    code_terms,
    count_terms,
    english_query,
    english_terms,
    token_pattern,
    tokens,
)
from ragcli.analysis.identifiers import fold
from ragcli.analysis.synonyms import GROUPS

TEXT = st.text(max_size=60) | st.text("aA1_ ëÉあ漢กि\u200d\u00ad\u0301ßİﬁ²K一.", max_size=40)

FOLDED_LETTERS = {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"}


def reference_english(text: str) -> list[str]:
    """The rules of the English analyzer, applied to the whole text at once."""
    terms = []
    for word in re.sub(r"[^a-z0-9_]", " ", text.lower()).split():
        if len(word) == 1 or word in analysis.STOP_WORDS:
            continue
        for suffix in analysis.SUFFIXES if len(word) >= 4 else ():
            if word.endswith(suffix) and len(word) >= len(suffix) + 3:
                word = word.removesuffix(suffix)
                break
        terms.append(word)
    return terms


@given(TEXT)
def test_english_terms_equal_the_rules_applied_to_the_whole_text(text: str) -> None:
    assert english_terms(text) == reference_english(text)


@given(TEXT)
def test_counting_equals_listing(text: str) -> None:
    english, code = count_terms(text)

    assert english == Counter(english_terms(text))
    assert code == Counter(code_terms(text))


@given(TEXT)
def test_a_full_memo_changes_no_count(text: str) -> None:
    tiny = analysis.TermMemo(max_bytes=300)

    assert tiny.count(text) == tiny.count(text) == count_terms(text)


@given(TEXT)
def test_composed_and_decomposed_text_have_the_same_code_terms(text: str) -> None:
    assert code_terms(unicodedata.normalize("NFC", text)) == code_terms(unicodedata.normalize("NFD", text))


@given(TEXT)
def test_a_text_is_found_by_itself(text: str) -> None:
    """Every term of a query that quotes a text is one of that text, but for a letter (a text keeps capitals only)."""
    assert {t.term for t in code_query(text)} - set(ascii_lowercase) <= set(code_terms(text))
    assert set(english_terms(text)) <= {t.term for t in english_query(text)}


@given(st.text("abcXYZ019_é", min_size=1, max_size=2000))
def test_terms_and_their_number_are_bounded_for_one_token(token: str) -> None:
    terms = analysis.code_terms_of(token)

    assert len(terms) <= 2 * (analysis.identifiers.MAX_PARTS + 1)
    assert all(0 < len(term) <= 2 * analysis.identifiers.MAX_TERM for term in terms)


@given(st.text(st.characters(categories=["L"]), min_size=1, max_size=12) | st.text("aéłøهАй가한ำ漢ǅÅ", max_size=8))
def test_a_word_of_letters_is_folded_as_its_letters_are(text: str) -> None:
    word = unicodedata.normalize("NFKC", text).casefold()
    bare = "".join(
        char
        for char in unicodedata.normalize("NFKD", word)
        if not (10 <= unicodedata.combining(char) <= 36 or 200 <= unicodedata.combining(char) <= 240)
    )
    expected = "".join(FOLDED_LETTERS.get(char, char) for char in unicodedata.normalize("NFKC", bare))

    assert fold(word) == expected


def test_there_are_as_many_stop_words_and_suffixes_as_documented() -> None:
    assert len(analysis.STOP_WORDS) == 56
    assert len(analysis.SUFFIXES) == 15


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("ties", "tie"),  # -ies would leave one letter, -es two
        ("parsing", "pars"),
        ("ring", "ring"),
        ("running", "runn"),
        ("nation", "nation"),
        ("station", "sta"),
        ("queries", "quer"),
        ("agreement", "agree"),
        ("parser", "pars"),
        ("class", "clas"),
        ("bus", "bus"),
        ("does_it", "does_it"),
    ],
)
def test_english_stems(word: str, stem: str) -> None:
    assert analysis.english_stem(word) == stem


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("HTTPServer", ["http", "server", "httpserver"]),
        ("resolve_redirects", ["resolv", "redirect", "resolveredirect"]),
        ("resolveRedirects", ["resolv", "redirect", "resolveredirect"]),
        ("URLs", ["url"]),
        ("parsing parsed", ["pars", "pars"]),
        ("utf8", ["utf", "8", "utf8"]),
        ("C x R2", ["c", "2", "r2"]),
        ("café", ["café", "cafe"]),
        ("øre Straße", ["øre", "ore", "strass"]),
        ("ﬁle", ["file"]),
        ("東京へ", ["東京", "京へ", "東", "京"]),
        ("猫", ["猫"]),
        ("การ", ["กา", "าร"]),
        ("हिन्दी", ["हिन्दी"]),
        ("co\u00adoperate", ["cooper"]),
        ("__init__", ["init"]),
        ("___", []),
    ],
)
def test_code_terms(text: str, terms: list[str]) -> None:
    assert code_terms(text) == terms


def test_a_phrase_in_an_unspaced_script_asks_for_its_pairs_only() -> None:
    assert [t.term for t in code_query("東京")] == ["東京"]
    assert [t.term for t in code_query("京")] == ["京"]


@pytest.mark.parametrize(
    ("query", "adds_only"),
    [
        ("kubernetes4", {"4"}),
        ("sha256", {"256"}),
        ("x86_64", {"86", "64"}),
        ("user_id", {"id"}),
        ("utf-8", {"8"}),
        ("東京4", {"4"}),
        ("kubernetes4 4", set()),
        ("h264", set()),
        ("12.5", set()),
        ("status=404", set()),
        ("resolve_redirects", set()),
    ],
)
def test_the_least_part_of_a_word_finds_nothing_by_itself(query: str, adds_only: set[str]) -> None:
    assert {t.term for t in code_query(query) if not t.finds} == adds_only


def test_synonyms_work_in_both_directions() -> None:
    for group in GROUPS.splitlines():
        words = group.split()
        for word in words:
            found = {t.term for t in english_query(word)}
            assert {analysis.english_stem(other) for other in words} <= found


def test_a_repeated_query_word_weighs_more() -> None:
    assert english_query("zebra zebra apple") == [("apple", 1.0, True), ("zebra", 2.0, True)]


def test_importing_the_analyzers_loads_neither_stemmer_nor_numpy() -> None:
    program = (
        "import sys, ragcli.analysis.analyzers; print([m for m in ('Stemmer', 'numpy', 'msgpack') if m in sys.modules])"
    )

    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "[]"


@given(st.text() | st.text(st.characters(max_codepoint=127)))
def test_tokens_are_what_the_expression_finds(text: str) -> None:
    assert tokens(text) == token_pattern().findall(text)
