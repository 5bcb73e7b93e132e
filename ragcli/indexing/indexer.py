"""FileIndexer: index a tree into a store of segments."""

from functools import partial

from ragcli.documents import IndexReport, ProgressCallback
from ragcli.indexing.request import IndexRequest
from ragcli.indexing.segment_run import SegmentRun
from ragcli.indexing.tree_run import index_tree
from ragcli.store.snapshots import SnapshotStore


class FileIndexer:
    """Brings a session's index up to date with its tree, one generation at a time."""

    def __init__(self, store: SnapshotStore) -> None:
        self._store = store

    def index(self, request: IndexRequest, progress: ProgressCallback | None = None) -> IndexReport:
        """Run once, under the session's lock.

        SourceRejectedError, UsageError, StrictError or StoreError leave the previous generation.
        """
        return index_tree(partial(SegmentRun, self._store), request, progress)
