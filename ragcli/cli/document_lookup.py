"""Find what a citation on the command line names: a document of the session, and the part of it that is meant."""

import os
from typing import TYPE_CHECKING, NamedTuple

from ragcli.cli.rendering.shown_paths import working_directory
from ragcli.errors import DocumentNotFoundError, UsageError
from ragcli.model import StoredDocument
from ragcli.session.citations import CHUNK_ID, Citation, readings
from ragcli.session.passages import Passage, Selection, passage
from ragcli.text.escapes import visible_name

if TYPE_CHECKING:
    from ragcli.session.service import RagService


class Found(NamedTuple):
    """A document, and the part of it that was asked for; None where all of it was."""

    stored: StoredDocument
    part: Passage | None


def find(service: "RagService", text: str, place: tuple[str, str] | None, neighbours: int) -> Found:
    """Find what a text names, as a search, an editor or a JSON result writes it.

    A name counts from the working directory, else from the root; else it is the id of an added document or a chunk.
    `place` is a page, sheet or slide beside it. DocumentNotFoundError where nothing of that name or no such part is
    stored, UsageError for an ambiguous id, lines that are none, or two parts at once.
    """
    wrong: DocumentNotFoundError | None = None
    names = _Names(service)
    for citation in readings(text):
        found = names.resolve(citation, alone=citation.name == text)
        if found is None:
            continue
        stored, selection = found
        if place is not None and selection != Selection():
            raise UsageError(f"{text} names a part, and --{place[0]} another", "leave one of them out")
        try:
            return _cut(stored, selection._replace(place=place) if place else selection, neighbours)
        except DocumentNotFoundError as error:
            wrong = wrong or error
    raise wrong or DocumentNotFoundError(
        f"nothing is stored of {visible_name(text)}",
        "see what is with: ragcli list --files  (added documents: ragcli list)",
    )


def _cut(stored: StoredDocument, selection: Selection, neighbours: int) -> Found:
    if selection == Selection():
        if neighbours:
            raise UsageError("-n wants a part to stand beside", "name lines, a symbol, a chunk or a page")
        return Found(stored, None)
    return Found(stored, passage(stored, selection._replace(neighbours=neighbours)))


class _Names:
    """Looks names up; what is indexed is listed once, and only where a name is not simply a document's."""

    def __init__(self, service: "RagService") -> None:
        self._service = service
        self._files: dict[str, str] | None = None

    def resolve(self, citation: Citation, *, alone: bool) -> tuple[StoredDocument, Selection] | None:
        """The document that a reading names, and the part; None where there is none. `alone` names are ids, too."""
        below = _below(self._service.stored_root(), citation.name)
        candidates = [name for name in dict.fromkeys((below, citation.name)) if name]
        if alone or _is_id(citation.name):
            for name in candidates:
                if (stored := self._document(name)) is not None:
                    return stored, citation.selection
        if alone and CHUNK_ID.fullmatch(citation.name):
            file = self._service.file_of_chunk(citation.name)
            return (self._service.show(file), Selection(chunk=citation.name)) if file else None
        known = next((name for name in candidates if name in self._listed()), None)
        return (self._service.show(self._listed()[known]), citation.selection) if known is not None else None

    def _document(self, name: str) -> StoredDocument | None:
        try:
            return self._service.show(name)
        except DocumentNotFoundError:
            return None

    def _listed(self) -> dict[str, str]:
        """The indexed files by their names, and by those names as they are shown."""
        if self._files is None:
            files = [entry.file for entry in self._service.list_files()]
            self._files = {visible_name(file): file for file in reversed(files)} | {file: file for file in files}
        return self._files


def _is_id(name: str) -> bool:
    return name.isalnum() and name.isascii()


def _below(root: str, name: str) -> str:
    """Return a name of the working directory as a path below the root, '' where it is outside."""
    if not root:
        return ""
    beginning = f"{root.rstrip('/')}/"
    path = os.path.normpath(os.path.join(working_directory(), name))
    if not path.startswith(beginning):
        path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    return path.removeprefix(beginning) if path.startswith(beginning) else ""
