"""Export and import: the same answers elsewhere, and nothing let in that a generation does not name."""

import contextlib
import io
import tarfile
from pathlib import Path

import pytest

from ragcli.errors import IndexCorruptError, RagError, SessionNotFoundError, UsageError
from ragcli.store.directory import RamDirectory
from tests.engine import answers, index, service, write
from tests.exports import components_of, forged, members_of, payload_of


@pytest.fixture
def exported(tmp_path: Path) -> tuple[RamDirectory, bytes]:
    directory = RamDirectory()
    rag = service(directory)
    index(rag, write(tmp_path / "tree", {"a.txt": "alpha beta\n", "b.md": "# Notes\n\nalpha delta\n"}))
    rag.add_document("added kiwi", {"topic": "fruit"})
    target = io.BytesIO()
    rag.export(target)
    return directory, target.getvalue()


def test_an_imported_session_answers_as_the_exported_one(exported: tuple[RamDirectory, bytes]) -> None:
    directory, data = exported
    other = service()
    other.import_(io.BytesIO(data))

    assert answers(other) == answers(service(directory))
    assert other.list_documents() == service(directory).list_documents()


def test_the_same_generation_is_exported_as_the_same_bytes(exported: tuple[RamDirectory, bytes]) -> None:
    directory, data = exported
    again = io.BytesIO()
    service(directory).export(again)

    assert again.getvalue() == data


def test_any_damaged_byte_is_refused_and_the_session_stays(exported: tuple[RamDirectory, bytes]) -> None:
    directory, data = exported
    before = answers(service(directory))
    for position in range(0, len(data), 61):
        damaged = bytearray(data)
        damaged[position] ^= 0x20
        copy = RamDirectory(dict(directory.files))
        with contextlib.suppress(RagError):
            service(copy).import_(io.BytesIO(bytes(damaged)))
        assert answers(service(copy)) == before, f"byte {position}"


def test_a_file_cut_short_anywhere_is_refused(exported: tuple[RamDirectory, bytes]) -> None:
    _, data = exported
    whole = len(data.rstrip(b"\0"))
    for length in range(0, whole, 97):
        with pytest.raises(RagError):
            service().import_(io.BytesIO(data[:length]))


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "lock", "9.manifest", "0" * 32 + ".segment"])
def test_a_member_that_no_manifest_names_is_refused(exported: tuple[RamDirectory, bytes], name: str) -> None:
    _, data = exported
    changed = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(data)) as old, tarfile.open(fileobj=changed, mode="w") as new:
        for member in old:
            new.addfile(member, old.extractfile(member))
        evil = tarfile.TarInfo(name)
        evil.size = 4
        new.addfile(evil, io.BytesIO(b"evil"))
    directory = RamDirectory()

    with pytest.raises(UsageError, match="which nothing names"):
        service(directory).import_(io.BytesIO(changed.getvalue()))

    assert not any("evil" in stored for stored in directory.files)
    with pytest.raises(SessionNotFoundError):
        service(directory).require()


def test_a_segment_under_the_name_of_another_is_refused(exported: tuple[RamDirectory, bytes]) -> None:
    _, data = exported
    changed = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(data)) as old, tarfile.open(fileobj=changed, mode="w") as new:
        members = [(member, old.extractfile(member).read()) for member in old]  # type: ignore[union-attr]
        segments = [content for member, content in members if member.name.endswith(".segment")]
        assert len(segments) == 2
        for member, content in members:
            if member.name.endswith(".segment"):
                content = segments[0] if content == segments[1] else segments[1]
                member.size = len(content)
            new.addfile(member, io.BytesIO(content))

    with pytest.raises(IndexCorruptError, match=r"damaged in the file|another size"):
        service().import_(io.BytesIO(changed.getvalue()))


def test_an_import_of_nothing_or_of_another_file_says_what_it_wants() -> None:
    for data in (b"", b"not a tar at all" * 100):
        with pytest.raises(UsageError) as caught:
            service().import_(io.BytesIO(data))
        assert "ragcli export" in caught.value.hint


@pytest.mark.parametrize(
    ("component", "at", "made"),
    [
        ("english_lengths", 0, b"\x07"),
        ("code_lengths", 0, b"\x07"),
        ("norms", 0, b"\0\0\0\0\0\0\xf0\x7f"),
        ("document_chunks", 4, b"\0\0\0\0"),
        ("chunk_documents", 0, b"\x09"),
        ("postings", 0, b"\0\0\0\0"),
        ("postings", 0, b"\x01\xe0\xff\xff"),
    ],
)
def test_a_segment_whose_parts_do_not_fit_each_other_is_not_let_in(
    exported: tuple[RamDirectory, bytes], component: str, at: int, made: bytes
) -> None:
    """Its checksums are right: they tell that somebody wrote these bytes, not that they make sense."""
    members = members_of(exported[1])
    name = max((name for name in members if name.endswith(".segment")), key=lambda name: len(members[name]))
    payload = payload_of(members[name])
    offset, size = components_of(payload)[component]
    assert at + len(made) <= size and payload[offset + at : offset + at + len(made)] != made
    changed = payload[: offset + at] + made + payload[offset + at + len(made) :]
    directory = RamDirectory()

    with pytest.raises(IndexCorruptError, match="parts do not fit each other"):
        service(directory).import_(forged(members, name, changed))

    with pytest.raises(SessionNotFoundError):
        service(directory).require()
    assert not [name for name in directory.files if name.endswith(".segment")]
