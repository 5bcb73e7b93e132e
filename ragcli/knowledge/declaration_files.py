"""Reads the files that declare knowledge: TOML and JSON to plain values, keys given twice remembered."""

import json
import os
import stat
from typing import Any

from ragcli.config.bounds import USER_BYTES
from ragcli.config.files import PROJECT_FILE, PYPROJECT, parse_table, read_project_table
from ragcli.config.keys import DECLARATIONS
from ragcli.errors import RagError, UsageError


class JsonObject(dict[str, Any]):
    """An object of a JSON file; `duplicates` are the keys that it gives more than once."""

    duplicates: tuple[str, ...] = ()


def read_values(path: str) -> Any:
    """The values of a TOML or JSON file, by its name. UsageError where it is missing, too large or malformed."""
    raw = _read(path)
    if path.endswith(".toml"):
        return parse_table(raw, path).values
    try:
        return json.loads(raw.decode("utf-8-sig"), object_pairs_hook=_object, parse_constant=_constant)
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 text", "save the file as UTF-8") from error
    except RecursionError as error:
        raise UsageError(f"{path}: nested too deeply") from error
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}:{error.lineno}: {error.msg}", "the file must be JSON") from error
    except ValueError as error:
        raise UsageError(f"{path}: {error}", "the file must be JSON") from error


def find_project(directory: str) -> str:
    """The nearest directory from here up that declares knowledge, '' for none; not beyond a repository's root.

    Above the working directory a file counts only where it is the user's own (or root's): another user could have
    put it there.
    """
    place = os.path.realpath(directory)
    while True:
        if _declares(place, directory):
            return place
        above = os.path.dirname(place)
        if above == place or os.path.exists(os.path.join(place, ".git")):
            return ""
        place = above


def _declares(place: str, start: str) -> bool:
    names = [name for name in (PROJECT_FILE, PYPROJECT) if os.path.isfile(os.path.join(place, name))]
    if not names:
        return False
    if place != os.path.realpath(start):
        owners = {os.stat(os.path.join(place, name)).st_uid for name in names}
        if hasattr(os, "geteuid") and not owners <= {0, os.geteuid()}:
            return False
    if PROJECT_FILE in names and place == os.path.realpath(start):
        return True
    try:
        table, _ = read_project_table(place)
    except RagError:
        return PROJECT_FILE in names  # reading it again tells what is wrong
    return any(name in table.values for name in DECLARATIONS)


def _read(path: str) -> bytes:
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a file name"
        raise UsageError(f"{path}: cannot be read: {reason}", "name a file that is there") from error
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UsageError(f"{path}: not a regular file")
        raw = file.read(USER_BYTES + 1)
    if len(raw) > USER_BYTES:
        raise UsageError(f"{path}: larger than {USER_BYTES // 1024} KiB")
    return raw


def _object(pairs: list[tuple[str, Any]]) -> JsonObject:
    made = JsonObject(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        made.duplicates = tuple(dict.fromkeys(key for key in keys if keys.count(key) > 1))
    return made


def _constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")
