"""Streams as shells make them: readers that leave, full disks, closed descriptors, small code pages, silent stdin."""

import json
import os
import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.process import COMMAND, environment, on_terminal, ragcli


def shell(script: str, data: Path, cwd: Path, **more: str) -> subprocess.CompletedProcess[bytes]:
    """Run a bash script that knows the command line as `$RAGCLI`; its exit code is that of the producer in a pipe."""
    variables = environment(data, RAGCLI=shlex.join(COMMAND), **more)
    return subprocess.run(
        ["bash", "-c", script], cwd=cwd, env=variables, capture_output=True, timeout=60, stdin=subprocess.DEVNULL
    )


@pytest.mark.parametrize(
    "words",
    ["search kiwi -k 50", "search kiwi --json", "prompt kiwi", "index . --json", "list --files", "completion bash"],
)
def test_a_reader_that_leaves_is_no_error(words: str, tree: Path, data: Path) -> None:
    """It leaves at once, so that even the interpreter's last flush finds the pipe closed."""
    done = shell(f"$RAGCLI {words} | true; echo ${{PIPESTATUS[0]}}", data, tree)

    assert done.stdout == b"0\n"
    assert b"Traceback" not in done.stderr and b"BrokenPipe" not in done.stderr


def test_a_reader_that_leaves_a_run_with_worker_processes_is_no_error(tree: Path, tmp_path: Path) -> None:
    """Such a process takes itself apart at its end, and flushes once more."""
    done = shell("$RAGCLI index . --workers 2 --json | true; echo ${PIPESTATUS[0]}", tmp_path, tree)

    assert done.stdout == b"0\n"
    assert b"BrokenPipe" not in done.stderr


def test_a_reader_of_messages_that_leaves_is_no_error(tree: Path, data: Path) -> None:
    done = shell("$RAGCLI index . 2>&1 | true; echo ${PIPESTATUS[0]}", data, tree)

    assert (done.stdout, done.stderr) == (b"0\n", b"")


def test_a_closed_stdout_is_quiet_and_touches_no_file(tree: Path, data: Path) -> None:
    done = shell("$RAGCLI search kiwi >&-; echo $?; $RAGCLI search kiwi --json 2>&- >&-; echo $?", data, tree)

    assert (done.stdout, done.stderr) == (b"0\n0\n", b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("words", ["search kiwi", "search kiwi --json -k 50", "prompt kiwi", "--help"])
def test_a_full_disk_is_one_line_and_not_0(words: str, tree: Path, data: Path) -> None:
    done = shell(f"$RAGCLI {words} >/dev/full", data, tree)

    assert done.returncode == 2
    assert done.stderr == b"ragcli: cannot write the output: No space left on device\n"


SMALL = [
    {"PYTHONIOENCODING": "ascii"},
    {"PYTHONIOENCODING": "cp1252"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "COLUMNS": "20", "TERM": "dumb"},
]


@pytest.mark.parametrize("variables", SMALL)
def test_no_character_is_too_much_for_a_stream(variables: dict[str, str], tree: Path, data: Path) -> None:
    text = ragcli("search", "kiwi", "-k", "50", data=data, cwd=tree, **variables)
    values = ragcli("search", "kiwi", "--json", "-k", "50", data=data, cwd=tree, **variables)

    assert (text.returncode, text.stderr) == (0, b"")
    assert len({row.split(b":")[0] for row in text.stdout.splitlines()}) == 8
    assert b"dict[str] [/childKind] [bold red] [link=x] :warning: \\[" in text.stdout
    assert (values.returncode, values.stderr) == (0, b"")
    assert len({hit["file"] for hit in json.loads(values.stdout.decode("utf-8"))["results"]}) == 8


@pytest.mark.parametrize("variables", [{}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}])
def test_a_query_of_any_script_finds_under_any_locale(variables: dict[str, str], tree: Path, data: Path) -> None:
    done = ragcli("search", "漢".encode(), "--json", data=data, cwd=tree, **variables)

    value = json.loads(done.stdout)
    assert value["query"] == "漢"
    assert value["results"][0]["file"] == "guide.md"


def test_names_are_the_same_under_any_locale(tmp_path: Path) -> None:
    root = tmp_path / "t"
    root.mkdir()
    (root / "größe 🦊.md").write_text("papaya\n")
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert ragcli("index", ".", data=tmp_path / "d", cwd=root, **ascii_only).returncode == 0

    (hit,) = json.loads(ragcli("search", "papaya", "--json", data=tmp_path / "d", cwd=root).stdout)["results"]
    assert (hit["file"], hit["stale"]) == ("größe 🦊.md", False)
    plain = ragcli("search", "papaya", data=tmp_path / "d", cwd=root, **ascii_only)
    assert plain.stdout == b"gr\\xf6\\xdfe \\U0001f98a.md:1:papaya\n"


@pytest.mark.parametrize("words", [["search", "kiwi"], ["index", "."], ["status"], ["prompt", "kiwi"]])
def test_stdin_is_read_only_when_asked_for(words: list[str], tree: Path, data: Path) -> None:
    reader, writer = os.pipe()
    try:
        done = subprocess.run(
            [*COMMAND, *words], cwd=tree, env=environment(data), stdin=reader, capture_output=True, timeout=30
        )
    finally:
        os.close(writer)
        os.close(reader)

    assert done.returncode == 0


def test_stdin_as_question_and_as_document(tree: Path, tmp_path: Path) -> None:
    added = ragcli("add", "-s", "n", "-", data=tmp_path, cwd=tmp_path, stdin=b"a papaya \xff\xfe here")
    asked = ragcli("prompt", "-s", "n", "-", data=tmp_path, cwd=tmp_path, stdin="where is\nthe papaya? 漢\n".encode())
    empty = ragcli("add", "-s", "n", "-", data=tmp_path, cwd=tmp_path, stdin=b"")

    assert added.returncode == 0
    assert asked.stdout.decode().endswith("<tnsai-user-message>\nwhere is\nthe papaya? 漢\n</tnsai-user-message>\n")
    assert "a papaya \ufffd\ufffd here" in asked.stdout.decode()
    assert (empty.returncode, len(empty.stderr.splitlines())) == (2, 2)


def test_a_batch_answers_line_by_line_in_order(tree: Path, data: Path) -> None:
    queries = b"kiwi\nzzqqxx\ncheck token\n"
    done = ragcli("search", "--batch", "-k", "3", data=data, cwd=tree, stdin=queries)

    values = [json.loads(row) for row in done.stdout.splitlines()]
    assert [value["query"] for value in values] == ["kiwi", "zzqqxx", "check token"]
    assert [bool(value["results"]) for value in values] == [True, False, True]
    alone = json.loads(ragcli("search", "--json", "-k", "3", "kiwi", data=data, cwd=tree).stdout)
    assert values[0] == alone
    assert done.returncode == 0
    assert ragcli("search", "--batch", data=data, cwd=tree, stdin=b"zzqqxx\n").returncode == 1


def test_an_interrupt_is_130_without_a_traceback(data: Path, tree: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "search", "--batch"], cwd=tree, env=environment(data), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(b"kiwi\n")
    process.stdin.flush()
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)

    assert (process.returncode, err) == (130, b"")


def test_a_terminal_gets_blocks_with_only_our_own_colours(tree: Path, data: Path) -> None:
    code, shown = on_terminal("search", "kiwi", "-k", "50", data=data, cwd=tree)

    assert code == 0
    assert b"\x1b[1m1\x1b[0m. " in shown
    text = shown
    for sgr in (b"0", b"1", b"2", b"35", b"32", b"33", b"36", b"1;31"):
        text = text.replace(b"\x1b[" + sgr + b"m", b"")
    assert b"\x1b" not in text
    assert b"\x07" not in text and b"\xc2\x9b" not in text and "\u202e".encode() not in text
    assert b"\r" not in text.replace(b"\r\n", b"\n")
    assert b"esc\\x1b[31mname.txt" in text and b"new\\nline.md" in text
    assert b"dict[str] [/childKind]" in text


def test_a_question_in_a_file_does_not_drive_a_terminal(tree: Path, data: Path, tmp_path: Path) -> None:
    (tmp_path / "q").write_text("kiwi \x1b[2J?")
    _, shown = on_terminal("prompt", "-f", str(tmp_path / "q"), data=data, cwd=tree)
    piped = ragcli("prompt", "-f", str(tmp_path / "q"), data=data, cwd=tree)

    assert b"\x1b" not in shown and b"kiwi \\x1b[2J?" in shown
    assert b"\nkiwi \x1b[2J?\n" in piped.stdout


@pytest.mark.parametrize("variables", [{"NO_COLOR": "0"}, {"TERM": "dumb"}])
def test_a_terminal_that_wants_no_colour_gets_no_escape(variables: dict[str, str], tree: Path, data: Path) -> None:
    _, shown = on_terminal("search", "kiwi", data=data, cwd=tree, **variables)

    assert b"\x1b" not in shown
    assert b"1. " in shown


def test_a_pipe_gets_no_escape_even_where_colour_is_forced_for_terminals(tree: Path, data: Path) -> None:
    plain = ragcli("search", "kiwi", data=data, cwd=tree)
    forced = ragcli("search", "kiwi", data=data, cwd=tree, FORCE_COLOR="1")
    json_forced = ragcli("search", "kiwi", "--json", data=data, cwd=tree, FORCE_COLOR="1")

    assert b"\x1b" not in plain.stdout + plain.stderr + json_forced.stdout
    assert b"\x1b[1;31mkiwi\x1b[0m" in forced.stdout


def test_progress_is_shown_on_a_terminal_and_nowhere_else(tree: Path, tmp_path: Path) -> None:
    code, shown = on_terminal("index", ".", data=tmp_path / "a", cwd=tree)
    piped = ragcli("index", ".", data=tmp_path / "b", cwd=tree)

    assert code == 0
    assert b"Indexing" in shown and b"8 new" in shown
    assert piped.stdout == b"" and b"\x1b" not in piped.stderr and b"\r" not in piped.stderr


@pytest.mark.parametrize(("typed", "code"), [(b"y\n", 0), (b"n\n", 2), (b"\n", 2)])
def test_clear_asks_on_a_terminal(typed: bytes, code: int, tmp_path: Path) -> None:
    ragcli("add", "-s", "n", "text", data=tmp_path, cwd=tmp_path)
    ended, shown = on_terminal("clear", "-s", "n", data=tmp_path, cwd=tmp_path, typed=typed)

    assert ended == code
    assert b"[y/N]" in shown
    left = ragcli("list", "-s", "n", data=tmp_path, cwd=tmp_path).stdout
    assert bool(left) == (code != 0)


def test_a_narrow_terminal_breaks_no_path(tree: Path, data: Path) -> None:
    _, shown = on_terminal("search", "kiwi", "-k", "50", data=data, cwd=tree, columns=20)

    assert b"esc\\x1b[31mname.txt" in shown


def test_without_home_the_message_names_the_variable_to_set(tree: Path, tmp_path: Path) -> None:
    bare = {"RAGCLI_DATA_DIR": "", "HOME": "/nonexistent/home"}
    done = ragcli("search", "kiwi", data=tmp_path, cwd=tree, **bare)
    assert done.returncode == 3
    if os.geteuid() != 0:  # root writes anywhere
        done = ragcli("index", ".", data=tmp_path, cwd=tree, **bare)
        assert done.returncode == 2
        assert b"RAGCLI_DATA_DIR" in done.stderr


def test_a_working_directory_that_is_gone_is_one_line(data: Path, tmp_path: Path) -> None:
    done = shell("mkdir gone; cd gone; rmdir ../gone; $RAGCLI search kiwi", data, tmp_path)

    assert done.returncode == 2
    assert done.stderr.startswith(b"ragcli: the working directory is gone\nhint: ")


def test_a_bug_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    """A failure nobody thought of must not end with 1, which means that nothing was found."""
    script = (
        "import ragcli.cli.session_context as e, sys\n"
        "def boom(*a, **k): raise ZeroDivisionError('x\\ny')\n"
        "e.opened = boom\n"
        "from ragcli.cli.app import main\n"
        "sys.exit(main(['search', 'x']))\n"
    )
    done = subprocess.run(
        [COMMAND[0], "-c", script], cwd=tmp_path, env=environment(tmp_path), capture_output=True, timeout=60
    )

    assert done.returncode == 2
    assert done.stderr.decode().splitlines()[0] == "ragcli: internal error: ZeroDivisionError: x y"
    assert b"Traceback" not in done.stderr
