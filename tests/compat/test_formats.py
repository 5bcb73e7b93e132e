"""Every format version ever written is read: sessions as they were stored, and what each must answer."""

import json
from pathlib import Path
from typing import Any

import pytest

from ragcli.store.codec import FORMAT_MAJOR, FORMAT_MINOR
from ragcli.store.directory import RamDirectory
from tests.compat.make import FOLDER, TREE, answers
from tests.engine import answers as ranked
from tests.engine import index, rebuilt, service, write

VERSIONS = sorted(path.name for path in FOLDER.iterdir() if (path / "answers.json").exists())


def session(version: str) -> RamDirectory:
    """The files of a stored session."""
    return RamDirectory({path.name: path.read_bytes() for path in (FOLDER / version / "session").iterdir()})


def expected(version: str) -> dict[str, Any]:
    return json.loads((FOLDER / version / "answers.json").read_text())  # type: ignore[no-any-return]


def test_the_version_that_is_written_today_is_among_those_kept() -> None:
    assert f"{FORMAT_MAJOR}.{FORMAT_MINOR}" in VERSIONS, "run: python -m tests.compat.make VERSION"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_stored_session_answers_as_on_the_day_it_was_written(version: str) -> None:
    directory = session(version)
    before = dict(directory.files)

    assert answers(service(directory)) == expected(version)
    assert directory.files == before


@pytest.mark.parametrize("version", VERSIONS)
def test_a_stored_export_is_imported_and_answers_the_same(version: str) -> None:
    directory = RamDirectory()
    with open(FOLDER / version / "session.tar", "rb") as file:
        service(directory).import_(file)

    assert answers(service(directory)) == expected(version)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_keys_of_all_kinds_of_metadata_are_among_what_is_stored(version: str) -> None:
    """Keys are stored as numbers: one that the session lacks could change its number unnoticed."""
    keys = {key for stored in expected(version)["stored"] for chunk in stored["chunks"] for key in chunk}

    assert keys >= {
        "symbol", "qualified_symbol", "kind", "signature", "symbol_start_line", "symbol_end_line", "language",
        "heading", "page", "sheet", "cells", "slide", "chapter", "pointer", "cell", "element", "header", "parser",
        "fallback", "fallback_reason", "title", "encoding",
    }  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_written_next_keeps_what_an_older_version_stored(version: str, tmp_path: Path) -> None:
    """Adding, removing and indexing on top of it give what a session of today would hold."""
    directory = session(version)
    rag = service(directory)
    before = {info.id for info in rag.list_documents()}
    new = rag.add_document("added kiwi three")
    assert {info.id for info in rag.list_documents()} == {*before, new}
    assert rag.remove_document(new)
    assert answers(service(directory))["documents"] == expected(version)["documents"]

    tree = write(tmp_path / "tree", {name: raw for name, raw in TREE.items() if name != "gone.txt"})
    index(service(directory), tree, rebuild=False)

    documents = [(document.text, dict(document.metadata)) for document in map(rag.get_document, before) if document]
    assert ranked(service(directory)) == ranked(rebuilt(tree, documents))  # type: ignore[arg-type]
