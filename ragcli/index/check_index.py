"""Whether a segment of unknown origin makes sense: all of it is read as searches and merges will read it.

Checksums tell that bytes are as somebody wrote them, not that a segment's writer did. Changes nothing.
"""

import math
import struct
import zlib
from itertools import pairwise

import msgpack

from ragcli.errors import REBUILD_HINT, IndexCorruptError
from ragcli.index.doc_table import ChunkRow, DocumentRow
from ragcli.index.manifest import SegmentInfo
from ragcli.index.postings import CODE_FIELD, FREQUENCY_BITS
from ragcli.index.segment import Segment
from ragcli.model import ADDED, FILE

# What code meets that was written for sound values.
_NONSENSE = (
    ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
    msgpack.UnpackException, struct.error, zlib.error,
)  # fmt: skip
_SCALARS = (str, int, float, bool)


def check_segment(segment: Segment, info: SegmentInfo) -> None:
    """Read every row, text and posting; IndexCorruptError where they do not fit each other, or what a manifest says."""
    try:
        sound = _tables_fit(segment) and _terms_fit(segment) and _fits_manifest(segment, info)
    except _NONSENSE:
        sound = False
    if not sound:
        raise IndexCorruptError(f"{segment.name} is damaged: its parts do not fit each other", REBUILD_HINT)


def _tables_fit(segment: Segment) -> bool:
    totals = segment.totals
    position = 0
    for ordinal in range(totals.documents):
        row, own = segment.document(ordinal), segment.chunk_range(ordinal)
        if own.start != position or not _is_document(row) or not 0 <= segment.path_ord(ordinal) < totals.documents:
            return False
        position = own.stop
        for chunk in own:
            stored = segment.chunk(chunk)
            if segment.document_of(chunk) != ordinal or not _is_chunk(stored):
                return False
            segment.text_of(ordinal, stored)
    lengths = (segment.english_lengths, segment.code_lengths)
    return (
        position == totals.chunks
        and [len(segment.norms), *map(len, lengths)] == [position] * 3
        and [sum(length) for length in lengths] == [totals.english_length, totals.code_length]
        and all(math.isfinite(norm) and norm >= 0.0 for norm in segment.norms)
    )


def _terms_fit(segment: Segment) -> bool:
    before = b""
    for term, count in segment.terms():
        postings = segment.postings(term)
        if term <= before or len(postings) != count or not count:
            return False
        if postings[-1] >> FREQUENCY_BITS >= segment.totals.chunks:
            return False
        if any(second <= first for first, second in pairwise(postings)):
            return False
        if any(not posting & ((1 << FREQUENCY_BITS) - 1) for posting in postings):
            return False
        # A chunk's norm is 1 at least where it has a term; it is divided by.
        if term[:1] == CODE_FIELD and any(segment.norms[posting >> FREQUENCY_BITS] < 0.5 for posting in postings):
            return False
        term.decode()
        before = term
    return True


def _fits_manifest(segment: Segment, info: SegmentInfo) -> bool:
    if list(info.deleted) != sorted({*info.deleted} & {*range(segment.totals.documents)}):
        return False
    live = live_totals(segment, info)
    return live == (info.documents, info.chunks, info.english_length, info.code_length)


def live_totals(segment: Segment, info: SegmentInfo) -> tuple[int, int, int, int]:
    """Documents of a segment, and chunks and lengths of those that are alive."""
    deleted = [chunk for ordinal in info.deleted for chunk in segment.chunk_range(ordinal)]
    return (
        segment.totals.documents,
        segment.totals.chunks - len(deleted),
        segment.totals.english_length - sum(segment.english_lengths[chunk] for chunk in deleted),
        segment.totals.code_length - sum(segment.code_lengths[chunk] for chunk in deleted),
    )


def _is_document(row: DocumentRow) -> bool:
    texts = (row.kind, row.path, row.format, row.language, *row.notes)
    parts = row.path.split("/")
    return (
        all(isinstance(text, str) for text in texts)
        and row.kind in (FILE, ADDED)
        and "\0" not in row.path
        and not {"", ".", ".."} & {*parts}
        and all(isinstance(number, int) for number in (row.size, row.mtime_ns, row.text_bytes))
        and isinstance(row.content_hash, bytes)
        and isinstance(row.fingerprint, bytes)
        and _is_metadata(row.metadata)
    )


def _is_chunk(row: ChunkRow) -> bool:
    return (
        isinstance(row.id, str)
        and isinstance(row.digest, bytes)
        and 1 <= row.start_line <= row.end_line
        and _is_metadata(row.metadata)
    )


def _is_metadata(metadata: object) -> bool:
    return isinstance(metadata, dict) and all(
        isinstance(key, str) and isinstance(value, _SCALARS) for key, value in metadata.items()
    )
