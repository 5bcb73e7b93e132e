"""Text on its way to a terminal: nothing drives it, nothing overflows it, what matches is found and marked."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.cli.rendering import render_search
from ragcli.cli.rendering.shown_paths import shown_path
from ragcli.cli.terminal.output import json_text
from ragcli.cli.terminal.styles import Terminal, cells, cut, terminal
from ragcli.model import SearchOutcome, SearchResult
from ragcli.text import excerpt
from ragcli.text.escapes import visible, visible_name

anything = st.text(st.characters(exclude_categories=()), max_size=120)


def drives_a_terminal(character: str) -> bool:
    code = ord(character)
    return (
        (code < 0x20 and character not in "\n\t")
        or 0x7F <= code <= 0x9F
        or 0xD800 <= code <= 0xDFFF
        or character in "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    )


@given(anything)
def test_visible_text_drives_nothing(text: str) -> None:
    assert not any(map(drives_a_terminal, visible(text)))
    name = visible_name(text)
    assert not any(map(drives_a_terminal, name)) and "\n" not in name and "\t" not in name


@given(st.text(st.characters(categories=("L", "N", "P", "S", "Zs"))))
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert visible(text) == text == visible_name(text)


@given(anything.map(visible_name), st.integers(1, 40))
def test_a_cut_fits_its_width_and_keeps_the_beginning(text: str, width: int) -> None:
    short = cut(text, width)

    assert cells(short) <= width
    assert short == text or text.startswith(short.removesuffix("…"))


@given(anything, st.text(max_size=30), st.integers(20, 100), st.booleans())
def test_no_line_of_an_excerpt_overflows_and_colour_changes_no_text(
    content: str, query: str, width: int, with_context: bool
) -> None:
    outcome = SearchOutcome(
        query, "s", "/r", "g", [SearchResult(1, "id", "a.md", 7, 9, 0.1, {}, "TEXT", "", {}, content)], [], []
    )
    context = 3 if with_context else None
    bare = "".join(render_search.blocks(outcome, Terminal(width, False, False, True), "/r", context=context))
    colored = "".join(render_search.blocks(outcome, Terminal(width, True, False, True), "/r", context=context))

    assert all(cells(line) <= width for line in bare.split("\n"))
    assert not any(map(drives_a_terminal, bare))
    without = colored
    for code in ("0", "1", "2", "32", "35", "1;31"):
        without = without.replace(f"\x1b[{code}m", "")
    assert [line.rstrip() for line in without.split("\n")] == [line.rstrip() for line in bare.split("\n")]


@given(anything, st.text(max_size=40))
def test_marked_spans_are_in_order_and_apart(line: str, query: str) -> None:
    spans = excerpt.spans(line, excerpt.terms(query))

    assert all(0 <= start < stop <= len(line) for start, stop in spans)
    assert all(earlier[1] < later[0] for earlier, later in itertools.pairwise(spans))


@pytest.mark.parametrize(
    ("query", "line", "marked"),
    [
        ("request routing", "a request is routed to routes; the router", ["request", "routed", "routes", "router"]),
        ("how is the auth checked", "checkAuth(self) and auth_check", ["checkAuth", "auth_check"]),
        ("token", "get_token(TOKENS) untokenized", ["token", "TOKENS"]),
        ("HTTPServer", "the http server, class HTTPServer", ["http", "server", "HTTPServer"]),
        ("漢字検索", "これは漢字の文書", ["漢字"]),
        ("größe", "Die GRÖSSE und Größe", ["GRÖSSE", "Größe"]),
        ("the of", "the end of it", ["the", "of"]),
        ("C++ [", "C and c++ [x]", ["C", "c"]),
    ],
)
def test_words_of_the_query_are_marked_in_their_forms(query: str, line: str, marked: list[str]) -> None:
    spans = excerpt.spans(line, excerpt.terms(query))

    shown = {line[start:stop] for start, stop in spans}
    for word in marked:
        assert word in shown or any(word in one or one in word for one in shown), (word, shown)


def test_the_excerpt_is_where_the_rare_words_of_the_query_are() -> None:
    lines = ["common word"] * 10 + ["", "common rare"] + ["common"] * 20

    assert excerpt.best_line(lines, excerpt.terms("common rare")) == 11
    assert excerpt.window(lines, excerpt.terms("common rare"), 4) == (11, 15)
    assert excerpt.window(["", "  ", "first text", "more"], excerpt.terms("nothing"), 2) == (2, 4)
    assert excerpt.window([], excerpt.terms("x"), 3) == (0, 0)


@pytest.mark.parametrize(
    ("query", "lines", "best"),
    [
        ("AUTH_USER_MODEL", ["the auth user model", "user auth, model auth", "x = settings.AUTH_USER_MODEL"], 2),
        ("AUTH_USER_MODEL", ["auth_user_model = 1", "x = AUTH_USER_MODEL", 'AUTH_USER_MODEL = "auth.User"'], 2),
        ("resolve_url", ["resolve(url)", "return resolve_url(url)", "def resolve_url(to):", "resolve_url"], 2),
        ("resolveUrl", ["resolve(url)", "return resolve_url(url)", "def resolve_url(to):"], 2),
        ("QuerySet", ["query set, QuerySetBase", "isinstance(x, QuerySet)", "class QuerySet(AltersData):"], 2),
        ("DEBUG", ["debug = debug(debug)", "if settings.DEBUG:"], 1),
        ("how does QuerySet filter", ["how does it filter", "a query set filter", "QuerySet"], 2),
        ("Handler", ["new Handler();", "func (s *T) Handler() {", "Handler h"], 1),
        ("parseHeader", ["parse(header); parse", "  return parseHeader(x);", "  static int parseHeader(int x) {"], 2),
        ("django.db.models", ["from django import db, models", "import django.db.models"], 1),
        ("font-size", ["font: size", "  font-size: 2em;"], 1),
    ],
)
def test_the_line_that_holds_an_identifier_as_asked_is_shown(query: str, lines: list[str], best: int) -> None:
    assert excerpt.best_line(lines, excerpt.terms(query)) == best
    assert excerpt.window(lines, excerpt.terms(query), 1) == (best, best + 1)


@pytest.mark.parametrize(
    ("color", "environ", "is_terminal", "colored"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": "0", "FORCE_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"TERM": "dumb"}, True, False),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "0"}, False, False),
        ("always", {"NO_COLOR": "1", "TERM": "dumb"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_when_colour_is_used(color: str, environ: dict[str, str], is_terminal: bool, colored: bool) -> None:
    assert terminal(is_terminal=is_terminal, width=80, color=color, environ=environ).color is colored


@pytest.mark.parametrize(
    ("environ", "linked"),
    [
        ({"TERM_PROGRAM": "iTerm.app"}, True),
        ({"TERM": "xterm-kitty"}, True),
        ({"VTE_VERSION": "6800"}, True),
        ({"VTE_VERSION": "4800"}, False),
        ({"TERM": "xterm-256color"}, False),
        ({"TERM_PROGRAM": "vscode", "TMUX": "x"}, False),
        ({"FORCE_HYPERLINK": "1"}, True),
        ({"FORCE_HYPERLINK": "0", "TERM": "xterm-kitty"}, False),
        ({"FORCE_HYPERLINK": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_hyperlinks_only_where_the_terminal_knows_them(environ: dict[str, str], linked: bool) -> None:
    assert terminal(is_terminal=True, width=80, color="auto", environ=environ).links is linked
    assert not terminal(is_terminal=False, width=80, color="always", environ=environ).links


@given(st.dictionaries(anything, anything | st.integers() | st.floats(allow_nan=False, allow_infinity=False)))
def test_json_reads_back_as_it_was_and_drives_nothing(value: dict[str, object]) -> None:
    for ascii_only in (True, False):
        text = json_text(value, ascii_only=ascii_only)
        assert json.loads(text) == value
        assert not any(map(drives_a_terminal, text)) and "\n" not in text
        text.encode("ascii" if ascii_only else "utf-8")


@pytest.mark.parametrize(
    ("root", "file", "cwd", "shown"),
    [
        ("/a", "b/c.md", "/a", "b/c.md"),
        ("/a", "b/c.md", "/a/b", "c.md"),
        ("/a", "c.md", "/a/b", "../c.md"),
        ("/a", "-x.md", "/a", "./-x.md"),
        ("/", "c.md", "/", "c.md"),
        ("/a", "c.md", "/", "a/c.md"),
        ("/a b", "c.md", "/x", "../a b/c.md"),
        ("/ab", "c.md", "/a", "../ab/c.md"),
    ],
)
def test_paths_are_shown_from_the_working_directory(root: str, file: str, cwd: str, shown: str) -> None:
    assert shown_path(root, file, cwd) == shown


def test_the_gutter_is_as_wide_as_the_last_line_number() -> None:
    content = "".join(f"kiwi {number}\n" for number in (98, 99, 100, 101))
    outcome = SearchOutcome(
        "kiwi", "s", "/r", "g", [SearchResult(1, "id", "a.md", 98, 101, 0.1, {}, "TEXT", "", {}, content)], [], []
    )

    (block,) = render_search.blocks(outcome, Terminal(80, False, False, True), "/r")

    assert block.splitlines()[1:] == ["    98 kiwi 98", "    99 kiwi 99", "   100 kiwi 100", "   101 kiwi 101"]
