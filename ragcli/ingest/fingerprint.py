"""What decides whether a document must be read again: a hash of its identity, its bytes and all that shaped its chunks.

The absolute root is no part of it, so that a moved or copied tree keeps its index.
"""

import hashlib
import json
from operator import attrgetter

from ragcli.config.options import IndexOptions, Limits
from ragcli.ingest.chunkers import NormalizedDocumentChunker
from ragcli.model import DocumentFormat

# The limits that decide what becomes of a document's text; those of the walk decide only whether it is read at all.
_shaping_limits = attrgetter(
    "max_text", "max_blocks", "max_block_chars", "max_chunk_lines", "max_chunk_bytes", "max_chunks", "max_pdf_pages",
    "max_page_glyphs", "max_zip_entries", "max_xml_depth", "max_xml_nodes", "max_inflation",
)  # fmt: skip
_encode = json.JSONEncoder(separators=(",", ":")).encode


def content_hash(raw: bytes) -> bytes:
    """SHA-256 of a document's bytes."""
    return hashlib.sha256(raw).digest()


def fingerprint(
    source: str, path: str, content: bytes, format: DocumentFormat, extractor: str, options: IndexOptions
) -> bytes:
    """SHA-256 over source name, relative path, content hash, format, extractor and version, selectors, chunker."""
    chunker = f"{NormalizedDocumentChunker.id}/{NormalizedDocumentChunker.version}/{_shape(options.limits)}"
    parts = [source, path, content.hex(), format.value, extractor, options.include, options.exclude, chunker]
    return hashlib.sha256(_encode(parts).encode()).digest()


def _shape(limits: Limits) -> str:
    return ",".join(map(str, _shaping_limits(limits)))
