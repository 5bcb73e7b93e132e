"""The walk finds the regular files that no rule leaves out, says what it left out, and survives what moves under it."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragcli.config.options import IndexOptions, Limits
from ragcli.documents import Skipped, SkipReason
from ragcli.errors import SourceRejectedError, UsageError
from ragcli.ingest import walk as walk_module
from ragcli.ingest.walk import walk, walk_file

DEFAULT = IndexOptions()
NO_SKIPS = IndexOptions(default_skips=False)
DIRECTORY_WORDS = (
    ".aws .git .gnupg .gradle .hg .idea .kube .next .ssh .svn .vscode __pycache__ build coverage dist node_modules out "
    "target vendor .venv venv .tox .nox .mypy_cache .pytest_cache .ruff_cache .cache"
)
DIRECTORY_NAMES = DIRECTORY_WORDS.split()
FORBIDDEN = [".aws", ".git", ".gnupg", ".kube", ".ssh"]
SECRETS = [
    ".env", ".env.local", ".env.", ".git-credentials", ".netrc", ".npmrc", ".pypirc", "id_dsa", "id_ecdsa",
    "id_ed25519", "id_rsa",
]  # fmt: skip


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")


def paths(root: Path, options: IndexOptions = DEFAULT) -> list[str]:
    return [file.path for file in walk(str(root), options).files]


def skips(root: Path, options: IndexOptions = DEFAULT) -> dict[str, tuple[SkipReason, str]]:
    return {item.path: (item.reason, item.rule) for item in walk(str(root), options).skipped}


def test_files_come_with_the_stat_they_have(tmp_path: Path) -> None:
    """Size, both times and inode are those of the file, in nanoseconds."""
    write(tmp_path, "a/b.txt")
    status = (tmp_path / "a/b.txt").stat()

    (file,) = walk(str(tmp_path), DEFAULT).files
    assert file == ("a/b.txt", status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


NAME = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=12).filter(
    lambda name: name not in (".", "..") and len(name.encode()) < 200
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.sets(st.lists(NAME, min_size=1, max_size=3).map("/".join), max_size=12))
def test_every_file_is_listed_or_named_as_skipped_in_the_order_of_paths(
    tmp_path_factory: pytest.TempPathFactory, names: set[str]
) -> None:
    """Each regular file is listed once, or it or a directory above it is among the skipped; both are sorted."""
    root = tmp_path_factory.mktemp("any")
    made: set[str] = set()
    for name in sorted(names):
        try:
            write(root, name)
        except OSError:  # a file of that name is in the way
            continue
        made.add(name)

    found = walk(str(root), DEFAULT)
    listed = [file.path for file in found.files]
    left_out = {item.path for item in found.skipped}
    assert listed == sorted(set(listed))
    assert found.skipped == sorted(found.skipped)
    for name in made - set(listed):
        parts = name.split("/")
        assert any("/".join(parts[:i]) in left_out for i in range(1, len(parts) + 1)), name


def test_paths_are_ordered_as_strings(tmp_path: Path) -> None:
    """`-` and `.` sort before `/`: the order is that of the whole path, not directory by directory."""
    write(tmp_path, "a/x", "a-b/x", "a.txt", "a/b/c", "B", "é")

    assert paths(tmp_path) == ["B", "a-b/x", "a.txt", "a/b/c", "a/x", "é"]


def test_odd_names_are_kept_apart_and_lead_back_to_their_bytes(tmp_path: Path) -> None:
    """Newlines, colons, 255 bytes, invalid UTF-8: each is its own path, and fsencode gives the bytes on disk."""
    names = [
        b"-rf.md",
        b"a:12:b.md",
        b"new\nline",
        b"tab\t",
        b" lead",
        b"n_\xe8.txt",
        b"n_\xe9.txt",
        b"n" * 255,
        b"\x1b[31m",
    ]
    for name in names:
        with open(os.path.join(os.fsencode(tmp_path), name), "wb"):
            pass

    assert sorted(os.fsencode(path) for path in paths(tmp_path)) == sorted(names)


def test_a_path_longer_than_the_system_takes_in_one_call_is_found(tmp_path: Path) -> None:
    """60 levels of 200 letters are 12,000 bytes, three times PATH_MAX; the walk never passes a whole path."""
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(60):
        os.mkdir("d" * 200, dir_fd=here)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("deep.txt", os.O_WRONLY | os.O_CREAT, dir_fd=here))
    os.close(here)

    assert paths(tmp_path) == [("d" * 200 + "/") * 60 + "deep.txt"]


@pytest.mark.parametrize("name", DIRECTORY_NAMES)
@pytest.mark.parametrize("case", [str, str.upper])
def test_a_directory_on_the_default_list_is_left_out_and_named(
    tmp_path: Path, name: str, case: Callable[[str], str]
) -> None:
    """Default skips hold at any depth and in any case, and say which rule it was."""
    write(tmp_path, f"sub/{case(name)}/a.txt", "sub/b.txt")

    assert paths(tmp_path) == ["sub/b.txt"]
    assert skips(tmp_path) == {f"sub/{case(name)}": (SkipReason.DEFAULT_SKIP, name)}


def test_other_dot_names_are_walked(tmp_path: Path) -> None:
    """Dot files and dot directories that no rule names are indexed."""
    names = [".editorconfig", ".prettierrc", ".github/workflows/ci.yml", ".gitattributes", "builds/a", "id_rsa.pub"]
    write(tmp_path, *names)

    assert paths(tmp_path) == sorted(names)


@pytest.mark.parametrize("name", [".aws", ".git", ".gnupg", ".hg", ".kube", ".ssh", ".svn", "node_modules", "vendor"])
def test_a_component_name_leaves_out_a_file_too(tmp_path: Path, name: str) -> None:
    """Nine names match any component of the path: also the last one (a worktree's one-line `.git`)."""
    write(tmp_path, f"a/{name}", "a/build")

    assert paths(tmp_path) == ["a/build"]
    assert skips(tmp_path)[f"a/{name}"] == (SkipReason.DEFAULT_SKIP, name)


def test_the_names_above_the_root_do_not_count(tmp_path: Path) -> None:
    """A root below `vendor` or named `build` is walked: the names are those below the root."""
    write(tmp_path, "vendor/build/a.txt")

    assert paths(tmp_path / "vendor/build") == ["a.txt"]


@pytest.mark.parametrize("options", [DEFAULT, NO_SKIPS, NO_SKIPS._replace(ignore_files=False, include=("**",))])
def test_secrets_never_come_back(tmp_path: Path, options: IndexOptions) -> None:
    """Secret file names and the five forbidden directories are left out whatever is said."""
    write(tmp_path, *(f"a/{name}" for name in SECRETS), *(f"{name}/config" for name in FORBIDDEN), "b.txt")
    (tmp_path / ".tnsignore").write_text("".join(f"!{name}\n!{name}/\n" for name in [*SECRETS, *FORBIDDEN]))

    assert paths(tmp_path, options) == ["b.txt"]
    assert {path for path, (reason, _) in skips(tmp_path).items() if reason is SkipReason.SECRET} == {
        f"a/{name}" for name in SECRETS
    }


def test_a_directory_with_the_name_of_a_secret_file_is_a_directory(tmp_path: Path) -> None:
    """The secret names are names of files."""
    write(tmp_path, ".env/a.txt")

    assert paths(tmp_path) == [".env/a.txt"]


def test_the_flag_brings_all_but_the_forbidden_back(tmp_path: Path) -> None:
    """--no-default-skips."""
    write(tmp_path, *(f"{name}/a" for name in DIRECTORY_NAMES))

    assert paths(tmp_path, NO_SKIPS) == sorted(f"{name}/a" for name in DIRECTORY_NAMES if name not in FORBIDDEN)


@pytest.mark.parametrize(
    ("rules", "back"),
    [
        ("!build/\n", ["build/a", "sub/build/a"]),
        ("!build\n", ["build/a", "sub/build/a"]),
        ("!/build/\n", ["build/a"]),
        ("!sub/build/\n", ["sub/build/a"]),
        ("!**/build/\n", ["build/a", "sub/build/a"]),
        ("!build/\nbuild/\n", []),
        ("!build/\n/build/\n", ["sub/build/a"]),
        ("*\n!*/\n!a\n", []),
        ("!vendor/\n", ["vendor/a"]),
    ],
)
def test_a_negated_name_in_tnsignore_brings_a_skipped_directory_back(
    tmp_path: Path, rules: str, back: list[str]
) -> None:
    """`!name/` must spell the name: `!*/` is how people write white lists, and does not mean node_modules."""
    write(tmp_path, "build/a", "sub/build/a", "vendor/a")
    (tmp_path / ".tnsignore").write_text(rules)

    assert paths(tmp_path) == back


def test_gitignore_does_not_bring_a_skipped_directory_back(tmp_path: Path) -> None:
    """Only .tnsignore speaks to the default skips; a .gitignore that ignores the directory still holds."""
    write(tmp_path, "build/a", "dist/a", "sub/dist/a")
    (tmp_path / ".gitignore").write_text("!build/\ndist/\n")
    (tmp_path / "sub/.tnsignore").write_text("!dist/\n")

    assert paths(tmp_path) == ["sub/dist/a"]


def test_ignore_files_are_never_indexed(tmp_path: Path) -> None:
    """Not even with every rule switched off."""
    write(tmp_path, ".gitignore", "sub/.tnsignore", "a")

    assert paths(tmp_path, NO_SKIPS._replace(ignore_files=False)) == ["a"]
    assert skips(tmp_path)[".gitignore"] == (SkipReason.DEFAULT_SKIP, ".gitignore")


def test_include_then_exclude(tmp_path: Path) -> None:
    """A file must match an include, where there is one, and no exclude; both are about the whole path."""
    write(tmp_path, "a.py", "b.md", "src/c.py", "src/gen/d.py", "src/gen/deep/e.py")
    options = IndexOptions(include=("**/*.py",), exclude=("src/gen/**",))

    assert paths(tmp_path, options) == ["a.py", "src/c.py"]
    assert skips(tmp_path, options) == {
        "b.md": (SkipReason.NOT_INCLUDED, ""),
        "src/gen": (SkipReason.EXCLUDED, "src/gen/**"),
    }


def test_links_are_never_followed(tmp_path: Path) -> None:
    """Loops, dead links, links out of the tree: every real file once, every link reported."""
    root = tmp_path / "root"
    write(tmp_path, "root/a.txt", "root/sub/b.txt", "outside/o.txt")
    links = {"self": ".", "sub/up": "..", "ouro": "ouro", "gone": "missing", "copy": "a.txt", "outside": "../outside"}
    for name, target in links.items():
        (root / name).symlink_to(target)

    assert paths(root) == ["a.txt", "sub/b.txt"]
    assert skips(root) == dict.fromkeys(links, (SkipReason.LINK, ""))


def test_only_regular_files_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe and a socket are reported, never opened."""
    write(tmp_path, "real.md")
    os.mkfifo(tmp_path / "pipe.md")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("sock.txt")

    assert paths(tmp_path) == ["real.md"]
    assert skips(tmp_path) == dict.fromkeys(["pipe.md", "sock.txt"], (SkipReason.SPECIAL, ""))


def limited(**caps: int) -> IndexOptions:
    return IndexOptions(limits=Limits()._replace(**caps))


@pytest.mark.parametrize(
    ("fits", "breaks", "flag"),
    [
        (limited(max_files=3), limited(max_files=2), "--max-files"),
        (limited(max_entries=7), limited(max_entries=6), "--max-entries"),
        (limited(max_depth=3), limited(max_depth=2), "--max-depth"),
    ],
)
def test_a_walk_cap_rejects_the_source_and_names_the_flag(
    tmp_path: Path, fits: IndexOptions, breaks: IndexOptions, flag: str
) -> None:
    """At the cap all is well, one over it is too much; skipped entries count as entries, not as files."""
    write(tmp_path, "a", "b", "one/two/c", ".env", "build/not/counted/below")

    assert paths(tmp_path, fits) == ["a", "b", "one/two/c"]
    with pytest.raises(SourceRejectedError) as caught:
        walk(str(tmp_path), breaks)
    assert flag in caught.value.message
    assert flag.removeprefix("--").replace("-", "_") in caught.value.message


def test_a_skipped_directory_may_lie_deeper_than_the_cap(tmp_path: Path) -> None:
    """Depth counts what would be taken."""
    write(tmp_path, "one/build/a")

    assert paths(tmp_path, limited(max_depth=1)) == []


def test_an_unreadable_directory_is_reported_and_the_rest_is_walked(
    tmp_path: Path, as_user: Callable[..., Any]
) -> None:
    """Mode 000: reported with the system's reason, listed as unreadable; the same for a repeat; a root is an error."""
    write(tmp_path, "one/a", "shut/inner", "two/b")
    (tmp_path / "shut").chmod(0)

    def look() -> tuple[list[str], list[str], list[Skipped]]:
        found = walk(str(tmp_path), DEFAULT)
        return [file.path for file in found.files], found.unreadable, found.skipped

    expected = (["one/a", "two/b"], ["shut"], [Skipped("shut", SkipReason.UNREADABLE, "permission denied", True)])
    try:
        assert as_user(look) == expected
        assert as_user(look) == expected
        with pytest.raises(SourceRejectedError, match="permission denied"):
            as_user(lambda: walk(str(tmp_path / "shut"), DEFAULT))
    finally:
        (tmp_path / "shut").chmod(0o755)


@pytest.fixture
def as_user(tmp_path: Path) -> Iterator[Callable[[Callable[[], Any]], Any]]:
    """Run a function without the rights of root, where the tests run as root."""
    if os.geteuid() != 0:
        yield lambda function: function()
        return
    above = [tmp_path, *tmp_path.parents]
    modes = {path: path.stat().st_mode for path in above}

    def run(function: Callable[[], Any]) -> Any:
        for path in above:
            path.chmod(modes[path] | 0o755)
        os.seteuid(65534)
        try:
            return function()
        finally:
            os.seteuid(0)

    yield run
    for path, mode in modes.items():
        path.chmod(mode)


class OnceFailing:
    """Wraps a function of `os`: fails the first time its argument is about `name`."""

    def __init__(self, function: Callable[..., Any], name: str, error: OSError) -> None:
        self.function, self.name, self.error, self.failed = function, name, error, False

    def __call__(self, path: Any, *args: Any, **kwargs: Any) -> Any:
        if not self.failed and self._is_it(path):
            self.failed = True
            raise self.error
        return self.function(path, *args, **kwargs)

    def _is_it(self, path: Any) -> bool:
        text = os.readlink(f"/proc/self/fd/{path}") if isinstance(path, int) else os.fsdecode(path)
        return os.path.basename(text) == self.name


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="names descriptors through /proc")
@pytest.mark.parametrize("function", ["open", "scandir"])
@pytest.mark.parametrize("error", [FileNotFoundError(2, "gone"), NotADirectoryError(20, "not"), OSError(40, "loop")])
def test_a_directory_that_vanishes_costs_no_other_file_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str, error: OSError
) -> None:
    """Gone between listing and opening, or between opening and listing: reported as vanished."""
    write(tmp_path, "a/x", "b/x", "c/x")
    failing = OnceFailing(getattr(os, function), "b", error)
    monkeypatch.setattr(walk_module.os, function, failing)

    found = walk(str(tmp_path), DEFAULT)
    assert failing.failed
    assert [file.path for file in found.files] == ["a/x", "c/x"]
    assert found.skipped == [Skipped("b", SkipReason.VANISHED, "", True)]
    assert found.unreadable == []


def test_files_that_vanish_or_change_their_kind_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between listing a directory and looking at its entries one file goes, one becomes a link, one a directory."""
    write(tmp_path, "gone", "linked", "dir", "stays", "sub/x")

    def upset(listing: Any) -> Any:
        entries = list(listing)
        if any(entry.name == "gone" for entry in entries):
            for name in ("gone", "linked", "dir"):
                (tmp_path / name).unlink()
            (tmp_path / "linked").symlink_to("stays")
            (tmp_path / "dir").mkdir()
        return entries

    monkeypatch.setattr(walk_module, "islice", lambda listing, count: upset(listing))

    found = walk(str(tmp_path), DEFAULT)
    assert [file.path for file in found.files] == ["stays", "sub/x"]
    assert found.skipped == [Skipped(name, SkipReason.VANISHED) for name in ("dir", "gone", "linked")]


def test_a_directory_swapped_for_a_link_is_not_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was a directory when it was listed and is a link out of the tree when it is opened stays closed."""
    write(tmp_path, "root/sub/x", "outside/secret")
    real = os.open

    def swapping(path: Any, *args: Any, **kwargs: Any) -> int:
        if path == "sub":
            (tmp_path / "root/sub/x").unlink()
            (tmp_path / "root/sub").rmdir()
            (tmp_path / "root/sub").symlink_to(tmp_path / "outside")
        return real(path, *args, **kwargs)

    monkeypatch.setattr(walk_module.os, "open", swapping)

    found = walk(str(tmp_path / "root"), DEFAULT)
    assert found.files == []
    assert [item.reason for item in found.skipped] == [SkipReason.VANISHED]


def test_a_root_that_vanishes_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A root that goes while it is walked must not look like an empty tree."""
    root = tmp_path / "root"
    write(tmp_path, "root/a", "root/sub/b")
    real = os.scandir

    def moving(path: Any) -> Any:
        if root.exists():
            root.rename(tmp_path / "elsewhere")
        return real(path)

    monkeypatch.setattr(walk_module.os, "scandir", moving)

    with pytest.raises(SourceRejectedError, match="no such file or directory"):
        walk(str(root), DEFAULT)


@pytest.mark.parametrize("name", ["missing", "file.txt", "nul\0byte"])
def test_a_root_that_is_no_directory_is_an_error(tmp_path: Path, name: str) -> None:
    """One line that names the path."""
    write(tmp_path, "file.txt")

    with pytest.raises(SourceRejectedError, match="cannot read"):
        walk(str(tmp_path / name), DEFAULT)


def test_stable_files_survive_churn_beside_them(tmp_path: Path) -> None:
    """While another thread creates, renames and deletes, every file that stays is listed, every time."""
    stable = [f"stable/s{i:03d}" for i in range(50)]
    write(tmp_path, *stable, "churn/0/x")
    stop = threading.Event()

    def churn() -> None:
        turn = 0
        while not stop.is_set():
            turn += 1
            place = tmp_path / f"churn/{turn % 7}"
            write(tmp_path, f"churn/{turn % 7}/a", f"churn/{turn % 7}/b")
            (place / "a").rename(place / "c")
            for name in ("b", "c", "x"):
                (place / name).unlink(missing_ok=True)
            place.rmdir()
            place.write_text("a file now")
            place.unlink()

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(30):
            assert [path for path in paths(tmp_path) if path.startswith("stable/")] == stable
    finally:
        stop.set()
        thread.join()


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    """After a walk, and after one that a cap ended half way down."""
    write(tmp_path, "a/b/c/d", "e")
    before = len(os.listdir("/dev/fd"))

    walk(str(tmp_path), DEFAULT)
    with pytest.raises(SourceRejectedError):
        walk(str(tmp_path), limited(max_depth=3))
    assert len(os.listdir("/dev/fd")) == before


def test_one_file_named_outright(tmp_path: Path) -> None:
    """The path is its name; ignore files, default skips and patterns do not keep out what was named."""
    write(tmp_path, "build/a.txt")
    (tmp_path / ".gitignore").write_text("*.txt\n")
    status = (tmp_path / "build/a.txt").stat()

    file = walk_file(str(tmp_path / "build/a.txt"), IndexOptions(include=("*.md",)))
    assert file == ("a.txt", status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


@pytest.mark.parametrize("name", ["pipe", "link", "missing", "sub", ".env", "id_rsa", ".gitignore", "nul\0byte"])
def test_what_cannot_be_indexed_alone_is_an_error_that_names_it(tmp_path: Path, name: str) -> None:
    """A pipe, link, directory or secret named outright: refused at once, with its name."""
    os.mkfifo(tmp_path / "pipe")
    write(tmp_path, "sub/a", ".env", "id_rsa", ".gitignore")
    (tmp_path / "link").symlink_to("sub/a")

    with pytest.raises(UsageError) as caught:
        walk_file(str(tmp_path / name), DEFAULT)
    assert name in caught.value.message
