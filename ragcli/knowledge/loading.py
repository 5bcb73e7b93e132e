"""Brings a source's documents into its session: a tree, a fetched document, or the rows that a loader gives."""

import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from ragcli.config.options import STANDARD, IndexOptions
from ragcli.errors import RagError, UsageError
from ragcli.knowledge.paths import shown_url
from ragcli.knowledge.values import KnowledgeSourceConfig, SourceType
from ragcli.model import Document, DocumentFormat, Scalar
from ragcli.session.kept_files import KeptFiles
from ragcli.session.service import RagService

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from ragcli.knowledge.fetch import Fetched

GROUP = "ragcli.sources"
_FETCHED = "fetched"
_STATE = "fetched.json"
# A content type's documents are read as the format of this extension.
_EXTENSIONS = {
    "text/html": ".html", "application/xhtml+xml": ".xhtml", "text/markdown": ".md", "text/x-markdown": ".md",
    "text/plain": ".txt", "text/csv": ".csv", "application/json": ".json", "application/x-ndjson": ".jsonl",
    "application/xml": ".xml", "text/xml": ".xml", "application/rss+xml": ".rss", "application/atom+xml": ".atom",
    "application/yaml": ".yaml", "application/toml": ".toml", "application/pdf": ".pdf",
    "application/epub+zip": ".epub", "application/x-ipynb+json": ".ipynb",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
}  # fmt: skip
_BY_NAME = frozenset(("", "application/octet-stream", "binary/octet-stream", "text/plain"))


class SourceLoader(Protocol):
    """Reads a database source: an object that an entry point of the group `ragcli.sources` names.

    The entry point's name is the scheme of the connection (`sqlite` for `sqlite:faq.db`). It may yield texts, or
    Documents whose metadata are kept; whatever it raises is the source's failure.
    """

    def __call__(self, connection: str, query: str) -> Iterable[str | Document]: ...


def load(
    source: KnowledgeSourceConfig, location: str, service: RagService, wait: float, workers: int | None,
    *, private: bool = False,
) -> list[str]:  # fmt: skip
    """Bring the session in line with its source; notices. Whatever fails leaves what is there.

    UsageError and its kinds where the source cannot be read, DocumentProcessingError is kept in the session's status.
    """
    if source.type is SourceType.DATABASE:
        return _load_rows(source, service, wait)
    options = IndexOptions(source.include, source.exclude, source.format, STANDARD)
    notices: list[str] = []
    if source.type is SourceType.URL:
        notices = _fetch(source, service.kept_files(), wait, private)
        location = service.kept_files().tree(_FETCHED)
    elif not os.path.lexists(location):
        raise UsageError(f"the source {source.name} has nothing at {location}", "see: ragcli knowledge check")
    report = service.index_directory(location, options=options, wait=wait, workers=workers)
    failed = [f"{source.name}: {failure.file}: {failure.reason}" for failure in report.failed]
    if report.failed and not report.chunks:
        raise UsageError(f"the source {source.name} cannot be read: {report.failed[0].reason}", failed[0])
    return [*notices, *(f"{source.name}: {notice}" for notice in report.notices), *failed]


def loader_of(connection: str) -> "EntryPoint | None":
    """The loader that is installed for a connection's scheme."""
    from importlib.metadata import entry_points

    found = entry_points(group=GROUP)
    scheme = connection.partition(":")[0].lower()
    return next((point for point in found if point.name == scheme), None)


def _load_rows(source: KnowledgeSourceConfig, service: RagService, wait: float) -> list[str]:
    point = loader_of(source.connection)
    if point is None:
        raise UsageError(f"no loader is installed for the source {source.name}", f"it wants an entry point of {GROUP}")
    try:
        loader: SourceLoader = point.load()
        rows = [_document(row) for row in loader(source.connection, source.query)]
    except Exception as error:
        # The loader is another's code; its message may hold the connection, and with it a password.
        raise UsageError(f"the loader of the source {source.name} failed: {type(error).__name__}") from error
    service.replace_documents([row for row in rows if row.text.strip()], wait=wait)
    return []


def _document(row: str | Document) -> Document:
    if isinstance(row, str):
        return Document("", row, {})
    metadata: dict[str, Scalar] = {key: value for key, value in row.metadata.items() if key != "file"}
    if row.id:
        metadata.setdefault("row", row.id)
    return Document("", row.text, metadata)


def _fetch(source: KnowledgeSourceConfig, kept: KeptFiles, wait: float, private: bool) -> list[str]:
    """Put what the URL holds in the session's own tree; where that fails the last good copy stays, and a notice."""
    from ragcli.knowledge.fetch import FetchBounds, FetchError, fetch

    state = _state(kept)
    directory = kept.tree(_FETCHED)
    have = os.path.isfile(os.path.join(directory, state.get("file", ""))) and state.get("url") == source.url
    try:
        known = (state.get("etag", ""), state.get("last_modified", "")) if have else ("", "")
        got = fetch(source.url, *known, FetchBounds(allow_private=private))
        if got.body is None and not have:
            raise FetchError(f"{shown_url(source.url)}: the server says that nothing changed, and nothing is there")
        if got.body is not None:
            _keep(source, got, got.body, kept, wait)
    except RagError as error:
        if have:
            return [f"{source.name}: {error.message}; the copy fetched before is used"]
        raise
    return []


def _keep(source: KnowledgeSourceConfig, got: "Fetched", body: bytes, kept: KeptFiles, wait: float) -> None:
    name = _file_name(source, got)
    directory = kept.tree(_FETCHED)
    with kept.lock(wait):
        os.makedirs(directory, mode=0o700, exist_ok=True)
        draft = os.path.join(os.path.dirname(directory), ".draft-fetched")
        with open(draft, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, os.path.join(directory, name))
        state = {"url": source.url, "file": name, "etag": got.etag, "last_modified": got.last_modified}
        kept.write(_STATE, json.dumps(state).encode())
        for other in os.listdir(directory):
            if other != name:
                os.unlink(os.path.join(directory, other))


def _file_name(source: KnowledgeSourceConfig, got: "Fetched") -> str:
    """A name whose extension makes the index read the body as its content type says, else as the URL's name."""
    from ragcli.knowledge.fetch import FetchError

    kind = got.content_type.partition(";")[0].strip().lower()
    base = os.path.basename(urlsplit(got.url).path)
    stem, own = os.path.splitext(base)
    safe = (
        "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in stem).strip(".")[:80] or "document"
    )
    if kind in _BY_NAME and own[1:].isalnum():
        return safe + own.lower()
    if kind in _EXTENSIONS:
        return safe + _EXTENSIONS[kind]
    if kind in _BY_NAME or source.format is not DocumentFormat.AUTO:
        return safe + (own.lower() if own[1:].isalnum() else ".txt")
    raise FetchError(f"{shown_url(source.url)}: {kind} is no kind of document that is read", "give its format")


def _state(kept: KeptFiles) -> Mapping[str, str]:
    try:
        found = json.loads(kept.read(_STATE) or b"{}")
    except ValueError:
        return {}
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}
