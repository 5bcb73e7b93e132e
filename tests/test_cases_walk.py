"""Cases after public bug reports about ignore files and walks. The id of a case stands in the name of its test."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ragcli.config.options import STANDARD, IndexOptions
from ragcli.ingest import reading, walk
from ragcli.session.manager import SessionManager
from tests.cases import indexed, listed, repository, run
from tests.engine import index, service, write
from tests.unprivileged import NOBODY, commands

BELOW_EXCLUDED = (
    "plain.txt out/keep.txt out/drop.txt gen/keep.txt gen/drop.txt gen/sub/y.txt deep/a/x.txt deep/a/z.txt "
    "deep/b/w.txt lib/sub/f.txt lib/g.txt"
)
FROM_ANYWHERE = (
    "cache/c.txt svc/cache/c.txt dist/b.txt svc/dist/b.txt svc/inner/dist/b.txt only_root.txt "
    "svc/only_root.txt svc/skip.txt other/svc/skip.txt svc/local_a.txt svc/local_keep.txt local_a.txt "
    "other/local_b.txt"
)
ANCHORED = (
    "reports/r.txt src/reports/r.txt main.txt .hidden/h.txt docs/d.txt Docs/e.txt notes.txt "
    "sub/notes.txt/inner.txt foo/a.txt foo/bar/a.txt x/foo/a.txt a1.txt c1.txt #hash.txt !bang.txt *star.txt "
    "xstar.txt"
)
NO_IGNORE = IndexOptions(limits=STANDARD, ignore_files=False)


def named(*names: str) -> dict[str, str | bytes]:
    return {name: f"content of {name}\n" for name in names}


def git_lists(root: Path) -> set[str]:
    """What git would track, but for dot files."""
    done = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-coz", "--exclude-standard"], capture_output=True, check=True
    )
    names = {os.fsdecode(name) for name in done.stdout.split(b"\0") if name}
    return {name for name in names if not name.split("/")[-1].startswith(".")}


def test_nothing_below_an_excluded_directory_comes_back(tmp_path: Path) -> None:
    root = repository(tmp_path)
    rules = "out/\n!out/keep.txt\ngen/*\n!gen/keep.txt\ndeep/**\n!deep/a/\n!deep/a/x.txt\nlib/\n!lib/sub/*\n"
    names = BELOW_EXCLUDED.split()
    write(root, {".gitignore": rules, **named(*names)})

    assert listed(root) == {"plain.txt", "gen/keep.txt", "deep/a/x.txt"} == git_lists(root)
    # `out` is on the list of directories that are skipped besides, which has a flag of its own.
    assert listed(root, options=NO_IGNORE._replace(default_skips=False)) == set(names)
    assert set(names) - listed(root, options=NO_IGNORE) == {"out/keep.txt", "out/drop.txt"}


def test_trailing_blanks_and_a_lone_backslash(tmp_path: Path) -> None:
    root = repository(tmp_path)
    rules = b"plain   \nname\\ \ntwo\\ \\ \nkeep\\  \ndangle\\\ntabbed\t\ncrlf\r\njunk*.txt\n"
    directories = (
        "plain",
        "plain   ",
        "name ",
        "name",
        "two  ",
        "keep ",
        "keep",
        "dangle",
        "dangle\\",
        "tabbed",
        "tabbed\t",
        "crlf",
    )
    write(root, {".gitignore": rules, **named(*(f"{name}/f.txt" for name in directories), "junk1.txt", "ok.txt")})

    kept = {f"{name}/f.txt" for name in ("plain   ", "name", "keep", "dangle", "dangle\\", "tabbed")} | {"ok.txt"}
    assert listed(root) == kept
    done = run("index", str(root), data=tmp_path.parent / f"{tmp_path.name}-data")
    assert done.code == 0
    assert done.err.count(".gitignore") <= 1


def test_the_answer_does_not_depend_on_where_the_run_starts(tmp_path: Path) -> None:
    root = repository(tmp_path / "tree")
    names = FROM_ANYWHERE.split()
    write(root, {".gitignore": "**/cache/*\ndist/\n!/svc/dist/\n/only_root.txt\nsvc/skip.txt\n",
                 "svc/.gitignore": "local_*.txt\n!local_keep.txt\n", **named(*names)})  # fmt: skip
    options = IndexOptions(limits=STANDARD, default_skips=False)  # dist is on the list of what is skipped besides
    whole = {
        "local_a.txt",
        "svc/dist/b.txt",
        "svc/only_root.txt",
        "svc/local_keep.txt",
        "other/svc/skip.txt",
        "other/local_b.txt",
    }

    assert listed(root, options=options) == whole == git_lists(root)
    part = {"dist/b.txt", "only_root.txt", "local_keep.txt"}
    assert listed(root / "svc", options=options) == part
    assert listed(root / "svc/dist", options=options) == {"b.txt"}
    found = []
    for place, cwd in (("svc", root), (".", root / "svc"), (str(root / "svc"), root / "other")):
        data = tmp_path / f"data{len(found)}"
        assert run("index", place, "--no-default-skips", data=data, cwd=cwd).code == 0
        files = run("list", "--files", "--json", data=data, cwd=root / "svc").json()["files"]
        found.append({entry["file"] for entry in files if not entry["file"].startswith(".")})
    assert found == [part] * 3


def test_anchors_directories_case_and_escapes(tmp_path: Path) -> None:
    root = repository(tmp_path)
    rules = "/reports\n.*/\nDocs/\nnotes.txt/\nfoo/*.txt\n[ab]?.txt\n\\#hash.txt\n\\!bang.txt\n\\*star.txt\n"
    names = ANCHORED.split()
    write(root, {".gitignore": rules, **named(*names)})

    right = {
        "main.txt",
        "src/reports/r.txt",
        "docs/d.txt",
        "notes.txt",
        "foo/bar/a.txt",
        "x/foo/a.txt",
        "c1.txt",
        "xstar.txt",
    }
    assert listed(root) == right == git_lists(root)


def test_a_run_that_finds_nothing_says_so_and_is_no_success(tmp_path: Path) -> None:
    write(tmp_path / "tree", {".gitignore": "*\n", "a.txt": "alpha\n"})
    done = run("index", str(tmp_path / "tree"), data=tmp_path / "data")
    assert done.code == 2
    assert "0 files" in done.err


def test_linked_worktrees_dead_pointers_and_no_repository(tmp_path: Path) -> None:
    repository(tmp_path / "main", exclude="private_*.txt\n")
    pointers = tmp_path / "main/.git/worktrees/wt"
    write(pointers, {"HEAD": "ref: refs/heads/wt\n", "commondir": "../..\n", "gitdir": f"{tmp_path}/wt/.git\n"})
    write(tmp_path / "wt", {".git": "gitdir: ../main/.git/worktrees/wt\n", ".gitignore": "*.gen.txt\n",
                            **named("keep.txt", "private_a.txt", "x.gen.txt")})  # fmt: skip
    for name in ("lonely", "nogit"):
        write(tmp_path / name, {".gitignore": "*.gen.txt\n", **named("a.txt", "b.gen.txt")})
    write(tmp_path / "lonely", {".git": "gitdir: /nonexistent/zq/gone\n"})

    assert listed(tmp_path / "wt") == {"keep.txt"}
    assert listed(tmp_path / "lonely") == {"a.txt"}
    assert listed(tmp_path / "nogit") == {"a.txt"}
    assert not indexed(tmp_path / "wt").search("gitdir")


def test_links_are_not_followed_and_cost_nothing(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {"a.txt": "zqloop text in the first file\n", "sub/b.txt": "second file\n"})
    write(tmp_path / "outside", {"o.txt": "zqoutsidetext\n"})
    for name, target in (("self", "."), ("sub/up", ".."), ("ouro", "ouro"), ("gone.txt", "missing.txt"),
                         ("copy.txt", "a.txt"), ("outside", "../outside")):  # fmt: skip
        (root / name).symlink_to(target)

    rag = service()
    report = index(rag, root)

    assert {info.file for info in rag.list_files()} == {"a.txt", "sub/b.txt"}
    assert len(rag.search("zqloop")) == 1
    assert not rag.search("zqoutsidetext")
    assert {entry.path for entry in report.skipped} == {"self", "sub/up", "ouro", "gone.txt", "copy.txt", "outside"}


def test_pipes_sockets_and_devices_are_named_and_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(tmp_path / "tree", {"real.md": "# zqreal\n"})
    os.mkfifo(root / "pipe.md")
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("sock.txt")
    (root / "null.txt").symlink_to("/dev/null")
    (root / "zero.txt").symlink_to("/dev/zero")

    assert listed(root) == {"real.md"}
    done = run("index", str(root / "pipe.md"), data=tmp_path / "data")
    assert done.code == 2
    assert "pipe.md" in done.err and "named pipe" in done.err
    for name in ("zero.txt", "/dev/zero"):
        done = run("index", str(root / name), data=tmp_path / "data")
        assert done.code == 2, name
        assert "device" in done.err


@pytest.fixture
def shut() -> Iterator[Path]:
    """A tree of the unprivileged user with a directory and a file that nobody may read."""
    place = Path(tempfile.mkdtemp(prefix="ragcli-shut-"))
    write(place / "tree", {"one/north.txt": "zqnorth\n", "two/south.txt": "zqsouth\n", "two/noread.txt": "zqnoread\n",
                           "shut/inner.txt": "zqinner\n", "shut/.gitignore": "*.tmp\n",
                           "listed/x.txt": "zqlisted\n"})  # fmt: skip
    if os.getuid() == 0:
        for path in [place, *place.rglob("*")]:
            os.chown(path, NOBODY, NOBODY)
    yield place
    subprocess.run(["chmod", "-R", "u+rwX", str(place)], check=True)
    shutil.rmtree(place)


def set_modes(tree: Path, *, readable: bool) -> None:
    (tree / "shut").chmod(0o755 if readable else 0)
    (tree / "listed").chmod(0o755 if readable else 0o444)  # its names can be read, nothing in it
    (tree / "two/noread.txt").chmod(0o644 if readable else 0)


def test_what_cannot_be_read_is_reported_and_costs_nothing_else(shut: Path) -> None:
    data, tree = shut / "data", shut / "tree"
    set_modes(tree, readable=False)
    first, again, files, skipped, alone, denied = commands(
        [("index", str(tree), "--json"), ("index", str(tree), "--json"), ("list", "--files", "--json", "-s", "x"),
         ("index", str(tree), "-v"), ("index", str(tree / "shut")), ("index", str(tree / "two/noread.txt"))], data,
    )  # fmt: skip
    assert (first.code, again.code) == (0, 0)
    assert files.code == 3
    for name in ("shut", "two/noread.txt", "listed/x.txt"):
        assert name in skipped.err, skipped.err
    assert "permission denied" in skipped.err.lower()
    assert alone.code == 2 and "shut" in alone.err
    assert denied.code == 2 and "noread.txt" in denied.err
    rag = SessionManager(data).rag_for_path(str(tree))
    assert {info.file for info in rag.list_files()} == {"one/north.txt", "two/south.txt"}

    set_modes(tree, readable=True)
    assert [done.code for done in commands([("index", str(tree))], data)] == [0]
    every = {"one/north.txt", "two/south.txt", "two/noread.txt", "shut/inner.txt", "listed/x.txt"}
    assert {info.file for info in SessionManager(data).rag_for_path(str(tree)).list_files()} == every

    # Indexed once, then not readable: it stays, and is reported.
    set_modes(tree, readable=False)
    for words in (("index", str(tree), "-v"), ("index", str(tree), "-v", "--verify")):
        (done,) = commands([words], data)
        assert done.code == 0
        assert "permission denied" in done.err.lower()
        rag = SessionManager(data).rag_for_path(str(tree))
        assert {info.file for info in rag.list_files()} == every
        for word in ("zqinner", "zqnoread", "zqlisted"):
            assert rag.search(word)


class FailsOnce:
    """`os` for one module, with a call that fails at its third use."""

    def __init__(self, call: str, error: OSError) -> None:
        self._call, self._error = call, error
        self.uses = 0

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        return self._third(real) if name == self._call else real

    def _third(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            self.uses += 1
            if self.uses == 3:
                raise self._error
            return real(*arguments, **named)

        return call


@pytest.mark.parametrize("error", [FileNotFoundError, NotADirectoryError])
@pytest.mark.parametrize(("module", "call"), [(walk, "scandir"), (walk, "open"), (reading, "open"), (reading, "fstat")])
def test_a_call_that_fails_once_costs_one_entry_at_most(
    tmp_path: Path, error: type[OSError], module: object, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(tmp_path, {f"stable/s{number:03}.txt": f"zqstable{number}\n" for number in range(30)})
    write(root, {f"other{number}/t.txt": "alpha\n" for number in range(3)})

    rag = service()
    failing = FailsOnce(call, error(2, "gone for once"))
    with monkeypatch.context() as patched:
        patched.setattr(module, "os", failing)
        index(rag, root)
    assert failing.uses >= 3
    missing = 33 - len(rag.list_files())
    assert missing <= (30 if module is walk else 1)
    index(rag, root)
    assert len(rag.list_files()) == 33


ODD = [
    "-rf.md", "--help.md", "a:12:b.md", "new\nline.md", "tab\t.md", " lead.md", "\N{FOX FACE} emoji.md",
    "n" * 252 + ".md", "CON.txt", os.fsdecode(b"n_\xe9.txt"), os.fsdecode(b"n_\xe8.txt"), "esc\x1b[2J.txt",
    "\u202ertl.txt", "c1\u009b.txt",
]  # fmt: skip


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("odd")
    root = write(folder / "tree", {name: f"zqodd zqodd{number:02}\n" for number, name in enumerate(ODD)})
    here = Path.cwd()
    try:
        os.chdir(root)
        for number in range(12):
            part = f"d{number:02}_" + "x" * 195
            Path(part).mkdir()
            os.chdir(part)
        Path("end.md").write_text("zqodd deep\n")
    finally:
        os.chdir(here)
    assert run("index", str(root), data=folder / "data").code == 0
    return folder


def test_each_odd_name_is_a_hit_of_its_own_that_leads_back_to_its_bytes(odd: Path) -> None:
    import base64

    done = run("search", "zqodd", "-k", "50", "--json", data=odd / "data", cwd=odd / "tree")
    assert done.code == 0
    found = {
        base64.b64decode(hit["file_bytes"]) if "file_bytes" in hit else os.fsencode(hit["file"])
        for hit in done.json()["results"]
    }
    assert len(found) == len(ODD) + 1
    assert found >= {os.fsencode(name) for name in ODD}
    done.out.decode("utf-8")


@pytest.mark.parametrize(
    "locale",
    [{}, {"LC_ALL": "C", "PYTHONUTF8": "0"},
     *(pytest.param(locale, marks=pytest.mark.slow) for locale in ({"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}))],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("form", [(), ("--json",), ("--jsonl",), ("-l",), ("--pretty",), ("-l", "-0")], ids=str)
def test_every_form_of_output_survives_odd_names_in_any_locale(
    odd: Path, form: tuple[str, ...], locale: dict[str, str]
) -> None:
    """One record a line, and no control character of a name reaches the terminal."""
    done = run("search", "zqodd", "-k", "50", *form, data=odd / "data", cwd=odd / "tree", **locale)
    assert done.code == 0
    if "-0" in form:
        assert sum(name.strip(b"\n") != b"" for name in done.out.split(b"\0")) == len(ODD) + 1
        return
    assert not set(done.out) & {0x1B, 0x07, 0x09, 0x0D}
    if not {"--json", "--jsonl"} & {*form}:
        assert "\u009b".encode() not in done.out
        assert "\u202e".encode() not in done.out
    if form in ((), ("-l",), ("--jsonl",)):
        assert len(done.out.splitlines()) == len(ODD) + 1


def test_a_name_that_begins_with_a_dash_is_indexed_after_two_dashes(odd: Path, tmp_path: Path) -> None:
    for name in ("-rf.md", "--help.md"):
        data = tmp_path / name
        assert run("index", "--", name, data=data, cwd=odd / "tree").code == 0
        done = run("list", "--files", "--json", "-s", SessionManager(data).session_names()[0], data=data)
        assert [entry["file"] for entry in done.json()["files"]] == [name]


def test_a_path_with_colons_has_its_line_beside_it(odd: Path) -> None:
    hits = run("search", "zqodd02", "--json", data=odd / "data", cwd=odd / "tree").json()["results"]
    (hit,) = [hit for hit in hits if hit["content"].startswith("zqodd zqodd02")]
    assert (hit["file"], hit["start_line"]) == ("a:12:b.md", 1)
