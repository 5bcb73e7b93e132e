"""Find and read the files that hold settings: TOML to plain values with the line of each. Decides nothing."""

import errno
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from ragcli.config import bounds
from ragcli.errors import UsageError

PROJECT_FILE = "ragcli.toml"
PYPROJECT = "pyproject.toml"
_CAPS = {PROJECT_FILE: bounds.PROJECT_BYTES, PYPROJECT: bounds.PYPROJECT_BYTES}
_BASES = {"data": ("XDG_DATA_HOME", ".local/share"), "config": ("XDG_CONFIG_HOME", ".config")}


class Found(NamedTuple):
    """One key of a file, dotted below the file's table, its value as TOML has it, and `file:line`."""

    name: str
    value: object
    where: str


class Table(NamedTuple):
    """The table of one file as TOML has it, and the text that it was read from ('' where there is no file)."""

    path: str
    values: dict[str, Any]
    text: str
    above: tuple[str, ...] = ()

    def line(self, names: tuple[str, ...]) -> int:
        """The line on which a key below the table is set, by its steps."""
        return _line(self.text, self.above + names)


def user_directory(kind: Literal["data", "config"], environ: Mapping[str, str]) -> str:
    """ragcli's directory of this kind, as platformdirs names it; '' when no home directory is known.

    On Linux the two usual answers are given without the import, which takes 9 ms of each search.
    """
    variable, below = _BASES[kind]
    if sys.platform == "linux" and "ANDROID_DATA" not in environ:
        base, home = environ.get(variable, ""), environ.get("HOME", "")
        if base.startswith("/"):
            return os.path.join(base, "ragcli")
        if home.startswith("/"):
            return f"{home.rstrip('/')}/{below}/ragcli"
    import platformdirs

    place = platformdirs.user_data_dir if kind == "data" else platformdirs.user_config_dir
    try:
        path = place("ragcli", appauthor=False)
    except RuntimeError:
        return ""
    return path if os.path.isabs(path) else ""


def read_user_file(environ: Mapping[str, str]) -> list[Found]:
    """The user's settings: the file RAGCLI_CONFIG names, which must exist, else config.toml where there is one.

    UsageError where that is missing or cannot be read.
    """
    return list(_found(read_user_table(environ)))


def read_user_table(environ: Mapping[str, str]) -> Table:
    """The user's file as a table. UsageError where it cannot be read or is no TOML."""
    named = environ.get("RAGCLI_CONFIG", "")
    directory = "" if named else user_directory("config", environ)
    path = os.path.expanduser(named) or (os.path.join(directory, "config.toml") if directory else "")
    if not path:
        return Table("", {}, "")
    try:
        with open(path, "rb") as file:
            raw = file.read(bounds.USER_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        # In a container HOME is often another user's: settings that cannot be seen are settings that are not there.
        if not named:
            return Table("", {}, "")
        if isinstance(error, PermissionError):
            raise UsageError(f"cannot read {path}: permission denied", "RAGCLI_CONFIG names another file") from error
        raise UsageError(f"RAGCLI_CONFIG names {path}, which does not exist", "unset it, or name a file") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a file name"
        raise UsageError(f"cannot read {path}: {reason}", "RAGCLI_CONFIG names another file") from error
    if len(raw) > bounds.USER_BYTES:
        raise UsageError(f"{path}: larger than {bounds.USER_BYTES // 1024} KiB", "RAGCLI_CONFIG names another file")
    return _parse(raw, path, ())


def read_project_file(root: str) -> tuple[list[Found], list[str]]:
    """The settings that the tree at `root` brings along, and notices about a file that is not read.

    ragcli.toml if there is one, else the table [tool.ragcli] of pyproject.toml.
    """
    table, notices = read_project_table(root)
    return list(_found(table)), notices


def read_project_table(root: str) -> tuple[Table, list[str]]:
    """The same as a table. UsageError where the file is no TOML."""
    notices: list[str] = []
    raw = _read_inside(root, PROJECT_FILE, notices)
    if raw is not None:
        return _parse(raw, os.path.join(root, PROJECT_FILE), ()), notices
    raw = _read_inside(root, PYPROJECT, notices)
    if raw is not None and b"ragcli" in raw:
        return _parse(raw, os.path.join(root, PYPROJECT), ("tool", "ragcli")), notices
    return Table("", {}, ""), notices


def parse_table(raw: bytes, path: str) -> Table:
    """A whole TOML file as a table. UsageError naming file and line where it is none."""
    return _parse(raw, path, ())


def _read_inside(root: str, name: str, notices: list[str]) -> bytes | None:
    """Read a regular file of the tree without following a link out of it, or waiting on a pipe."""
    path = os.path.join(root, name)
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        reason = "a symbolic link" if error.errno in (errno.ELOOP, errno.EMLINK) else str(error.strerror)
        notices.append(f"{path} is not read: {reason}")
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        notices.append(f"{path} is not read: not a regular file")
        return None
    with open(descriptor, "rb") as file:
        raw = file.read(_CAPS[name] + 1)
    if len(raw) > _CAPS[name]:
        if name == PROJECT_FILE or b"ragcli" in raw:
            notices.append(f"{path} is not read: larger than {_CAPS[name] // 1024} KiB")
        return None
    return raw


def _parse(raw: bytes, path: str, table: tuple[str, ...]) -> Table:
    if not raw.strip():
        return Table(path, {}, "")
    import tomllib  # 5 ms, and only where there is a file

    try:
        text = raw.decode("utf-8-sig")
        line, reason = bounds.too_costly(text)
        if reason:
            raise UsageError(f"{path}:{line}: {reason}", "settings are short keys, one a line")
        values: Any = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path}:{line}: not UTF-8 text", "save the file as UTF-8") from error
    except RecursionError as error:
        raise UsageError(f"{path}: nested too deeply") from error
    except ValueError as error:  # also an integer of thousands of digits
        line, reason = _place(str(error), text)
        raise UsageError(f"{path}:{line}: {reason}", "the file must be TOML") from error
    for step in table:
        values = values.get(step, {}) if isinstance(values, dict) else {}
    if not isinstance(values, dict):
        raise UsageError(f"{path}:{_line(text, table)}: must be a table", f"write [{'.'.join(table)}]")
    return Table(path, values, text, table)


def _found(table: Table) -> Iterator[Found]:
    for name, value in _flat(table.values):
        yield Found(".".join(name), value, f"{table.path}:{table.line(name)}")


def _flat(values: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Only `limit` is a table of settings; any other table stays a value, which its key will refuse."""
    for name, value in values.items():
        if isinstance(value, dict) and name == "limit" and not above:
            yield from _flat(value, (name,))
        else:
            yield (*above, name), value


def _place(message: str, text: str) -> tuple[int, str]:
    """The line in a parser's message, and the rest of it."""
    reason, _, place = message.partition(" (at line ")
    line = place.partition(",")[0]
    if line.isdigit():
        return int(line), reason
    return text.count("\n") + 1, message.partition(" (at end")[0]


def _line(text: str, wanted: tuple[str, ...]) -> int:
    """The line on which a key of this dotted name is set: the one that names most of it, 1 if none does."""
    lines = _lines(text)
    return next((lines[wanted[:parts]] for parts in range(len(wanted), 0, -1) if wanted[:parts] in lines), 1)


@lru_cache(maxsize=2)
def _lines(text: str) -> dict[tuple[str, ...], int]:
    """The first line that names each dotted key."""
    table: tuple[str, ...] = ()
    found: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        body = line.strip()
        if body.startswith("["):
            table = named = _dotted(body.partition("]")[0].strip("[] "))
        else:
            named = table + _dotted(body.partition("=")[0])
        found.setdefault(named, number)
    return found


def _dotted(text: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in text.split("."))
