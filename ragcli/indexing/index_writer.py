"""The index writer of one run: flushes segments, marks deleted documents, merges, commits a manifest.

Nothing that readers see changes before `commit`. Flushed segments are named in PENDING at once, so that a run that is
killed loses at most the segment it was filling.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from ragcli.documents import Chunk
from ragcli.errors import REBUILD_HINT, IndexCorruptError
from ragcli.index.doc_table import ChunkRow, DocumentRow
from ragcli.index.manifest import SEGMENT_SUFFIX, Corpus, Manifest, SegmentInfo
from ragcli.index.merge_policy import merge_group, with_deleted
from ragcli.index.merging import merge_segments
from ragcli.index.segment import Segment
from ragcli.index.segment_buffer import InMemorySegment, SegmentBuffer
from ragcli.index.segment_format import SegmentTotals
from ragcli.index.segment_writer import SegmentBuilder
from ragcli.indexing.plan import DocAddress
from ragcli.model import FILE
from ragcli.store.checked_file import CheckedFileWriter
from ragcli.store.snapshots import SnapshotStore

# What a segment's batches may take in memory before it is flushed: some 70 MB of text make so much, sorting them takes
# up to twice that for a moment.
FLUSH_BYTES = 192 * 1024 * 1024


class IndexWriter:
    """Collects the changes of one run on top of a manifest. Used under the session's lock."""

    def __init__(self, store: SnapshotStore, base: Manifest, *, reuse_pending: bool = True) -> None:
        self._store = store
        self._base = base
        self._segments: dict[str, Segment] = {}
        self._infos: dict[str, SegmentInfo] = {}
        self._deleted: dict[str, set[int]] = {}
        for info in base.segments:
            self._take(info)
        self._reused: set[tuple[str, int]] = set()
        # Rows that were read once, so that a run over a large index does not read each of them three times.
        self._rows: dict[tuple[str, int], DocumentRow] = {}
        self._pending: list[str] = []
        for name in store.pending() if reuse_pending else ():
            self._take_pending(name)
        self._flushed: list[str] = []
        self._sink: CheckedFileWriter | None = None
        self._builder: SegmentBuilder | None = None
        self.changed = False
        self.new_text_bytes = 0

    # -- reading

    def live_documents(self) -> tuple[dict[str, DocAddress], dict[str, DocAddress]]:
        """The committed documents: files by path, added documents by id."""
        files: dict[str, DocAddress] = {}
        added: dict[str, DocAddress] = {}
        for info in self._base.segments:
            for ordinal, row in self._segments[info.name].documents():
                (files if row.kind == FILE else added)[row.path] = DocAddress(info.name, ordinal, row)
                self._rows[info.name, ordinal] = row
        return files, added

    def pending(self) -> dict[str, DocAddress]:
        """The files that runs without a commit have stored, by path."""
        found: dict[str, DocAddress] = {}
        for name in self._pending:
            for ordinal, row in self._segments[name].documents():
                if row.kind == FILE:
                    found[row.path] = DocAddress(name, ordinal, row)
                    self._rows[name, ordinal] = row
        return found

    # -- changes

    def add(self, batch: InMemorySegment) -> None:
        """Append a batch of new documents; flush a segment when it is large enough."""
        if self._builder and not self._builder.room_for(batch):
            self._flush()
        if self._builder is None:
            self._sink = self._store.segment_writer()
            self._builder = SegmentBuilder(self._sink)
        self._builder.add(batch)
        self.new_text_bytes += batch.text_bytes
        self.changed = True
        if self._builder.packed_bytes >= FLUSH_BYTES:
            self._flush()

    def delete(self, address: DocAddress) -> None:
        """Leave a committed document out of the next generation."""
        self._deleted[address.segment].add(address.ordinal)
        self.changed = True

    def reuse(self, address: DocAddress) -> None:
        """Take a pending document over into the next generation."""
        self._reused.add((address.segment, address.ordinal))
        self.changed = True

    def delete_all(self) -> None:
        """Leave every committed document out."""
        for info in self._base.segments:
            self._deleted[info.name] = set(range(self._segments[info.name].totals.documents))
        self.changed = self.changed or bool(self._base.segments)

    def reanalyze(self) -> None:
        """Analyze the stored texts of what the run keeps of its base anew, in place of what is stored of them.

        To be called last: what is left out later would come back.
        """
        for info in self._base.segments:
            segment = self._segments[info.name]
            for ordinal, _ in segment.documents():
                if ordinal not in self._deleted[info.name]:
                    for batch in repacked(segment, ordinal):
                        self.add(batch)
        self.delete_all()

    def live_text_bytes(self) -> int:
        """Bytes of text that the next generation will hold, pending documents that were reused included."""
        total = self.new_text_bytes + sum(self._rows[place].text_bytes for place in self._reused)
        for (name, ordinal), row in self._rows.items():
            if name not in self._pending and ordinal not in self._deleted[name]:
                total += row.text_bytes
        return total

    # -- commit

    def commit(self, manifest: Manifest) -> Manifest:
        """Make `manifest`, with this run's segments and corpus, the current generation; give it back completed."""
        self._flush()
        infos = self._merged(self._survivors())
        corpus = corpus_of((self._segments[info.name] for info in infos), self._rows)
        done = manifest._replace(segments=tuple(infos), corpus=corpus)
        self._store.commit(done)
        return done

    def corpus(self) -> Corpus:
        """What the committed documents add up to."""
        return corpus_of((self._segments[info.name] for info in self._base.segments), self._rows)

    def close(self) -> None:
        """Give files back; what was not flushed is gone."""
        if self._sink is not None:
            self._sink.discard()
            self._sink = None
        for segment in self._segments.values():
            segment.close()

    def _take(self, info: SegmentInfo) -> None:
        try:
            self._segments[info.name] = Segment(self._store.open_segment(info), info.deleted)
        except FileNotFoundError:
            raise IndexCorruptError(f"{info.name} is missing from the index", REBUILD_HINT) from None
        self._infos[info.name] = info
        self._deleted[info.name] = set(info.deleted)

    def _take_pending(self, name: str) -> None:
        """Offer a flushed segment's documents; damaged or not whole, it is worth nothing and read anew."""
        if name in self._infos:
            return
        try:
            blob = self._store.open_file(name)
            blob.verify()
            segment = Segment(blob)
        except (IndexCorruptError, FileNotFoundError):
            return
        self._pending.append(name)
        self._segments[name] = segment
        self._infos[name] = SegmentInfo(name, blob.file_size, *segment.totals, check=blob.check)

    def _flush(self) -> None:
        if self._builder is None or self._sink is None:
            return
        totals = self._builder.finish()
        name, _ = self._sink.finish(SEGMENT_SUFFIX)
        self._builder = self._sink = None
        if name not in self._infos:
            self._infos[name] = self._opened(name, totals)
        self._flushed.append(name)
        self._store.set_pending(sorted({*self._pending, *self._flushed}))

    def _survivors(self) -> list[SegmentInfo]:
        """The segments that still have live documents, with what is alive of them."""
        for name in self._pending:
            if name not in self._flushed:
                count = self._infos[name].documents
                self._deleted[name] = {o for o in range(count) if (name, o) not in self._reused}
        found = []
        for name, info in self._infos.items():
            deleted = set() if name in self._flushed else self._deleted[name]
            if len(deleted) < info.documents:
                found.append(with_deleted(self._segments[name], info, deleted))
                self._segments[name].with_deletes(deleted)
        return sorted(found, key=lambda info: info.name)

    def _merged(self, infos: list[SegmentInfo]) -> list[SegmentInfo]:
        while group := merge_group(infos):
            sink = self._store.segment_writer()
            try:
                totals = merge_segments([self._segments[info.name] for info in group], sink)
                name, _ = sink.finish(SEGMENT_SUFFIX)
            except BaseException:
                sink.discard()
                raise
            names = {info.name for info in group}
            kept = [info for info in infos if info.name not in names]
            infos = sorted([*kept, self._opened(name, totals)], key=lambda info: info.name)
        return infos

    def _opened(self, name: str, totals: SegmentTotals) -> SegmentInfo:
        """Open a segment that was just written."""
        blob = self._store.open_file(name)
        self._segments[name] = Segment(blob)
        return SegmentInfo(name, blob.file_size, *totals, check=blob.check)


def corpus_of(segments: Iterable[Segment], known: Mapping[tuple[str, int], DocumentRow] = {}) -> Corpus:
    """Sum up the live documents. The digest does not depend on how they are cut into segments.

    `known` holds rows that need not be read again, by segment and ordinal.
    """
    rows: list[tuple[str, str, DocumentRow, int]] = []
    for segment in segments:
        for ordinal in segment.live_docs():
            row = known.get((segment.name, ordinal)) or segment.document(ordinal)
            rows.append((row.kind, row.path, row, len(segment.chunk_range(ordinal))))
    rows.sort(key=lambda entry: entry[:2])
    digest = hashlib.sha256()
    for source, path, row, _ in rows:
        digest.update(f"{source}\0{path}\0".encode("utf-8", "surrogateescape") + row.fingerprint)
    files = [entry for entry in rows if entry[0] == FILE]
    return Corpus(
        digest=digest.hexdigest()[:16],
        files=len(files),
        added=len(rows) - len(files),
        chunks=sum(entry[3] for entry in rows),
        text_bytes=sum(entry[2].text_bytes for entry in rows),
        without_text=sum(not entry[3] for entry in files),
        formats=_counted(entry[2].format for entry in files),
        languages=_counted(entry[2].language for entry in files if entry[2].language),
    )


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def repacked(segment: Segment, ordinal: int) -> list[InMemorySegment]:
    """A stored document, analyzed anew from its stored texts."""
    texts: list[str] = []
    chunks: list[Chunk] = []
    ids: list[str] = []
    position = 0
    for row, text in stored_chunks(segment, ordinal):
        chunks.append(Chunk(position, position + len(text), row.start_line, row.end_line, row.metadata))
        position += len(text)
        texts.append(text)
        ids.append(row.id)
    packer = SegmentBuffer()
    packer.add(segment.document(ordinal), "".join(texts), chunks, ids)
    return packer.finish()


def stored_chunks(segment: Segment, ordinal: int) -> Iterator[tuple[ChunkRow, str]]:
    """The rows and texts of a document's chunks."""
    for chunk in segment.chunk_range(ordinal):
        row = segment.chunk(chunk)
        yield row, segment.text_of(ordinal, row)
