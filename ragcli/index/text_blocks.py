"""Inflate the compressed blocks that a segment keeps texts in. Pure."""

import zlib


def joined_blocks(packed: bytes | memoryview, most: int) -> bytes:
    """The texts of neighbouring blocks, of at most `most` bytes each, one after another; zlib.error for damage."""
    texts = []
    while packed:
        inflater = zlib.decompressobj()
        texts.append(inflater.decompress(packed, most))
        packed = inflater.unused_data
    return b"".join(texts)
