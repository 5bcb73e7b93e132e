"""The rooms and their doors, as data, checked against the imports that `ast` finds."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragcli import errors
from ragcli.cli.reference.shells import FILE_NAMES

PACKAGE = Path(__file__).parent.parent / "ragcli"

# The rooms from the lowest floor up, each with the rooms that it may import from, all of them above its own line; a
# module of the top level is a room of its own.
DOORS: dict[str, set[str]] = {
    "errors": set(),
    "model": {"errors"},
    "config": {"errors", "model"},
    "documents": {"config", "model"},
    "analysis": set(),
    "text": set(),
    "workers": {"errors"},
    "prompt": {"errors", "model", "text"},
    "extract": {"config", "documents", "errors", "model"},
    "ingest": {"config", "documents", "errors", "extract", "model", "text"},
    "index": {"analysis", "config", "documents", "errors", "model"},
    "store": {"documents", "errors", "index", "model"},
    "retrieval": {"analysis", "config", "errors", "model"},
    "memory": {"analysis", "config", "errors", "index", "model", "retrieval"},
    "indexing": {
        "analysis", "config", "documents", "errors", "extract", "index", "ingest", "model", "store", "workers",
    },
    "session": {
        "analysis", "config", "documents", "errors", "index", "indexing", "ingest", "model", "prompt", "retrieval",
        "store", "text",
    },
    "knowledge": {"config", "documents", "errors", "model", "prompt", "session"},
    "__init__": {
        "config", "documents", "errors", "extract", "indexing", "ingest", "knowledge", "memory", "model", "retrieval",
        "session",
    },
    "evaluation": {"errors", "model"},
    "agents": {"__init__", "config", "documents", "errors", "knowledge", "model", "prompt", "session", "text"},
    "cli": {
        "__init__", "agents", "config", "documents", "errors", "evaluation", "knowledge", "model", "session", "text",
    },
    "__main__": {"cli"},
}  # fmt: skip
# Libraries that one room only may know.
LIBRARIES = {
    "typer": {"cli"},
    "rich": {"cli"},
    "msgpack": {"store", "index"},
    "filelock": {"store"},
    "pypdf": {"extract"},
    "docx": {"extract"},
    "pptx": {"extract"},
    "openpyxl": {"extract"},
    "ebooklib": {"extract"},
    "bs4": {"extract"},
    "lxml": {"extract"},
    "tree_sitter": {"extract"},
    "charset_normalizer": {"extract"},
    "webencodings": {"extract"},
    "pathspec": {"ingest"},
    "re2": {"ingest"},
    "Stemmer": {"analysis"},
    "platformdirs": {"config"},
    "pickle": {"workers"},
    "mcp": {"agents"},
    "mcp_types": {"agents"},
    "tomlkit": {"agents"},
}
MAX_MODULE_LINES = 300
MAX_FUNCTION_LINES = 50


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(source: str) -> Iterator[str]:
    """Every module that a source names in an import, also inside functions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names if node.module == "ragcli")


def violations(room: str, source: str) -> list[str]:
    """What a module of `room` imports and may not."""
    found = []
    for name in imports(source):
        top, _, rest = name.partition(".")
        if top != "ragcli":
            allowed = LIBRARIES.get(top)
            if allowed is not None and room not in allowed:
                found.append(name)
            continue
        other = rest.partition(".")[0] or "__init__"
        if other not in DOORS:  # a name of the package itself, such as __version__
            other = "__init__"
        if other == room or (other == "__init__" and "." not in name):
            continue
        if other not in DOORS[room]:
            found.append(name)
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_from_lower_floors_only(path: Path) -> None:
    assert violations(room_of(path), path.read_text()) == []


@pytest.mark.parametrize(
    ("room", "planted"),
    [
        ("retrieval", "from ragcli.store.checked_file import CheckedFile"),
        ("ingest", "import ragcli.index.segment"),
        ("store", "from ragcli.analysis.analyzers import english_terms"),
        ("index", "def f():\n    from ragcli.store import codec"),
        ("cli", "from ragcli.store.snapshots import SnapshotStore"),
        ("session", "import typer"),
        ("retrieval", "import msgpack"),
        ("errors", "from ragcli.model import Chunk"),
    ],
)
def test_a_forbidden_import_is_found(room: str, planted: str) -> None:
    assert violations(room, f'"""A module."""\n{planted}\n') != []


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_and_functions_stay_small_and_say_what_they_are(path: Path) -> None:
    source = path.read_text()
    tree = ast.parse(source)
    assert ast.get_docstring(tree), "a module begins with a sentence on what it does"
    assert source.count("\n") <= MAX_MODULE_LINES
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            text = ast.get_docstring(node) or ""
            lines = (node.end_lineno or 0) - node.lineno + 1 - text.count("\n")
            assert lines <= MAX_FUNCTION_LINES, f"{node.name} has {lines} lines"


def test_doors_lead_down_only() -> None:
    """A room names only rooms of earlier lines, so that no two can import each other, by whatever way round."""
    floors = list(DOORS)
    for room, others in DOORS.items():
        assert {other for other in others if floors.index(other) >= floors.index(room)} == set(), room
    assert set(floors) == {room_of(path) for path in modules()}


def test_no_two_modules_of_one_name_mean_different_things() -> None:
    """A basename is an address in talk and in tracebacks; only packages and entry points repeat."""
    names = [path.stem for path in modules() if path.stem not in ("__init__", "__main__")]

    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_the_map_names_every_room_and_only_modules_that_exist() -> None:
    text = (PACKAGE.parent / "ARCHITECTURE.md").read_text()
    rooms = {room_of(path) for path in modules()}

    assert {room for room in rooms if f"`{room}/`" not in text and f"`{room}.py`" not in text} == set()
    named = set(re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py)`", text))
    known = {str(path.relative_to(PACKAGE)) for path in modules()}
    assert {
        name
        for name in named
        if not name.startswith("tests/") and not any(path == name or path.endswith(f"/{name}") for path in known)
    } == set()


def test_the_wheel_installs_every_page_and_completion_script() -> None:
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())
    data = project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]

    assert data["man"] == "share/man/man1"
    assert {name for name in data if name != "man"} == {f"completions/{name}" for name in FILE_NAMES.values()}


def test_a_public_function_that_raises_says_what() -> None:
    """Callers read docstrings, not bodies. Commands are left out: their docstrings are help for people."""
    silent = []
    for path in modules():
        if "commands" in path.parts:
            continue
        tree = ast.parse(path.read_text())
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        functions += [
            f for c in tree.body if isinstance(c, ast.ClassDef) for f in c.body if isinstance(f, ast.FunctionDef)
        ]
        for function in functions:
            text = ast.get_docstring(function)
            if function.name.startswith("_") or text is None:
                continue
            for node in ast.walk(function):
                raised = node.exc.func if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) else None
                if isinstance(raised, ast.Name) and hasattr(errors, raised.id) and raised.id not in text:
                    silent.append((path.name, function.name, raised.id))
    assert silent == []
