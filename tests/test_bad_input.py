"""Bad input: its exit code, one line, a hint, and the previous index as it was."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.process import ragcli
from tests.engine import write


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = write(tmp_path / "tree", {"a.txt": "alpha beta\n", "sub/b.md": "# Notes\n\nalpha\n"})
    done = ragcli("index", str(root), "-s", "mine", data=tmp_path / "data", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return root


def empty_of_use(tmp_path: Path) -> list[str]:
    write(tmp_path / "useless", {"blob.bin": bytes(range(256)) * 8})
    return ["index", str(tmp_path / "useless")]


def damaged(tmp_path: Path) -> list[str]:
    (segment,) = (tmp_path / "data").rglob("*.segment")
    raw = bytearray(segment.read_bytes())
    raw[len(raw) // 2] ^= 1
    segment.write_bytes(raw)
    return ["search", "alpha", "-s", "mine"]


def other_root(tmp_path: Path) -> list[str]:
    write(tmp_path / "other", {"c.txt": "gamma\n"})
    return ["index", str(tmp_path / "other"), "-s", "mine"]


def fixed(*words: str) -> Callable[[Path], list[str]]:
    return lambda tmp_path: [word.replace("TREE", str(tmp_path / "tree")) for word in words]


CASES = {
    "a missing path": (fixed("index", "TREE/missing"), 2, b"does not exist"),
    "a directory without usable files": (empty_of_use, 2, b"no file that can be indexed"),
    "an unknown session": (fixed("search", "alpha", "-s", "nobody"), 3, b"no session nobody"),
    "a session name that leaves the data directory": (fixed("search", "alpha", "-s", "../x"), 2, b"name a session"),
    "no results wanted": (fixed("search", "alpha", "-s", "mine", "-k", "0"), 2, b"-k"),
    "a walk cap": (fixed("index", "TREE", "-s", "mine", "--max-files", "1"), 2, b"--max-files"),
    "too much text": (fixed("index", "TREE", "-s", "mine", "--max-total-text", "5"), 2, b"--max-total-text"),
    "a damaged segment": (damaged, 5, b"damaged"),
    "a second root for a named session": (other_root, 2, b"--rebuild"),
    "a format that the files are not": (fixed("index", "TREE", "-s", "mine", "--format", "PDF"), 2, b"not PDF"),
    "an unknown option": (fixed("search", "alpha", "--nope"), 2, b"--nope"),
    "an unknown document": (fixed("show", "zzz", "-s", "mine"), 3, b"zzz"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_has_its_code_one_line_and_a_hint(case: str, tree: Path, tmp_path: Path) -> None:
    make, code, said = CASES[case]
    data = tmp_path / "data"
    words = make(tmp_path)
    before = {path: path.read_bytes() for path in data.rglob("*") if path.suffix in (".manifest", ".segment")}

    done = ragcli(*words, data=data, cwd=tmp_path)

    lines = done.stderr.splitlines()
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert len(lines) == 2 and lines[0].startswith(b"ragcli: ") and lines[1].startswith(b"hint: "), done.stderr
    assert done.stdout == b""
    after = {path: path.read_bytes() for path in data.rglob("*") if path.suffix in (".manifest", ".segment")}
    assert {path: after.get(path) for path in before} == before


def test_a_query_of_stop_words_only_finds_nothing(tree: Path, tmp_path: Path) -> None:
    done = ragcli("search", "the and of", "-s", "mine", data=tmp_path / "data", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, b"")


def test_bytes_that_are_no_text_are_left_out_and_told(tree: Path, tmp_path: Path) -> None:
    (tree / "b.txt").write_bytes(bytes(range(256)) * 8)
    (tree / "unknown.xyz").write_bytes(b"\x00\x01\x02" * 100)

    done = ragcli("index", str(tree), "-s", "mine", "--json", data=tmp_path / "data", cwd=tmp_path)
    told = ragcli("list", "--skipped", "-s", "mine", data=tmp_path / "data", cwd=tmp_path)

    assert done.returncode == 0
    assert b"b.txt" in told.stdout and b"unknown.xyz" in told.stdout and b"binary" in told.stdout


def test_a_damaged_segment_is_repaired_by_the_next_index(tree: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    before = ragcli("search", "alpha", "-s", "mine", "--json", data=data, cwd=tmp_path)
    damaged(tmp_path)

    done = ragcli("index", str(tree), "-s", "mine", data=data, cwd=tmp_path)

    assert done.returncode == 0 and b"damaged" in done.stderr
    assert ragcli("search", "alpha", "-s", "mine", "--json", data=data, cwd=tmp_path).stdout == before.stdout
