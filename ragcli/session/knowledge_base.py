"""A session as a KnowledgeBase: its added documents can be changed, its files are searched with them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ragcli.errors import SessionNotFoundError
from ragcli.model import Document, SearchResult

if TYPE_CHECKING:
    from ragcli.session.service import RagService


class SessionKnowledgeBase:
    """Adapts a RagService. The id of a document is made of its text and metadata, whatever id it comes with."""

    def __init__(self, service: "RagService") -> None:
        self._service = service

    def add_document(self, document: Document) -> str:
        """Add a document; the id it is kept under."""
        return self._service.add_document(document.text, document.metadata)

    def add_documents(self, documents: Iterable[Document]) -> None:
        """Add several."""
        for document in documents:
            self.add_document(document)

    def get_document(self, id: str) -> Document | None:
        """An added document by its id; None also where there is no session yet."""
        try:
            return self._service.get_document(id)
        except SessionNotFoundError:
            return None

    def remove_document(self, id: str) -> bool:
        """Remove an added document; False where there is none."""
        return self.get_document(id) is not None and self._service.remove_document(id)

    def replace_documents(self, documents: Iterable[Document]) -> None:
        """Put documents in place of all added ones, in one commit."""
        self._service.replace_documents(documents)

    def search(self, query: str, top_k: int) -> list[SearchResult]:
        """The best `top_k` chunks of files and added documents."""
        return self._service.search(query, top_k)

    @property
    def size(self) -> int:
        """How many files and added documents there are."""
        try:
            status = self._service.get_status()
        except SessionNotFoundError:
            return 0
        return status.files + status.documents

    @property
    def is_empty(self) -> bool:
        """Whether there are none."""
        return not self.size
