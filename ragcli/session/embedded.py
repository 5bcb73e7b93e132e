"""The embedded engine: a session's segments in the data directory of this machine. A SessionStore."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from ragcli.config.options import IndexOptions, QueryOptions, RunOptions
from ragcli.model import Document, FileInfo, IndexStatus, Scalar, SearchOutcome, StoredDocument
from ragcli.session.locator import SessionPlace, Sessions
from ragcli.session.reader import SessionReader
from ragcli.store.directory import Directory
from ragcli.store.snapshots import SnapshotStore

if TYPE_CHECKING:
    from ragcli.documents import IndexReport, ProgressCallback
    from ragcli.session.writer import SessionWriter


class SessionFacts(NamedTuple):
    """What is known of a session without opening its index; also of a damaged one, as far as it tells.

    `root` is where the tree is now, '' where that is not known; `options` are those of the last index run, None before
    the first.
    """

    root: str
    options: IndexOptions | None


class EmbeddedStore:
    """One session's store. Reads go to a reader that keeps its generation open, each write to a writer of its own."""

    def __init__(self, directory: Directory, place: SessionPlace, sessions: Sessions | None) -> None:
        self._directory = directory
        self._place = place
        self._sessions = sessions
        self.reader = SessionReader(SnapshotStore(directory), place)

    # -- reading: as SessionReader

    def query(self, query: str, top_k: int, options: QueryOptions) -> SearchOutcome:
        return self.reader.query(query, top_k, options)

    def status(self) -> IndexStatus:
        return self.reader.status()

    def facts(self) -> SessionFacts:
        manifest = self.reader.known()
        return SessionFacts(self.reader.root(), manifest.options if manifest is not None and manifest.root else None)

    def exists(self) -> bool:
        return self.reader.manifest() is not None or bool(self.reader.documents())

    def files(self) -> list[FileInfo]:
        return self.reader.files()

    def failed(self) -> list[FileInfo]:
        return self.reader.failed()

    def skipped(self) -> list[FileInfo]:
        return self.reader.skipped()

    def documents(self) -> list[Document]:
        return self.reader.documents()

    def stored_file(self, path: str) -> StoredDocument | None:
        return self.reader.stored_file(path)

    def stored_document(self, document: Document) -> StoredDocument:
        return self.reader.stored_document(document)

    # -- writing: as SessionWriter, imported only then

    def index(
        self, path: str, progress: "ProgressCallback | None", options: IndexOptions | None, run: RunOptions
    ) -> "IndexReport":
        return self._writer().index(path, progress, options, run)

    def add(self, text: str, metadata: Mapping[str, Scalar], wait: float) -> tuple[str, bool]:
        return self._writer().add(text, metadata, wait)

    def remove(self, id: str, wait: float) -> bool:
        return self._writer().remove(id, wait)

    def clear(self, wait: float) -> None:
        self._writer().clear(wait)

    def export(self, target: BinaryIO) -> None:
        from ragcli.session.transfer import export_session

        export_session(self._directory, target)

    def import_(self, source: BinaryIO, wait: float) -> None:
        from ragcli.session.transfer import import_session

        import_session(self._directory, self._place, source, wait)

    def _writer(self) -> "SessionWriter":
        from ragcli.session.writer import SessionWriter

        return SessionWriter(self._directory, self._place, self._sessions)
