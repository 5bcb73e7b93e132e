"""Output that is never cut short in silence, files that are read or refused, and trees with odd company."""

import errno
import os
import pty
import select
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from tests.cases import REPOSITORY, run
from tests.engine import write
from tests.office_files import docx, paragraph

NO_SETTINGS = [
    None, b"[tool.ragcli]\nk = = 3\n", "k = 3 # ragcli é".encode("latin-1"), "\ufeffk = 3 # ragcli\n".encode("utf-16"),
    b"k = 0x" + b"f" * 4000 + b" # ragcli",
]  # fmt: skip
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("RAGCLI_")}


@pytest.fixture(scope="module")
def much(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree with a search of several pipes full, and its data directory beside it."""
    base = tmp_path_factory.mktemp("much")
    write(base / "tree", {f"f{n:04}.txt": f"zqnb {'word ' * 40}{n}\n" for n in range(600)})
    assert run("index", "-q", str(base / "tree"), data=base / "data").code == 0
    return base


def command(much: Path, *words: str, **variables: str) -> tuple[list[str], dict[str, object]]:
    environment = {**ENVIRONMENT, "PYTHONPATH": str(REPOSITORY), "RAGCLI_DATA_DIR": str(much / "data"), **variables}
    return [sys.executable, "-m", "ragcli", *words], {"cwd": much / "tree", "env": environment}


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["search", "--json", "-k", "600", "zqnb"], ["prompt", "-k", "600", "zqnb"]])
def test_half_an_answer_is_never_a_success(much: Path, tmp_path: Path, unbuffered: str, words: list[str]) -> None:
    arguments, where = command(much, *words, PYTHONUNBUFFERED=unbuffered)
    with open(tmp_path / "out", "wb") as out:
        limited = ["bash", "-c", 'ulimit -f 64; exec "$@"', "bash", *arguments]
        done = subprocess.run(limited, stdout=out, stderr=subprocess.PIPE, timeout=100, **where)

    assert done.returncode == 2 and b"cannot write the output" in done.stderr
    assert (tmp_path / "out").stat().st_size == 65536


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["search", "--json", "-k", "600", "zqnb"], ["list", "--files"], ["export", "-"]])
def test_a_slow_reader_of_a_pipe_that_does_not_block_has_every_byte(
    much: Path, unbuffered: str, words: list[str]
) -> None:
    arguments, where = command(much, *words, PYTHONUNBUFFERED=unbuffered)
    whole = subprocess.run(arguments, capture_output=True, timeout=100, check=True, **where).stdout
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    process = subprocess.Popen(arguments, stdout=writing, stderr=subprocess.PIPE, **where)
    os.close(writing)
    select.select([reading], [], [], 60)
    time.sleep(0.3)  # let it run into the full pipe
    with open(reading, "rb") as pipe:
        found = pipe.read()
    _, errors = process.communicate(timeout=60)

    assert (process.returncode, errors) == (0, b"")
    assert len(found) == len(whole) > 10_000


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_the_cursor_comes_back_whatever_ends_a_run(tmp_path: Path, number: signal.Signals) -> None:
    tree = write(tmp_path / "tree", {f"f{n}.md": "# a\n\n" + "word " * 400 for n in range(1500)})
    master, slave = pty.openpty()
    environment = {
        **ENVIRONMENT,
        "PYTHONPATH": str(REPOSITORY),
        "TERM": "xterm",
        "RAGCLI_DATA_DIR": str(tmp_path / "d"),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "ragcli", "index", "--workers", "1", str(tree)], stdin=slave, stdout=slave,
        stderr=slave, env=environment, start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    shown = b""
    sent = False
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
        if not sent and b"\x1b[?25l" in shown:
            process.send_signal(number)
            sent = True
    process.wait(timeout=60)
    os.close(master)

    assert sent and shown.rfind(b"\x1b[?25h") > shown.rfind(b"\x1b[?25l")
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    assert b"Traceback" not in shown


def test_an_interrupt_during_imports_is_130_in_silence() -> None:
    """The import of the command line is held up, and interrupted there."""
    slow = textwrap.dedent("""
        import importlib.abc, os, signal, sys, time
        class Held(importlib.abc.MetaPathFinder):
            def find_spec(self, name, path, target=None):
                if name == "ragcli.cli.app":
                    os.kill(os.getpid(), signal.SIGINT)
                    time.sleep(5)
        sys.meta_path.insert(0, Held())
        sys.argv = ["ragcli", "search", "x"]
        from ragcli.__main__ import main
        sys.exit(main())
    """)
    done = subprocess.run(
        [sys.executable, "-c", slow],
        capture_output=True,
        timeout=60,
        env={**ENVIRONMENT, "PYTHONPATH": str(REPOSITORY)},
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_an_export_never_replaces_what_is_no_regular_file(much: Path, tmp_path: Path) -> None:
    session = run("status", "--json", data=much / "data", cwd=much / "tree").json()["session"]

    def export(target: str) -> object:
        return run("export", "-s", session, target, data=much / "data", cwd=tmp_path)

    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(fifo.read_bytes()))
    reader.start()
    assert export("fifo").code == 0  # type: ignore[attr-defined]
    reader.join(60)
    assert fifo.is_fifo() and len(read[0]) > 10_000
    assert export("/dev/null").code == 0 and Path("/dev/null").is_char_device()  # type: ignore[attr-defined]

    (tmp_path / "real.tar").write_bytes(b"old")
    (tmp_path / "link.tar").symlink_to("real.tar")
    assert export("link.tar").code == 0  # type: ignore[attr-defined]
    assert (tmp_path / "link.tar").is_symlink() and (tmp_path / "real.tar").read_bytes() == read[0]

    for name in (".", f"{tmp_path}/", str(tmp_path)):
        done = export(name)
        assert done.code == 2 and "is a directory" in done.err  # type: ignore[attr-defined]


@pytest.mark.parametrize("kept", [0, 100, 511, 1024, 5000, 20_000])
def test_an_export_that_was_cut_is_refused(much: Path, tmp_path: Path, kept: int) -> None:
    whole = tmp_path / "whole.tar"
    assert run("export", str(whole), data=much / "data", cwd=much / "tree").code == 0
    cut = tmp_path / "cut.tar"
    cut.write_bytes(whole.read_bytes()[:kept])

    done = run("import", "-s", "new", str(cut), data=tmp_path / "d")
    assert done.code in (2, 5) and "internal" not in done.err


def test_a_file_is_added_as_the_index_reads_it_or_refused(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {"a.txt": "x\n"})
    data = tmp_path / "data"
    assert run("index", str(tree), data=data).code == 0
    (tmp_path / "letter.docx").write_bytes(docx(paragraph("zqletter inside the document")))
    (tmp_path / "latin.txt").write_bytes("zqlatin un café très noir\n".encode("latin-1"))
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    (tmp_path / "broken.docx").write_bytes(b"PK\x03\x04 not a package")

    for name, word in (("letter.docx", "zqletter"), ("latin.txt", "café")):
        assert run("add", "--file", str(tmp_path / name), data=data, cwd=tree).code == 0
        found = run("search", word, "--json", data=data, cwd=tree).json()["results"]
        assert word in found[0]["content"] and "\ufffd" not in found[0]["content"]
    for name in ("picture.png", "broken.docx", "missing.txt"):
        done = run("add", "--file", str(tmp_path / name), data=data, cwd=tree)
        assert done.code == 2 and "hint:" in done.err
    assert len(run("list", "--json", data=data, cwd=tree).json()["documents"]) == 2


@pytest.mark.parametrize("name", ["ragcli.toml", "pyproject.toml"])
@pytest.mark.parametrize("content", NO_SETTINGS)
def test_a_settings_file_that_is_none_is_a_notice_and_no_end(tmp_path: Path, name: str, content: bytes | None) -> None:
    tree = write(tmp_path / "tree", {"a.txt": "zqsettings\n"})
    if content is None:
        (tree / name).mkdir()
    else:
        (tree / name).write_bytes(content)
    indexed = run("index", ".", data=tmp_path / "d", cwd=tree)
    if content is not None and b"0x" in content and name == "ragcli.toml":
        # Sound TOML of ours with a value that cannot be: told as any other wrong value is.
        assert indexed.code == 2 and "very many digits" in indexed.err
        return
    assert indexed.code == 0
    assert run("search", "zqsettings", data=tmp_path / "d", cwd=tree).code == 0


def test_a_tilde_is_the_home_wherever_a_path_is_given(tmp_path: Path) -> None:
    home = write(tmp_path / "home", {"tree/a.txt": "zqtilde\n", "note.txt": "zqnote\n", "question.txt": "zqtilde"})
    (home / "config.toml").write_text('data_dir = "~/index"\n')
    here = {"data": tmp_path, "cwd": home, "HOME": str(home), "RAGCLI_DATA_DIR": "", "RAGCLI_CONFIG": "~/config.toml"}

    assert run("index", "~/tree", **here).code == 0  # type: ignore[arg-type]
    assert (home / "index" / "sessions").is_dir()
    there = {**here, "cwd": home / "tree"}
    assert run("add", "--file=~/note.txt", **there).code == 0  # type: ignore[arg-type]
    assert run("search", "zqnote", **there).code == 0  # type: ignore[arg-type]
    assert b"<tnsai-memory>" in run("prompt", "--file=~/question.txt", **there).out  # type: ignore[arg-type]
    assert run("export", "~/session.tar", **there).code == 0 and (home / "session.tar").is_file()  # type: ignore[arg-type]
    assert run("import", "-s", "other", "~/session.tar", **there).code == 0  # type: ignore[arg-type]
    assert run("status", "--data-dir=~/index", "--all", **there).code == 0  # type: ignore[arg-type]


def test_company_of_documents_is_skipped_with_a_reason_and_fails_no_strict_run(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {"a.txt": "zqcompany\n", ".gitignore": "", "photo.docx": ""})
    (tree / "~$letter.docx").write_bytes(b"\x05ada" + bytes(50))
    (tree / ".~lock.sheet.xlsx#").write_bytes(b"ada,host")
    (tree / "._letter.docx").write_bytes(b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X" + bytes(60))
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'4d' * 32}\nsize 12345\n"
    (tree / "photo.docx").write_text(pointer)
    (tree / ".gitignore").write_bytes("\ufeff*.log\n".encode("utf-16"))

    done = run("index", "--strict", ".", data=tmp_path / "d", cwd=tree)
    assert done.code == 0 and ".gitignore is UTF-16" in done.err
    listed = run("list", "--skipped", "--json", data=tmp_path / "d", cwd=tree).json()["files"]
    assert {(one["file"], one["code"]) for one in listed} >= {
        ("~$letter.docx", "lock-file"), (".~lock.sheet.xlsx#", "lock-file"), ("._letter.docx", "apple-double"),
        ("photo.docx", "lfs-pointer"),
    }  # fmt: skip


def test_a_first_index_of_a_home_wants_a_yes(tmp_path: Path) -> None:
    home = write(tmp_path / "home", {"a.txt": "zqhome\n"})
    where = {"data": tmp_path / "d", "cwd": home, "HOME": str(home)}

    refused = run("index", ".", **where)  # type: ignore[arg-type]
    assert refused.code == 2 and "home directory" in refused.err and "--yes" in refused.err
    assert run("index", "/", **where).code == 2  # type: ignore[arg-type]
    assert run("index", ".", "--yes", **where).code == 0  # type: ignore[arg-type]
    assert run("index", ".", **where).code == 0  # type: ignore[arg-type]


DRIVER = """
import errno, fcntl, os, stat, sys, time
what, held = sys.argv[1], float(sys.argv[2])
real_fsync = os.fsync
def no_flock(*_):
    raise OSError(errno.ENOSYS, "Function not implemented")
def fsync(descriptor):
    if what == "flock" and held:
        time.sleep(held)
    if what == "fsync" and stat.S_ISDIR(os.fstat(descriptor).st_mode):
        raise OSError(errno.EINVAL, "Invalid argument")
    if what == "eio" and stat.S_ISDIR(os.fstat(descriptor).st_mode):
        raise OSError(errno.EIO, "Input/output error")
    return real_fsync(descriptor)
os.fsync = fsync
if what == "flock":
    fcntl.flock = no_flock
from ragcli.cli.app import main
sys.exit(main(sys.argv[3:]))
"""


def driven(base: Path, what: str, held: float, *words: str) -> subprocess.Popen[bytes]:
    environment = {**ENVIRONMENT, "PYTHONPATH": str(REPOSITORY), "RAGCLI_DATA_DIR": str(base / "data")}
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, what, str(held), *words], env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip


def test_a_file_system_that_cannot_sync_directories_holds_an_index(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {"a.txt": "zqsync\n"})

    fine = driven(tmp_path, "fsync", 0, "index", str(tree))
    assert (fine.communicate(timeout=60)[1].count(b"cannot write"), fine.returncode) == (0, 0)
    write(tree, {"b.txt": "more\n"})
    broken = driven(tmp_path, "eio", 0, "index", str(tree))
    broken.communicate(timeout=60)
    assert broken.returncode != 0, errno.errorcode[errno.EIO]


def test_writers_exclude_each_other_without_kernel_locks(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {"a.txt": "zqlock\n"})
    first = driven(tmp_path, "flock", 1.5, "index", str(tree))
    held = None
    end = time.monotonic() + 30
    while held is None and time.monotonic() < end:
        held = next((tmp_path / "data").glob("sessions/*/lock.held"), None)
        time.sleep(0.02)
    assert held is not None
    second = driven(tmp_path, "flock", 0, "index", "--wait", "0", str(tree))
    _, errors = second.communicate(timeout=60)
    _, complaints = first.communicate(timeout=90)

    assert second.returncode == 4 and b"is being written by" in errors
    assert (first.returncode, b"Warning" in complaints + errors) == (0, False)
    assert run("search", "zqlock", data=tmp_path / "data", cwd=tree).code == 0
    third = driven(tmp_path, "flock", 0, "index", "--wait", "0", str(tree))
    third.communicate(timeout=60)
    assert third.returncode == 0
