"""The list that makes segments an index, as a value and as plain types for the codec.

It is small: it grows with the number of segments, of deleted documents and of failures, never with the corpus.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ragcli.config.options import IndexOptions, Limits
from ragcli.errors import REBUILD_HINT, IndexCorruptError
from ragcli.model import DocumentFormat, Failure

SEGMENT_SUFFIX = ".segment"
# A segment that a version before 1.1 wrote down, without the checksum of its checksums.
UNKNOWN = -1
# Where versions before 1.1 kept the added documents, whatever the generation.
OLD_DOCUMENTS = "documents"

# What the deleted documents of a segment are called in a file: a name that older versions read too.
_DELETED_KEY = "dead"


class SegmentInfo(NamedTuple):
    """A segment of a generation: chunks and lengths count the live only; `deleted` are document ordinals. `size` is in
    bytes, `check` the crc32 of its page checksums: a sound segment of another name is not taken for it."""

    name: str
    size: int
    documents: int
    chunks: int
    english_length: int
    code_length: int
    deleted: tuple[int, ...] = ()
    check: int = UNKNOWN


class Corpus(NamedTuple):
    """What the live documents are, for `status` and for the digest shown as `generation`."""

    digest: str = ""
    files: int = 0
    added: int = 0
    chunks: int = 0
    text_bytes: int = 0
    without_text: int = 0
    formats: Mapping[str, int] = {}
    languages: Mapping[str, int] = {}


class Manifest(NamedTuple):
    """One generation. `root` is '' for a session without files; `root_key` its device and inode, to find a moved root;
    `only` names the one file below the root that was indexed, '' for all.

    `last_indexed` is in seconds since the epoch; `analyzers` names the analyzers whose terms the segments hold; `added`
    is a digest of the ids of the added documents that they index, `documents` names the file that holds these, '' for
    none.
    """

    number: int
    session: str
    name: str = ""
    root: str = ""
    root_key: tuple[int, int] = (0, 0)
    only: str = ""
    options: IndexOptions = IndexOptions()
    analyzers: str = ""
    added: str = ""
    last_indexed: float = 0.0
    segments: tuple[SegmentInfo, ...] = ()
    failures: tuple[Failure, ...] = ()
    skipped: Mapping[str, int] = {}
    corpus: Corpus = Corpus()
    documents: str = ""


def to_plain(manifest: Manifest) -> dict[str, Any]:
    """A manifest as maps, lists and scalars."""
    plain = manifest._asdict()
    plain["options"] = options_to_plain(manifest.options)
    plain["segments"] = [_segment_to_plain(segment) for segment in manifest.segments]
    plain["failures"] = [list(failure) for failure in manifest.failures]
    plain["corpus"] = manifest.corpus._asdict()
    return plain


def from_plain(name: str, plain: Any) -> Manifest:
    """Undo `to_plain`; unknown keys of a later minor version are ignored, IndexCorruptError where one is missing."""
    try:
        known = {key: plain[key] for key in Manifest._fields if key != "documents"}
        known["documents"] = plain.get("documents", OLD_DOCUMENTS)
        known["root_key"] = tuple(_list(plain["root_key"]))
        known["options"] = options_from_plain(plain["options"])
        known["segments"] = tuple(_segment_from_plain(segment) for segment in _list(plain["segments"]))
        known["failures"] = tuple(Failure(*_list(failure)) for failure in _list(plain["failures"]))
        known["corpus"] = Corpus(**{key: plain["corpus"][key] for key in Corpus._fields})
        return Manifest(**known)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise IndexCorruptError(f"{name} is damaged: it is no manifest", REBUILD_HINT) from error


def options_to_plain(options: IndexOptions) -> dict[str, Any]:
    """Options as maps, lists and scalars."""
    return {**options._asdict(), "format": options.format.value, "limits": options.limits._asdict()}


def options_from_plain(plain: Any) -> IndexOptions:
    """Undo `options_to_plain`; a limit that an older version did not know takes its default."""
    limits = Limits(**{key: value for key, value in plain["limits"].items() if key in Limits._fields})
    known = {key: plain[key] for key in IndexOptions._fields if key != "allow_secrets"}
    known["allow_secrets"] = plain.get("allow_secrets", False)  # versions before 1.1 do not know it
    known |= {"include": tuple(_list(plain["include"])), "exclude": tuple(_list(plain["exclude"])), "limits": limits}
    known["format"] = DocumentFormat(plain["format"])
    return IndexOptions(**known)


def _segment_to_plain(segment: SegmentInfo) -> dict[str, Any]:
    plain = segment._asdict()
    plain[_DELETED_KEY] = plain.pop("deleted")
    return plain


def _segment_from_plain(plain: Any) -> SegmentInfo:
    known = {key: plain[_DELETED_KEY if key == "deleted" else key] for key in SegmentInfo._fields if key != "check"}
    known |= {"deleted": tuple(_list(known["deleted"])), "check": plain.get("check", UNKNOWN)}
    return SegmentInfo(**known)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("no list")
    return value
