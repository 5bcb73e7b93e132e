"""The library's door: sessions, progress, added documents, what is reported."""

import os
import time
from pathlib import Path

import pytest

import ragcli
import ragcli.errors
from ragcli import IndexOptions, IndexProgress, RagService, SessionManager
from ragcli.config.options import STANDARD
from ragcli.documents import SourceFile
from ragcli.errors import DocumentNotFoundError, SessionNotFoundError, UsageError
from ragcli.ingest.reading import TreeReader
from ragcli.store.directory import RamDirectory
from tests.engine import answers, index, rebuilt, rewrite, service, write


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write(
        tmp_path / "tree",
        {
            "a.txt": "alpha beta\n",
            "sub/b.md": "# Notes\n\nalpha delta\n",
            "c.py": "def function_one():\n    return 1\n",
        },
    )


def test_the_public_names_are_all_there_once() -> None:
    assert len(ragcli.__all__) == len(set(ragcli.__all__))
    for name in ragcli.__all__:
        assert getattr(ragcli, name) is not None
    with pytest.raises(AttributeError):
        ragcli.nothing_of_the_sort


def test_progress_counts_files_up_to_their_number(tree: Path, tmp_path: Path) -> None:
    seen: list[IndexProgress] = []
    rag = SessionManager(tmp_path / "data").get_rag("mine")

    rag.index_directory(tree, seen.append, options=IndexOptions(limits=STANDARD), workers=2)

    assert [progress.indexed_files for progress in seen] == [1, 2, 3]
    assert {progress.total_files for progress in seen} == {3}
    assert [progress.current_file for progress in seen] == ["a.txt", "c.py", "sub/b.md"]


def test_a_run_pays_for_what_changed(tree: Path) -> None:
    rag = service()
    assert index(rag, tree).files.new == 3
    assert not index(rag, tree).committed
    rewrite(tree / "a.txt", "alpha omega\n")
    (tree / "c.py").rename(tree / "d.py")

    report = index(rag, tree)

    assert report.files._asdict() == {"new": 1, "changed": 1, "kept": 1, "gone": 1, "failed": 0, "skipped": 0}
    assert {info.file for info in rag.list_files()} == {"a.txt", "d.py", "sub/b.md"}
    assert answers(rag) == answers(rebuilt(tree))


def test_without_the_stat_cache_the_next_run_reads_every_file(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = RamDirectory()
    rag = service(directory)
    for _ in range(2):  # files this young are read again once (the racy rule)
        time.sleep(0.05)
        index(rag, tree)
    read: list[str] = []
    original = TreeReader.read
    monkeypatch.setattr(TreeReader, "read", lambda self, f, most: (read.append(f.path), original(self, f, most))[1])
    index(rag, tree)
    assert read == []

    for name in [name for name in directory.list() if name.endswith(".stat")]:
        directory.remove(name)  # a lost cache is read anew, and never an error
    index(rag, tree)

    assert read == ["a.txt", "c.py", "sub/b.md"]


def test_touching_a_file_is_no_change(tree: Path) -> None:
    rag = service()
    index(rag, tree)
    os.utime(tree / "a.txt", ns=(10**18, 10**18))

    report = index(rag, tree)

    assert (report.files.kept, report.committed) == (3, False)
    assert not any(result.stale for result in rag.search("alpha", 5))


def test_a_failed_document_keeps_its_chunks_until_it_can_be_read(tree: Path) -> None:
    rag = service()
    small = IndexOptions(limits=STANDARD._replace(max_text=60))
    index(rag, tree, small)
    rewrite(tree / "a.txt", "alpha beta longer " * 20)

    report = index(rag, tree, small)

    assert [(failure.file, failure.code) for failure in report.failed] == [("a.txt", "LIMIT")]
    assert "a.txt" in {result.file for result in rag.search("beta", 5)}
    assert [info.file for info in rag.list_failed()] == ["a.txt"]
    assert index(rag, tree, small).files.failed == 1
    rewrite(tree / "a.txt", "short again\n")
    assert index(rag, tree, small).failed == []


def test_sessions_of_directories_are_found_from_below(tree: Path, tmp_path: Path) -> None:
    manager = SessionManager(tmp_path / "data")
    with pytest.raises(SessionNotFoundError, match="no index of"):
        manager.rag_for_directory(str(tree / "sub"))
    manager.rag_for_path(str(tree)).index_directory(tree, workers=0)

    found = manager.rag_for_directory(str(tree / "sub"))

    assert found.get_status().root == str(tree)
    assert [status.files for status in manager.sessions()] == [3]


def test_a_moved_tree_takes_its_index_along(tree: Path, tmp_path: Path) -> None:
    SessionManager(tmp_path / "data").rag_for_path(str(tree)).index_directory(tree, workers=0)
    moved = tmp_path / "moved"
    tree.rename(moved)

    with pytest.raises(SessionNotFoundError) as error:
        SessionManager(tmp_path / "data").rag_for_directory(str(moved / "sub"))
    assert error.value.hint == f"take its index along with: ragcli index {moved}"
    report = SessionManager(tmp_path / "data").rag_for_path(str(moved)).index_directory(moved, workers=0)

    assert report.files.kept == 3 and "taken along" in report.notices[0]
    assert len(SessionManager(tmp_path / "data").session_names()) == 1


def test_a_named_session_takes_another_root_only_when_told_to(tree: Path, tmp_path: Path) -> None:
    rag = SessionManager(tmp_path / "data").get_rag("mine")
    rag.index_directory(tree, workers=0)
    other = write(tmp_path / "other", {"x.txt": "kiwi\n"})
    with pytest.raises(UsageError, match="not of"):
        rag.index_directory(other, workers=0)
    assert rag.get_status().root == str(tree)

    rag.index_directory(other, rebuild=True, workers=0)

    assert [info.file for info in rag.list_files()] == ["x.txt"]


def test_one_file_is_a_session_of_its_own(tree: Path, tmp_path: Path) -> None:
    manager = SessionManager(tmp_path / "data")
    rag = manager.rag_for_path(str(tree / "a.txt"))

    rag.index_directory(tree / "a.txt", workers=0)

    assert [(result.file, result.stale) for result in rag.search("alpha")] == [("a.txt", False)]
    assert rag.get_status().root == str(tree)


def test_added_documents_are_ranked_beside_files_and_outlive_rebuilds(tree: Path) -> None:
    rag = service()
    index(rag, tree)
    first = rag.add_document("kiwi alpha", {"topic": "fruit"})

    assert rag.add("kiwi alpha", {"topic": "fruit"}, wait=1.0) == (first, False)
    assert len(first) == 12
    index(rag, tree, rebuild=True)
    (result,) = list(rag.search("kiwi"))
    assert (result.id, result.file, result.metadata) == (first, "", {"topic": "fruit"})
    assert rag.get_document(first[:6]) == rag.get_document(first)
    assert [info.preview for info in rag.list_documents()] == ["kiwi alpha"]
    assert rag.remove_document(first)
    assert not rag.remove_document(first)
    assert rag.search("kiwi") == []


def test_documents_that_cannot_be_meant_are_refused(tree: Path) -> None:
    rag = service()
    index(rag, tree)
    with pytest.raises(UsageError, match="no text"):
        rag.add_document("  \n")
    with pytest.raises(UsageError, match="'file'"):
        rag.add_document("kiwi", {"file": "x"})
    with pytest.raises(DocumentNotFoundError):
        rag.show("nothing")


def test_clear_empties_and_the_session_stays(tree: Path) -> None:
    rag = service()
    index(rag, tree)
    rag.add_document("kiwi")

    rag.clear()

    status = rag.get_status()
    assert (status.files, status.chunks, status.documents, status.last_indexed) == (0, 0, 0, 0.0)
    assert rag.list_documents() == [] and rag.search("alpha") == []
    assert index(rag, tree).files.new == 3


def test_show_gives_the_text_and_the_chunks_that_tile_it(tree: Path) -> None:
    rag = service()
    index(rag, tree)

    stored = rag.show("sub/b.md")

    assert stored.text == "# Notes\n\nalpha delta\n" == "".join(chunk.content for chunk in stored.chunks)
    assert stored.chunks[0].metadata["heading"] == "Notes"


def test_stored_text_is_analyzed_anew_after_an_upgrade(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a file that cannot be read any more."""
    rag = service()
    monkeypatch.setattr("ragcli.indexing.segment_run.ANALYZERS", "older/0")
    index(rag, tree)
    rag.add_document("kiwi alpha")
    monkeypatch.undo()
    expected = answers(rebuilt(tree, [("kiwi alpha", {})]))
    monkeypatch.setattr("ragcli.session.reader.ANALYZERS", "newer/1")
    assert "another version" in rag.query("alpha").notices[0]
    monkeypatch.undo()

    index(rag, tree)

    assert answers(rag) == expected


def test_an_upgrade_brings_nothing_back_that_changed_or_went_meanwhile(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rag = service()
    monkeypatch.setattr("ragcli.indexing.segment_run.ANALYZERS", "older/0")
    kept = "kiwi alpha"
    gone = rag.add_document("kiwi beta")
    rag.add_document(kept)
    index(rag, tree)
    monkeypatch.undo()
    (tree / "a.txt").write_text("alpha changed\n")
    (tree / "c.py").unlink()

    rag.remove_document(gone)
    assert [result.content for result in rag.search("kiwi")] == [kept]
    index(rag, tree)

    assert answers(rag) == answers(rebuilt(tree, [(kept, {})]))


def test_a_changed_file_counts_once_after_an_upgrade(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rag = service()
    monkeypatch.setattr("ragcli.indexing.segment_run.ANALYZERS", "older/0")
    index(rag, tree)
    monkeypatch.undo()
    (tree / "a.txt").write_text("alpha changed\n")
    (tree / "c.py").unlink()

    index(rag, tree)

    assert [info.file for info in rag.list_files()] == ["a.txt", "sub/b.md"]
    assert answers(rag) == answers(rebuilt(tree))


def test_a_failure_is_forgotten_with_its_file(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where no other file is looked at; a failure for want of memory is not in the stat cache."""
    rag = service()
    index(rag, tree)
    (tree / "z.txt").write_text("alpha\n")
    time.sleep(0.05)
    original = TreeReader.read

    def read(self: TreeReader, file: SourceFile, most: int) -> tuple[bytes, SourceFile]:
        if file.path == "z.txt":
            raise MemoryError
        return original(self, file, most)

    monkeypatch.setattr(TreeReader, "read", read)
    assert [failure.file for failure in index(rag, tree).failed] == ["z.txt"]
    (tree / "z.txt").unlink()

    index(rag, tree)

    assert rag.get_status().failed == []
    assert not index(rag, tree).committed


def test_a_session_that_does_not_exist_reads_as_an_empty_one_and_says_how_to_make_it() -> None:
    rag: RagService = service()

    assert rag.search("x") == rag.list_files() == rag.list_documents() == rag.list_failed() == rag.list_skipped() == []
    assert rag.build_context_prompt("why?") == "why?"
    status = rag.get_status()
    assert (status.files, status.chunks, status.documents, status.last_indexed, status.root) == (0, 0, 0, 0.0, "")
    assert rag.get_document("abc") is None and not rag.remove_document("abc")
    with pytest.raises(DocumentNotFoundError):
        rag.show("a.txt")
    with pytest.raises(SessionNotFoundError) as caught:
        rag.require()
    assert "ragcli index" in caught.value.hint
    rag.add_document("zqtext")
    rag.require()


def test_a_prompt_that_cannot_be_rendered_is_the_question_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rag = rebuilt(write(tmp_path, {"a.txt": "alpha beta\n"}))

    def fails(*_: object) -> str:
        raise RuntimeError("no rendering today")

    monkeypatch.setattr("ragcli.prompt.evidence_block", fails)
    assert rag.build_context_prompt("alpha <b>?") == "alpha <b>?"
    made = rag.context_prompt("alpha <b>?", max_tokens=100)
    assert (made.prompt, made.evidence) == ("alpha <b>?", [])
    assert any("could not be rendered (RuntimeError)" in notice for notice in made.notices)
    with pytest.raises(UsageError):
        rag.context_prompt("alpha <b>?", max_tokens=1)


def test_a_prompt_quotes_each_chunk_of_an_added_document_that_a_search_finds(tmp_path: Path) -> None:
    rag = service()
    text = "".join(
        f"# Part {n}\n\n" + f"zqkiwi number {n} " * 8 + "\n\n" + "amber basin cedar\n" * 150 for n in range(3)
    )
    added = rag.add_document(text)
    found = [result.content for result in rag.search("zqkiwi", 5) if "zqkiwi" in result.content]

    made = rag.context_prompt("zqkiwi", 5)

    assert len(found) == 3
    assert [result.content for result in made.evidence if "zqkiwi" in result.content] == found
    assert {result.id for result in made.evidence} == {added}


@pytest.mark.parametrize("metadata", [None, ["a"], {"a": None}, {"a": ["b"]}, {"a": {}}, {1: "b"}, {"a": b"b"}])
def test_metadata_that_cannot_be_stored_are_an_error_of_ours(metadata: object) -> None:
    with pytest.raises(UsageError, match="metadata"):
        service().add_document("zqtext", metadata)  # type: ignore[arg-type]


def test_a_manager_has_a_default_place_and_takes_paths_of_any_kind(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGCLI_DATA_DIR", str(tmp_path / "data"))
    manager = SessionManager()
    manager.rag_for_path(tree).index_directory(tree, options=IndexOptions(limits=STANDARD), workers=0)

    assert manager.root_for_directory(tree / "sub") == str(tree)
    assert SessionManager(tmp_path / "data").rag_for_directory(tree / "sub").search("delta")
    monkeypatch.delenv("RAGCLI_DATA_DIR")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert SessionManager().sessions() == []


def test_limits_filters_and_every_error_are_public() -> None:
    for name in ("STANDARD", "STRICT", "SearchFilter", "FailureCode"):
        assert name in ragcli.__all__
    own = {
        kind.__name__ for kind in vars(ragcli.errors).values() if isinstance(kind, type) and issubclass(kind, Exception)
    }
    assert own <= set(ragcli.__all__)
    for name in ("FileIndexer", "FileIngestionService", "CodeChunker", "ContentExtractorRegistry"):
        assert name not in ragcli.__all__, "it needs what no program has at hand"
