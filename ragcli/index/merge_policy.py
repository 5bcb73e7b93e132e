"""Which segments are to be written as one, and what stays alive of a segment. Pure."""

from collections.abc import Collection, Sequence

from ragcli.index.manifest import SegmentInfo
from ragcli.index.segment import Segment

# Segments of one size class (each eight times the one below) that may wait before they are merged into one.
MAX_PER_CLASS = 8
CLASS_FACTOR = 8
# What a merge may come to. Copying more than this costs more time than the few segments it saves each search.
MERGED_CHUNKS = 1 << 17


def merge_group(infos: Sequence[SegmentInfo]) -> list[SegmentInfo]:
    """The next segments to write as one: of a class that is too full, else one that is a third deleted; [] for none."""
    classes: dict[int, list[SegmentInfo]] = {}
    for info in infos:
        classes.setdefault(_size_class(info.chunks), []).append(info)
    for _, members in sorted(classes.items()):
        if len(members) > MAX_PER_CLASS:
            group = _smallest(members)
            if len(group) > 1:
                return sorted(group, key=lambda info: info.name)
    for info in infos:
        if 3 * len(info.deleted) >= info.documents:
            return [info]
    return []


def _size_class(chunks: int) -> int:
    rank = 0
    while chunks >= CLASS_FACTOR:
        chunks, rank = chunks // CLASS_FACTOR, rank + 1
    return rank


def _smallest(members: Sequence[SegmentInfo]) -> list[SegmentInfo]:
    """As many of the smallest as fit into one merge."""
    group: list[SegmentInfo] = []
    chunks = 0
    for info in sorted(members, key=lambda info: (info.chunks, info.name)):
        chunks += info.chunks
        if chunks > MERGED_CHUNKS:
            break
        group.append(info)
    return group


def with_deleted(segment: Segment, info: SegmentInfo, deleted: Collection[int]) -> SegmentInfo:
    """A segment's entry with those documents deleted, counting what stays alive."""
    chunks = english = code = 0
    for ordinal in deleted:
        own = segment.chunk_range(ordinal)
        chunks += len(own)
        english += sum(segment.english_lengths[own.start : own.stop])
        code += sum(segment.code_lengths[own.start : own.stop])
    totals = segment.totals
    return info._replace(
        chunks=totals.chunks - chunks,
        english_length=totals.english_length - english,
        code_length=totals.code_length - code,
        deleted=tuple(sorted(deleted)),
    )
