"""When segments are merged, what further terms of a query do, how files become durable, who tries again."""

import os
import stat
from pathlib import Path

import pytest

from ragcli.analysis.analyzers import QueryTerm
from ragcli.config.options import IndexOptions
from ragcli.documents import SourceFile
from ragcli.errors import FailureCode
from ragcli.extract.registry import OUT_OF_MEMORY
from ragcli.index import index_searcher as knowledge_base
from ragcli.index.index_searcher import IndexSearcher
from ragcli.index.manifest import SegmentInfo
from ragcli.index.merge_policy import MAX_PER_CLASS, MERGED_CHUNKS, merge_group
from ragcli.index.scorers import Totals
from ragcli.index.segment_buffer import SegmentBuffer
from ragcli.indexing import ingest_task as pipeline
from ragcli.ingest.ingestion_service import Failed, FileIngestionService
from ragcli.store.directory import OsDirectory, write_file
from tests.test_index import segment_of


def infos(count: int, chunks: int, documents: int = 9, deleted: int = 0) -> list[SegmentInfo]:
    return [SegmentInfo(f"{n:02}", 1, documents, chunks, 1, 1, tuple(range(deleted))) for n in range(count)]


def test_a_full_class_is_merged_and_one_more_would_have_waited() -> None:
    assert merge_group(infos(MAX_PER_CLASS, 10)) == []
    assert merge_group(infos(MAX_PER_CLASS + 1, 10)) == infos(MAX_PER_CLASS + 1, 10)


def test_segments_of_other_classes_stay_out_of_a_merge() -> None:
    large = SegmentInfo("large", 1, 9, 50_000, 1, 1)

    assert merge_group([large, *infos(MAX_PER_CLASS + 1, 10)]) == infos(MAX_PER_CLASS + 1, 10)


def test_large_segments_are_not_copied_into_larger_ones() -> None:
    assert merge_group(infos(12, MERGED_CHUNKS)) == []
    group = merge_group(infos(12, MERGED_CHUNKS // 4))
    assert len(group) == 4


def test_a_segment_a_third_deleted_is_written_alone() -> None:
    assert merge_group(infos(1, 10, documents=9, deleted=2)) == []
    assert merge_group(infos(1, 10, documents=9, deleted=3)) == infos(1, 10, documents=9, deleted=3)


@pytest.mark.parametrize("dense_from", [10**9, 0])
def test_further_terms_rank_what_holds_a_word_of_the_query_and_find_nothing(
    dense_from: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(knowledge_base, "DENSE_POSTINGS", dense_from)
    segment = segment_of({"a.txt": ["kiwi"], "b.txt": ["kiwi omega"], "c.txt": ["omega omega"]})
    totals = segment.totals
    base = IndexSearcher([segment], Totals(totals.chunks, totals.english_length, totals.code_length))

    found = base.candidates("kiwi", {"code": 9}, expansion=[QueryTerm("omega", 1.0)]).candidates
    plain = base.candidates("kiwi", {"code": 9}).candidates

    assert {c.path for c in found} == {c.path for c in plain} == {"a.txt", "b.txt"}
    assert [c.path for c in sorted(plain, key=lambda c: c.streams["code"].rank)] == ["a.txt", "b.txt"]
    assert [c.path for c in sorted(found, key=lambda c: c.streams["code"].rank)] == ["b.txt", "a.txt"]


def test_a_file_is_synced_before_it_has_its_name_and_its_directory_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    sync, replace = os.fsync, os.replace

    def fsync(descriptor: int) -> None:
        done.append("directory" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        sync(descriptor)

    def rename(source: str, target: str) -> None:
        done.append("rename")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", rename)
    write_file(OsDirectory(str(tmp_path)), "CURRENT", b"1")

    assert done[:3] == ["file", "rename", "directory"]


def test_a_document_out_of_memory_is_for_a_fresh_process_to_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = SourceFile("a.txt", 1, 1, 1, 1)
    failed = Failed(file, FailureCode.EXTRACTION, OUT_OF_MEMORY)
    monkeypatch.setattr(FileIngestionService, "ingest", lambda *_: failed)

    with pytest.raises(MemoryError):
        pipeline.process(
            pipeline.IngestJob(str(tmp_path), IndexOptions(), SegmentBuffer), [pipeline.WorkItem(file, b"")]
        )
