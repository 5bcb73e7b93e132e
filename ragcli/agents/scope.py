"""Which sessions a client may read: those whose root lies at or below a permitted directory, and those named outright.

Permission goes by real paths, so a link below a permitted directory that points elsewhere permits nothing. Answers
come from indexes alone; nothing here opens a file of a tree.
"""

import os
import time
from collections.abc import Sequence
from typing import NamedTuple

from ragcli.errors import RagError, SessionNotFoundError, UsageError
from ragcli.session.manager import SessionManager
from ragcli.session.service import RagService
from ragcli.session.union import SessionUnion

# How long a listing of sessions is used; a session made by another program is seen after that at the latest.
LISTING_SECONDS = 2.0


class Source(NamedTuple):
    """A session that may be read, and its root as stored ('' for one of added documents alone)."""

    name: str
    root: str
    service: RagService


class Scope:
    """What a server may answer from: sessions at or below `directories`, and the sessions called `names`."""

    def __init__(self, manager: SessionManager, directories: Sequence[str], names: Sequence[str] = ()) -> None:
        self._manager = manager
        self.directories = tuple(dict.fromkeys(os.path.realpath(directory) for directory in directories))
        self._names = tuple(names)
        self._listed: tuple[float, list[Source]] = (float("-inf"), [])

    def widened(self, directories: Sequence[str]) -> "Scope":
        """The same with more permitted directories."""
        return Scope(self._manager, (*self.directories, *directories), self._names)

    def sources(self) -> list[Source]:
        """Every session that may be read, by root."""
        read_at, sources = self._listed
        if time.monotonic() - read_at > LISTING_SECONDS:
            sources = sorted(self._list(), key=lambda source: (source.root, source.name))
            self._listed = (time.monotonic(), sources)
        return sources

    def forget_listing(self) -> None:
        """Look again at the next call, since a session was made."""
        self._listed = (float("-inf"), [])

    def chosen(self, session: str = "") -> list[Source]:
        """All sources, or the one that `session` names; SessionNotFoundError where there is none, with what to do."""
        sources = self.sources()
        if session:
            sources = [s for s in sources if session in (s.name, s.root, os.path.basename(s.root))]
            if len(sources) > 1:
                sources = [s for s in sources if session in (s.name, s.root)] or sources[:1]
        if not sources:
            where = ", ".join(self.directories) or "the permitted sessions"
            what = f"no session {session} in {where}" if session else f"no index at or below {where}"
            target = self.directories[0] if self.directories else "DIR"
            raise SessionNotFoundError(what, f"make one with: ragcli index {target}  (or the tool index, if offered)")
        return sources

    def union(self, sources: Sequence[Source]) -> SessionUnion:
        """These sessions, to be searched as one collection."""
        return self._manager.union([source.name for source in sources])

    def service_of(self, directory: str) -> RagService:
        """The service of a directory's own session, which need not exist yet."""
        return self._manager.rag_for_path(directory)

    def permits(self, directory: str) -> bool:
        """Whether a directory is a permitted one or lies below one."""
        real = os.path.realpath(directory)
        return any(real == root or real.startswith(root.rstrip("/") + "/") for root in self.directories)

    def located(self, path: str, session: str = "") -> tuple[Source, str]:
        """The session and the stored path that a path as cited means: absolute, or relative to a session's root.

        UsageError where it leads out of every root.
        """
        sources = self.chosen(session)
        if os.path.isabs(path):
            normal = os.path.normpath(path)
            inside = [s for s in sources if s.root and normal.startswith(s.root.rstrip("/") + "/")]
            if not inside:
                raise UsageError(f"{path} is in no permitted index", f"permitted: {', '.join(s.root for s in sources)}")
            source = max(inside, key=lambda s: len(s.root))
            return source, normal[len(source.root.rstrip("/")) + 1 :]
        normal = os.path.normpath(path)
        if normal.startswith("../") or normal == "..":
            raise UsageError(f"{path} leads out of the root", "give a path as the search results cite it")
        if len(sources) == 1:
            return sources[0], normal
        head, _, rest = normal.partition("/")
        named = [s for s in sources if head in (s.name, os.path.basename(s.root))]
        return (named[0], rest) if named and rest else (sources[0], normal)

    def _list(self) -> list[Source]:
        found: list[Source] = []
        for status in self._manager.sessions():
            service = self._manager.get_rag(status.session)
            if status.session in self._names or (status.root and self.permits(status.root)):
                found.append(Source(status.session, status.root, service))
        missing = [name for name in self._names if all(source.name != name for source in found)]
        if missing:
            raise SessionNotFoundError(f"there is no session {missing[0]}", "see: ragcli status --all")
        return found


def explained(error: RagError) -> str:
    """An error as an agent reads it: what is wrong, and what to do."""
    return f"{error.message}\n{error.hint}" if error.hint else error.message
