"""A session manager over another engine than the data directory's: the service asks its store alone."""

from pathlib import Path
from typing import Any

import pytest

from ragcli.config.options import STANDARD, IndexOptions
from ragcli.errors import UsageError
from ragcli.session.embedded import EmbeddedStore
from ragcli.session.locator import SessionPlace, Sessions
from ragcli.session.manager import SessionManager
from ragcli.session.store import SessionStore
from ragcli.store.directory import Directory, RamDirectory


class Elsewhere:
    """An engine that keeps sessions in memory, and whose stores are of a class of their own."""

    def __init__(self) -> None:
        self.opened: dict[str, RamDirectory] = {}

    def __call__(self, directory: Directory, place: SessionPlace, sessions: Sessions | None) -> SessionStore:
        memory = self.opened.setdefault(place.id, RamDirectory())
        store: Any = Forwarding(EmbeddedStore(memory, place, sessions))
        return store  # type: ignore[no-any-return]


class Forwarding:
    """A store that answers as another does."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        if name not in vars(SessionStore):
            raise AttributeError(name)  # what is not of the protocol is not to be asked
        return getattr(self._store, name)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "a.txt").write_text("alpha beta\n")
    return root


def test_a_session_lives_where_its_engine_keeps_it(tree: Path, tmp_path: Path) -> None:
    engine = Elsewhere()
    rag = SessionManager(tmp_path / "data", engine).get_rag("far")

    rag.index_directory(tree, options=IndexOptions(limits=STANDARD), workers=0)
    added = rag.add_document("alpha kiwi")

    assert {result.file or result.id for result in rag.search("alpha")} == {"a.txt", added}
    assert (rag.get_status().files, rag.get_status().documents, rag.stored_root()) == (1, 1, str(tree))
    assert [info.file for info in rag.list_files()] == ["a.txt"]
    assert rag.show("a.txt").text == "alpha beta\n"
    assert "alpha kiwi" in rag.build_context_prompt("kiwi")
    assert rag.remove_document(added)
    rag.clear()
    assert rag.search("alpha") == []
    assert list(engine.opened) == ["far"]
    assert not (tmp_path / "data").exists()


def test_sessions_of_another_engine_are_not_searched_together_here(tmp_path: Path) -> None:
    manager = SessionManager(tmp_path / "data", Elsewhere())
    with pytest.raises(UsageError, match="cannot be searched together"):
        manager.union(["one", "two"])
