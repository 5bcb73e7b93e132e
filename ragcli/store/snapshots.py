"""A session's generations on disk: read the current one, commit the next, collect what nothing names.

    CURRENT · <n>.manifest · <n>.stat · <n>.documents · <hash>.segment · PENDING · lock

Commit order: segments and documents, the manifest, then CURRENT, each durable before the next; CURRENT is the only
commit point. It holds 0 before the first one, so that manifests without it are always damage. The previous generation
stays one commit longer, for readers that began before. Readers take no lock.
"""

import contextlib
import re
from typing import Any, NamedTuple

from ragcli.errors import REBUILD_HINT, IndexCorruptError, StoreError
from ragcli.index.manifest import OLD_DOCUMENTS, SEGMENT_SUFFIX, UNKNOWN, Manifest, SegmentInfo, to_plain
from ragcli.index.manifest_check import is_segment_name, read_manifest
from ragcli.store.checked_file import CheckedFile, CheckedFileWriter
from ragcli.store.codec import decode, encode
from ragcli.store.directory import DRAFT_PREFIX, Directory, write_file
from ragcli.store.locks import LOCK_NAME

CURRENT = "CURRENT"
PENDING = "PENDING"
DOCUMENTS_SUFFIX = ".documents"
CURRENT_KIND = b"RAGCURRT"
MANIFEST_KIND = b"RAGMANIF"
PENDING_KIND = b"RAGPENDG"

# Compiled on use: only a writer looks at names.
_NUMBERED = r"(\d{1,15})\.(manifest|stat|documents)"


class Generation(NamedTuple):
    """A committed manifest with its segments' blobs open, so that a later collection cannot take them away."""

    manifest: Manifest
    blobs: tuple[CheckedFile, ...]

    def close(self) -> None:
        """Give the files back."""
        for blob in self.blobs:
            blob.close()


class SnapshotStore:
    """The generations of one session's directory."""

    def __init__(self, directory: Directory) -> None:
        self.directory = directory

    # -- reading

    def current_number(self) -> int:
        """The committed generation's number, 0 where there is none. IndexCorruptError where CURRENT is damaged."""
        for _ in range(_READ_TRIES):
            with contextlib.suppress(FileNotFoundError):
                raw = self.directory.read(CURRENT)
                break
            # A manifest is written after CURRENT and removed before it; between two looks a session may come and go.
            if not any(name.endswith(".manifest") for name in self.directory.list()):
                return 0
        else:
            raise _vanished(CURRENT)
        number = decode(CURRENT_KIND, CURRENT, raw)
        if type(number) is not int or not 0 <= number < 10**15:
            raise IndexCorruptError(f"{CURRENT} is damaged: it holds no number", REBUILD_HINT)
        return number

    def manifest(self) -> Manifest | None:
        """The committed manifest; None before the first commit."""
        for _ in range(_READ_TRIES):
            number = self.current_number()
            if not number:
                return None
            with contextlib.suppress(FileNotFoundError):
                return self._manifest(number)
        raise _vanished(f"{number}.manifest")

    def last_readable(self) -> Manifest | None:
        """The newest manifest that can still be read, for what a damaged one forgot: root and options."""
        for number in sorted(set(self.numbers()), reverse=True):
            with contextlib.suppress(FileNotFoundError, IndexCorruptError):
                return self._manifest(number)
        return None

    def numbers(self) -> list[int]:
        """The numbers of generations that files bear, those of runs that died before they committed too."""
        return [int(match[1]) for name in self.directory.list() if (match := re.fullmatch(_NUMBERED, name))]

    def open(self) -> Generation | None:
        """The committed generation, pinned. Starts again where a commit took its files away meanwhile."""
        missing = CURRENT
        for _ in range(_READ_TRIES):
            manifest = self.manifest()
            if manifest is None:
                return None
            blobs: list[CheckedFile] = []
            try:
                for segment in manifest.segments:
                    missing = segment.name
                    blobs.append(self.open_segment(segment))
                return Generation(manifest, tuple(blobs))
            except FileNotFoundError:
                for blob in blobs:
                    blob.close()
        raise _vanished(missing)

    def open_segment(self, info: SegmentInfo) -> CheckedFile:
        """A generation's segment; FileNotFoundError where it is gone, IndexCorruptError where another is in its place.

        What versions before 1.1 wrote down is told from others by its size alone.
        """
        blob = self.open_file(info.name)
        if info.check == blob.check or (info.check == UNKNOWN and info.size in (blob.file_size, blob.size)):
            return blob
        blob.close()
        raise IndexCorruptError(f"{info.name} is damaged: it is another segment", REBUILD_HINT)

    def open_file(self, name: str) -> CheckedFile:
        """A checked file by its name alone; FileNotFoundError where it is gone."""
        source = self.directory.open(name)
        try:
            return CheckedFile(name, source)
        except BaseException:
            source.close()
            raise

    def last_number(self) -> int:
        """The highest generation number that any file bears, so that a repair never reuses one."""
        return max(self.numbers(), default=0)

    # -- writing, under the lock

    def segment_writer(self) -> CheckedFileWriter:
        """A sink for one new segment; `finish(SEGMENT_SUFFIX)` gives its name."""
        return CheckedFileWriter(self.directory)

    def commit(self, manifest: Manifest) -> None:
        """Make `manifest` the current generation; its segments are durable already."""
        if CURRENT not in self.directory.list():
            write_file(self.directory, CURRENT, encode(CURRENT_KIND, CURRENT, 0))
        name = f"{manifest.number}.manifest"
        write_file(self.directory, name, encode(MANIFEST_KIND, name, to_plain(manifest)))
        write_file(self.directory, CURRENT, encode(CURRENT_KIND, CURRENT, manifest.number))

    def pending(self) -> list[str]:
        """Names of the segments that a run flushed before it ended without a commit; damage counts as none."""
        try:
            names = decode(PENDING_KIND, PENDING, self.directory.read(PENDING))
        except (FileNotFoundError, IndexCorruptError):
            return []
        present = set(self.directory.list())
        if not isinstance(names, list):
            return []
        return [name for name in names if isinstance(name, str) and is_segment_name(name) and name in present]

    def set_pending(self, names: list[str]) -> None:
        """Say which flushed segments the next writer may take over."""
        if names:
            write_file(self.directory, PENDING, encode(PENDING_KIND, PENDING, names))
        else:
            self.directory.remove(PENDING)

    def gc(self) -> None:
        """Collect, and forget what runs that died had flushed: at the end of a run, also of one with nothing to do."""
        self.set_pending([])
        self.collect()

    def remove_all(self) -> None:
        """Remove all but the lock, so that no reader at any moment meets half a session."""
        try:
            write_file(self.directory, CURRENT, encode(CURRENT_KIND, CURRENT, 0))
        except StoreError:  # a full disk, perhaps
            self.directory.remove(CURRENT)
        for name in self.directory.list():
            if name not in (CURRENT, LOCK_NAME):
                self.directory.remove(name)
        self.directory.remove(CURRENT)

    def collect(self) -> None:
        """Remove what neither the current nor the previous generation nor PENDING names; drafts of dead writers too."""
        number = self.current_number()
        kept = set(self.pending())
        with contextlib.suppress(FileNotFoundError, IndexCorruptError):
            kept |= _named_by(self._previous(number))
        old = OLD_DOCUMENTS
        if number:
            current = self._manifest(number)
            kept |= _named_by(current)
            # Other versions would take it for today's, so it does not outlive the generation that needs it.
            old = OLD_DOCUMENTS if current.documents != OLD_DOCUMENTS else ""
        for name in self.directory.list():
            ours = re.fullmatch(_NUMBERED, name) or name.endswith(SEGMENT_SUFFIX) or name.startswith(DRAFT_PREFIX)
            if (ours and name not in kept) or (number and name == old):
                self.directory.remove(name)

    def _previous(self, number: int) -> Manifest:
        return self._manifest(max((n for n in self.numbers() if n < number), default=0))

    def _manifest(self, number: int) -> Manifest:
        name = f"{number}.manifest"
        plain: Any = decode(MANIFEST_KIND, name, self.directory.read(name))
        manifest = read_manifest(name, plain)
        if manifest.number != number:
            raise IndexCorruptError(f"{name} is damaged: it is that of generation {manifest.number}", REBUILD_HINT)
        return manifest


def _named_by(manifest: Manifest) -> set[str]:
    """The files that belong to a generation."""
    number = manifest.number
    return {f"{number}.manifest", f"{number}.stat", manifest.documents, *(info.name for info in manifest.segments)}


# Each try starts from CURRENT again; a writer would have to commit twice within each to outrun it.
_READ_TRIES = 20


def _vanished(name: str) -> IndexCorruptError:
    return IndexCorruptError(f"{name} is missing from the index", REBUILD_HINT)
