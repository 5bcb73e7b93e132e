"""Settle every setting once: flags, then RAGCLI_* variables, the project's file, the user's file, the defaults.

Each value keeps its origin. A project's file comes with the tree and is trusted no further than that: see
config_keys.Reach. Nothing here is read that no file or variable offers.
"""

import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple, cast

from ragcli.config.files import Found, read_project_file, read_user_file, user_directory
from ragcli.config.keys import DECLARATIONS, KEYS, LIMIT, Key, Value, available_workers, key, nearest, shown
from ragcli.config.options import PROFILES, IndexOptions, Limits
from ragcli.errors import UsageError
from ragcli.model import DocumentFormat

DEFAULT = "default"
COMMAND_LINE = "command line"
_PREFIX = "RAGCLI_"
_PATHS = ("data_dir", "run")
_NOT_SETTINGS = {"RAGCLI_CONFIG"}


class Settings(NamedTuple):
    """All settings, settled. `origins` names where each key's value is from; `notices` are for standard error."""

    k: int
    prompt_k: int
    max_tokens: int | None
    max_per_file: int
    signals: bool
    color: str
    progress: str
    wait: float
    workers: int
    session: str
    data_dir: str
    allow_outside: bool
    allow_private: bool
    run: str
    include: tuple[str, ...]
    exclude: tuple[str, ...]
    format: DocumentFormat
    default_skips: bool
    ignore_files: bool
    allow_secrets: bool
    profile: str
    limits: Limits
    origins: Mapping[str, str]
    notices: tuple[str, ...]


class SettingEntry(NamedTuple):
    """A line of `ragcli config`."""

    key: str
    value: Value
    origin: str


class _Given(NamedTuple):
    """A checked value of one layer."""

    name: str
    value: Value
    where: str


def resolve(
    flags: Mapping[str, object], environ: Mapping[str, str], root: str | None = None, *, lenient: bool = False
) -> Settings:
    """Settle all settings; `root` is the directory whose project file counts, None before a session is known.

    `flags` maps keys to what the command line gave: None and an empty list are not given, a text is read as in the
    environment. Raises UsageError naming the file and line, the variable or the flag; where it is the project's file
    that is wrong, a `lenient` caller gets a notice instead and none of that file's settings.
    """
    notices: list[str] = []
    layers = _Layers(notices)
    layers.apply(_from_file(read_user_file(environ)))
    layers.apply_project(_project_layer(root, notices, lenient))
    layers.apply(_from_environment(environ, notices))
    layers.apply(_from_flags(flags))
    return layers.settings()


def _project_layer(root: str | None, notices: list[str], lenient: bool) -> "list[_Given]":
    if root is None:
        return []
    try:
        found, said = read_project_file(root)
    except UsageError as error:  # no TOML, another encoding: it may be another tool's, and ends no command
        notices.append(f"{error.message}; the file is left out")
        return []
    notices += said
    try:
        return _from_file(found, project=True)
    except UsageError as error:
        if not lenient:
            raise
        notices.append(f"{error.message}; the file is left out")
        return []


def data_directory(settings: Settings, environ: Mapping[str, str]) -> str:
    """Where sessions live, absolute. Raises UsageError when none is set and no home directory is known."""
    path = settings.data_dir or user_directory("data", environ)
    if not path:
        raise UsageError("no home directory is known to keep sessions in", "set RAGCLI_DATA_DIR to a directory")
    return path


def index_options(settings: Settings) -> IndexOptions:
    """The settings that shape an index."""
    return IndexOptions(
        include=settings.include,
        exclude=settings.exclude,
        format=settings.format,
        limits=settings.limits,
        default_skips=settings.default_skips,
        ignore_files=settings.ignore_files,
        allow_secrets=settings.allow_secrets,
    )


def given(settings: Settings, name: str) -> bool:
    """Whether anything but the default set this key."""
    return settings.origins[name] != DEFAULT


def entries(settings: Settings, environ: Mapping[str, str]) -> list[SettingEntry]:
    """Every key with its value and origin, in the order of the documentation."""
    values: dict[str, Value] = {name: getattr(settings, name) for name in KEYS if not name.startswith("limit")}
    values["format"] = settings.format.value
    values["data_dir"] = settings.data_dir or user_directory("data", environ)
    values["limits"] = settings.profile
    values |= {LIMIT + name: value for name, value in settings.limits._asdict().items()}
    return [SettingEntry(name, values[name], settings.origins[name]) for name in KEYS]


class _Layers:
    """Merges configuration layers in order of precedence, the lowest first."""

    def __init__(self, notices: list[str]) -> None:
        self._values: dict[str, Value] = {name: each.default for name, each in KEYS.items()}
        self._origins = dict.fromkeys(KEYS, DEFAULT)
        self._notices = notices

    def apply(self, layer: list[_Given]) -> None:
        """A profile replaces every number of the layers below; the numbers of its own layer come after it."""
        for name, value, where in _profiles_first(layer):
            if name == "limits":
                for field, number in PROFILES[str(value)]._asdict().items():
                    self._set(LIMIT + field, number, where)
            self._set(name, value, where)

    def apply_project(self, layer: list[_Given]) -> None:
        """As `apply`, but what could cost the user more than without the file is left out, with a notice."""
        for name, value, where in _profiles_first(layer):
            if name == "limits":
                self._lower_all(str(value), where)
            elif KEYS[name].project == "lower" and _above(value, self._values[name]):
                self._notices.append(
                    f"{where}: {name} = {value} is not taken: a project file can only lower it, "
                    f"and it is {self._values[name]}"
                )
            elif isinstance(value, int) and value > KEYS[name].project_most:
                self._notices.append(
                    f"{where}: {name} = {value} is not taken: a project file can set {KEYS[name].project_most} at most"
                )
            else:
                self._set(name, value, where)

    def settings(self) -> Settings:
        """The values on top."""
        values = {name: value for name, value in self._values.items() if not name.startswith("limit")}
        values["workers"] = available_workers() if values["workers"] is None else values["workers"]
        limits = Limits(**{name: self._values[LIMIT + name] for name in Limits._fields})  # type: ignore[arg-type]
        return Settings(
            **(values | {"format": DocumentFormat(str(values["format"]))}),  # type: ignore[arg-type]
            profile=str(self._values["limits"]),
            limits=limits,
            origins=self._origins,
            notices=tuple(self._notices),
        )

    def _set(self, name: str, value: Value, where: str) -> None:
        self._values[name] = value
        self._origins[name] = where

    def _lower_all(self, profile: str, where: str) -> None:
        raised = False
        for field, number in PROFILES[profile]._asdict().items():
            if _above(number, self._values[LIMIT + field]):
                raised = True
            elif number != self._values[LIMIT + field]:
                self._set(LIMIT + field, number, where)
        if raised:
            self._notices.append(f"{where}: limits = {profile} raises no limit: a project file can only lower one")
        else:
            self._set("limits", profile, where)


def _above(value: Value, other: Value) -> bool:
    return cast(float, value) > cast(float, other)


def _profiles_first(layer: list[_Given]) -> list[_Given]:
    return sorted(layer, key=lambda one: one.name != "limits")


def _from_file(found: Iterable[Found], project: bool = False) -> list[_Given]:
    layer = []
    for name, raw, where in found:
        if name in DECLARATIONS:
            continue
        known = key(name, where)
        if project and known.project == "never":
            raise UsageError(f"{where}: a project file cannot set {name}", "set it in your own file, or by a flag")
        value = _checked(known, raw, where, name)
        if name in _PATHS:  # relative to its file, and ~ as in a shell
            value = _absolute(os.path.join(os.path.dirname(where), os.path.expanduser(str(value))), where)
        if project and name in ("include", "exclude"):
            _refuse_outside(cast(tuple[str, ...], value), where, name)
        layer.append(_Given(name, value, where))
    return layer


def _from_environment(environ: Mapping[str, str], notices: list[str]) -> list[_Given]:
    names = {name.replace(".", "_").upper(): name for name in KEYS}
    layer = []
    for variable in sorted(one for one in environ if one.startswith(_PREFIX)):
        short, text = variable.removeprefix(_PREFIX), environ[variable]
        name = names.get(short)
        if name is None:
            near = nearest(short, list(names)) if variable not in _NOT_SETTINGS else ""
            if near:  # else it may be another program's
                notices.append(f"{variable} is not a setting; did you mean {_PREFIX}{near}?")
        elif text:  # an empty variable is an unset one
            layer.append(_Given(name, _read(name, text, variable), variable))
    return layer


def _from_flags(flags: Mapping[str, object]) -> list[_Given]:
    layer = []
    for name, raw in flags.items():
        if raw is None or raw == [] or raw == ():
            continue
        name = name.replace("-", "_")
        flag = "--" + name.removeprefix(LIMIT).replace("_", "-")
        layer.append(_Given(name, _read(name, raw, flag), COMMAND_LINE))
    return layer


def _read(name: str, raw: object, where: str) -> Value:
    """A value of the command line or the environment, checked; a path there is relative to the working directory."""
    known = key(name, where)
    value = _checked(known, known.read(raw) if isinstance(raw, str) else raw, where)
    return _absolute(str(value), where) if name in _PATHS else value


def _checked(known: Key, raw: object, where: str, name: str = "") -> Value:
    try:
        return known.check(raw)
    except ValueError as error:
        subject = f"{where}: {name}" if name else where
        raise UsageError(f"{subject} {error}, not {shown(raw)}") from error


def _absolute(path: str, where: str) -> str:
    try:
        return os.path.abspath(path)
    except FileNotFoundError as error:
        raise UsageError(f"{where}: {path} is relative to a directory that is gone", "give an absolute path") from error


def _refuse_outside(patterns: tuple[str, ...], where: str, name: str) -> None:
    for pattern in patterns:
        if ".." in pattern.replace("\\", "/").split("/"):
            raise UsageError(f"{where}: {name} {shown(pattern)} leads out of the tree", "name what is below the root")
