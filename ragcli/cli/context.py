"""Settles the settings of a command and opens the engine with them. Imports the engine only when asked.

Start-up is paid by every search, so nothing heavy may be imported at the top of this module.
"""

import os
from typing import TYPE_CHECKING, NamedTuple

from ragcli.cli.options import Shared
from ragcli.cli.terminal import output
from ragcli.config.resolve import Settings, data_directory, resolve
from ragcli.errors import UsageError

if TYPE_CHECKING:
    from ragcli.session.service import RagService, SessionManager


class Opened(NamedTuple):
    """A session opened for a command, the settings that hold for it, and the shared options with them filled in."""

    service: "RagService"
    settings: Settings
    asked: Shared


def manager(asked: Shared) -> "SessionManager":
    """Return the session manager of the chosen data directory."""
    return _manager(settle(asked, {}, None))


def opened(asked: Shared, **flags: object) -> Opened:
    """Open the named session, else that of the working directory, and settle the settings given by flags."""
    early = settle(asked, flags, None)
    sessions = _manager(early)
    service = sessions.get_rag(early.session) if early.session else sessions.rag_for_directory(_here())
    return _settled(service, asked, flags, root_of(service))


def opened_to_write(asked: Shared, path: str | None, **flags: object) -> tuple[Opened, str]:
    """Open the session that `index` makes or refreshes: named, of a path, or of the working directory; and its root."""
    early = settle(asked, flags, None)
    sessions = _manager(early)
    if early.session:
        service = sessions.get_rag(early.session)
    elif path is not None:
        service = sessions.rag_for_path(path)
    else:
        service = sessions.rag_for_directory(_here())
    if path is None:
        path = service.stored_root() or ("" if early.session else sessions.root_for_directory(_here()))
        path = path or service.get_status().root
    return _settled(service, asked, flags, _project_of(path)), path


def root_of(service: "RagService") -> str:
    """Return the root of a session, '' where it has none yet."""
    return service.stored_root()


def settle(asked: Shared, flags: dict[str, object], root: str | None) -> Settings:
    """Settle all settings from the shared options and the flags of a command."""
    given = {
        "session": asked.session,
        "data_dir": asked.data_dir,
        "color": asked.color,
        "progress": asked.progress,
        **flags,
    }
    return resolve(given, os.environ, root)


def _settled(service: "RagService", asked: Shared, flags: dict[str, object], root: str) -> Opened:
    settings = settle(asked, flags, root or None)
    if not asked.quiet:
        for notice in settings.notices:
            output.say(f"ragcli: {notice}")
    return Opened(service, settings, asked._replace(color=settings.color, progress=settings.progress))


def _manager(settings: Settings) -> "SessionManager":
    from ragcli.session.service import SessionManager

    return SessionManager(data_directory(settings, os.environ))


def _project_of(root: str) -> str:
    """Return the directory whose settings file counts for a root; for a single file, the directory it is in."""
    return root if os.path.isdir(root) else os.path.dirname(os.path.abspath(root))


def opened_here(asked: Shared, **flags: object) -> Opened:
    """Open the named session, else the one that belongs to the working directory itself, whether it exists or not."""
    early = settle(asked, flags, None)
    sessions = _manager(early)
    here = _here()
    service = sessions.get_rag(early.session) if early.session else sessions.rag_for_path(here)
    return _settled(service, asked, flags, here)


def _here() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise UsageError("the working directory is gone", "change to another, or name a session with -s") from None
