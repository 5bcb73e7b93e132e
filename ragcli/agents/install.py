"""Put ragcli's entry into a client's configuration file, or take it out. Everything else in the file stays as it is."""

import os
import stat
import tempfile
from typing import NamedTuple

from ragcli.agents.clients import SERVER, Client, entry
from ragcli.agents.jsonc import remove_member, set_member
from ragcli.errors import UsageError

MAX_CONFIG_BYTES = 16 * 1024 * 1024


class Change(NamedTuple):
    """What a file is now and what it would become; `before` is None where it does not exist."""

    path: str
    before: str | None
    after: str

    @property
    def changes(self) -> bool:
        """Whether anything would be written."""
        return (self.before or "") != self.after


def planned(client: Client, path: str, *, remove: bool = False) -> Change:
    """Work out the change without writing; UsageError where the file cannot be read or is not what the client reads."""
    before = _read(path)
    if remove and before is None:
        return Change(path, None, "")
    edit = _edit_toml if client.syntax == "toml" else _edit_json
    try:
        return Change(path, before, edit(before or "", client, remove))
    except ValueError as error:
        raise UsageError(f"{path} is left alone: {error}", "mend the file, or add the entry by hand") from None


def apply(change: Change) -> None:
    """Write the file through a temporary one beside it, with the mode it had; a link keeps pointing at its target.

    OSError where the directory cannot be written. A new file may be read by its owner alone.
    """
    target = os.path.realpath(change.path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    mode = stat.S_IMODE(os.stat(target).st_mode) if change.before is not None else 0o600
    descriptor, draft = tempfile.mkstemp(prefix=".ragcli-", dir=os.path.dirname(target))
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(change.after)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(draft, mode)
        os.replace(draft, target)
    except BaseException:
        os.unlink(draft)
        raise


def diff(change: Change) -> str:
    """Return the change as a unified diff."""
    from difflib import unified_diff

    before = change.before or ""
    old = change.path if change.before is not None else "/dev/null"
    lines = unified_diff(before.splitlines(keepends=True), change.after.splitlines(keepends=True), old, change.path)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def snippet(client: Client) -> str:
    """Return what a file without anything else would hold."""
    edit = _edit_toml if client.syntax == "toml" else _edit_json
    return edit("", client, False)


def _read(path: str) -> str | None:
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_CONFIG_BYTES:
            raise UsageError(f"{path} is left alone: not a regular file of at most {MAX_CONFIG_BYTES:,} bytes")
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is left alone: it is not UTF-8", "convert it, or add the entry by hand") from None


def _edit_json(text: str, client: Client, remove: bool) -> str:
    path = (*client.keys, SERVER)
    return remove_member(text, path) if remove else set_member(text, path, entry(client))


def _edit_toml(text: str, client: Client, remove: bool) -> str:
    import tomlkit
    from tomlkit.exceptions import ParseError, TOMLKitError

    try:
        document = tomlkit.parse(text)
        servers = document.get(client.keys[0])
        if servers is not None and not isinstance(servers, dict):
            raise ValueError(f"{client.keys[0]} is no table")
        if remove:
            if servers is None or SERVER not in servers:
                return text
            del servers[SERVER]
            return str(tomlkit.dumps(document))
        if servers is not None and SERVER in servers and servers[SERVER] == entry(client):
            return text
        if servers is None:
            servers = document[client.keys[0]] = tomlkit.table(is_super_table=True)
        table = tomlkit.table()
        table.update(entry(client))
        if len(document) and list(document)[-1] != client.keys[0]:
            table.add(tomlkit.nl())
        servers[SERVER] = table
        return str(tomlkit.dumps(document))
    except ParseError as error:
        raise ValueError(f"line {error.line}: not TOML") from None
    except TOMLKitError as error:
        raise ValueError(str(error)) from None
