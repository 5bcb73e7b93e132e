"""Session files that somebody else made: whatever they claim, they are refused in a line or hold what they claim."""

import io
import itertools
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragcli.config.options import STANDARD, IndexOptions
from ragcli.errors import IndexCorruptError, RagError, SessionNotFoundError, UsageError
from ragcli.session.manager import SessionManager
from ragcli.store.codec import decode, encode
from ragcli.store.directory import RamDirectory
from ragcli.store.document_file import DOCUMENTS_KIND
from ragcli.store.snapshots import MANIFEST_KIND
from tests.bounded import MIB, bounded
from tests.engine import answers, index, service, write
from tests.exports import members_of, tarred

WRONG: tuple[Any, ...] = (None, True, -1, 2**63, 1.5, float("nan"), "x", "", b"x", [], [1], {}, {"a": 1}, [[]], [None])


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    rag = service()
    tree = write(
        tmp_path_factory.mktemp("import") / "tree",
        {"a.txt": "alpha beta\n", "b.md": "# Notes\n\nalpha\n", "c.pdf": b"%PDF-1.4 broken"},
    )
    index(rag, tree, IndexOptions(exclude=("nothing/**",), limits=STANDARD))
    rag.add_document("added kiwi", {"topic": "fruit"})
    (tree / "a.txt").unlink()
    index(rag, tree, IndexOptions(exclude=("nothing/**",), limits=STANDARD))
    target = io.BytesIO()
    rag.export(target)
    return members_of(target.getvalue())


def manifest_of(members: dict[str, bytes]) -> dict[str, Any]:
    return decode(MANIFEST_KIND, "manifest", members["manifest"])  # type: ignore[no-any-return]


def with_manifest(members: dict[str, bytes], manifest: Any) -> io.BytesIO:
    return tarred({**members, "manifest": encode(MANIFEST_KIND, "manifest", manifest)})


def refused(data: io.BytesIO, error: type[RagError] = RagError) -> RagError:
    """Import into a session that has something; it is refused in one line and that stays."""
    directory = RamDirectory()
    rag = service(directory)
    rag.add_document("kept as it was")
    with pytest.raises(error) as caught:
        rag.import_(data)
    assert "\n" not in caught.value.message
    assert [result.content for result in service(directory).search("kept")] == ["kept as it was"]
    assert len([name for name in directory.files if name.endswith(".segment")]) == 1
    return caught.value


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a value that holds something."""
    keys: Any = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield (*above, key)
        yield from places(value[key], (*above, key))


def changed(value: Any, place: tuple[Any, ...], made: Any) -> Any:
    """A copy with another value at a place."""
    if not place:
        return made
    copy = list(value) if isinstance(value, list) else dict(value)
    copy[place[0]] = changed(value[place[0]], place[1:], made)
    return copy


def test_a_manifest_with_a_value_of_another_type_anywhere_is_refused(members: dict[str, bytes]) -> None:
    """Or is right in it: names, and what is not taken over, may be any text, list of patterns or number."""
    sound = manifest_of(members)
    taken = []
    for place, made in itertools.product(places(sound), WRONG):
        before: Any = sound
        for step in place:
            before = before[step]
        if type(before) is type(made):
            continue
        if {type(before), type(made)} == {int, float} and made == made:
            continue
        directory = RamDirectory()
        try:
            service(directory).import_(with_manifest(members, changed(sound, place, made)))
        except (UsageError, IndexCorruptError) as error:
            assert "\n" not in error.message, (place, made)
            continue
        taken.append((place, made))
    assert taken == []


def test_a_manifest_with_anything_missing_is_refused_or_of_an_older_version(members: dict[str, bytes]) -> None:
    sound = manifest_of(members)
    for place in places(sound):
        above = sound
        for step in place[:-1]:
            above = above[step]
        if isinstance(above, dict):
            less = {key: value for key, value in above.items() if key != place[-1]}
            data = with_manifest(members, changed(sound, place[:-1], less))
            if (
                place == ("documents",)
                or place[-1] == "check"
                or place == ("options", "allow_secrets")
                or (place[:2] == ("options", "limits") and len(place) == 3)
            ):
                service().import_(data)
            else:
                refused(data)


@pytest.mark.parametrize("made", WRONG, ids=repr)
def test_a_manifest_that_is_none_at_all_is_refused(members: dict[str, bytes], made: Any) -> None:
    refused(with_manifest(members, made), IndexCorruptError)


def test_counts_that_segments_do_not_bear_out_are_refused(members: dict[str, bytes]) -> None:
    sound = manifest_of(members)
    for place in places(sound):
        value: Any = sound
        for step in place:
            value = value[step]
        if place[0] in ("corpus", "segments") and type(value) is int and place[-1] not in ("size",):
            refused(with_manifest(members, changed(sound, place, value + 1)), IndexCorruptError)


def test_a_segment_listed_twice_is_refused(members: dict[str, bytes]) -> None:
    sound = manifest_of(members)

    refused(with_manifest(members, {**sound, "segments": [*sound["segments"], sound["segments"][0]]}))


def test_a_document_that_two_segments_hold_is_refused(tmp_path: Path) -> None:
    """The second segment is the same tree's, in other bytes."""
    tree = write(tmp_path / "tree", {"a.txt": "alpha beta\n"})
    exports = []
    for text in ("alpha beta\n", "alpha beta gamma\n"):
        (tree / "a.txt").write_text(text)
        rag, target = service(), io.BytesIO()
        index(rag, tree)
        rag.export(target)
        exports.append(members_of(target.getvalue()))
    one, other = map(manifest_of, exports)
    both = {**one, "segments": [*one["segments"], *other["segments"]]}
    both["corpus"] = {**one["corpus"], "files": 2, "chunks": 2}

    refused(with_manifest({**exports[0], **exports[1], "manifest": b""}, both), IndexCorruptError)


def test_added_documents_that_are_missing_or_others_than_the_indexed_ones_are_refused(
    members: dict[str, bytes],
) -> None:
    rows = decode(DOCUMENTS_KIND, "documents", members["documents"])
    (id_, text, metadata) = rows[0]
    forged = {
        "missing": None, "none": [], "another text": [[id_, text + "!", metadata]], "another id": [["0", text, {}]],
        "twice": [*rows, *rows], "no list": {"a": 1}, "no row": [1], "short": [[id_, text]], "no text": [[id_, 1, {}]],
        "metadata": [[id_, text, {"a": []}]], "keys": [[id_, text, {1: "a"}]], "lists for metadata": [[id_, text, []]],
    }  # fmt: skip
    for name, made in forged.items():
        parts = {key: raw for key, raw in members.items() if key != "documents"}
        if made is not None:
            parts = {"manifest": parts.pop("manifest"), "documents": encode(DOCUMENTS_KIND, "documents", made), **parts}
        error = refused(tarred(parts), IndexCorruptError)
        assert "document" in error.message, name


def test_neither_the_root_nor_the_options_of_another_machine_are_taken_over(
    members: dict[str, bytes], tmp_path: Path
) -> None:
    """Else the next bare `index` would read what the file's maker chose, under limits of that maker's."""
    sound = manifest_of(members)
    evil = {**sound, "root": "/etc", "root_key": [1, 1], "only": "passwd"}
    evil["options"] = {**sound["options"], "ignore_files": False, "default_skips": False, "exclude": []}
    evil["options"]["limits"] = {**sound["options"]["limits"], "max_files": 2**40, "extraction_memory": 2**50}
    rag = SessionManager(tmp_path / "data").get_rag("theirs")
    rag.import_(with_manifest(members, evil))

    assert (rag.stored_root(), rag.stored_options(), rag.get_status().root) == ("", None, "")
    done = bounded("-s", "theirs", "index", data=tmp_path / "data", cwd=tmp_path)
    assert done.code == 2
    assert "index -s theirs PATH" in done.err
    found = bounded("-s", "theirs", "search", "alpha", data=tmp_path / "data", cwd=tmp_path)
    assert found.code == 0
    tree = write(tmp_path / "tree", {"b.md": "# Notes\n\nalpha\n"})
    report = index(rag, tree, IndexOptions(exclude=("nothing/**",), limits=STANDARD))
    assert report.files.kept == 1
    assert rag.stored_root() == str(tmp_path / "tree")


def tar_header(name: str, size: int, kind: bytes) -> bytearray:
    member = tarfile.TarInfo(name)
    member.size, member.type = size, kind
    return bytearray(member.tobuf(tarfile.GNU_FORMAT))


def summed(header: bytearray) -> bytes:
    """The header with its checksum."""
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header)


def sparse(real_size: int) -> bytes:
    """A GNU sparse member `manifest` of a few bytes that says it unfolds to gigabytes."""
    header = tar_header("manifest", 512, tarfile.GNUTYPE_SPARSE)
    header[386:398], header[398:410] = b"%011o\0" % 0, b"%011o\0" % 512
    header[410:422], header[422:434] = b"%011o\0" % (real_size - 1), b"%011o\0" % 0
    header[483:495] = b"%011o\0" % real_size
    return summed(header) + b"x" * 512 + bytes(9 * 1024)


def extended(kind: bytes) -> bytes:
    """An extended header or long name that says it is a gigabyte."""
    return summed(tar_header("manifest", 1 << 30, kind)) + bytes(4096)


def pax_sparse() -> bytes:
    made = io.BytesIO()
    member = tarfile.TarInfo("manifest")
    member.pax_headers = {"GNU.sparse.map": "0,0", "GNU.sparse.size": str(2**32), "GNU.sparse.realsize": str(2**32)}
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as tar:
        tar.addfile(member)
    return made.getvalue()


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("sparse", sparse(2**32 - 1)),
        ("pax sparse", pax_sparse()),
        ("long name", extended(tarfile.GNUTYPE_LONGNAME)),
        ("pax header", extended(tarfile.XHDTYPE)),
        ("global header", extended(tarfile.XGLTYPE)),
        ("manifest of gigabytes", summed(tar_header("manifest", 2**33 - 1, tarfile.REGTYPE))),
        ("negative", bytes(tar_header("manifest", 0, tarfile.REGTYPE)).replace(b"0" * 11 + b"\0", b"\xff" * 12, 1)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_small_tar_that_says_it_is_large_takes_no_memory(tmp_path: Path, name: str, raw: bytes) -> None:
    (tmp_path / "evil.tar").write_bytes(raw)

    done = bounded("-s", "s", "import", "evil.tar", data=tmp_path / "data", cwd=tmp_path, memory=384 * MIB)

    assert done.code == 2, done
    assert "cannot be imported" in done.err


@pytest.mark.parametrize("unit", [b"\x80", b"\x90", b"\xc0", b"\xa2ab"], ids=["maps", "lists", "nils", "texts"])
def test_a_manifest_of_many_small_things_takes_bounded_memory(tmp_path: Path, unit: bytes) -> None:
    """A byte of msgpack can become seventy of memory."""
    count = (8 * MIB - 100) // len(unit)
    payload = b"\xdd" + count.to_bytes(4, "big") + unit * count
    head = encode(MANIFEST_KIND, "manifest", 0)[:12]
    import zlib

    crc = zlib.crc32(payload, zlib.crc32(f"1.{head[10]} manifest".encode()))
    tar = tarred({"manifest": head + crc.to_bytes(4, "little") + payload})
    (tmp_path / "evil.tar").write_bytes(tar.getvalue())

    done = bounded("-s", "s", "import", "evil.tar", data=tmp_path / "data", cwd=tmp_path, memory=640 * MIB)

    assert done.code == 5, done


def test_the_file_these_attacks_start_from_is_taken(members: dict[str, bytes]) -> None:
    rag = service()
    rag.import_(tarred(members))

    assert rag.list_files()[0].file == "b.md"
    assert answers(rag)
    with pytest.raises(SessionNotFoundError):
        service().require()
