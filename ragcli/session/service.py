"""RagService: the one door of the engine. Index, search, prompt and manage one session.

Searches take no lock and answer from one pinned generation; whatever writes holds the session's lock.
"""

import contextlib
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, BinaryIO

from ragcli.config.options import DEFAULT_WAIT, STANDARD, IndexOptions, Limits, QueryOptions, RunOptions
from ragcli.errors import DocumentNotFoundError, IndexCorruptError, SessionNotFoundError, UsageError
from ragcli.model import (
    ChatHost,
    ContextPrompt,
    Document,
    DocumentInfo,
    FileInfo,
    IndexStatus,
    Scalar,
    SearchOutcome,
    SearchResult,
    StoredDocument,
)
from ragcli.session.embedded import EmbeddedStore
from ragcli.session.kept_files import KeptFiles
from ragcli.session.locator import SessionPlace, Sessions
from ragcli.session.reader import SessionReader
from ragcli.store.directory import Directory, OsDirectory

if TYPE_CHECKING:
    from ragcli.documents import IndexReport, ProgressCallback
    from ragcli.session.store import Engine, SessionStore

PREVIEW = 100


class RagService:
    """One session. Made by SessionManager; nothing is stored before the first write, until then it reads as empty."""

    CHAT_SOURCE = "session-knowledge"
    CHAT_TOP_K = 5

    def __init__(
        self,
        place: SessionPlace,
        sessions: Sessions | None = None,
        directory: Directory | None = None,
        engine: "Engine" = EmbeddedStore,
    ) -> None:
        self._place = place
        self._directory = directory or OsDirectory(place.path)
        self._store: SessionStore = engine(self._directory, place, sessions)

    @property
    def session(self) -> str:
        """The session's name, or the id of a directory's session."""
        return self._place.name or self._place.id

    # -- searching

    def search(self, query: str, top_k: int = 10) -> list[SearchResult]:
        """The best `top_k` chunks for a query, best first."""
        return self.query(query, top_k).results

    def query(self, query: str, top_k: int = 10, settings: QueryOptions = QueryOptions()) -> SearchOutcome:
        """The same with what surrounds it: generation, root, failed streams, notices."""
        wanted = _checked(top_k)
        try:
            return self._store.query(query, wanted, settings)
        except SessionNotFoundError:
            return SearchOutcome(query, self.session, "", "", [], [], [])

    def build_context_prompt(self, query: str, top_k: int = 5) -> str:
        """The query behind fenced evidence; the query alone where nothing is found or rendering fails."""
        return self.context_prompt(query, top_k).prompt

    def context_prompt(
        self,
        query: str,
        top_k: int = 5,
        *,
        max_tokens: int | None = None,
        settings: QueryOptions = QueryOptions(),
        allow_secrets: bool = False,
    ) -> ContextPrompt:
        """The same with tokens and evidence, keys masked. UsageError where the query alone is over `max_tokens`."""
        from ragcli.session.prompting import prompt_of

        outcome = self.query(query, top_k, settings)
        return prompt_of(query, outcome, max_tokens, allow_secrets=allow_secrets)

    # -- reading

    def get_status(self) -> IndexStatus:
        """Counts, sizes, the last run, what failed and was left out; zeros where nothing is indexed."""
        try:
            return self._store.status()
        except SessionNotFoundError:
            return IndexStatus(self.session, "", 0, 0, 0, 0.0, "", 0, 0, 0, [], {}, {}, {})

    def require(self) -> None:
        """SessionNotFoundError where nothing was ever stored; everything else reads such a session as an empty one."""
        if not self._store.generation() and not self._store.exists():
            raise self._missing()

    def generation(self) -> int:
        """The number of the committed generation, 0 before the first; IndexCorruptError where it cannot be told."""
        return self._store.generation()

    def stored_options(self) -> IndexOptions | None:
        """The options of the last index run, None before the first; also of a damaged index, as far as it tells."""
        return self._store.facts().options

    def stored_root(self) -> str:
        """The root of the last index run, '' before the first; also of a damaged index, as far as it tells."""
        return self._store.facts().root

    def list_documents(self) -> list[DocumentInfo]:
        """The added documents by id."""
        return [
            DocumentInfo(document.id, document.text[:PREVIEW], len(document.text), document.metadata)
            for document in self._documents()
        ]

    def list_files(self) -> list[FileInfo]:
        """The indexed files by path."""
        with contextlib.suppress(SessionNotFoundError):
            return self._store.files()
        return []

    def list_failed(self) -> list[FileInfo]:
        """The files that failed when they were last read, with why."""
        with contextlib.suppress(SessionNotFoundError):
            return self._store.failed()
        return []

    def list_skipped(self) -> list[FileInfo]:
        """The paths that the last run left out, with why."""
        with contextlib.suppress(SessionNotFoundError):
            return self._store.skipped()
        return []

    def get_document(self, id: str) -> Document | None:
        """An added document by its id or an unambiguous beginning of it. UsageError where several ids begin so."""
        found = [document for document in self._documents() if id and document.id.startswith(id)]
        if len(found) > 1 and all(document.id != id for document in found):
            raise UsageError(f"{id} is the beginning of {len(found)} ids", "give more of the id; see: ragcli list")
        return next((document for document in found if document.id == id), found[0] if found else None)

    def show(self, name: str) -> StoredDocument:
        """What is stored of a file (path relative to the root) or of an added document (by id).

        DocumentNotFoundError where there is none.
        """
        stored = None
        with contextlib.suppress(SessionNotFoundError):
            stored = self._store.stored_file(name)
        if stored is None:
            document = self.get_document(name)
            stored = self._store.stored_document(document) if document else None
        if stored is None:
            raise DocumentNotFoundError(
                f"nothing is stored of {name}", "see what is with: ragcli list --files  (added documents: ragcli list)"
            )
        return stored

    def file_of_chunk(self, id: str) -> str:
        """The file that holds the chunk of an id, relative to the root; '' where none does."""
        with contextlib.suppress(SessionNotFoundError):
            return self._store.file_of_chunk(id)
        return ""

    def _documents(self) -> list[Document]:
        with contextlib.suppress(SessionNotFoundError):
            return self._store.documents()
        return []

    # -- writing

    def index_directory(
        self,
        path: str | os.PathLike[str],
        progress: "ProgressCallback | None" = None,
        *,
        options: IndexOptions | None = None,
        rebuild: bool = False,
        verify: bool = False,
        strict: bool = False,
        dry_run: bool = False,
        allow_empty: bool = False,
        workers: int | None = None,
        wait: float = DEFAULT_WAIT,
    ) -> "IndexReport":
        """Bring the index up to date with a directory or one file; only what changed is read."""
        run = RunOptions(rebuild, verify, strict, dry_run, allow_empty, workers, wait)
        return self._store.index(os.fspath(path), progress, options, run)

    def add_document(self, text: str, metadata: Mapping[str, Scalar] = {}, *, wait: float = DEFAULT_WAIT) -> str:
        """Add a document of your own beside the files; its id."""
        return self.add(text, metadata, wait=wait)[0]

    def add(self, text: str, metadata: Mapping[str, Scalar], *, wait: float = DEFAULT_WAIT) -> tuple[str, bool]:
        """Add a document; return its id and whether it is new."""
        return self._store.add(text, metadata, wait)

    def replace_documents(self, documents: Iterable[Document], *, wait: float = DEFAULT_WAIT) -> list[str]:
        """Put documents in place of all added ones, in one commit; their ids, made of text and metadata."""
        return self._store.replace([(document.text, document.metadata) for document in documents], wait)

    def add_file(
        self,
        path: str | os.PathLike[str],
        metadata: Mapping[str, Scalar] = {},
        *,
        limits: Limits = STANDARD,
        wait: float = DEFAULT_WAIT,
    ) -> tuple[str, bool]:
        """Add the text of a file, of any format that is indexed; its id, and whether it is new.

        UsageError where the file has no text or cannot be read.
        """
        from ragcli.indexing.file_text import file_text

        return self.add(file_text(os.fspath(path), IndexOptions(limits=limits)), metadata, wait=wait)

    def remove_document(self, id: str, *, wait: float = DEFAULT_WAIT) -> bool:
        """Remove an added document by its id or an unambiguous beginning of it; False where there is none."""
        document = self.get_document(id)
        return document is not None and self._store.remove(document.id, wait)

    def clear(self, *, wait: float = DEFAULT_WAIT) -> None:
        """Empty the index, the added documents and what is known of files; the session stays."""
        # Damage is no reason not to: then this is the way out.
        with contextlib.suppress(IndexCorruptError):
            if not self._store.exists():
                raise self._missing()
        self._store.clear(wait)

    def kept_files(self) -> KeptFiles:
        """Small files kept with the session, such as a cursor; they are no part of its index."""
        return KeptFiles(self._directory)

    def attach_chat_to(self, host: ChatHost) -> None:
        """Ground a host's chat on this session, live; nothing where it is empty.

        ValueError or RuntimeError where the host declares no memory CHAT_SOURCE searched with CHAT_TOP_K.
        """
        from ragcli.session.knowledge_base import SessionKnowledgeBase

        if not (corpus := SessionKnowledgeBase(self)).is_empty:
            host.bind_live(self.CHAT_SOURCE, self.CHAT_TOP_K, corpus)

    def export(self, target: BinaryIO) -> None:
        """Write the session as one tar file; SessionNotFoundError where there is none."""
        self._store.export(target)

    def import_(self, source: BinaryIO, *, wait: float = DEFAULT_WAIT) -> None:
        """Replace the session by an exported one, once all of it has passed its checks.

        UsageError for what is no export, IndexCorruptError for a damaged one, LockedError while another writes.
        """
        self._store.import_(source, wait)

    def reader(self) -> SessionReader:
        """What a union of sessions reads; UsageError for an engine whose sessions cannot be joined here."""
        if not isinstance(self._store, EmbeddedStore):
            raise UsageError(f"session {self.session} cannot be searched together with others", "search it alone")
        return self._store.reader

    def _missing(self) -> SessionNotFoundError:
        return SessionNotFoundError(f"there is no session {self.session}", "make it with: ragcli index -s NAME PATH")


def _checked(top_k: int) -> int:
    if top_k < 1:
        raise UsageError(f"-k must be 1 or more, not {top_k}", "give the number of results you want")
    return top_k
