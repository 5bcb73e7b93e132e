"""Include and exclude patterns of an index, and `-g` globs of a search, as questions about one path.

Pure: no files, no ignore files. Patterns are about whole paths relative to the root, character by character: `*` and
`?` do not cross `/`, `**` stands for any number of segments, `[a-z]` is a class, `{a,b}` an alternative, `\\` takes the
next character as it is. A pattern that ends in `/` means all that is below.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from ragcli.documents import SkipReason
from ragcli.errors import UsageError
from ragcli.ingest.wildmatch import parse, path_regex

_MAX_ALTERNATIVES = 1_000  # of one pattern; `{a,b}` twenty times over would be a million
Match = Callable[[str], object]


def compiled(pattern: str) -> re.Pattern[str]:
    """Compile one pattern for `fullmatch`; UsageError when it can match nothing."""
    body = pattern.removeprefix("./").removeprefix("/")
    if body.endswith("/"):
        body += "**"
    regexes: list[str] = []
    for alternative in _alternatives(body, pattern):
        segments = parse(alternative) if alternative else None
        if segments is None:
            raise UsageError(
                f"{pattern!r} is not a usable pattern", "close each [ and {, and end with no lone backslash"
            )
        regexes.append(path_regex(segments))
    return re.compile("|".join(f"(?:{regex})" for regex in regexes))


class Selector:
    """Decides which files an index takes: any include (all when none is given), then no exclude."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self._include = [compiled(pattern).fullmatch for pattern in include]
        self._exclude = [(pattern, compiled(pattern).fullmatch) for pattern in exclude]
        # A pattern that takes all below a directory takes the directory: the walk need not go there.
        self._below = [(pattern, match) for pattern in exclude if (match := _directory(pattern)) is not None]

    def __bool__(self) -> bool:
        return bool(self._include or self._exclude)

    def leaves_out(self, path: str) -> tuple[SkipReason, str] | None:
        """Say why a file is not taken, and by which exclude; None when it is."""
        if self._include and not any(match(path) for match in self._include):
            return SkipReason.NOT_INCLUDED, ""
        found = next((pattern for pattern, match in self._exclude if match(path)), None)
        return None if found is None else (SkipReason.EXCLUDED, found)

    def prunes(self, directory: str) -> str | None:
        """Name the exclude that takes all below a directory; None when there is none."""
        return next((pattern for pattern, match in self._below if match(directory)), None)


def unmatched(patterns: Iterable[str], paths: Sequence[str]) -> list[str]:
    """List the patterns that match none of the paths, for a hint."""
    return [pattern for pattern in patterns if not any(map(compiled(pattern).fullmatch, paths))]


class GlobFilter:
    """ripgrep's `-g`: a glob without a slash is about names at any depth, `!` leaves out, the last one that matches
    decides, and once a glob without `!` is given only what one matches is left. A glob that matches a directory covers
    what is below it; below a directory that is left out nothing comes back."""

    def __init__(self, globs: Sequence[str]) -> None:
        self._globs = [(glob.startswith("!"), _glob(glob.removeprefix("!"))) for glob in reversed(globs)]
        self._only = any(not negated for negated, _ in self._globs)
        self._directories: dict[str, bool | None] = {"": None}

    def __call__(self, path: str) -> bool:
        covered = self._covered(path.rpartition("/")[0])
        if covered is False:
            return False
        verdict = self._verdict(path)
        return (covered is True or not self._only) if verdict is None else verdict

    def _covered(self, directory: str) -> bool | None:
        """Say what the globs make of a directory and those above it: False is final, True holds until a file's own."""
        if directory not in self._directories:
            covered: bool | None = None
            at = 0
            while at >= 0 and covered is not False:
                at = directory.find("/", at + 1)
                own = self._verdict(directory if at < 0 else directory[:at])
                covered = covered if own is None else own
            self._directories[directory] = covered
        return self._directories[directory]

    def _verdict(self, path: str) -> bool | None:
        return next((not negated for negated, match in self._globs if match(path)), None)


def _directory(pattern: str) -> Match | None:
    """Compile what comes before a last `/**` or `/`, None when the pattern does not end so."""
    base = pattern.removesuffix("**").removesuffix("/")
    if base == pattern.removesuffix("**") or base.endswith(("/", "\\")) or not base.strip("*/."):
        return None
    return compiled(base).fullmatch


def _glob(glob: str) -> Match:
    body = glob.removesuffix("/")
    if not body:
        raise UsageError(f"{glob!r} is not a usable glob", "write a pattern such as '*.py' or '!docs/**'")
    return compiled(body if "/" in body else f"**/{body}").fullmatch


def _alternatives(body: str, pattern: str) -> list[str]:
    """Write out `{a,b}`, innermost last; a brace behind a backslash or inside a bracket is a character."""
    pending: list[str] = [body]
    done: list[str] = []
    while pending:
        if len(pending) + len(done) > _MAX_ALTERNATIVES:
            raise UsageError(f"{pattern!r} has more than {_MAX_ALTERNATIVES} alternatives", "give several patterns")
        text = pending.pop()
        group = _group(text)
        if group is None:
            done.append(text)
            continue
        start, commas, end = group
        edges = [start, *commas, end]
        for left, right in pairwise(edges):
            pending.append(text[:start] + text[left + 1 : right] + text[end + 1 :])
    return done


def _group(text: str) -> tuple[int, list[int], int] | None:
    """Find the first closed brace pair with a comma at its own level."""
    opened: list[tuple[int, list[int]]] = []
    closed: list[tuple[int, list[int], int]] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif char == "[":
            end = text.find("]", at + 2)
            at = end if end > 0 else at
        elif char == "{":
            opened.append((at, []))
        elif char == "," and opened:
            opened[-1][1].append(at)
        elif char == "}" and opened:
            start, commas = opened.pop()
            if commas:
                closed.append((start, commas, at))
        at += 1
    return min(closed) if closed else None
