"""The list that makes segments an index, as a value and as plain types for the codec.

It is small: it grows with the number of segments, of deleted documents and of failures, never with the corpus.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ragcli.config.options import IndexOptions, Limits
from ragcli.errors import REBUILD_HINT, IndexCorruptError
from ragcli.model import DocumentFormat, Failure

SEGMENT_SUFFIX = ".segment"


# What the deleted documents of a segment are called in a file: a name that older versions read too.
_DELETED_KEY = "dead"


class SegmentInfo(NamedTuple):
    """A segment of a generation: chunks and lengths count the live only; `deleted` are document ordinals."""

    name: str
    size: int
    documents: int
    chunks: int
    english_length: int
    code_length: int
    deleted: tuple[int, ...] = ()


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
    is a digest of the ids of the added documents that they index.
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
        known = {key: plain[key] for key in Manifest._fields}
        known["root_key"] = tuple(plain["root_key"])
        known["options"] = options_from_plain(plain["options"])
        known["segments"] = tuple(_segment_from_plain(segment) for segment in plain["segments"])
        known["failures"] = tuple(Failure(*failure) for failure in plain["failures"])
        known["corpus"] = Corpus(**{key: plain["corpus"][key] for key in Corpus._fields})
        return Manifest(**known)
    except (KeyError, TypeError, ValueError) as error:
        raise IndexCorruptError(f"{name} is damaged: it misses {error}", REBUILD_HINT) from error


def options_to_plain(options: IndexOptions) -> dict[str, Any]:
    """Options as maps, lists and scalars."""
    return {**options._asdict(), "format": options.format.value, "limits": options.limits._asdict()}


def options_from_plain(plain: Any) -> IndexOptions:
    """Undo `options_to_plain`; a limit that an older version did not know takes its default."""
    limits = Limits(**{key: value for key, value in plain["limits"].items() if key in Limits._fields})
    known = {key: plain[key] for key in IndexOptions._fields}
    known |= {"include": tuple(plain["include"]), "exclude": tuple(plain["exclude"]), "limits": limits}
    known["format"] = DocumentFormat(plain["format"])
    return IndexOptions(**known)


def _segment_to_plain(segment: SegmentInfo) -> dict[str, Any]:
    plain = segment._asdict()
    plain[_DELETED_KEY] = plain.pop("deleted")
    return plain


def _segment_from_plain(plain: Any) -> SegmentInfo:
    known = {key: plain[_DELETED_KEY if key == "deleted" else key] for key in SegmentInfo._fields}
    known["deleted"] = tuple(known["deleted"])
    return SegmentInfo(**known)
