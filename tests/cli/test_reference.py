"""Completions and man pages are those of the live command tree, and work in the real shells."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ragcli.cli.app import COMMANDS, main
from ragcli.cli.reference.generate import generated
from tests.cli.process import PROJECT, environment


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A data directory with one session `notes` that holds one document; and the document's id."""
    data = tmp_path_factory.mktemp("notes")
    assert main(["-q", "add", "-s", "notes", "--data-dir", str(data), "a note"]) == 0
    script = shutil.which("ragcli", path=str(Path(sys.executable).parent))
    if script is None:
        pytest.skip("the entry script is not installed")
    done = subprocess.run(
        [script, "list", "-s", "notes"], env=environment(data), capture_output=True, check=True, timeout=60
    )
    return data, done.stdout.split()[0].decode()


def in_shell(shell: list[str], data: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        shell, cwd=PROJECT, env=environment(data, PATH=path), capture_output=True, timeout=60, stdin=subprocess.DEVNULL
    )
    assert done.stderr == b""
    return done.stdout.decode()


def bash(lines: list[list[str]], data: Path) -> list[set[str]]:
    script = ["source completions/ragcli.bash"]
    for line in lines:
        words = " ".join(map(shlex.quote, line))
        script += [f"COMP_WORDS=({words}); COMP_CWORD={len(line) - 1}; COMPREPLY=(); _ragcli; echo ${{COMPREPLY[@]}}"]
    return [set(row.split()) for row in in_shell(["bash", "--norc", "-c", "\n".join(script)], data).splitlines()]


def fish(lines: list[list[str]], data: Path) -> list[set[str]]:
    script = ["source completions/ragcli.fish"]
    for line in lines:
        script += [f"complete -C {shlex.quote(' '.join(line))} | string replace -r '\t.*' '' | string join ' '"]
    return [set(row.split()) for row in in_shell(["fish", "--no-config", "-c", "\n".join(script)], data).splitlines()]


def zsh(lines: list[list[str]], data: Path) -> list[set[str]]:
    """Type each line and a TAB into an interactive zsh, then a key that prints what the line has become."""
    script = """
        zmodload zsh/zpty
        zpty z 'TERM=dumb zsh -f -i'
        zpty -w z "PS1=; fpath=(completions \\$fpath); autoload -Uz compinit; compinit -u -D"
        zpty -w z "shown() { print -r -- '<<'\\$BUFFER'>>'; BUFFER= }; zle -N shown; bindkey '^X' shown"
        zpty -w z "print -r READ''Y"
        until [[ $out == *READY* ]]; do zpty -r z chunk; out+=$chunk; done
        for line in "$@"; do
            zpty -n -w z $line$'\\t'$'\\C-x'
            out=; until [[ $out == *'<<'*'>>'* ]]; do zpty -r z chunk; out+=$chunk; done
            print -r -- ${${out##*'<<'}%'>>'*}
        done
        zpty -d z"""
    typed = [" ".join(line) for line in lines]
    rows = in_shell(["zsh", "-f", "-c", script.replace("\\\\", "\\"), "zsh", *typed], data).splitlines()
    return [set(row.split()[-1:]) for row in rows]


SHELLS = {"bash": bash, "fish": fish, "zsh": zsh}


def test_the_files_in_the_project_are_the_generated_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """If this fails run: python -m ragcli.cli.reference.generate"""
    monkeypatch.setenv("COLUMNS", "80")
    files = generated()

    for name, text in files.items():
        assert (PROJECT / name).read_text(encoding="utf-8") == text, name
    assert {f"man/{path.name}" for path in (PROJECT / "man").glob("*")} == {n for n in files if n.startswith("man/")}


def test_what_is_generated_does_not_depend_on_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for columns in ("40", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        made.append(generated())

    assert made[0] == made[1]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_script_is_valid_and_names_every_command_and_option(shell: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capfd.readouterr().out

    for command in COMMANDS:
        assert command in script
    for option in ("max-per-file", "no-default-skips", "extraction-seconds", "data-dir", "rebuild"):
        assert option in script
    if shutil.which(shell):
        done = subprocess.run([shell, "-n"], input=script.encode(), capture_output=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, b"")


LINES = [
    (["ragcli", "se"], {"search"}),
    (["ragcli", "-s", "no"], {"notes"}),
    (["ragcli", "search", "--session", "no"], {"notes"}),
    (["ragcli", "search", "--max-p"], {"--max-per-file"}),
    (["ragcli", "search", "--format", "PD"], {"PDF"}),
    (["ragcli", "index", "--limits", "str"], {"strict"}),
    (["ragcli", "completion", "fi"], {"fish"}),
]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_tab_completes_in_the_real_shell(shell: str, notes: tuple[Path, str]) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    data, id = notes
    cases = [*LINES, (["ragcli", "rm", "-s", "notes", id[:2]], {id})]
    offered = SHELLS[shell]([line for line, _ in cases], data)

    assert [words for _, words in cases] == [words & given for (_, words), given in zip(cases, offered, strict=True)]


@pytest.mark.parametrize("kind", ["sessions", "documents", "languages"])
def test_a_tab_never_fails(kind: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "--values", kind, "-s", "nobody", "--data-dir", str(tmp_path / "none")]) == 0

    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")


@pytest.mark.parametrize("page", sorted(path.name for path in (PROJECT / "man").glob("*.1")))
def test_each_man_page_formats_without_a_warning(page: str) -> None:
    if shutil.which("groff") is None or shutil.which("man") is None:
        pytest.skip("man is not installed")
    done = subprocess.run(
        ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", str(PROJECT / "man" / page)],
        capture_output=True, timeout=60, env={**os.environ, "MANPAGER": "cat", "MANWIDTH": "80"},
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, b"")
    text = re.sub(".\b", "", done.stdout.decode())  # bold is overstruck
    for heading in ("NAME", "SYNOPSIS", "OPTIONS OF EVERY COMMAND", "EXIT STATUS", "SEE ALSO"):
        assert f"\n{heading}\n" in text
