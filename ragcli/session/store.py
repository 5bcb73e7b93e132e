"""What a session's service asks of the store behind it, whatever engine that is."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, BinaryIO, Protocol

from ragcli.config.options import IndexOptions, QueryOptions, RunOptions
from ragcli.model import Document, FileInfo, IndexStatus, Scalar, SearchOutcome, StoredDocument

if TYPE_CHECKING:
    from ragcli.documents import IndexReport, ProgressCallback
    from ragcli.session.embedded import SessionFacts
    from ragcli.session.locator import SessionPlace, Sessions
    from ragcli.store.directory import Directory


class SessionStore(Protocol):
    """The store of one session. Reading takes no lock and answers from one generation.

    Every method raises IndexCorruptError where what is stored is damaged, and those that read an index raise
    SessionNotFoundError where there is none.
    """

    def query(self, query: str, top_k: int, options: QueryOptions) -> SearchOutcome:
        """Answer one search."""
        ...

    def status(self) -> IndexStatus:
        """Counts, sizes, the last run."""
        ...

    def facts(self) -> "SessionFacts":
        """Root and options of the last run, also of a damaged index."""
        ...

    def generation(self) -> int:
        """The number of the committed generation, 0 before the first."""
        ...

    def exists(self) -> bool:
        """Whether anything was committed; IndexCorruptError where that cannot be told."""
        ...

    def files(self) -> list[FileInfo]:
        """The indexed files by path."""
        ...

    def failed(self) -> list[FileInfo]:
        """The files that failed when they were last read."""
        ...

    def skipped(self) -> list[FileInfo]:
        """The paths that the last run left out."""
        ...

    def documents(self) -> list[Document]:
        """The added documents by id."""
        ...

    def stored_file(self, path: str) -> StoredDocument | None:
        """What is stored of a file, None for nothing."""
        ...

    def file_of_chunk(self, id: str) -> str:
        """The file that holds a chunk, '' where none does."""
        ...

    def stored_document(self, document: Document) -> StoredDocument:
        """What is stored of an added document."""
        ...

    def index(
        self, path: str, progress: "ProgressCallback | None", options: IndexOptions | None, run: RunOptions
    ) -> "IndexReport":
        """Bring the index up to date with a tree; LockedError while another writes, else as FileIndexer.index."""
        ...

    def add(self, text: str, metadata: Mapping[str, Scalar], wait: float) -> tuple[str, bool]:
        """Add a document; return its id and whether it is new."""
        ...

    def replace(self, documents: Sequence[tuple[str, Mapping[str, Scalar]]], wait: float) -> list[str]:
        """Put documents in place of all added ones; return their ids."""
        ...

    def remove(self, id: str, wait: float) -> bool:
        """Remove an added document; False where there is none."""
        ...

    def clear(self, wait: float) -> None:
        """Empty the session; it stays."""
        ...

    def export(self, target: BinaryIO) -> None:
        """Write the session as one file; UsageError where the engine has no such form."""
        ...

    def import_(self, source: BinaryIO, wait: float) -> None:
        """Replace the session by an exported one."""
        ...


class Engine(Protocol):
    """Opens the store of a session, cheaply: nothing is read or made before the first question."""

    def __call__(self, directory: "Directory", place: "SessionPlace", sessions: "Sessions | None", /) -> SessionStore:
        """The store of the session at `place`; `directory` is its own on this machine, `sessions` those beside it."""
        ...
