"""What a path tells about a file: its name as words, its role (test, example, vendored ...), its version. Pure strings.

Reads no file: a role is a guess from names that projects of all languages share.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from ragcli.analysis import identifiers
from ragcli.analysis.analyzers import code_stem

# File names that say nothing without their directory: entry points, and drawers of every project (+0.002).
_STAND_FOR_DIRECTORY = frozenset(
    (
        *("mod", "index", "__init__", "init", "main", "lib", "readme", "package-info"),
        *("base", "common", "constants", "core", "helper", "helpers", "impl", "interface", "interfaces", "misc"),
        *("model", "models", "shared", "type", "types", "util", "utils"),
    )
)

_DIRECTORIES = {
    "test": "test tests __tests__ spec specs testing testdata fixture fixtures mock mocks __mocks__ e2e bench benches "
    "benchmark benchmarks",
    "example": "example examples sample samples demo demos docs_src tutorial tutorials playground sandbox",
    "vendored": "vendor vendored _vendor third_party thirdparty third-party deps external node_modules contrib "
    "deprecated legacy compat _compat locale locales i18n l10n migrations",
    "generated": "generated gen autogen __generated__",
    "private": "internal internals _internal private",
}
_ROLE_OF = {name: role for role, names in _DIRECTORIES.items() for name in names.split()}
_TEST_FILE = re.compile(
    r"test_.+|conftest\.\w+|.+[._-](?:tests?|spec|specs|bench)\.\w+|.+[a-z0-9](?:Tests?|Spec|Specs|Benchmark)\.\w+"
)
_GENERATED_FILE = re.compile(
    r".+(?:\.min\.\w+|_pb2(?:_grpc)?\.pyi?|\.pb\.\w+|\.g\.dart|\.generated\.\w+|[._-]lock(?:\.\w+)?|\.bundle\.js)"
    r"|package-lock\.json"
)
_REEXPORT_FILE = frozenset(("__init__.py", "index.js", "index.ts", "index.tsx", "index.mjs", "index.d.ts"))
_VERSION = re.compile(r"v(\d{1,3})")

# Query stems that ask for files of a role.
_ASKS = {
    "test": ("test", "spec", "fixtur", "mock", "benchmark", "bench", "unittest"),
    "example": ("exampl", "sampl", "demo", "tutori", "playground"),
    "vendored": ("vendor", "third", "extern", "deprec", "legaci", "compat", "locale", "migrat", "translat"),
    "generated": ("generat", "lock", "minifi"),
    "private": ("intern", "privat"),
    "document": ("doc", "document", "readm", "guid", "changelog", "licens", "instal", "tutori", "contribut", "manual"),
}


class FileName(NamedTuple):
    """A file's name as words: stems of its parts, all of it as one plain word, stems of its directories' names."""

    words: tuple[str, ...]
    whole: str
    directories: tuple[str, ...]
    depth: int


def file_name(path: str) -> FileName:
    """Read a path's names."""
    *directories, base = path.split("/")
    stem = base.lstrip(".").split(".")[0] or base
    if stem.casefold() in _STAND_FOR_DIRECTORY and directories:
        stem = directories[-1]
    whole, words = _name_words(stem)
    # A number alone (12.txt, 2024-01-05.md) is no name: any query with that number would match it.
    named = any(not word.isdigit() for word in words)
    above = [word for directory in directories for word in _name_words(directory)[1]]
    return FileName(words if named else (), whole, tuple(above), len(directories))


def roles(path: str) -> frozenset[str]:
    """Guess the roles of a file from its path."""
    *directories, base = path.split("/")
    found = {_ROLE_OF[name] for directory in directories if (name := directory.casefold()) in _ROLE_OF}
    if any(len(name) > 1 and name[0] == "_" and name[1] != "_" for name in directories) or base[:1] == "_" != base[1:2]:
        found.add("private")
    if _TEST_FILE.fullmatch(base):
        found.add("test")
    if _GENERATED_FILE.fullmatch(base):
        found.add("generated")
    if base in _REEXPORT_FILE:
        found.add("reexport")
    return frozenset(found)


def asked_roles(words: Iterable[str]) -> frozenset[str]:
    """Which roles a query asks for, by its stems."""
    asked = set(words)
    return frozenset(role for role, names in _ASKS.items() if not asked.isdisjoint(names))


def old_versions(paths: Iterable[str]) -> frozenset[str]:
    """Directories like `src/v3` beside which the paths also have a newer `src/v4`."""
    newest: dict[str, int] = {}
    seen: set[tuple[str, str, int]] = set()
    for path in paths:
        directories = path.split("/")[:-1]
        for position, name in enumerate(directories):
            if match := _VERSION.fullmatch(name):
                parent, number = "/".join(directories[:position]), int(match[1])
                newest[parent] = max(newest.get(parent, 0), number)
                seen.add((parent, f"{parent}/{name}" if parent else name, number))
    return frozenset(directory + "/" for parent, directory, number in seen if number < newest[parent])


@lru_cache(maxsize=4096)  # a few directories stand in most of a query's paths
def _name_words(name: str) -> tuple[str, tuple[str, ...]]:
    """A name as one plain word, and the stems of its parts."""
    parts = [part.casefold() for part in identifiers.parts(name)]
    return "".join(parts), tuple(code_stem(part) for part in parts if len(part) > 1)
