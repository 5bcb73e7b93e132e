"""What a session answers: searches, listings, status. Takes no lock and writes nothing.

A generation stays open between searches of one process, and is left for a newer one as soon as there is one.
"""

import unicodedata
from functools import partial

from ragcli.analysis.analyzers import ANALYZERS
from ragcli.config.options import QueryOptions
from ragcli.errors import IndexCorruptError, SessionNotFoundError
from ragcli.index.doc_table import DocumentRow
from ragcli.index.manifest import OLD_DOCUMENTS, Manifest
from ragcli.index.segment import Segment
from ragcli.model import (
    FILE,
    Document,
    FileInfo,
    IndexStatus,
    SearchOutcome,
    StoredDocument,
)
from ragcli.session.locator import SessionPlace
from ragcli.session.results import Freshness, stored_chunk
from ragcli.session.searching import OpenGeneration, Pinned, filter_notices, open_generation, search
from ragcli.store.snapshots import SnapshotStore


class SessionReader:
    """Reads one session's current generation."""

    def __init__(self, store: SnapshotStore, place: SessionPlace) -> None:
        self._store = store
        self._place = place
        self._opened: OpenGeneration | None = None

    # -- searching

    def query(self, query: str, top_k: int, options: QueryOptions) -> SearchOutcome:
        """Answer one search from one generation."""
        pinned = self.pinned()
        results, pool = search(query, top_k, options, [pinned])
        digest = pinned.opened.manifest.corpus.digest
        notices = [*pinned.notices, *filter_notices(options.where, [pinned])]
        return SearchOutcome(query, self._session, pinned.root, digest, results, pool.degraded, notices)

    def pinned(self) -> Pinned:
        """The current generation, to be searched; SessionNotFoundError where there is none."""
        opened = self._open()
        root = opened.manifest.root
        freshness = Freshness(root, partial(self._touched, opened.manifest.number))
        return Pinned(self._session, root, opened, freshness, self._notices(opened.manifest))

    # -- listing

    def manifest(self) -> Manifest | None:
        """The committed manifest; None before the first commit."""
        return self._store.manifest()

    def known(self) -> Manifest | None:
        """The committed manifest; where it is damaged, the newest that is not, which still tells root and options."""
        try:
            return self._store.manifest()
        except IndexCorruptError:
            return self._store.last_readable()

    def root(self) -> str:
        """Where the tree is, by what `known` tells; '' where it tells nothing."""
        manifest = self.known()
        return manifest.root if manifest is not None else ""

    def documents(self) -> list[Document]:
        """The added documents; SessionNotFoundError where there is no session."""
        from ragcli.indexing.recovery import check_kept
        from ragcli.store.document_file import load_documents

        manifest = self._store.manifest()
        while manifest is not None:
            try:
                documents = load_documents(self._store.directory, manifest.documents)
                check_kept(self._store, manifest, documents)
                return documents
            except IndexCorruptError:
                now = self._store.manifest()  # a commit may have taken the file away meanwhile
                if now is None or now.number == manifest.number:
                    raise
                manifest = now
        # Versions before 1.1 may have kept a document and been killed before the first commit.
        documents = load_documents(self._store.directory, OLD_DOCUMENTS)
        if not documents:
            raise self._unknown()
        return documents

    def files(self) -> list[FileInfo]:
        """The indexed files by path."""
        found = [
            FileInfo(row.path, row.format, row.language, len(segment.chunk_range(ordinal)), "indexed")
            for segment in self._open().segments
            for ordinal, row in segment.documents()
            if row.kind == FILE
        ]
        return sorted(found)

    def failed(self) -> list[FileInfo]:
        """The files that failed when they were last read."""
        return [FileInfo(f.file, "", "", 0, "failed", f.code, f.reason) for f in self._known_manifest().failures]

    def skipped(self) -> list[FileInfo]:
        """The paths that the last run left out."""
        from ragcli.store.stat_cache import load_stats

        cache = load_stats(self._store.directory, self._known_manifest().number)
        return [
            FileInfo(entry.path, "", "", 0, "skipped", entry.reason.value, entry.rule)
            for entry in (cache.skipped if cache else ())
        ]

    def stored_file(self, path: str) -> StoredDocument | None:
        """What is stored of a file, by its path relative to the root; composed and decomposed letters are the same,
        where no file has exactly that path."""
        alike: list[tuple[str, Segment, int, DocumentRow]] = []
        composed = unicodedata.normalize("NFC", path)
        for segment in self._open().segments:
            for ordinal, row in segment.documents():
                if row.kind != FILE:
                    continue
                if row.path == path:
                    return _stored(segment, ordinal, row)
                if not row.path.isascii() and unicodedata.normalize("NFC", row.path) == composed:
                    alike.append((row.path, segment, ordinal, row))
        if not alike:
            return None
        _, segment, ordinal, row = min(alike, key=lambda found: found[0])
        return _stored(segment, ordinal, row)

    def file_of_chunk(self, id: str) -> str:
        """The file that holds a chunk, '' where none does; looks through the rows of all."""
        for segment in self._open().segments:
            for ordinal, row in segment.documents():
                if row.kind == FILE and any(segment.chunk(chunk).id == id for chunk in segment.chunk_range(ordinal)):
                    return row.path
        return ""

    def stored_document(self, document: Document) -> StoredDocument:
        """What is stored of an added document; its own text where it is not indexed yet."""
        manifest = self._store.manifest()
        for segment in self._open().segments if manifest else ():
            for ordinal, row in segment.documents():
                if row.kind != FILE and row.path == document.id:
                    return _stored(segment, ordinal, row)._replace(text=document.text)
        return StoredDocument("", document.id, "TEXT", "", "", document.text, document.metadata, [])

    def status(self) -> IndexStatus:
        """The session at a glance; IndexCorruptError where a segment is missing or damaged at its ends."""
        manifest = self._open().manifest
        corpus = manifest.corpus
        return IndexStatus(
            session=self._session,
            root=manifest.root,
            files=corpus.files,
            chunks=corpus.chunks,
            documents=corpus.added,
            last_indexed=manifest.last_indexed,
            generation=corpus.digest,
            bytes=sum(self._store.directory.sizes().values()),
            text_bytes=corpus.text_bytes,
            without_text=corpus.without_text,
            failed=list(manifest.failures),
            skipped=manifest.skipped,
            formats=corpus.formats,
            languages=corpus.languages,
        )

    # -- private

    def _open(self) -> OpenGeneration:
        known = self._opened
        if known is not None and self._store.current_number() == known.manifest.number:
            return known
        # Never closed by hand: another thread may be in the middle of a search of it. Its files go with the last use.
        self._opened = None
        generation = self._store.open()
        if generation is None:
            raise self._unknown()
        opened = open_generation(generation)
        self._opened = opened
        return opened

    def _touched(self, number: int) -> dict[str, tuple[int, int]]:
        from ragcli.store.stat_cache import INDEXED, load_stats

        cache = load_stats(self._store.directory, number)
        states = cache.states.values() if cache else ()
        return {s.file.path: (s.file.size, s.file.mtime_ns) for s in states if s.state == INDEXED}

    def _known_manifest(self) -> Manifest:
        manifest = self._store.manifest()
        if manifest is None:
            raise self._unknown()
        return manifest

    def _unknown(self) -> SessionNotFoundError:
        return SessionNotFoundError(
            f"there is no session {self._session}", f"make it with: ragcli index -s {self._session} PATH"
        )

    @property
    def _session(self) -> str:
        return self._place.name or self._place.id

    def _notices(self, manifest: Manifest) -> list[str]:
        notices = []
        if manifest.analyzers != ANALYZERS:
            notices.append("the index was made by another version's analyzers; run: ragcli index")
        return notices


def _stored(segment: Segment, ordinal: int, row: DocumentRow) -> StoredDocument:
    chunks = []
    texts = []
    for chunk in segment.chunk_range(ordinal):
        stored = segment.chunk(chunk)
        text = segment.text_of(ordinal, stored)
        texts.append(text)
        chunks.append(stored_chunk(stored, row, text))
    return StoredDocument(
        file=row.path if row.kind == FILE else "",
        id=row.path if row.kind != FILE else "",
        format=row.format,
        language=row.language,
        fingerprint=row.fingerprint.hex(),
        text="".join(texts),
        metadata=row.metadata,
        chunks=chunks,
    )
