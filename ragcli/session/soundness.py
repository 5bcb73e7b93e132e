"""Tells damage of a store from a fault of ours, where code met values that it was not written for.

Checksums prove that bytes are as somebody wrote them, not that they make sense. Checking all of it at each search would
take longer than searching, so it is checked when something went wrong: what does not fit is exit 5 with a line, and an
error over a sound store stays what it is.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from ragcli.errors import IndexCorruptError, RagError
from ragcli.store.snapshots import SnapshotStore


@contextmanager
def damage_told(store: SnapshotStore) -> Iterator[None]:
    """Turn an error of the block into IndexCorruptError where the store is not sound."""
    try:
        yield
    except (RagError, OSError):
        raise
    except Exception as error:
        damage = first_damage(store)
        if damage is None:
            raise
        raise damage from error


def first_damage(store: SnapshotStore) -> IndexCorruptError | None:
    """Read all of the current generation, and of what runs that died left for the next one; the first damage found."""
    from ragcli.index.check_index import check_segment
    from ragcli.index.manifest import SegmentInfo
    from ragcli.index.segment import Segment
    from ragcli.store.document_file import load_documents

    try:
        manifest = store.manifest()
        for info in manifest.segments if manifest else ():
            blob = store.open_segment(info)
            blob.verify()
            check_segment(Segment(blob), info)
        if manifest:
            load_documents(store.directory, manifest.documents)
        for name in store.pending():
            segment = Segment(store.open_file(name))
            check_segment(segment, SegmentInfo(name, segment.file_size, *segment.totals))
    except IndexCorruptError as damage:
        return damage
    return None
