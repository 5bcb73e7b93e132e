"""What of a query is asked for exactly, and what is a word like others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.config.options import ExactText
from ragcli.errors import UsageError
from ragcli.session.query_syntax import read_exact


def exact(*phrases: str, whole: tuple[str, ...] = (), excluded: tuple[str, ...] = (), ranked: str = "") -> ExactText:
    return ExactText(phrases, whole, excluded, False, False, ranked)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"a phrase"', exact("a phrase", ranked="a phrase")),
        ('fix "a phrase" soon', exact("a phrase", ranked="fix  a phrase  soon")),
        ('"one" and "two"', exact("one", "two", ranked="one  and  two")),
        ("“one” „two“", exact("one", "two", ranked="one   two")),
        (r'"say \"hi\" now"', exact('say "hi" now', ranked='say "hi" now')),
        ("csrf +token", exact(whole=("token",), ranked="csrf  token")),
        ("csrf -test", exact(excluded=("test",), ranked="csrf")),
        ('csrf -"a test" +"a token"', exact("a token", excluded=("a test",), ranked="csrf   a token")),
        ("+a-b.c", exact(whole=("a-b.c",), ranked="a-b.c")),
        ('"one" -- -two "three"', exact("one", ranked='one -two "three"')),
    ],
)
def test_operators(text: str, expected: ExactText) -> None:
    assert read_exact(text) == expected


@pytest.mark.parametrize(
    "text",
    ["plain words", 'a 5" disk', 'it\'s 5"x7"', '""', '" "', "a-b c+d", "c++ -1 +1 --flag -- -word", "- + a", "-> x"],
)  # fmt: skip
def test_words_like_others(text: str) -> None:
    assert read_exact(text) is None


def test_behind_the_mark_only_a_quotation_that_is_all_of_it_counts() -> None:
    assert read_exact("", '"a phrase"') == exact("a phrase", ranked="a phrase")
    assert read_exact("", 'how does "a phrase" work') is None
    assert read_exact("", "-word +more") is None


def test_nothing_but_words_to_leave_out_is_an_error() -> None:
    with pytest.raises(UsageError, match="nothing but words to leave out"):
        read_exact("-word")
    with pytest.raises(UsageError, match="may have 64"):
        read_exact("a " + "+b " * 65)


@given(st.text(alphabet='ab "“”„+-\\', max_size=40), st.text(alphabet='a "-', max_size=10))
def test_any_text_is_read_or_refused(text: str, literal: str) -> None:
    try:
        found = read_exact(text, literal)
    except UsageError:
        return
    assert found is None or (found.ranked.strip() and all(part.strip() for part in (*found.phrases, *found.whole)))
