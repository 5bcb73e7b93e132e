"""The embedded engine: a session's segments in the data directory of this machine. A SessionStore."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeVar, cast

from ragcli.config.options import IndexOptions, QueryOptions, RunOptions
from ragcli.errors import IndexCorruptError
from ragcli.model import Document, FileInfo, IndexStatus, Scalar, SearchOutcome, StoredDocument
from ragcli.session.locator import SessionPlace, Sessions
from ragcli.session.reader import SessionReader
from ragcli.session.soundness import damage_told
from ragcli.store.directory import Directory
from ragcli.store.snapshots import SnapshotStore

if TYPE_CHECKING:
    from ragcli.documents import IndexReport, ProgressCallback
    from ragcli.session.writer import SessionWriter

F = TypeVar("F", bound=Callable[..., Any])


class SessionFacts(NamedTuple):
    """What is known of a session without opening its index; also of a damaged one, as far as it tells.

    `root` is where the tree is now, '' where that is not known; `options` are those of the last index run, None before
    the first.
    """

    root: str
    options: IndexOptions | None


def _located(method: F) -> F:
    """Let an error about damage say where the index is, once."""

    @functools.wraps(method)
    def located(self: "EmbeddedStore", *arguments: Any, **named: Any) -> Any:
        try:
            return method(self, *arguments, **named)
        except IndexCorruptError as error:
            if self._path and self._path not in error.message:
                error.message = f"{error.message} (in {self._path})"
            raise

    return cast(F, located)


class EmbeddedStore:
    """One session's store. Reads go to a reader that keeps its generation open, each write to a writer of its
    own; damage that no checksum tells is IndexCorruptError all the same."""

    def __init__(self, directory: Directory, place: SessionPlace, sessions: Sessions | None) -> None:
        self._directory = directory
        self._place = place
        self._path = getattr(directory, "path", "")
        self._sessions = sessions
        self._snapshots = SnapshotStore(directory)
        self.reader = SessionReader(self._snapshots, place)

    # -- reading: as SessionReader

    @_located
    def query(self, query: str, top_k: int, options: QueryOptions) -> SearchOutcome:
        with damage_told(self._snapshots):
            return self.reader.query(query, top_k, options)

    @_located
    def status(self) -> IndexStatus:
        with damage_told(self._snapshots):
            return self.reader.status()

    @_located
    def facts(self) -> SessionFacts:
        manifest = self.reader.known()
        return SessionFacts(self.reader.root(), manifest.options if manifest is not None and manifest.root else None)

    @_located
    def generation(self) -> int:
        return SnapshotStore(self._directory).current_number()

    @_located
    def exists(self) -> bool:
        with damage_told(self._snapshots):
            return self.reader.manifest() is not None or bool(self.reader.documents())

    @_located
    def files(self) -> list[FileInfo]:
        with damage_told(self._snapshots):
            return self.reader.files()

    @_located
    def failed(self) -> list[FileInfo]:
        with damage_told(self._snapshots):
            return self.reader.failed()

    @_located
    def skipped(self) -> list[FileInfo]:
        with damage_told(self._snapshots):
            return self.reader.skipped()

    @_located
    def documents(self) -> list[Document]:
        with damage_told(self._snapshots):
            return self.reader.documents()

    @_located
    def stored_file(self, path: str) -> StoredDocument | None:
        with damage_told(self._snapshots):
            return self.reader.stored_file(path)

    @_located
    def file_of_chunk(self, id: str) -> str:
        with damage_told(self._snapshots):
            return self.reader.file_of_chunk(id)

    @_located
    def stored_document(self, document: Document) -> StoredDocument:
        with damage_told(self._snapshots):
            return self.reader.stored_document(document)

    # -- writing: as SessionWriter, imported only then

    @_located
    def index(
        self, path: str, progress: "ProgressCallback | None", options: IndexOptions | None, run: RunOptions
    ) -> "IndexReport":
        with damage_told(self._snapshots):
            return self._writer().index(path, progress, options, run)

    @_located
    def add(self, text: str, metadata: Mapping[str, Scalar], wait: float) -> tuple[str, bool]:
        with damage_told(self._snapshots):
            return self._writer().add(text, metadata, wait)

    @_located
    def replace(self, documents: Sequence[tuple[str, Mapping[str, Scalar]]], wait: float) -> list[str]:
        return self._writer().replace(documents, wait)

    @_located
    def remove(self, id: str, wait: float) -> bool:
        with damage_told(self._snapshots):
            return self._writer().remove(id, wait)

    @_located
    def clear(self, wait: float) -> None:
        with damage_told(self._snapshots):
            self._writer().clear(wait)

    @_located
    def export(self, target: BinaryIO) -> None:
        from ragcli.session.transfer import export_session

        with damage_told(self._snapshots):
            export_session(self._directory, target)

    @_located
    def import_(self, source: BinaryIO, wait: float) -> None:
        from ragcli.session.transfer import import_session

        import_session(self._directory, self._place, source, wait)

    def _writer(self) -> "SessionWriter":
        from ragcli.session.writer import SessionWriter

        return SessionWriter(self._directory, self._place, self._sessions)
