"""Open the base generation of a run without its damaged segments, and the stat cache that it may trust.

Only opens and checks; damaged files stay where they are until a commit no longer names them.
"""

from typing import NamedTuple

from ragcli.errors import IndexCorruptError, IndexVersionError
from ragcli.index.manifest import Manifest, SegmentInfo
from ragcli.index.merge_policy import with_deleted
from ragcli.index.segment import Segment
from ragcli.indexing.request import IndexRequest
from ragcli.store.snapshots import SnapshotStore
from ragcli.store.stat_cache import StatCache, load_stats


class BaseGeneration(NamedTuple):
    """`cache` is None where every file must be looked at; `notices` say what was found damaged."""

    manifest: Manifest
    cache: StatCache | None
    notices: list[str]


def base_generation(store: SnapshotStore, request: IndexRequest, pipeline: str, verify_bytes: int) -> BaseGeneration:
    """Find what can be built on. Up to `verify_bytes` of segments are checked whole, all of them with `verify`.

    IndexVersionError, unless the request is to rebuild: another version's index is not for us to replace unasked.
    """
    fresh = Manifest(store.last_number(), request.session, request.name)
    if request.run.rebuild:
        return BaseGeneration(fresh, None, [])
    try:
        base = store.manifest()
    except IndexVersionError:
        raise
    except IndexCorruptError as error:
        return BaseGeneration(fresh, None, [f"{error.message}; all files are read again"])
    if base is None:
        return BaseGeneration(fresh, None, [])
    whole = request.run.verify or sum(info.size for info in base.segments) <= verify_bytes
    sound, notices = _sound_segments(store, base.segments, whole, request.run.verify)
    cache = load_stats(store.directory, base.number)
    usable = cache is not None and cache.pipeline == pipeline and not notices
    return BaseGeneration(base._replace(segments=sound), cache if usable else None, notices)


def _sound_segments(
    store: SnapshotStore, segments: tuple[SegmentInfo, ...], whole: bool, count: bool
) -> tuple[tuple[SegmentInfo, ...], list[str]]:
    """The segments that pass their checksums, and a line for each of the others, whose files will be read again.

    With `count`, also a line for each whose counts in the manifest are wrong, which are put right.
    """
    sound = []
    notices = []
    for info in segments:
        try:
            blob = store.open_segment(info)
            try:
                if whole:
                    blob.verify()
                counted = _counted(Segment(blob), info) if count else info
            finally:
                blob.close()
            sound.append(counted)
            if counted != info:
                notices.append(f"the manifest's counts of {info.name} were wrong and are put right")
        except IndexVersionError:
            raise
        except FileNotFoundError:
            notices.append(f"{info.name} is missing; its files are read again")
        except IndexCorruptError as error:
            notices.append(f"{error.message}; its files are read again")
    return tuple(sound), notices


def _counted(segment: Segment, info: SegmentInfo) -> SegmentInfo:
    """The entry of a segment with what it holds and what is alive of it, whatever the manifest says."""
    documents = segment.totals.documents
    deleted = [ordinal for ordinal in info.deleted if ordinal < documents]
    return with_deleted(segment, info._replace(documents=documents), deleted)
