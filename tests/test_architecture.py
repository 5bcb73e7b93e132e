"""The rooms and their doors, as data, checked against the imports that `ast` finds."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "ragcli"

# Each room's floor. A room imports from lower floors, and from itself; a module of the top level is a room of its own.
FLOORS = {
    "errors": 0, "model": 0, "documents": 0, "settings": 0, "config": 0, "config_files": 0, "config_keys": 0,
    "analysis": 1, "identifiers": 1, "synonyms": 1, "extract": 1, "index": 1,
    "store": 2, "ingest": 2, "retrieval": 2, "prompt": 2,
    "pipeline": 3, "planning": 3, "generations": 3, "added": 3, "outcomes": 3, "indexer": 3, "sessions": 3,
    "recovery": 3,
    "repair": 3, "results": 3, "session_reader": 3, "session_writer": 3, "transfer": 3,
    "service": 4,
    "__init__": 5,
    "cli": 6,
    "__main__": 7,
}  # fmt: skip
# Doors within a floor.
SAME_FLOOR = {
    "settings": {"model", "errors"},
    "model": {"errors"},
    "documents": {"model", "settings"},
    "config": {"config_files", "config_keys", "errors", "model", "settings"},
    "config_files": {"config_keys", "errors", "model", "settings"},
    "config_keys": {"errors", "model", "settings"},
    "analysis": {"identifiers", "synonyms"},
    "index": {"analysis"},
    "store": set(),
    "ingest": set(),
    "retrieval": set(),
    "planning": {"pipeline"},
    "generations": {"planning", "pipeline"},
    "added": {"generations", "planning"},
    "outcomes": {"pipeline"},
    "indexer": {"added", "generations", "outcomes", "pipeline", "planning", "repair"},
    "recovery": {"added", "generations"},
    "session_reader": {"recovery", "results", "sessions"},
    "session_writer": {"added", "generations", "indexer", "recovery", "repair", "sessions"},
    "transfer": {"sessions"},
}  # fmt: skip
# Doors that stay shut though the floor is lower.
SHUT = {
    ("cli", "extract"), ("cli", "index"), ("cli", "store"), ("cli", "ingest"), ("cli", "retrieval"),
    ("cli", "analysis"),
    ("cli", "indexer"), ("cli", "sessions"), ("cli", "pipeline"), ("cli", "generations"),
    ("ingest", "index"), ("store", "analysis"), ("store", "extract"), ("extract", "index"),
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
    "Stemmer": {"analysis", "identifiers"},
    "platformdirs": {"config", "config_files"},
    "pickle": {"ingest"},
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
        if other not in FLOORS:  # a name of the package itself, such as __version__
            other = "__init__"
        if other == room or (other == "__init__" and "." not in name):
            continue
        lower = FLOORS[other] < FLOORS[room] or other in SAME_FLOOR.get(room, ())
        if not lower or (room, other) in SHUT:
            found.append(name)
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_from_lower_floors_only(path: Path) -> None:
    assert violations(room_of(path), path.read_text()) == []


@pytest.mark.parametrize(
    ("room", "planted"),
    [
        ("retrieval", "from ragcli.store.blob import Blob"),
        ("ingest", "import ragcli.index.segment"),
        ("store", "from ragcli.analysis import english_terms"),
        ("index", "def f():\n    from ragcli.store import codec"),
        ("cli", "from ragcli.store.snapshots import SnapshotStore"),
        ("service", "import typer"),
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


def test_no_two_rooms_import_each_other() -> None:
    """Floors make cycles between floors impossible; this is for the doors within a floor."""
    edges = {(room, other) for room, others in SAME_FLOOR.items() for other in others}
    assert {(a, b) for a, b in edges if (b, a) in edges} == set()
