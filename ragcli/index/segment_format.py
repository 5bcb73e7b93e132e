"""What a segment's writer and its reader agree on. Values only; a search loads this and not the writer."""

import struct
from typing import NamedTuple

# Terms are found by bisecting the first term of each block, then within the block.
TERM_BLOCK = 128
HEADER_SIZE = struct.Struct("<I")


class SegmentTotals(NamedTuple):
    """Documents, chunks and the sums of their lengths in a fresh segment, none of them deleted."""

    documents: int
    chunks: int
    english_length: int
    code_length: int
