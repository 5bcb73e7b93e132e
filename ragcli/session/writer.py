"""What changes a session: index, add, remove, clear. Each holds the session's lock and ends in one commit."""

import contextlib
import errno
from collections.abc import Mapping, Sequence

from ragcli.analysis.analyzers import ANALYZERS
from ragcli.config.options import IndexOptions, RunOptions
from ragcli.documents import IndexReport, ProgressCallback
from ragcli.errors import IndexCorruptError, StoreError
from ragcli.index.manifest import Manifest
from ragcli.indexing.added_documents import ids_digest, make_document, reconcile
from ragcli.indexing.index_writer import IndexWriter, corpus_of
from ragcli.indexing.indexer import FileIndexer
from ragcli.indexing.recovery import kept_documents
from ragcli.model import Document, Scalar
from ragcli.session.locator import SessionPlace, Sessions
from ragcli.session.tree import StoredTree, index_request, root_of
from ragcli.store.directory import Directory
from ragcli.store.document_file import save_documents
from ragcli.store.snapshots import SnapshotStore
from ragcli.store.stat_cache import StatCache, load_stats, save_stats

_FULL = (errno.ENOSPC, errno.EDQUOT)


class SessionWriter:
    """Writes one session."""

    def __init__(self, directory: Directory, place: SessionPlace, sessions: Sessions | None) -> None:
        self._directory = directory
        self._store = SnapshotStore(directory)
        self._place = place
        self._sessions = sessions

    def index(
        self,
        path: str,
        progress: ProgressCallback | None,
        options: IndexOptions | None,
        run: RunOptions,
    ) -> IndexReport:
        """Index a directory or file.

        UsageError where the path is not there or the session is another tree's, LockedError while another writes; else
        as FileIndexer.index.
        """
        root, only = root_of(path)
        if run.dry_run:
            return self._index(root, only, progress, options, run)
        moved = self._take_along(path)
        with self._directory.lock(run.wait):
            report = self._index(root, only, progress, options, run)
        if moved:
            report.notices.insert(0, f"the index of {moved} was taken along to {path}, added documents too")
        return report

    def add(self, text: str, metadata: Mapping[str, Scalar], wait: float) -> tuple[str, bool]:
        """Add a document; adding it again changes nothing."""
        document = make_document(text, metadata)
        with self._directory.lock(wait):
            documents = self._documents()
            if any(known.id == document.id for known in documents):
                return document.id, False
            self._replace_documents([*documents, document])
        return document.id, True

    def replace(self, documents: Sequence[tuple[str, Mapping[str, Scalar]]], wait: float) -> list[str]:
        """Put documents in place of all added ones; those that are there already stay as they are."""
        wanted = {made.id: made for made in (make_document(text, metadata) for text, metadata in documents)}
        with self._directory.lock(wait):
            known = {document.id for document in self._documents()}
            if known != set(wanted) or not self._stored_manifest():
                self._replace_documents([wanted[id_] for id_ in sorted(wanted)])
        return list(wanted)

    def remove(self, id: str, wait: float) -> bool:
        """Remove an added document."""
        with self._directory.lock(wait):
            documents = self._documents()
            kept = [document for document in documents if document.id != id]
            if len(kept) == len(documents):
                return False
            self._replace_documents(kept)
        return True

    def clear(self, wait: float) -> None:
        """Empty everything; the session with its name and root stays."""
        with self._directory.lock(wait):
            base = self._stored_manifest() or self._first()
            try:
                self._commit_nothing(base)
            except StoreError as error:
                if getattr(error.__cause__, "errno", 0) not in _FULL:
                    raise
                # What is to go anyway makes room; where even that is not enough, the session is one that never was.
                self._store.remove_all()
                with contextlib.suppress(StoreError):
                    self._commit_nothing(base)
            self._store.gc()

    def _commit_nothing(self, base: Manifest) -> None:
        number = max(base.number, self._store.last_number()) + 1
        empty = base._replace(
            number=number,
            analyzers=ANALYZERS,
            added=ids_digest(()),
            last_indexed=0.0,
            segments=(),
            failures=(),
            skipped={},
            corpus=corpus_of(()),
            documents=save_documents(self._store, number, []),
        )
        self._store.commit(empty)

    def _index(
        self,
        root: str,
        only: str,
        progress: ProgressCallback | None,
        options: IndexOptions | None,
        run: RunOptions,
    ) -> IndexReport:
        stored = self._stored_manifest()
        tree = StoredTree(stored.root, stored.only, stored.options) if stored is not None else None
        request = index_request(self._place, root, only, tree, options, run)
        return FileIndexer(self._store).index(request, progress)

    def _take_along(self, path: str) -> str:
        """Give this session the index of a tree that was moved to `path`; return where that was, else ''."""
        if (
            self._sessions is None
            or self._place.name
            or self._place.id.startswith("source-")
            or self._sessions.is_session(self._place)
        ):
            return ""
        moved = self._sessions.moved_to(path)
        if moved is None:
            return ""
        self._sessions.rebind(moved)
        return moved.moved_from

    def _documents(self) -> list[Document]:
        """The added documents, indexed as they are.

        Before 1.1 a run that was killed may have kept one and not indexed it.
        """
        kept = kept_documents(self._store)
        known = self._base().added
        if kept.notice or ((kept.documents or known) and known != ids_digest(kept.documents)):
            self._replace_documents(kept.documents)
        return kept.documents

    def _replace_documents(self, documents: list[Document]) -> None:
        """Commit a generation that holds and indexes just these added documents beside the files."""
        base = self._base()
        writer = IndexWriter(self._store, base, reuse_pending=False)
        try:
            self._commit_documents(writer, base, documents)
        finally:
            writer.close()

    def _commit_documents(self, writer: IndexWriter, base: Manifest, documents: list[Document]) -> None:
        _, added = writer.live_documents()
        reconcile(writer, documents, added)
        if base.segments and base.analyzers != ANALYZERS:
            writer.reanalyze()
        number = max(base.number, self._store.last_number()) + 1
        cache = load_stats(self._directory, base.number)
        name = save_documents(self._store, number, documents)
        manifest = base._replace(number=number, analyzers=ANALYZERS, added=ids_digest(documents), documents=name)
        self._store.set_pending([])
        save_stats(self._directory, number, cache or StatCache(0, "", {}, []))
        writer.commit(manifest)
        self._store.gc()

    def _base(self) -> Manifest:
        return self._store.manifest() or self._first()

    def _first(self) -> Manifest:
        """What a session is before anything was committed, or where that cannot be read."""
        return Manifest(self._store.last_number(), self._place.name or self._place.id, self._place.name)

    def _stored_manifest(self) -> Manifest | None:
        try:
            return self._store.manifest()
        except IndexCorruptError:
            return self._store.last_readable()
