"""SessionManager: the services of the sessions below one data directory, by name, by path, several as one."""

import contextlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragcli.config.options import DEFAULT_WAIT
from ragcli.errors import RagError, UsageError
from ragcli.model import IndexStatus
from ragcli.session.embedded import EmbeddedStore
from ragcli.session.locator import SessionPlace, Sessions
from ragcli.session.service import RagService
from ragcli.session.union import SessionUnion
from ragcli.store.private_files import check_private

if TYPE_CHECKING:
    from ragcli.session.store import Engine


class SessionManager:
    """Makes each session's RagService on first use; `engine` opens the store of each.

    Without a `data_dir` it is RAGCLI_DATA_DIR, else the user's directory for data; UsageError where no home is
    known.
    """

    def __init__(self, data_dir: str | os.PathLike[str] | None = None, engine: "Engine" = EmbeddedStore) -> None:
        self._sessions = Sessions(_default_place() if data_dir is None else data_dir)
        self._engine = engine
        self._services: dict[str, RagService] = {}

    def get_rag(self, session: str) -> RagService:
        """The service of a named session, or of an id."""
        return self._service(self._sessions.named(session))

    def rag_for_path(self, path: str | os.PathLike[str]) -> RagService:
        """The service of a directory's or file's own session."""
        return self._service(self._sessions.of_root(os.fspath(path)))

    def rag_for_directory(self, directory: str | os.PathLike[str]) -> RagService:
        """The service of the nearest ancestor that is indexed; SessionNotFoundError where none is."""
        return self._service(self._sessions.of_directory(os.fspath(directory)))

    def root_for_directory(self, directory: str | os.PathLike[str]) -> str:
        """The nearest ancestor that has a session, by its name alone: also where the index is damaged; '' for none."""
        return self._sessions.nearest(os.fspath(directory))

    def union(self, sessions: Sequence[str]) -> SessionUnion:
        """Several sessions, by their names or ids, to be searched as one; UsageError where none is named."""
        if not sessions:
            raise UsageError("no session to search", "name at least one")
        return SessionUnion([self.get_rag(session).reader() for session in dict.fromkeys(sessions)])

    def sessions(self) -> list[IndexStatus]:
        """The status of every session; what is wrong with one that cannot be read is its `problem`."""
        return [self._status(place) for place in self._sessions.all()]

    def session_names(self) -> list[str]:
        """Every session's name or id; opens none."""
        return [place.id for place in self._sessions.all()]

    def remove_session(self, session: str, *, wait: float = DEFAULT_WAIT) -> bool:
        """Delete a session with all that it holds; False where there is none."""
        self._services.pop(session, None)
        return self._sessions.remove(self._sessions.named(session), wait)

    def _status(self, place: SessionPlace) -> IndexStatus:
        service = self._service(place)
        try:
            return service.get_status()
        except (RagError, OSError) as error:
            root = ""
            with contextlib.suppress(RagError, OSError):
                root = service.stored_root()
            problem = error.message if isinstance(error, RagError) else f"{error.strerror or error}"
            return IndexStatus(service.session, root, 0, 0, 0, 0.0, "", 0, 0, 0, [], {}, {}, {}, problem)

    def _service(self, place: SessionPlace) -> RagService:
        service = self._services.get(place.id)
        if service is None:
            check_private(self._sessions.data_dir, place.path)
            service = self._services[place.id] = RagService(place, self._sessions, engine=self._engine)
        return service


def _default_place() -> str:
    from ragcli.config.files import user_directory

    path = os.environ.get("RAGCLI_DATA_DIR", "") or user_directory("data", os.environ)
    if not path:
        raise UsageError("no home directory is known to keep sessions in", "set RAGCLI_DATA_DIR to a directory")
    return os.path.abspath(path)
