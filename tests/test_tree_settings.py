"""Settings that come with a tree are bounded before they are parsed, and never stand in the way of a way out."""

from pathlib import Path

import pytest

from ragcli.config.files import read_project_file
from tests.bounded import bounded
from tests.cases import run
from tests.engine import write

KIB = 1024
DEEP = "a" + ".a" * 131_000 + "=1\n"
ATTACKS = {
    "one key of 131,000 parts": DEEP,
    "one key just under the cap": ("a" + ".a" * 8_180 + "=1\n"),
    "quoted parts apart by line separators": ('"\u2028"' + '."\u2028"' * 2_700 + "=1\n"),
    "blanks around the dots": "a" + " . b" * 4_000 + "=1\n",
    "a header of many parts": "[a" + ".a" * 8_180 + "]\n",
    "an inline table of many parts": "x={a" + ".a" * 8_180 + "=1}\n",
    "many keys of many parts": "".join(f"k{n}.{'.'.join('abcdefghijklmno')}=1\n" for n in range(430)),
    "many headers": "".join(f"[t{n}.a.b.c]\n" for n in range(1_200)),
    "tables in tables": "x=" + "{a=" * 4_000,
    "arrays in arrays": "x=" + "[" * 16_000,
    "empty arrays": "x=[" + "[]," * 5_300 + "]\n",
    "no key at all": "\n" * 16_000,
    "one long line": "x='" + "y" * 16_300 + "'",
}


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tree-settings")
    tree = write(folder / "tree", {"a.txt": "kiwi\n"})
    assert run("index", str(tree), data=folder / "data").code == 0
    return tree, folder / "data"


@pytest.mark.parametrize("name", ["ragcli.toml", "pyproject.toml"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_settings_file_of_a_tree_costs_little_whatever_it_holds(
    indexed: tuple[Path, Path], name: str, attack: str
) -> None:
    tree, data = indexed
    raw = ATTACKS[attack].encode()
    if name == "pyproject.toml":
        raw = b"[tool.ragcli]\n" + raw + (b"" if attack == "one key of 131,000 parts" else raw.replace(b"a", b"b") * 2)
    (tree / name).write_bytes(raw)
    try:
        done = bounded("search", "kiwi", data=data, cwd=tree)
        assert done.code in (0, 2), done
        assert name in done.err or done.code == 0
        if name == "ragcli.toml":
            assert bounded("status", data=data, cwd=tree).code == 0
    finally:
        (tree / name).unlink()


@pytest.mark.parametrize("text", ["[broken", "nosuch = 1\n", "workers = 3\n", "k = 'ten'\n", DEEP[:1000], "\udcff"])
def test_a_broken_settings_file_of_a_tree_blocks_no_way_out(tmp_path: Path, text: str) -> None:
    tree = write(tmp_path / "tree", {"a.txt": "kiwi\n"})
    data = tmp_path / "data"
    assert run("index", str(tree), data=data).code == 0
    (tree / "ragcli.toml").write_bytes(text.encode("utf-8", "surrogateescape"))

    # What cannot be read at all is left out of a search too; a setting that is wrong stops it.
    assert run("search", "kiwi", data=data, cwd=tree).code == (2 if " = " in text else 0)
    for words in (("status",), ("config",), ("clear", "--yes"), ("clear", "--yes", "--remove")):
        done = run(*words, data=data, cwd=tree)
        assert done.code == 0, (words, done)
        assert "ragcli.toml" in done.err and "left out" in done.err


@pytest.mark.parametrize("line", ["color = 'always'", "progress = 'always'"])
def test_a_tree_does_not_choose_for_the_terminal(tmp_path: Path, line: str) -> None:
    tree = write(tmp_path / "tree", {"a.txt": "kiwi\n"})
    assert run("index", str(tree), data=tmp_path / "data").code == 0
    (tree / "ragcli.toml").write_text(line)

    done = run("search", "kiwi", data=tmp_path / "data", cwd=tree)

    assert done.code == 2
    assert "a project file cannot set" in done.err


def test_absurd_numbers_of_a_tree_are_not_taken(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {"a.txt": "kiwi\n"})
    assert run("index", str(tree), data=tmp_path / "data").code == 0
    (tree / "ragcli.toml").write_text(
        f"k = {2**62}\nprompt_k = {2**62}\nmax_per_file = {2**62}\nmax_tokens = {2**62}\n"
    )

    done = run("config", data=tmp_path / "data", cwd=tree)

    assert done.err.count("is not taken") == 4
    values = dict(line.split(" #")[0].split(" = ") for line in done.out.decode().splitlines())
    assert {name.strip(): value.strip() for name, value in values.items()}.items() >= {
        "k": "10", "prompt_k": "5", "max_per_file": "3", "max_tokens": "none",
    }.items()  # fmt: skip


def test_a_large_pyproject_of_other_tools_is_no_matter_of_ours(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.other]\n" + "x = 1\n" * 20_000)

    assert read_project_file(str(tmp_path)) == ([], [])


def test_a_notice_about_a_settings_file_drives_no_terminal(tmp_path: Path) -> None:
    tree = write(tmp_path / "tr\x1b[31mee", {"a.txt": "kiwi\n"})
    data = tmp_path / "data"
    assert run("index", str(tree), data=data).code == 0
    (tree / "ragcli.toml").write_text("nosuch = 1\n")

    for words in (("status",), ("config",), ("export", "o\x1b[2Jut.tar")):
        done = run(*words, data=data, cwd=tree)
        assert "\x1b" not in done.err, words
        (tree / "ragcli.toml").write_text("nosuch = 1\n" if words != ("config",) else "k = 3\n")
