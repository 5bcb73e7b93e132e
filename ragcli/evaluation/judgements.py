"""Judged queries: what was asked, and which files or lines answer it. Reads JSON lines; opens no index."""

import json
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from ragcli.errors import UsageError

_LINES = re.compile(r"(.+?):(\d+)(?:-(\d+))?")
EXAMPLE = '{"query": "how is a route matched", "relevant": ["src/router.py"]}'


class Target(NamedTuple):
    """What answers a query: a document by its names, of it the lines `start`-`end` (0 for all), and how well.

    `names` are the judged name as it was given and, once resolved, the indexed files and added documents it means.
    """

    name: str
    names: frozenset[str]
    start: int = 0
    end: int = 0
    grade: float = 1.0

    @property
    def has_lines(self) -> bool:
        """Whether only some lines of the document answer."""
        return self.start > 0


class JudgedQuery(NamedTuple):
    """A query with at least one target. `id` is the line number where nothing else was given."""

    id: str
    text: str
    targets: tuple[Target, ...]
    category: str = ""


def read_judgements(path: str) -> list[JudgedQuery]:
    """Read judged queries from a file of JSON lines, from standard input (`-`), or from a BEIR or TREC folder.

    UsageError where there is none, or a line is not what it should be; it names the line.
    """
    if path != "-" and os.path.isdir(path):
        from ragcli.evaluation.trec import read_folder

        queries = read_folder(path)
    else:
        queries = list(_parsed(path, _text(path)))
    if not queries:
        raise UsageError(f"{path} holds no judged query", f"one JSON object a line: {EXAMPLE}")
    return queries


def read_text(path: str) -> str:
    """Read a file of UTF-8; UsageError where it is missing, unreadable or of another encoding."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            return file.read()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", "give a file of JSON lines, or a folder") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 at byte {error.start}", "save the file as UTF-8") from None


def json_rows(name: str, text: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the JSON object of each line that is not blank, with where it is for messages.

    UsageError where a line is no JSON object.
    """
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{name}:{number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise UsageError(f"{where}: not valid JSON", f"one JSON object a line: {EXAMPLE}") from None
        if not isinstance(row, dict):
            raise UsageError(f"{where}: not a JSON object", f"one JSON object a line: {EXAMPLE}")
        yield where, row


def resolved(queries: Iterable[JudgedQuery], known: Collection[str]) -> tuple[list[JudgedQuery], list[str]]:
    """The queries with each target's names among the known documents, and the judged names that are not there.

    A name is a path, else the name of a file without its folders, with or without its extension: the documents of a
    test collection are files named by their ids.
    """
    by_name: dict[str, set[str]] = {}
    for document in known:
        base = document.rpartition("/")[2]
        for name in (base, base.rpartition(".")[0]):
            by_name.setdefault(name, set()).add(document)
    present = set(known)
    missing: dict[str, None] = {}
    found = []
    for query in queries:
        targets = []
        for target in query.targets:
            names = {target.name} if target.name in present else set[str]()
            if not names and "/" not in target.name:
                names = by_name.get(target.name, names)
            if not names:
                missing[target.name] = None
            targets.append(target._replace(names=frozenset(names)))
        found.append(query._replace(targets=tuple(targets)))
    return found, sorted(missing)


def _text(path: str) -> str:
    if path != "-":
        return read_text(path)
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input: not UTF-8 at byte {error.start}", "send UTF-8") from None


def _parsed(path: str, text: str) -> Iterator[JudgedQuery]:
    for where, row in json_rows("standard input" if path == "-" else path, text):
        query = row.get("query")
        if not isinstance(query, str) or not query.strip():
            raise UsageError(f"{where}: no query", f"each line needs one: {EXAMPLE}")
        relevant = row.get("relevant")
        if not isinstance(relevant, list) or not relevant:
            raise UsageError(f"{where}: no relevant paths", f"each line needs a list of them: {EXAMPLE}")
        targets = tuple(dict.fromkeys(_target(where, item) for item in relevant))
        category = row.get("category")
        if category is not None and not isinstance(category, str):
            raise UsageError(f"{where}: the category is not a string", f"such as: {EXAMPLE}")
        yield JudgedQuery(str(row.get("id") or where.rpartition(":")[2]), query, targets, category or "")


def _target(where: str, item: object) -> Target:
    """A target from `path`, `path:10-20`, or {"path", "lines": [10, 20], "grade"}."""
    if isinstance(item, str) and item:
        match = _LINES.fullmatch(item)
        if match is None:
            return _checked(where, item, None, 1.0)
        return _checked(where, match[1], (int(match[2]), int(match[3] or match[2])), 1.0)
    if isinstance(item, dict) and isinstance(item.get("path"), str) and item["path"]:
        lines, grade = item.get("lines"), item.get("grade", 1)
        if lines is None and "start_line" in item:
            lines = [item["start_line"], item.get("end_line", item["start_line"])]
        if lines is not None and not (
            isinstance(lines, list) and len(lines) == 2 and all(type(line) is int for line in lines)
        ):
            raise UsageError(f"{where}: lines are two numbers, not {lines!r}", 'such as: "lines": [10, 20]')
        if type(grade) not in (int, float) or not 0 < grade < float("inf"):
            raise UsageError(f"{where}: a grade is a number above 0, not {grade!r}", "leave it out for 1")
        return _checked(where, item["path"], (lines[0], lines[1]) if lines else None, float(grade))
    raise UsageError(
        f"{where}: a relevant path is a string or an object with a path", 'such as "src/a.py" or "src/a.py:10-20"'
    )


def _checked(where: str, path: str, lines: tuple[int, int] | None, grade: float) -> Target:
    start, end = lines or (0, 0)
    if lines and not 1 <= start <= end:
        raise UsageError(f"{where}: lines {start}-{end} are no range", "lines count from 1, the first one first")
    name = path.removeprefix("./")
    return Target(name, frozenset((name,)), start, end, grade)
