"""Include and exclude patterns mean what they mean in a .gitignore; `-g` globs are ripgrep's."""

import re
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.documents import SkipReason
from ragcli.errors import UsageError
from ragcli.ingest.patterns import GlobFilter, Selector, compiled, unmatched


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*.py", ["a.py", ".py", "a/b.py", "x.py/any"], ["a.pyc", "apy"]),
        ("/*.py", ["a.py", ".py"], ["a/b.py", "a.pyc", "apy"]),
        ("tests", ["tests", "tests/a.py", "x/tests/u"], ["test", "mytests/a", "tests.py"]),
        ("./tests", ["tests", "tests/a.py"], ["x/tests/u"]),
        ("x/tests", ["x/tests/u"], ["tests/a", "y/x/tests/u"]),
        ("tests/", ["tests/a", "x/tests/a"], ["tests", "x/tests"]),
        ("#a", ["#a"], ["a"]),
        ("[[:digit:]]x", ["1x"], ["ax", ":x", "dx"]),
        ("**/*.py", ["a.py", "a/b.py", "a/b/c.py"], ["a.pyc"]),
        ("src/**", ["src/a", "src/a/b"], ["src", "srcs/a", "x/src/a"]),
        ("src/", ["src/a", "src/a/b", "x/src/a"], ["src"]),
        ("src/**/x?.md", ["src/x1.md", "src/a/b/xé.md"], ["src/x.md", "src/x/.md", "src/xab.md"]),
        ("**/test/**/*.c", ["test/a.c", "a/test/b/c/d.c"], ["testa.c", "a/tests/b.c"]),
        ("a?c", ["abc", "aéc", "a\nc", "x/abc"], ["a/c", "ac"]),
        ("*.{py,md}", ["a.py", "a.md"], ["a.{py,md}", "a.txt"]),
        ("{src,lib/{a,b}}/*", ["src/x", "lib/a/x", "lib/b/x"], ["lib/x"]),
        ("[a-c]*.txt", ["b1.txt", "c.txt"], ["d.txt", "[a-c]x.txt"]),
        ("[!a]x", ["bx"], ["ax", "/x"]),
        ("a\\*b", ["a*b"], ["axb"]),
        ("{a}", ["{a}"], ["a"]),
        ("\\{a,b}", ["{a,b}"], ["a"]),
        ("./a/b", ["a/b"], ["b"]),
        ("/a", ["a", "a/b"], ["b/a"]),
        ("a.b", ["a.b"], ["axb"]),
        ("**", ["a", "a/b"], []),
        ("a**b", ["ab", "axxb"], ["a/b"]),
    ],
)
def test_a_pattern_means_what_it_means_to_git(pattern: str, yes: list[str], no: list[str]) -> None:
    """`*` and `?` stay within a segment, `**` is any number of segments, braces are alternatives."""
    match = compiled(pattern)

    assert [path for path in yes if not match(path)] == []
    assert [path for path in no if match(path)] == []


def reference(pattern: str, path: str) -> bool:
    """Match by the definition, trying everything: the path or a directory above it, at any depth without a slash."""
    places = [path[:end] for end in (*(i for i, char in enumerate(path) if char == "/"), len(path))]
    if "/" not in pattern:
        return any(whole(pattern, place.rpartition("/")[2]) for place in places)
    return any(whole(pattern, place) for place in places)


def whole(pattern: str, path: str) -> bool:
    if not pattern:
        return not path
    if pattern.startswith("**/"):
        rest = pattern[3:]
        starts = [0] + [i + 1 for i, char in enumerate(path) if char == "/"]
        return any(whole(rest, path[start:]) for start in starts)
    if pattern == "**":
        return bool(path)
    if pattern[0] == "*":
        stop = path.find("/") if "/" in path else len(path)
        return any(whole(pattern[1:], path[i:]) for i in range(stop + 1))
    if not path:
        return False
    return (pattern[0] == path[0] or (pattern[0] == "?" and path[0] != "/")) and whole(pattern[1:], path[1:])


SEGMENT = st.text("ab*?", min_size=1, max_size=5).map(lambda text: re.sub(r"\*+", "*", text)) | st.just("**")


@given(
    st.lists(SEGMENT, min_size=1, max_size=5).map("/".join),
    st.lists(st.text("ab", min_size=1, max_size=5), min_size=1, max_size=5).map("/".join),
)
def test_linear_matching_agrees_with_the_definition(pattern: str, path: str) -> None:
    """No star that keeps what it took loses a match that trying everything would find."""
    assert compiled(pattern)(path) == reference(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [("*a" * 60 + "b", "a" * 250), ("**/a*/" * 20 + "b", "a/" * 500 + "c"), ("?*" * 60 + "b", "a" * 250)],
)
def test_many_stars_take_linear_time(pattern: str, path: str) -> None:
    """A pattern for which a backtracking matcher needs years has its answer at once."""
    assert not compiled(pattern)(path)


@pytest.mark.parametrize("pattern", ["", "[a", "a\\", "/", "{a,[}", "{a,b}" * 20])
def test_a_pattern_that_can_mean_nothing_is_a_usage_error(pattern: str) -> None:
    """Also one whose alternatives would fill the memory."""
    with pytest.raises(UsageError):
        compiled(pattern)


def test_include_comes_first_then_any_exclude_drops() -> None:
    """Without an include all are in; an exclude names itself."""
    selector = Selector(("**/*.py", "**/*.md"), ("docs/**", "**/x.py"))

    assert selector.leaves_out("a.py") is None
    assert selector.leaves_out("a.txt") == (SkipReason.NOT_INCLUDED, "")
    assert selector.leaves_out("docs/a.txt") == (SkipReason.NOT_INCLUDED, "")
    assert selector.leaves_out("docs/a.md") == (SkipReason.EXCLUDED, "docs/**")
    assert selector.leaves_out("a/x.py") == (SkipReason.EXCLUDED, "**/x.py")
    assert Selector((), ("a",)).leaves_out("b") is None
    assert not Selector((), ())


@pytest.mark.parametrize(
    ("exclude", "pruned", "walked"),
    [
        ("docs/**", ["docs"], ["doc", "a/docs"]),
        ("docs/", ["docs", "a/docs"], ["doc"]),
        ("docs", ["docs", "a/docs"], ["doc"]),
        ("./docs", ["docs"], ["a/docs"]),
        ("**/gen/**", ["gen", "a/gen"], ["general"]),
        ("docs/*", [], ["docs"]),
        ("**/*.py", ["a.py"], ["a"]),
        ("**", ["a"], []),
        ("a\\/**", [], ["b"]),
    ],
)
def test_a_directory_is_pruned_only_when_all_below_it_is_excluded(
    exclude: str, pruned: list[str], walked: list[str]
) -> None:
    """A pruned directory is one below which the pattern takes every path."""
    selector = Selector((), (exclude,))

    assert [path for path in pruned + walked if selector.prunes(path)] == pruned
    assert all(selector.leaves_out(f"{path}/any/file") for path in pruned)


def test_an_exception_takes_back_what_was_left_out_before() -> None:
    """As in a .gitignore: the last one that matches decides, and nothing below a directory that is left out returns."""
    selector = Selector((), ("*.txt", "!keep.txt"))

    assert selector.leaves_out("a/keep.txt") is None
    assert selector.leaves_out("a/b.txt") == (SkipReason.EXCLUDED, "*.txt")
    assert Selector((), ("docs/**", "!docs/keep.md")).prunes("docs") is None
    assert Selector(("*.py", "!test_*"), ()).leaves_out("test_a.py") == (SkipReason.NOT_INCLUDED, "")


@pytest.mark.parametrize("path", ["a\udce9.txt", "\udcff/a.txt"])
def test_a_name_that_is_not_utf8_is_matched_all_the_same(path: str) -> None:
    assert compiled("*.txt")(path) and not compiled("*.md")(path)


@settings(max_examples=30)
@given(
    st.lists(st.sampled_from(["a", "*", "?b", "a/", "/a", "a/b", "a/*", "**/b", "a/**", "[ab]b", "!b", "!a/b", "*.b"]),
             min_size=1, max_size=4),
)  # fmt: skip
def test_excludes_are_what_git_ignores(patterns: list[str]) -> None:
    """The same patterns in a .gitignore at the root leave out the same files."""
    paths = ["a", "b", "ab", "x.b", "c/a", "c/b", "c/ab/b", "d/b/a", "d/a/b", "d/c/x.b"]
    selector = Selector((), patterns)
    with tempfile.TemporaryDirectory() as root:
        subprocess.run(["git", "init", "-q", root], check=True)
        Path(root, ".git", "info", "exclude").write_text("".join(f"{pattern}\n" for pattern in patterns))
        for path in paths:
            Path(root, path).parent.mkdir(parents=True, exist_ok=True)
            Path(root, path).write_text("")
        command = ["git", "-C", root, "ls-files", "--others", "--exclude-standard"]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    def taken(path: str) -> bool:
        directories = [path[:end] for end, char in enumerate(path) if char == "/"]
        return not any(map(selector.prunes, directories)) and selector.leaves_out(path) is None

    assert sorted(filter(taken, paths)) == sorted(listed)


def test_patterns_that_match_nothing_are_named() -> None:
    """What earns the hint."""
    assert unmatched(["/*.py", "*.py", "*.md", "src", "test", "!x"], ["src/a.py", "b.md"]) == ["/*.py", "test", "!x"]


@pytest.mark.parametrize(
    ("globs", "taken"),
    [
        ([], ["a.py", "b.md", "docs/c.md", "src/d.py", "src/gen/e.py"]),
        (["*.py"], ["a.py", "src/d.py", "src/gen/e.py"]),
        (["!*.md"], ["a.py", "src/d.py", "src/gen/e.py"]),
        (["/*.py"], ["a.py"]),
        (["src/*.py"], ["src/d.py"]),
        (["src/**"], ["src/d.py", "src/gen/e.py"]),
        (["src"], ["src/d.py", "src/gen/e.py"]),
        (["src/"], ["src/d.py", "src/gen/e.py"]),
        (["!gen"], ["a.py", "b.md", "docs/c.md", "src/d.py"]),
        (["!src/gen/"], ["a.py", "b.md", "docs/c.md", "src/d.py"]),
        (["*.py", "!src/**"], ["a.py"]),
        (["!src/**", "src/d.py"], ["src/d.py"]),
        (["!src", "src/d.py"], []),
        (["*.py", "!*.py", "a.py"], ["a.py"]),
        (["*.{md,txt}"], ["b.md", "docs/c.md"]),
        (["nothing"], []),
    ],
)
def test_globs_are_those_of_ripgrep(globs: list[str], taken: list[str]) -> None:
    """`!` leaves out, the last match decides, a glob without a slash is about names, what is below a directory goes
    with it."""
    paths = ["a.py", "b.md", "docs/c.md", "src/d.py", "src/gen/e.py"]

    assert [path for path in paths if GlobFilter(globs)(path)] == taken


@pytest.mark.parametrize("glob", ["", "!", "/", "[", "!a\\"])
def test_a_glob_that_can_mean_nothing_is_a_usage_error(glob: str) -> None:
    """One line, with what was written."""
    with pytest.raises(UsageError):
        GlobFilter([glob])
