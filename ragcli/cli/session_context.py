"""Settles the settings of a command and opens the engine with them. Imports the engine only when shared.

Start-up is paid by every search, so nothing heavy may be imported at the top of this module.
"""

import contextlib
import os
from typing import TYPE_CHECKING, NamedTuple

from ragcli.cli.shared_options import Shared
from ragcli.cli.terminal import output
from ragcli.config.resolve import Settings, data_directory, resolve
from ragcli.errors import IndexCorruptError, UsageError

if TYPE_CHECKING:
    from ragcli.session.manager import SessionManager
    from ragcli.session.service import RagService


class OpenSession(NamedTuple):
    """A session opened for a command, the settings that hold for it, and the shared options with them filled in."""

    service: "RagService"
    settings: Settings
    shared: Shared


def manager(shared: Shared) -> "SessionManager":
    """Return the session manager of the chosen data directory."""
    return _manager(settle(shared, {}, None))


def opened(shared: Shared, *, lenient: bool = False, to_make: bool = False, **flags: object) -> OpenSession:
    """Open the named session, else that of the working directory, and settle the settings given by flags.

    A broken settings file of the tree is no more than a notice where the command is `lenient`. Where nothing is stored
    of it that is SessionNotFoundError, unless the command is `to_make` it.
    """
    early = settle(shared, flags, None)
    sessions = _manager(early)
    service = sessions.get_rag(early.session) if early.session else sessions.rag_for_directory(here())
    if not to_make:
        _require(service)
    return _settled(service, shared, flags, root_of(service), lenient)


def _require(service: "RagService") -> None:
    """SessionNotFoundError where there is no session; what is damaged is told by whoever reads it."""
    with contextlib.suppress(IndexCorruptError):
        service.require()


def opened_to_write(shared: Shared, path: str | None, **flags: object) -> tuple[OpenSession, str]:
    """Open the session that `index` makes or refreshes: named, of a path, or of the working directory; and its root.

    UsageError where it has none and none is given.
    """
    early = settle(shared, flags, None)
    sessions = _manager(early)
    if early.session:
        service = sessions.get_rag(early.session)
    elif path is not None:
        service = sessions.rag_for_path(path)
    else:
        service = sessions.rag_for_directory(here())
    if path is None:
        path = service.stored_root() or ("" if early.session else sessions.root_for_directory(here()))
        if not path:
            _require(service)
            path = service.get_status().root
        if not path:
            name = service.session
            raise UsageError(f"session {name} has no directory yet", f"name one: ragcli index -s {name} PATH")
    return _settled(service, shared, flags, _project_of(path)), path


def root_of(service: "RagService") -> str:
    """Return the root of a session, '' where it has none yet."""
    return service.stored_root()


def settle(shared: Shared, flags: dict[str, object], root: str | None, lenient: bool = False) -> Settings:
    """Settle all settings from the shared options and the flags of a command."""
    given = {
        "session": shared.session,
        "data_dir": shared.data_dir,
        "color": shared.color,
        "progress": shared.progress,
        **flags,
    }
    return resolve(given, os.environ, root, lenient=lenient)


def _settled(
    service: "RagService", shared: Shared, flags: dict[str, object], root: str, lenient: bool = False
) -> OpenSession:
    settings = settle(shared, flags, root or None, lenient)
    if not shared.quiet:
        for notice in settings.notices:
            output.say(f"ragcli: {_safe(notice)}")
    return OpenSession(service, settings, shared._replace(color=settings.color, progress=settings.progress))


def _manager(settings: Settings) -> "SessionManager":
    from ragcli.session.manager import SessionManager

    return SessionManager(data_directory(settings, os.environ))


def _project_of(root: str) -> str:
    """Return the directory whose settings file counts for a root; for a single file, the directory it is in."""
    return root if os.path.isdir(root) else os.path.dirname(os.path.abspath(root))


def opened_here(shared: Shared, **flags: object) -> OpenSession:
    """Open the named session, else the one that belongs to the working directory itself, whether it exists or not."""
    early = settle(shared, flags, None)
    sessions = _manager(early)
    directory = here()
    service = sessions.get_rag(early.session) if early.session else sessions.rag_for_path(directory)
    return _settled(service, shared, flags, directory)


def here() -> str:
    """The working directory; UsageError where it is gone."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise UsageError("the working directory is gone", "change to another, or name a session with -s") from None


def _safe(text: str) -> str:
    from ragcli.text.escapes import visible_name  # compiles an expression that most commands do without

    return visible_name(text)
