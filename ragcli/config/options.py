"""Limits and options as plain values. `ragcli.config.resolve` reads them from flags, environment and files."""

from typing import NamedTuple

from ragcli.model import ChunkKey, DocumentFormat

MIB = 1024 * 1024
# Seconds that a command waits for another writer of its session.
DEFAULT_WAIT = 10.0
# Chunks of one file among the results.
MAX_PER_FILE = 3


class Limits(NamedTuple):
    """Admission caps. `Limits()` is the strict profile, for trees nobody vouches for; see `STANDARD`."""

    max_files: int = 4_096
    max_entries: int = 8_192
    max_depth: int = 64
    max_total_text: int = 64 * MIB
    max_raw_text: int = 16 * MIB
    max_raw_binary: int = 16 * MIB
    max_text: int = 16 * MIB
    max_blocks: int = 65_536
    max_block_chars: int = 1_048_576
    max_chunk_lines: int = 100
    max_chunk_bytes: int = 16 * 1024
    max_chunks: int = 1_024
    max_pdf_pages: int = 10_000
    max_page_glyphs: int = 1_048_576
    max_zip_entries: int = 1_000
    max_xml_depth: int = 256
    max_xml_nodes: int = 1_000_000
    max_inflation: int = 8
    extraction_seconds: float = 30.0
    extraction_memory: int = 1024 * MIB
    max_ignore_bytes: int = 64 * 1024
    max_ignore_rules: int = 1_024


STRICT = Limits()
STANDARD = Limits(
    max_files=1_000_000,
    max_entries=4_000_000,
    max_total_text=16 * 1024 * MIB,
    max_raw_binary=64 * MIB,
    max_text=64 * MIB,
    max_blocks=1_000_000,
    max_chunks=65_536,
    max_zip_entries=10_000,
    max_xml_nodes=20_000_000,
)
PROFILES = {"strict": STRICT, "standard": STANDARD}


class IndexOptions(NamedTuple):
    """What shapes an index; stored with its session. Engine default limits are strict, the command line's standard."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    format: DocumentFormat = DocumentFormat.AUTO
    limits: Limits = STRICT
    default_skips: bool = True
    ignore_files: bool = True
    allow_secrets: bool = False


class RunOptions(NamedTuple):
    """How one index run goes about its work; nothing of it is stored.

    `wait` are the seconds to wait for another writer. Without `workers` there are as many as processors; 0 reads
    everything in this process, without limits of time and memory.
    """

    rebuild: bool = False
    verify: bool = False
    strict: bool = False
    dry_run: bool = False
    allow_empty: bool = False
    workers: int | None = None
    wait: float = DEFAULT_WAIT


class SearchFilter(NamedTuple):
    """Which chunks a search may answer from. Globs are rg's: `!` leaves out, later wins.

    Languages and formats go by their names, usual aliases and extensions. `terms` are of the stream `code`: the text of
    every chunk holds each of them. `keys` are the chunks themselves, None for all.
    """

    globs: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    keys: frozenset[ChunkKey] | None = None


class ExactText(NamedTuple):
    """Text that every result holds, and text that none does; white space and, without `case`, case aside.

    `phrases` may begin and end inside a word unless `words` is set; `whole` are words, never parts of longer ones.
    `ranked` is what the results are ranked by.
    """

    phrases: tuple[str, ...]
    whole: tuple[str, ...]
    excluded: tuple[str, ...]
    words: bool
    case: bool
    ranked: str


class QueryOptions(NamedTuple):
    """How a search ranks. `signals=False` is the plain fusion of two streams."""

    signals: bool = True
    max_per_file: int = MAX_PER_FILE
    explain: bool = False
    where: SearchFilter = SearchFilter()
    exact: ExactText | None = None
