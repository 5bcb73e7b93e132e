"""Whether a manifest can be one: types, ranges, names. Its checksum tells that somebody wrote it, not that we did.

Looks at nothing but the value; whether segments hold what it says is for `check_index`.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from ragcli.config.keys import KEYS, LIMIT
from ragcli.config.options import IndexOptions, Limits
from ragcli.errors import REBUILD_HINT, IndexCorruptError
from ragcli.index.manifest import SEGMENT_SUFFIX, UNKNOWN, Corpus, Manifest, SegmentInfo, from_plain
from ragcli.index.postings import MAX_CHUNKS
from ragcli.model import DocumentFormat

_HEX = frozenset("0123456789abcdef")
# No count, size or time of ours comes near; sums of some stay whole numbers of 64 bits.
_MOST = 2**53
_MAX_NUMBER = 10**15 - 1  # the digits of a file's name


def read_manifest(name: str, plain: Any) -> Manifest:
    """The manifest that a file of that name holds; IndexCorruptError where it cannot be one."""
    manifest = from_plain(name, plain)
    wrong = problem(manifest)
    if wrong:
        raise IndexCorruptError(f"{name} is damaged: its {wrong} cannot be", REBUILD_HINT)
    return manifest


def problem(manifest: Manifest) -> str:
    """What is wrong with a manifest, '' for nothing."""
    checks = (
        ("number", _is_count(manifest.number, _MAX_NUMBER)),
        ("names", _all_texts((manifest.session, manifest.name, manifest.root, manifest.only, manifest.analyzers))),
        ("added documents", _all_texts((manifest.added,)) and _is_file_name(manifest.documents)),
        ("root", "\0" not in f"{manifest.root}{manifest.only}" and _is_pair(manifest.root_key)),
        ("time", type(manifest.last_indexed) in (int, float) and 0 <= manifest.last_indexed < _MOST),
        ("options", _are_options(manifest.options)),
        ("failures", all(_all_texts(failure) and len(failure) == 3 for failure in manifest.failures)),
        ("skipped paths", _are_counts(manifest.skipped)),
        ("counts", _is_corpus(manifest.corpus)),
        ("segments", _are_segments(manifest.segments)),
    )
    return next((what for what, sound in checks if not sound), "")


def _is_count(value: object, most: int = _MOST) -> bool:
    return type(value) is int and 0 <= value <= most


def _all_texts(values: Iterable[object]) -> bool:
    return all(type(value) is str for value in values)


def _is_file_name(value: object) -> bool:
    """A plain name of the session's directory, or '' for none."""
    return type(value) is str and "/" not in value and "\0" not in value and value not in (".", "..")


def _is_pair(value: object) -> bool:
    return type(value) is tuple and len(value) == 2 and all(type(part) is int and 0 <= part < 2**64 for part in value)


def _are_counts(value: object) -> bool:
    return isinstance(value, Mapping) and _all_texts(value) and all(map(_is_count, value.values()))


def _is_corpus(corpus: Corpus) -> bool:
    numbers = (corpus.files, corpus.added, corpus.chunks, corpus.text_bytes, corpus.without_text)
    return (
        type(corpus.digest) is str
        and all(map(_is_count, numbers))
        and _are_counts(corpus.formats)
        and _are_counts(corpus.languages)
    )


def _are_segments(segments: tuple[SegmentInfo, ...]) -> bool:
    return all(map(_is_segment, segments)) and len({info.name for info in segments}) == len(segments)


def _is_segment(info: SegmentInfo) -> bool:
    numbers = (info.size, info.documents, info.english_length, info.code_length)
    return (
        type(info.name) is str
        and is_segment_name(info.name)
        and all(map(_is_count, numbers))
        and _is_count(info.chunks, MAX_CHUNKS)
        and type(info.check) is int
        and UNKNOWN <= info.check < 2**32
        and all(_is_count(ordinal, info.documents - 1) for ordinal in info.deleted)
        and all(one < other for one, other in zip(info.deleted, info.deleted[1:], strict=False))
    )


def is_segment_name(name: str) -> bool:
    """Whether a name is 32 hex digits and the suffix of a segment."""
    stem = name.removesuffix(SEGMENT_SUFFIX)
    return stem + SEGMENT_SUFFIX == name and len(stem) == 32 and _HEX.issuperset(stem)


def _are_options(options: IndexOptions) -> bool:
    patterns = (*options.include, *options.exclude)
    return (
        _all_texts(patterns)
        and not any("\0" in pattern for pattern in patterns)
        and type(options.format) is DocumentFormat
        and type(options.default_skips) is bool
        and type(options.ignore_files) is bool
        and type(options.allow_secrets) is bool
        and all(map(_is_limit, Limits._fields, options.limits))
    )


def _is_limit(name: str, value: object) -> bool:
    try:
        return KEYS[LIMIT + name].check(value) == value and type(value) is not str
    except (ValueError, KeyError, OverflowError):
        return False
