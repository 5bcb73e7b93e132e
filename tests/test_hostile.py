"""Hostile input is normal input: every cap, bombs, secrets, names that want out, and a store inside its own tree."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ragcli.config.options import MIB, PROFILES, STANDARD, STRICT, IndexOptions, Limits
from ragcli.documents import SkipReason
from ragcli.errors import RagError, SourceRejectedError, UsageError
from ragcli.ingest.ingestion_service import FileIngestionService
from ragcli.model import Failure
from ragcli.session.manager import SessionManager
from tests.engine import answers, index, service, write
from tests.office_files import docx, package, paragraph
from tests.pdf_files import pdf, shown

REPOSITORY = Path(__file__).resolve().parent.parent

# -- caps that reject the whole source


def flat(count: int) -> dict[str, str]:
    return {f"f{n}.txt": "alpha\n" for n in range(count)}


def entries(count: int) -> dict[str, str]:
    """Entries that are skipped count too."""
    return {f"node_modules{n}/x.txt" if n == 0 else f".env.{n}": "alpha\n" for n in range(count - 1)}


def deep(levels: int) -> dict[str, str]:
    """The root is level 0, a file in it level 1."""
    return {"/".join(["d"] * (levels - 1) + ["f.txt"]): "alpha\n"}


def text(size: int) -> dict[str, str]:
    return {"a.txt": "a" * (size // 2), "b.txt": "b" * (size - size // 2)}


def ignore_bytes(size: int) -> dict[str, str]:
    return {".gitignore": "#" * (size - 1) + "\n", "a.txt": "alpha\n"}


def ignore_rules(count: int) -> dict[str, str]:
    return {".gitignore": "".join(f"x{n}\n" for n in range(count)), "a.txt": "alpha\n"}


SOURCE_CAPS: dict[str, tuple[Callable[[int], dict[str, str]], int]] = {
    "max_files": (flat, 7),
    "max_entries": (entries, 9),
    "max_depth": (deep, 5),
    "max_total_text": (text, 3000),
    "max_ignore_bytes": (ignore_bytes, 500),
    "max_ignore_rules": (ignore_rules, 12),
}


def check_source_cap(folder: Path, name: str, cap: int) -> None:
    limits = STANDARD._replace(**{name: cap})
    build = SOURCE_CAPS[name][0]
    rag = service()
    index(rag, write(folder / "at", build(cap)), IndexOptions(limits=limits))
    before = answers(rag, ("alpha",))
    over = write(folder / "over", build(cap + 1))
    with pytest.raises(SourceRejectedError) as caught:
        index(rag, over, IndexOptions(limits=limits), rebuild=True)
    said = f"{caught.value.message} {caught.value.hint}"
    assert name in said.replace("-", "_")
    assert str(cap) in said.replace(",", "")
    assert ("--no-ignore" if "ignore" in name else "--" + name.replace("_", "-")) in said
    assert answers(rag, ("alpha",)) == before


@pytest.mark.parametrize("name", SOURCE_CAPS)
def test_a_source_at_a_cap_is_indexed_and_one_over_is_rejected(tmp_path: Path, name: str) -> None:
    """The message names the cap and its flag; the previous index stays."""
    check_source_cap(tmp_path, name, SOURCE_CAPS[name][1])


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", ["max_depth", "max_ignore_bytes", "max_ignore_rules"])
def test_the_caps_of_both_profiles_hold_at_their_full_size(tmp_path: Path, name: str, profile: str) -> None:
    check_source_cap(tmp_path, name, getattr(PROFILES[profile], name))


def test_the_strict_caps_on_files_and_entries_hold_at_their_full_size(tmp_path: Path) -> None:
    walker = FileIngestionService(STRICT)
    tree = write(tmp_path, flat(4_096))
    assert len(walker.discover(str(tree)).files) == 4_096
    (tree / "one_more.txt").write_text("x")
    with pytest.raises(SourceRejectedError, match="max_files"):
        walker.discover(str(tree))
    (tree / "one_more.txt").unlink()
    write(tree, {f".env.{n}": "" for n in range(4_096)})
    assert len(walker.discover(str(tree)).files) == 4_096
    (tree / ".env.more").write_text("")
    with pytest.raises(SourceRejectedError, match="max_entries"):
        walker.discover(str(tree))


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", ["max_files", "max_entries", "max_total_text"])
def test_the_strict_caps_on_a_source_hold_at_their_full_size_through_the_index(tmp_path: Path, name: str) -> None:
    if name == "max_total_text":
        limits = STRICT._replace(max_chunks=65_536)
        rag = service()
        parts = {f"t{n}.txt": "word and more\n" * (16 * MIB // 14) for n in range(4)}
        room = STRICT.max_total_text - sum(map(len, parts.values()))
        tree = write(tmp_path / "at", {**parts, "rest.txt": "x" * room})
        index(rag, tree, IndexOptions(limits=limits))
        (tree / "more.txt").write_text("x")
        with pytest.raises(SourceRejectedError, match="bytes of text"):
            index(rag, tree, IndexOptions(limits=limits))
        return
    check_source_cap(tmp_path, name, getattr(STRICT, name))


# -- caps that cost one document


def words_of(size: int) -> bytes:
    return (b"word " * (size // 5 + 1))[:size]


def headings(count: int) -> bytes:
    return b"".join(b"# h%d\n\nt\n\n" % n for n in range(count))


def xml_deep(levels: int) -> bytes:
    """A document part of just so many levels: document, body, p, r, t lie below each other."""
    nested = paragraph("alpha")
    for _ in range(levels - 5):
        nested = f"<w:sdt><w:sdtContent>{nested}</w:sdtContent></w:sdt>" if False else f"<w:ins>{nested}</w:ins>"
    return docx(nested)


def zip_of(count: int) -> bytes:
    """A document of so many entries, four of which every document has."""
    return docx(paragraph("alpha"), parts={f"word/media/{n}.bin": "x" for n in range(count - 4)})


DOCUMENT_CAPS: dict[str, tuple[str, Callable[[int], bytes], int]] = {
    "max_text": ("a.txt", words_of, 2000),
    "max_blocks": ("a.md", headings, 30),
    "max_chunks": ("a.txt", lambda count: words_of(count * 100), 5),
    "max_pdf_pages": ("a.pdf", lambda count: pdf(*[shown("alpha beta gamma") for _ in range(count)]), 4),
    "max_page_glyphs": ("a.pdf", lambda count: pdf(shown("a" * count)), 90),
    "max_zip_entries": ("a.docx", zip_of, 9),
    "max_xml_depth": ("a.docx", xml_deep, 20),
}


@pytest.mark.parametrize("name", DOCUMENT_CAPS)
def test_a_document_at_a_cap_is_read_and_one_over_fails_alone_and_keeps_its_chunks(tmp_path: Path, name: str) -> None:
    file, build, cap = DOCUMENT_CAPS[name]
    limits = STANDARD._replace(**{name: cap})
    if name == "max_chunks":
        limits = limits._replace(max_chunk_bytes=100)
    options = IndexOptions(limits=limits)
    tree = write(tmp_path, {"other.txt": "omega\n", file: build(cap)})
    rag = service()
    assert index(rag, tree, options).failed == []
    before = rag.show(file)
    write(tree, {file: build(cap + 1) if name != "max_chunks" else build(cap) + b"\n\nmore"})

    report = index(rag, tree, options)

    assert [(failure.file, failure.code) for failure in report.failed] == [(file, "LIMIT")]
    assert name in report.failed[0].reason
    assert rag.show(file) == before
    assert rag.search("omega")


@pytest.mark.parametrize(("name", "file"), [("max_raw_text", "a.txt"), ("max_raw_binary", "a.docx")])
def test_a_file_over_the_raw_cap_is_skipped_as_too_large_without_being_read(
    tmp_path: Path, name: str, file: str
) -> None:
    content = words_of(3000) if file == "a.txt" else docx(paragraph("alpha"))
    tree = write(tmp_path, {file: content, "other.txt": "omega\n"})
    rag = service()
    assert index(rag, tree, IndexOptions(limits=STANDARD._replace(**{name: len(content)}))).files.new == 2

    report = index(rag, tree, IndexOptions(limits=STANDARD._replace(**{name: len(content) - 1})))

    assert [(entry.path, entry.reason) for entry in report.skipped] == [(file, SkipReason.TOO_LARGE)]


def test_a_raw_file_of_sixteen_mebibytes_and_one_byte_more(tmp_path: Path) -> None:
    """The cap of both profiles, on a sparse file, which is binary at the cap and too large over it."""
    for profile in PROFILES.values():
        for size, reason in ((16 * MIB, SkipReason.BINARY), (16 * MIB + 1, SkipReason.TOO_LARGE)):
            tree = write(tmp_path / f"{profile.max_files}-{size}", {"other.txt": "omega\n", "big.txt": ""})
            os.truncate(tree / "big.txt", size)
            report = index(service(), tree, IndexOptions(limits=profile))
            assert [entry.reason for entry in report.skipped] == [reason]


def test_no_chunk_is_over_the_caps(tmp_path: Path) -> None:
    lines = "".join(f"line {n} of many\n" for n in range(100_000 // 15))
    tree = write(tmp_path, {"a.txt": lines, "b.txt": "wide " * 20_000, "c.py": "x = 1\n" * 5000, "d.txt": "é" * 70_000})
    rag = service()
    for profile in PROFILES.values():
        index(rag, tree, IndexOptions(limits=profile))
        for info in rag.list_files():
            stored = rag.show(info.file)
            assert "".join(chunk.content for chunk in stored.chunks) == stored.text
            for chunk in stored.chunks:
                assert len(chunk.content.encode()) <= 16 * 1024
                assert chunk.content.count("\n") <= 100
                assert chunk.end_line - chunk.start_line < 100


def test_the_profiles_are_the_documented_numbers() -> None:
    assert Limits() == STRICT
    assert STRICT[:10] == (
        4_096, 8_192, 64, 64 * MIB, 16 * MIB, 16 * MIB, 16 * MIB, 65_536, 1_048_576, 100,
    )  # fmt: skip
    assert STRICT[10:] == (
        16 * 1024, 1_024, 10_000, 1_048_576, 1_000, 256, 1_000_000, 8, 30.0, 1024 * MIB, 64 * 1024, 1_024,
    )  # fmt: skip
    changed = {field for field in Limits._fields if getattr(STRICT, field) != getattr(STANDARD, field)}
    assert changed == {
        "max_files", "max_entries", "max_total_text", "max_raw_binary", "max_text", "max_blocks", "max_chunks",
        "max_zip_entries", "max_xml_nodes",
    }  # fmt: skip


# -- bombs


def bombs() -> dict[str, str | bytes]:
    laughs = '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha">' + "".join(
        f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9)
    )
    aliases = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{','.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(9)
    )
    return {
        "laughs.xml": laughs + "]><l>&j;</l>",
        "outside.xml": '<!DOCTYPE l [<!ENTITY s SYSTEM "file:///etc/passwd">]><l>zqxml &s;</l>',
        "aliases.yaml": aliases,
        "deep.json": "[" * 200_000 + "]" * 200_000,
        "deep.html": "<div>" * 50_000 + "zqdeep" + "</div>" * 50_000,
        "deep.xml": "<a>" * 50_000 + "</a>" * 50_000,
        "deep.py": "(" * 20_000 + ")" * 20_000,
        "deep.md": ">" * 20_000 + " zqquote",
        "links.md": "[" * 20_000 + "a" + "](b)" * 20_000,
        "stars.md": "*a _b " * 20_000,
        "inflate.docx": package({"word/document.xml": b" " * (64 * MIB)}),
        "many.docx": package({f"p{n}.xml": "" for n in range(20_000)}),
        "deep.docx": docx("<w:ins>" * 5_000 + paragraph("x") + "</w:ins>" * 5_000),
        "wide.csv": "," * 1_000_000,
        "one.csv": '"' + "a" * 1_000_000,
        "minified.js": "var a=[" + "1," * 400_000 + "];",
        "long.toml": "a." * 20_000 + "b = 1",
        "zeros.json": "1" * 500_000,
        "null.pdf": b"%PDF-1.7\n" + b"1 0 obj\n" * 50_000,
    }


@pytest.mark.parametrize("profile", [pytest.param("strict", marks=pytest.mark.slow), "standard"])
def test_bombs_cost_no_other_file_its_place(tmp_path: Path, profile: str) -> None:
    """Through the command line with its worker processes: each is indexed, failed or skipped by name; all in time."""
    tree = write(tmp_path / "tree", {**bombs(), "good/one.md": "zqgood neighbour\n", "zz.txt": "zqgood last\n"})
    done = subprocess.run(
        [sys.executable, "-m", "ragcli", "index", str(tree), "--json", "--limits", profile],
        env={**os.environ, "RAGCLI_DATA_DIR": str(tmp_path / "data")}, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    report = json.loads(done.stdout)
    rag = SessionManager(tmp_path / "data").rag_for_path(str(tree))
    assert {result.file for result in rag.search("zqgood")} == {"good/one.md", "zz.txt"}
    assert not rag.search("root:x:0:0")
    named = {failure["file"] for failure in report["failed"]} | {info.file for info in rag.list_files()}
    named |= {info.file for info in rag.list_skipped()}
    assert named >= {*bombs(), "good/one.md", "zz.txt"}
    for failure in report["failed"]:
        assert len(failure["reason"]) < 200
        assert failure["code"] in ("LIMIT", "EXTRACTION", "UNSUPPORTED_FORMAT")


# -- secrets

SECRETS = [
    ".env", ".env.local", ".ENV", ".Env.Production", ".netrc", ".npmrc", ".pypirc", ".git-credentials", "id_rsa",
    "ID_RSA", "id_ed25519", "id_ecdsa", "id_dsa", ".ssh/config.txt", ".aws/notes.md", ".GnuPG/x.txt",
    ".kube/config.yaml", ".git/notes.txt", "sub/.ssh/deep/x.txt",
]  # fmt: skip


def test_nothing_brings_a_secret_into_an_index(tmp_path: Path) -> None:
    tree = write(tmp_path, {**dict.fromkeys(SECRETS, "zqsecret\n"), "a.txt": "alpha\n"})
    write(tree, {".tnsignore": "".join(f"!{name}\n!{name}/\n" for name in SECRETS)})
    options = IndexOptions(
        limits=STANDARD, default_skips=False, ignore_files=False, include=("**", *SECRETS), exclude=()
    )
    for chosen in (options, options._replace(ignore_files=True), options._replace(include=())):
        rag = service()
        index(rag, tree, chosen)
        assert [info.file for info in rag.list_files()] == ["a.txt"]
        assert not rag.search("zqsecret")
        assert not any("zqsecret" in str(entry) for entry in rag.list_skipped())
    for name in SECRETS[:13]:
        with pytest.raises((SourceRejectedError, UsageError)):
            index(service(), tree / name, options)


# -- names that want out

BAD_NAMES = [
    "", ".", "..", "../x", "a/b", "/etc", "a\0b", "a\n", "\n", "-rf", "x" * 65, "é", "a b", "~", "..%2f", "C:\\x",
    "a\\b", "name-../x", "\udce9", "con/../..", ".hidden", "_x",
]  # fmt: skip


@pytest.mark.parametrize("name", BAD_NAMES, ids=ascii)
def test_a_name_that_is_no_plain_name_makes_no_session(tmp_path: Path, name: str) -> None:
    manager = SessionManager(tmp_path / "in" / "data")
    for door in (
        lambda: manager.get_rag(name).add_document("text"), lambda: index(manager.get_rag(name), tmp_path),
        lambda: manager.remove_session(name), lambda: manager.get_rag(name).search("x"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match="cannot name a session") as caught:
            door()
        assert "\n" not in caught.value.message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["a", "A.b-c_d", "x" * 64, "0123456789abcdef", "name-x", "CURRENT", "a..b", "lock", "con"]
)
def test_plain_names_are_sessions_of_their_own(tmp_path: Path, name: str) -> None:
    manager = SessionManager(tmp_path)
    manager.get_rag(name).add_document(f"text of {name}")
    assert [result.content for result in SessionManager(tmp_path).get_rag(name).search("text")] == [f"text of {name}"]
    assert sorted(path.name for path in (tmp_path / "sessions").iterdir()) == [f"name-{name}"]
    assert manager.remove_session(name)
    assert list((tmp_path / "sessions").iterdir()) == []


BAD_IDS = [
    "../../secret.txt", "/etc/hostname", "documents", "CURRENT", "a.txt/../a.txt", "./a.txt", "", "\0", "*", "..",
    "../tree/a.txt",
]  # fmt: skip


@pytest.mark.parametrize("id_", BAD_IDS, ids=ascii)
def test_a_document_name_reads_and_removes_nothing_but_documents(tmp_path: Path, id_: str) -> None:
    write(tmp_path, {"secret.txt": "zqsecret"})
    tree = write(tmp_path / "tree", {"a.txt": "alpha\n"})
    rag = SessionManager(tmp_path / "data").get_rag("x")
    index(rag, tree)
    kept = rag.add_document("kiwi")

    with pytest.raises(RagError) as caught:
        rag.show(id_)
    assert caught.value.exit_code in (2, 3)
    assert rag.get_document(id_) is None
    assert not rag.remove_document(id_)
    assert [info.id for info in rag.list_documents()] == [kept]
    assert (tmp_path / "secret.txt").exists()


def test_metadata_cannot_pass_for_a_file(tmp_path: Path) -> None:
    rag = SessionManager(tmp_path).get_rag("x")
    with pytest.raises(UsageError, match="file"):
        rag.add_document("kiwi", {"file": "/etc/passwd"})
    rag.add_document("kiwi", {"path": "../../x", "file ": "y", "\x1b[2J": "\x1b]0;title\x07"})
    assert [result.file for result in rag.search("kiwi")] == [""]


# -- the store and its tree


@pytest.mark.parametrize("place", ["data", "deep/er/data", "."])
def test_a_store_inside_its_own_tree_is_not_a_part_of_it(tmp_path: Path, place: str) -> None:
    """Else each run would index what the one before wrote, and never come to rest."""
    tree = write(tmp_path / "tree", {"a.txt": "alpha\n", "deep/b.txt": "beta\n"})
    rag = SessionManager(tree / place).rag_for_path(str(tree))
    index(rag, tree)
    rag.add_document("kiwi in the documents file")

    reports = [index(rag, tree) for _ in range(3)]

    assert [info.file for info in rag.list_files()] == ["a.txt", "deep/b.txt"]
    assert not reports[-1].committed
    assert any(entry.rule == "data directory" for entry in reports[-1].skipped)


def test_a_link_in_place_of_a_file_of_the_store_is_replaced_and_not_written_through(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {"a.txt": "alpha\n"})
    rag = SessionManager(tmp_path / "data").get_rag("x")
    index(rag, tree)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    current = tmp_path / "data" / "sessions" / "name-x" / "documents"
    current.symlink_to(victim)

    rag.clear()

    assert victim.read_text() == "precious"
    assert not current.is_symlink()


def test_a_failure_tells_no_text_of_the_document(tmp_path: Path) -> None:
    tree = write(
        tmp_path, {"a.docx": b"PK\x03\x04 zqsecret", "b.pdf": b"%PDF-1.7 zqsecret", "c.ipynb": '{"zqsecret": '}
    )
    report = index(service(), tree)
    assert {failure.file for failure in report.failed} >= {"a.docx", "b.pdf"}
    assert all(isinstance(failure, Failure) and "zqsecret" not in failure.reason for failure in report.failed)
