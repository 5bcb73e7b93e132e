"""Damaged files of an index: the right answer or exit 5 with a way out; an index run puts right what it can."""

import contextlib
import io
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.errors import IndexCorruptError, IndexVersionError, RagError
from ragcli.session.service import RagService
from ragcli.store.directory import RamDirectory
from tests.engine import answers, index, rebuilt, service, write
from tests.exports import forged, members_of, payload_of

QUERIES = ("alpha gamma", "added kiwi")
ADDED = ("added kiwi one", "added kiwi two\r\nwith a second line")
Files = dict[str, bytes]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(
        tmp_path_factory.mktemp("damage") / "tree",
        {"a.txt": "alpha beta\n", "b.md": "# Gamma\n\nalpha delta\n", "c.py": "def gamma():\n    return 1\n"},
    )


@pytest.fixture(scope="module")
def sound(tree: Path) -> Files:
    """The files of a session: two segments, added documents, and what a killed run flushed."""
    directory = RamDirectory()
    rag = service(directory)
    index(rag, tree)
    for number, text in enumerate(ADDED):
        rag.add_document(text, {"topic": "fruit", "number": number})
    return directory.files


@pytest.fixture(scope="module")
def right(sound: Files) -> list[object]:
    return everything(service(RamDirectory(dict(sound))))


def everything(rag: RagService) -> list[object]:
    """All that a reader can be asked for, but what only the stat cache knows."""
    status = rag.get_status()._replace(bytes=0, last_indexed=0.0)
    return [answers(rag, QUERIES), status, rag.list_files(), rag.list_documents(), rag.show("b.md")]


def flips(size: int, step: int = 1) -> Iterator[tuple[int, int]]:
    """One bit of each byte, another one of the next byte."""
    for position in range(0, size, step):
        yield position, 1 << (position % 8)


def damaged(files: Files, step: int = 1) -> Iterator[tuple[str, str, Files]]:
    """Each file with each of its bytes flipped, cut at each length, longer by a byte, and gone."""
    for name, data in sorted(files.items()):
        for position, mask in flips(len(data), step):
            raw = bytearray(data)
            raw[position] ^= mask
            yield name, f"byte {position} flipped", {**files, name: bytes(raw)}
        for length in range(0, len(data), step):
            yield name, f"cut to {length}", {**files, name: data[:length]}
        yield name, "longer", {**files, name: data + b"\0"}
        yield name, "gone", {other: content for other, content in files.items() if other != name}


def check_reading(name: str, how: str, files: Files, right: list[object]) -> None:
    """Every door gives the right answer, or exit 5 with a hint; also where CURRENT itself is gone."""
    before = dict(files)
    doors = (
        lambda rag: answers(rag, QUERIES),
        lambda rag: rag.get_status()._replace(bytes=0, last_indexed=0.0),
        RagService.list_files,
        RagService.list_documents,
        lambda rag: rag.show("b.md"),
    )
    for number, door in enumerate(doors):
        rag = service(RamDirectory(files))
        try:
            assert door(rag) == right[number], (name, how)  # type: ignore[operator]
        except IndexCorruptError as error:
            assert error.exit_code == 5
            assert name in error.message, (name, how, error.message)
            assert "ragcli" in error.hint
            assert "\n" not in error.message
    assert files == before, "reading changes nothing"


def check_repair(name: str, how: str, files: Files, right: list[object], tree: Path) -> None:
    """One index run, and everything is as it was, added documents too."""
    directory = RamDirectory(files)
    report = index(service(directory), tree)
    assert everything(service(directory)) == right, (name, how)
    if not name.endswith(".stat") and (name, how) != ("lock", "gone"):
        assert any(name in notice or "byte" in notice for notice in report.notices) or not report.committed, (name, how)
    assert not index(service(directory), tree).committed


def test_any_byte_flipped_and_any_length_cut_gives_the_right_answer_or_exit_5(
    sound: Files, right: list[object]
) -> None:
    """Of segments every third length; a cut file is noticed when it is opened."""
    counted = 0
    for name, how, files in damaged(sound):
        if name.endswith(".stat") or (name.endswith(".segment") and how.startswith("cut") and int(how[7:]) % 3):
            continue
        check_reading(name, how, files, right)
        counted += 1
    assert counted > 5000


def named_in_current(files: Files) -> Files:
    """Without what only the previous generation needs, which no reader of the current one opens."""
    directory = RamDirectory(dict(files))
    rag = service(directory)
    manifest = rag.reader().manifest()  # the one door to the names of files
    assert manifest is not None
    kept = {"CURRENT", manifest.documents, f"{manifest.number}.manifest", f"{manifest.number}.stat"}
    kept |= {info.name for info in manifest.segments}
    return {name: data for name, data in files.items() if name in kept}


def test_an_index_run_puts_any_damage_right_and_added_documents_survive(
    sound: Files, right: list[object], tree: Path
) -> None:
    for name, how, files in damaged(named_in_current(sound), step=29):
        check_repair(name, how, files, right, tree)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_an_index_run_puts_damage_to_each_byte_right(sound: Files, right: list[object], tree: Path) -> None:
    for name, how, files in damaged(named_in_current(sound)):
        check_repair(name, how, files, right, tree)


def test_rebuild_puts_right_what_an_index_run_would_not_look_at(sound: Files, right: list[object], tree: Path) -> None:
    for _, _, files in damaged(named_in_current(sound), step=97):
        directory = RamDirectory(files)
        index(service(directory), tree, rebuild=True)
        assert everything(service(directory)) == right


def test_documents_and_segments_damaged_together_are_not_overwritten(sound: Files, tree: Path) -> None:
    """What cannot be proved whole is left as it is, for a copy to be put back; only clear drops it."""
    files = dict(sound)
    for name in files:
        if name.endswith((".documents", ".segment")):
            files[name] = files[name][:-1] + bytes([files[name][-1] ^ 1])
    directory = RamDirectory(files)

    for rebuild in (False, True):
        with pytest.raises(IndexCorruptError, match="documents is damaged") as caught:
            index(service(directory), tree, rebuild=rebuild)
        assert "ragcli clear" in caught.value.hint
    with pytest.raises(IndexCorruptError):
        service(directory).add_document("one more")
    (kept,) = [name for name in named_in_current(sound) if name.endswith(".documents")]
    assert directory.files[kept] == files[kept]

    directory.files[kept] = sound[kept]
    index(service(directory), tree)
    assert {info.content_length for info in service(directory).list_documents()} == {14, 33}


def test_clear_is_the_way_out_of_any_damage(sound: Files, tree: Path) -> None:
    for name in sorted(sound):
        directory = RamDirectory({**{name: b"\xff" * len(data) for name, data in sound.items()}, name: b""})
        service(directory).clear()
        assert service(directory).list_documents() == []
        index(service(directory), tree)
        assert answers(service(directory), QUERIES) == answers(rebuilt(tree), QUERIES)


def test_adding_to_a_damaged_index_loses_no_document(sound: Files, tree: Path) -> None:
    """It is done, or refused as a whole."""
    for name, how, files in damaged(named_in_current(sound), step=61):
        directory = RamDirectory(files)
        rag = service(directory)
        texts = set(ADDED)
        try:
            rag.add_document("added kiwi three")
            texts.add("added kiwi three")
        except IndexCorruptError as error:
            assert name in error.message
        index(service(directory), tree)
        found = {service(directory).get_document(info.id).text for info in service(directory).list_documents()}  # type: ignore[union-attr]
        assert found == {text.replace("\r\n", "\n") for text in texts}, (name, how)


def with_version(name: str, data: bytes, version: int) -> bytes:
    """The same file as another version would have written it."""
    if name.endswith(".segment"):
        trailer = bytearray(data[-28:-4])
        struct.pack_into("<H", trailer, 8, version)
        return data[:-28] + bytes(trailer) + struct.pack("<I", zlib.crc32(trailer))
    kind, minor, payload = data[:8], 0, data[16:]
    crc = zlib.crc32(payload, zlib.crc32(f"{version}.{minor} {name}".encode()))
    return struct.pack("<8sHHI", kind, version, minor, crc) + payload


@pytest.mark.parametrize("version", [0, 2, 65535])
def test_another_major_version_is_named_and_its_files_are_left_alone(sound: Files, tree: Path, version: int) -> None:
    files = named_in_current(sound)
    for name in files:
        if name.endswith(".stat"):
            continue
        directory = RamDirectory({**files, name: with_version(name, files[name], version)})
        before = dict(directory.files)
        doors = [lambda rag: index(rag, tree), lambda rag: rag.add_document("one more")]
        doors.append(RagService.list_documents if name.endswith(".documents") else lambda rag: rag.search("alpha"))
        for door in doors:
            with pytest.raises(IndexVersionError, match=f"format {version}, this ragcli reads format 1") as caught:
                door(service(directory))
            assert caught.value.exit_code == 5
            assert name in caught.value.message
        assert directory.files == before
        if name.endswith(".documents"):
            assert "--rebuild" not in caught.value.hint
        else:
            index(service(directory), tree, rebuild=True)
            assert len(service(directory).list_documents()) == len(ADDED)
            assert answers(service(directory), QUERIES)


def test_a_newer_minor_version_with_more_in_it_is_read(sound: Files, right: list[object]) -> None:
    name = next(name for name in sound if name.endswith(".manifest") and name.startswith("3"))
    data = sound[name]
    crc = zlib.crc32(data[16:], zlib.crc32(f"1.7 {name}".encode()))
    newer = struct.pack("<8sHHI", data[:8], 1, 7, crc) + data[16:]

    assert everything(service(RamDirectory({**sound, name: newer}))) == right


def exported(rag: RagService) -> dict[str, bytes]:
    """The members of an exported session."""
    target = io.BytesIO()
    rag.export(target)
    return members_of(target.getvalue())


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_an_import_that_makes_no_sense_under_sound_checksums_is_refused_or_harmless(
    sound: Files, tree: Path, data: st.DataObject
) -> None:
    """A session file comes from somebody else; whatever it holds, no door ends in anything but an answer of ours."""
    members = exported(service(RamDirectory(dict(sound))))
    name = data.draw(st.sampled_from(sorted(name for name in members if name.endswith(".segment"))))
    payload = bytearray(payload_of(members[name]))
    for _ in range(data.draw(st.integers(1, 3))):
        payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    directory = RamDirectory()
    try:
        service(directory).import_(forged(members, name, bytes(payload)))
    except RagError as error:
        assert "\n" not in error.message
        return
    for door in (
        lambda rag: answers(rag, QUERIES), RagService.list_files, lambda rag: rag.show("b.md"), RagService.get_status,
        lambda rag: rag.add_document("one more"), lambda rag: index(rag, tree, rebuild=True),
    ):  # fmt: skip
        with contextlib.suppress(RagError):
            door(service(RamDirectory(dict(directory.files))))


def test_a_forged_import_of_sound_parts_is_taken(sound: Files, right: list[object]) -> None:
    """Else the test above would meet refusals of its own making."""
    members = exported(service(RamDirectory(dict(sound))))
    for name in members:
        if name.endswith(".segment"):
            directory = RamDirectory()
            service(directory).import_(forged(members, name, payload_of(members[name])))
            assert everything(service(directory))[0] == right[0]
