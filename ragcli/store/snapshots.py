"""A session's generations on disk: read the current one, commit the next, collect what nothing names.

    CURRENT · <n>.manifest · <n>.stat · documents · <hash>.segment · PENDING · lock

Commit order: segments and documents, the manifest, then CURRENT, each durable before the next; CURRENT is the only
commit point. The previous generation stays one commit longer, for readers that began before. Readers take no lock.
"""

import contextlib
import re
from typing import Any, NamedTuple

from ragcli.errors import REBUILD_HINT, IndexCorruptError
from ragcli.index.manifest import SEGMENT_SUFFIX, Manifest, from_plain, to_plain
from ragcli.store.checked_file import CheckedFile, CheckedFileWriter
from ragcli.store.codec import decode, encode
from ragcli.store.directory import DRAFT_PREFIX, Directory, write_file

CURRENT = "CURRENT"
PENDING = "PENDING"
DOCUMENTS = "documents"
CURRENT_KIND = b"RAGCURRT"
MANIFEST_KIND = b"RAGMANIF"
PENDING_KIND = b"RAGPENDG"

# Compiled on use: only a writer looks at names.
_NUMBERED = r"(\d{1,15})\.(manifest|stat)"


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
        try:
            raw = self.directory.read(CURRENT)
        except FileNotFoundError:
            return 0
        number = decode(CURRENT_KIND, CURRENT, raw)
        if not isinstance(number, int):
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
        numbers = {int(match[1]) for name in self.directory.list() if (match := re.fullmatch(_NUMBERED, name))}
        for number in sorted(numbers, reverse=True):
            with contextlib.suppress(FileNotFoundError, IndexCorruptError):
                return self._manifest(number)
        return None

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
                    blobs.append(self.open_segment(segment.name))
                return Generation(manifest, tuple(blobs))
            except FileNotFoundError:
                for blob in blobs:
                    blob.close()
        raise _vanished(missing)

    def open_segment(self, name: str) -> CheckedFile:
        """A segment's blob; FileNotFoundError where it is gone."""
        source = self.directory.open(name)
        try:
            return CheckedFile(name, source)
        except BaseException:
            source.close()
            raise

    def last_number(self) -> int:
        """The highest generation number that any file bears, so that a repair never reuses one."""
        return max((int(m[1]) for name in self.directory.list() if (m := re.fullmatch(_NUMBERED, name))), default=0)

    # -- writing, under the lock

    def segment_writer(self) -> CheckedFileWriter:
        """A sink for one new segment; `finish(SEGMENT_SUFFIX)` gives its name."""
        return CheckedFileWriter(self.directory)

    def commit(self, manifest: Manifest) -> None:
        """Make `manifest` the current generation; its segments are durable already."""
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
        return [name for name in names if isinstance(name, str) and name in present]

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

    def collect(self) -> None:
        """Remove what neither the current nor the previous generation nor PENDING names; drafts of dead writers too."""
        number = self.current_number()
        kept = set(self.pending())
        numbers = [number]
        with contextlib.suppress(FileNotFoundError, IndexCorruptError):
            previous = self._previous(number)
            kept |= {segment.name for segment in previous.segments}
            numbers.append(previous.number)
        if number:
            kept |= {segment.name for segment in self._manifest(number).segments}
        for name in self.directory.list():
            numbered = re.fullmatch(_NUMBERED, name)
            if (
                (numbered and int(numbered[1]) not in numbers)
                or (name.endswith(SEGMENT_SUFFIX) and name not in kept)
                or name.startswith(DRAFT_PREFIX)
            ):
                self.directory.remove(name)

    def _previous(self, number: int) -> Manifest:
        numbers = [int(match[1]) for name in self.directory.list() if (match := re.fullmatch(_NUMBERED, name))]
        return self._manifest(max((n for n in numbers if n < number), default=0))

    def _manifest(self, number: int) -> Manifest:
        name = f"{number}.manifest"
        plain: Any = decode(MANIFEST_KIND, name, self.directory.read(name))
        return from_plain(name, plain)


# Each try starts from CURRENT again; a writer would have to commit twice within each to outrun it.
_READ_TRIES = 20


def _vanished(name: str) -> IndexCorruptError:
    return IndexCorruptError(f"{name} is missing from the index", REBUILD_HINT)
