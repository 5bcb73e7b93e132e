"""The declared sources of one project as sessions: found, built on first use, refreshed by name."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from ragcli.config.options import DEFAULT_WAIT
from ragcli.errors import IndexCorruptError, UsageError
from ragcli.knowledge.members import shown
from ragcli.knowledge.paths import check_reach, is_configured, resolved, shown_url
from ragcli.knowledge.values import LOADED, Agent, KnowledgeEntry, SourceType, When
from ragcli.session.locator import session_id
from ragcli.session.manager import SessionManager
from ragcli.session.service import RagService

CURSOR = "cursor.json"
REFRESHED = "refreshed"


class SourceOptions(NamedTuple):
    """How sources are found and read: what the user's flags and settings say."""

    base_directory: str = ""
    allow_outside: bool = False
    allow_private: bool = False
    wait: float = DEFAULT_WAIT
    workers: int | None = None


class Sources:
    """Opens the sessions of sources. `tell` gets notices for people."""

    def __init__(
        self, manager: SessionManager, root: str, options: SourceOptions = SourceOptions(),
        tell: Callable[[str], None] = lambda notice: None,
    ) -> None:  # fmt: skip
        self.manager = manager
        self._root = root
        self._options = options
        self._tell = tell
        self._told: set[str] = set()

    def usable(self, entries: Iterable[KnowledgeEntry]) -> list[KnowledgeEntry]:
        """The entries that load something and can be used here; what is skipped is told."""
        found = []
        for entry in entries:
            if not entry.source.enabled or entry.source.type not in LOADED:
                continue
            reason = self._skipped(entry)
            if reason:
                notice = f"the source {entry.name} is skipped: {reason}"
                if notice not in self._told:
                    self._told.add(notice)
                    self._tell(notice)
            else:
                found.append(entry)
        return found

    def id(self, entry: KnowledgeEntry) -> str:
        """The id of an entry's session; UsageError for a source that may not be reached."""
        if not self._options.allow_outside:
            check_reach(entry, self._options.base_directory)
        source = entry.source
        # Of the project, the name, the place and what shapes the index, each a part of its own.
        parts = [self._root, source.name, source.type, self.location(entry), source.query, source.format]
        lists = [part for each in (source.include, source.exclude) for part in (str(len(each)), *each)]
        return f"source-{session_id(chr(0).join([*parts, *lists]))}"

    def location(self, entry: KnowledgeEntry) -> str:
        """Where an entry's documents are, resolved."""
        return resolved(entry, self._options.base_directory)

    def shown_location(self, entry: KnowledgeEntry) -> str:
        """An entry's location for people: no password of a URL, only the scheme of a connection."""
        if entry.source.url:
            return shown_url(entry.source.url)
        if entry.source.connection:
            return entry.source.connection.partition(":")[0] + ":…"
        return self.location(entry)

    def ready(self, entry: KnowledgeEntry) -> str:
        """The id of the entry's session, which is built where it is not there yet. Nothing is read again by itself."""
        id_ = self.id(entry)
        service = self.manager.get_rag(id_)
        if not _is_there(service):
            self._tell(f"reading the source {entry.name} for the first time")
            self._load(entry, service)
        return id_

    def service(self, entry: KnowledgeEntry) -> RagService:
        """The session of an entry, built on first use."""
        return self.manager.get_rag(self.ready(entry))

    def refresh(self, entries: Sequence[KnowledgeEntry]) -> list[str]:
        """Read some sources again: their sessions, cached results and cursors. The names of those that were read."""
        done: dict[str, str] = {}
        for entry in self.usable(entries):
            id_ = self.id(entry)
            if id_ in done:
                continue
            service = self.manager.get_rag(id_)
            self._load(entry, service)
            kept = service.kept_files()
            with kept.lock(self._options.wait):
                kept.remove(CURSOR)
                kept.write(REFRESHED, str(self.refreshed(id_) + 1).encode())
            done[id_] = entry.name
        return list(done.values())

    def refreshed(self, id_: str) -> int:
        """How often a source was refreshed; results that were cached before are of no use after."""
        raw = self.manager.get_rag(id_).kept_files().read(REFRESHED) or b"0"
        return int(raw) if raw.isdigit() else 0

    def next_chunk(self, id_: str, count: int) -> int:
        """The chunk that a sequential source gives next, from 0; after the last it begins anew."""
        raw = self.manager.get_rag(id_).kept_files().read(CURSOR) or b"{}"
        try:
            found = json.loads(raw).get("next", 0)
        except (ValueError, AttributeError):
            found = 0
        return found % count if isinstance(found, int) and count else 0

    @contextmanager
    def cursors(self, ids: Iterable[str]) -> Iterator[None]:
        """Hold the cursors of sources from their reading to their move, so that no chunk is given twice.

        LockedError where another call holds one for too long, StoreError where the data directory cannot be written.
        """
        with ExitStack() as held:
            for id_ in sorted(set(ids)):
                held.enter_context(self.manager.get_rag(id_).kept_files().lock(self._options.wait))
            yield

    def advance(self, id_: str, following: int) -> None:
        """Move a source's cursor, which is held. StoreError where the data directory cannot be written."""
        self.manager.get_rag(id_).kept_files().write(CURSOR, json.dumps({"next": following}).encode())

    def _load(self, entry: KnowledgeEntry, service: RagService) -> None:
        from ragcli.knowledge.loading import load

        how = self._options
        location = self.location(entry)
        for notice in load(entry.source, location, service, how.wait, how.workers, private=how.allow_private):
            self._tell(notice)

    def _skipped(self, entry: KnowledgeEntry) -> str:
        if entry.source.when is When.CONFIGURED and not is_configured(entry, self._options.base_directory):
            return f"it wants another location than {self.location(entry)}, from a configuration or run file"
        if entry.source.type is SourceType.DATABASE:
            from ragcli.knowledge.loading import GROUP, loader_of

            if loader_of(entry.source.connection) is None:
                return f"no loader for it is installed (an entry point of {GROUP})"
        return ""


def _is_there(service: RagService) -> bool:
    """Whether a session was ever built; of a damaged one its next use says what is wrong."""
    try:
        return service.generation() > 0
    except IndexCorruptError:
        return True


def all_entries(agents: Iterable[Agent]) -> list[KnowledgeEntry]:
    """Every entry of some agents and their roles, as declared, in order."""
    found: list[KnowledgeEntry] = []
    for agent in agents:
        found += agent.knowledge
        for role in agent.roles.values():
            found += role.knowledge
    return found


def named_entries(entries: Sequence[KnowledgeEntry], name: str) -> list[KnowledgeEntry]:
    """The enabled entries of a name; UsageError for a blank, unknown or disabled one."""
    if not name.strip():
        raise UsageError("the name of a source is blank", "see: ragcli knowledge list")
    found = [entry for entry in entries if entry.name == name]
    if not found:
        known = ", ".join(dict.fromkeys(entry.name for entry in entries)) or "none"
        raise UsageError(f"no source {shown(name)} is declared", f"there are: {known}")
    enabled = [entry for entry in found if entry.source.enabled]
    if not enabled:
        raise UsageError(f"the source {name} is disabled", f"set enabled = true in {found[0].origin.file}")
    return enabled
