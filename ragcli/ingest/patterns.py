"""Include and exclude patterns of an index, and `-g` globs of a search, as questions about one path.

Pure: no files, no ignore files. A pattern means what it means in a `.gitignore` at the root: without a slash it is
about names at any depth, with one about the path from the root; a directory's name covers what is below it, and one
that ends in `/` is about directories alone; `*` and `?` do not cross `/`, `**` does. Besides, `{a,b}` is an
alternative, as in `rg -g`, and a leading `./` is the root. pathspec matches, by re2 where that is installed: in linear
time.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

from ragcli.documents import SkipReason
from ragcli.errors import UsageError
from ragcli.ingest.wildmatch import parse

_MAX_ALTERNATIVES = 1_000  # of one pattern; `{a,b}` twenty times over would be a million
# Whether a path is meant; a directory's ends in `/`.
Match = Callable[[str], bool]
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Patterns:
    """An ordered list of patterns. One that begins with `!` takes back what those before it meant.

    UsageError for a pattern that can match nothing.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._owners: list[str] = []
        lines: list[str] = []
        for pattern in patterns:
            negation = "!" if pattern.startswith("!") else ""
            for line in _lines(pattern.removeprefix("!"), pattern):
                lines.append(negation + line)
                self._owners.append(pattern)
        self._check = _checker(lines)

    def __bool__(self) -> bool:
        return bool(self._owners)

    def decisive(self, path: str) -> str | None:
        """The pattern that means a path, a directory's ending in `/`; None where none does or a later takes it back."""
        found = self._check(_comparable(path))
        return self._owners[found.index] if found.include else None


def compiled(pattern: str) -> Match:
    """Compile one pattern; UsageError where it can match nothing."""
    check = _checker(_lines(pattern, pattern))
    return lambda path: bool(check(_comparable(path)).include)


def _comparable(path: str) -> str:
    """A path as patterns see it: letters composed, since file systems and keyboards differ in that.

    re2 takes no byte that is not UTF-8, and no pattern can name one.
    """
    return path if path.isascii() else unicodedata.normalize("NFC", _LONE_SURROGATE.sub("\ufffd", path))


def _lines(body: str, pattern: str) -> list[str]:
    """A pattern as lines of a `.gitignore`, one for each alternative."""
    body = unicodedata.normalize("NFC", body)
    if body.startswith("./"):
        body = f"/{body.removeprefix('./')}"
    # A byte that is no UTF-8 means any such byte: re2 takes none of them.
    lines = _alternatives(_LONE_SURROGATE.sub("\ufffd", body), pattern)
    if any(parse(line.strip("/")) is None or not line.strip("/") for line in lines):
        raise UsageError(f"{pattern!r} is not a usable pattern", "close each [ and {, and end with no lone backslash")
    return [_as_ignored(line) for line in lines]


def _as_ignored(line: str) -> str:
    """A pattern as a line of a `.gitignore`: what that takes for a comment or an exception is a name here.

    `docs/**` is all below docs and not docs itself, which pathspec would take with it.
    """
    line = line.replace("\\/", "/")
    if line.endswith("/**") and line.strip("/*"):
        line += "/*"
    return f"\\{line}" if line.startswith(("#", "!")) else line


def _checker(lines: Sequence[str]) -> Callable[[str], Any]:
    """What pathspec says of a path; POSIX classes, which it does not know, are spelt out before."""
    import pathspec  # 40 ms that only a run or a search with patterns pays

    spelt = [_POSIX_CLASS.sub(lambda found: _POSIX[found[1]], line) for line in lines]
    backend = "re2" if _has_re2() else "simple"
    return pathspec.GitIgnoreSpec.from_lines(spelt, backend=backend).check_file


def _has_re2() -> bool:
    from importlib.util import find_spec

    return find_spec("re2") is not None


_POSIX = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "lower": "a-z", "upper": "A-Z", "xdigit": "0-9a-fA-F",
    "space": " \t\n\r\f\v", "punct": "!-.:-@\\[-`{-~",
}  # fmt: skip
_POSIX_CLASS = re.compile(rf"\[:({'|'.join(_POSIX)}):\]")


class Selector:
    """Decides which files an index takes: any include (all when none is given), then no exclude."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self._include = Patterns(include) if include else None
        self._exclude = Patterns(exclude) if exclude else None
        # A pattern that takes all below a directory takes the directory, where nothing can be taken back.
        bases = [] if any(p.startswith("!") for p in exclude) else [p for p in exclude if p.endswith("/**")]
        self._below = [(p, compiled(_base(p))) for p in bases if p.strip("/*.")]

    def __bool__(self) -> bool:
        return self._include is not None or self._exclude is not None

    def leaves_out(self, path: str) -> tuple[SkipReason, str] | None:
        """Say why a file is not taken, and by which exclude; None when it is."""
        if self._include is not None and self._include.decisive(path) is None:
            return SkipReason.NOT_INCLUDED, ""
        found = None if self._exclude is None else self._exclude.decisive(path)
        return None if found is None else (SkipReason.EXCLUDED, found)

    def prunes(self, directory: str) -> str | None:
        """Name the exclude that takes a directory with all below it; None when there is none."""
        if self._exclude is None:
            return None
        whole = self._exclude.decisive(f"{directory}/")
        return whole or next((pattern for pattern, match in self._below if match(f"{directory}/")), None)


def _base(pattern: str) -> str:
    """The directory of a pattern `directory/**`, from the root as that pattern is."""
    base = pattern.replace("\\/", "/").removesuffix("**").removeprefix("./")
    return base if base.startswith(("/", "**/")) else f"/{base}"


def unmatched(patterns: Iterable[str], paths: Sequence[str]) -> list[str]:
    """List the patterns that match none of the paths, for a hint."""
    return [pattern for pattern in patterns if not any(map(compiled(pattern.removeprefix("!")), paths))]


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
                own = self._verdict(f"{directory if at < 0 else directory[:at]}/")
                covered = covered if own is None else own
            self._directories[directory] = covered
        return self._directories[directory]

    def _verdict(self, path: str) -> bool | None:
        return next((not negated for negated, match in self._globs if match(path)), None)


def _glob(glob: str) -> Match:
    if not glob.strip("/"):
        raise UsageError(f"{glob!r} is not a usable glob", "write a pattern such as '*.py' or '!docs/**'")
    return compiled(glob)


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
