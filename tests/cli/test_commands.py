"""What each command answers, through the real engine: sessions, forms of output, exit codes, hints."""

import base64
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from ragcli.errors import UsageError
from ragcli.model import SearchOutcome
from ragcli.session.service import RagService
from tests.cli.conftest import Run
from tests.cli.process import ragcli
from tests.test_concurrency import held


def hits(out: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(out)["results"]
    return found


def test_index_tells_what_it_did_on_stderr_and_nothing_on_stdout(run: Run, tree: Path, tmp_path: Path) -> None:
    answer = run("index", tree, data=tmp_path / "d", cwd=tmp_path)

    assert (answer.code, answer.out) == (0, "")
    assert "8 new, 0 changed, 0 kept, 0 gone" in answer.err
    assert "[x].pdf: EXTRACTION" in answer.err
    assert "build 1 (see --no-default-skips)" in answer.err


def test_a_second_index_keeps_everything_and_says_so(run: Run, tree: Path, data: Path) -> None:
    answer = run("index", data=data, cwd=tree / "src")

    assert answer.code == 0
    assert "0 new, 0 changed, 8 kept, 0 gone" in answer.err
    assert "nothing changed" in answer.err


def test_index_json_is_one_object(run: Run, tree: Path, data: Path) -> None:
    answer = run("--json", "index", tree, data=data, cwd=tree)

    value = json.loads(answer.out)
    assert value["schema"] == 1
    assert value["files"]["kept"] == 8
    assert [row["file"] for row in value["failed"]] == ["[x].pdf"]


def test_options_of_index_are_remembered_and_replaced(run: Run, tree: Path, tmp_path: Path) -> None:
    where = {"data": tmp_path / "d", "cwd": tree}
    assert "3 new" in run("index", tree, "--include", "/*.md", **where).err
    assert "3 kept" in run("index", **where).err
    assert "1 new, 0 changed, 0 kept, 3 gone" in run("index", "--include", "src/*.py", **where).err


def test_a_pattern_that_matches_nothing_earns_a_hint(run: Run, tree: Path, tmp_path: Path) -> None:
    answer = run("index", tree, "--include", "*.rs", data=tmp_path / "d", cwd=tree)

    assert answer.code == 2
    assert "no file matches --include" in answer.err
    for option, pattern in (("--include", "*.rs"), ("--exclude", "nosuch/**"), ("--exclude", "/auth.py")):
        told = run("index", tree, "--include", "*.py", option, pattern, data=tmp_path / "d", cwd=tree)
        assert told.code == 0 and f"{option} {pattern} matches no file" in told.err


@pytest.mark.parametrize("pattern", ["sub", "./src/sub", "src/sub", "sub/", "deep.*", "src/**/deep.md"])
def test_an_exclude_means_what_it_means_in_a_gitignore(run: Run, tree: Path, tmp_path: Path, pattern: str) -> None:
    answer = run("index", tree, "--exclude", pattern, data=tmp_path / "d", cwd=tree)

    assert answer.code == 0 and "matches no file" not in answer.err
    assert "src/sub/deep.md" not in run("list", "--files", data=tmp_path / "d", cwd=tree).out


def test_a_dry_run_writes_nothing(run: Run, tree: Path, tmp_path: Path) -> None:
    answer = run("index", tree, "--dry-run", data=tmp_path / "d", cwd=tree)

    assert answer.code == 0
    assert "Would index" in answer.err and "9 new" in answer.err  # the broken file is not read
    assert not list(tmp_path.glob("d/sessions/*/*.manifest"))


def test_strict_commits_nothing_and_exits_6(run: Run, tree: Path, tmp_path: Path) -> None:
    where = {"data": tmp_path / "d", "cwd": tree}
    assert run("index", tree, "--strict", **where).code == 6
    assert run("search", "kiwi", **where).code == 3


def test_limits_are_flags_by_number(run: Run, tree: Path, tmp_path: Path) -> None:
    answer = run("index", tree, "--max-files", "2", data=tmp_path / "d", cwd=tree)

    assert answer.code == 2
    assert "max-files" in answer.err


def test_results_in_a_pipe_are_path_line_text(run: Run, tree: Path, data: Path) -> None:
    answer = run("search", "kiwi", "-k", "50", data=data, cwd=tree / "src")

    assert answer.code == 0
    rows = answer.out.splitlines()
    assert "sub/deep.md:3:A kiwi below, with use of --cold-boot or -amber." in rows
    assert any(row.startswith("../new\\nline.md:1:") for row in rows)
    assert any(row.startswith("../n_\\xe9.txt:1:") for row in rows)
    assert "\x1b" not in answer.out
    assert len({row.split(":")[0] for row in rows}) == 8


def test_a_name_that_begins_with_a_dash_is_safe_behind_xargs(run: Run, tree: Path, data: Path) -> None:
    assert "./-rf.md" in run("search", "-l", "kiwi", "-k", "50", data=data, cwd=tree).out.splitlines()


def test_paths_ended_with_nul_are_the_names_on_disk(tree: Path, data: Path) -> None:
    done = ragcli("search", "-l0", "-k50", "kiwi", data=data, cwd=tree)

    names = done.stdout.split(b"\0")[:-1]
    assert len(names) == 8
    assert all(os.path.exists(os.path.join(os.fsencode(tree), name)) for name in names)


def test_json_keeps_every_name_exactly(run: Run, tree: Path, data: Path) -> None:
    answer = run("search", "--json", "kiwi", "-k", "50", data=data, cwd=tree / "src")

    value = json.loads(answer.out)
    assert list(value) == ["schema", "query", "session", "root", "generation", "results", "degraded"]
    assert value["root"] == str(tree)
    names = {
        base64.b64decode(hit["file_bytes"]) if "file_bytes" in hit else os.fsencode(hit["file"])
        for hit in value["results"]
    }
    assert names == {
        os.fsencode(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()
    } - {b"[x].pdf", b"build/made.md"}  # fmt: skip
    assert [hit["file"] for hit in value["results"] if "file_bytes" in hit] == [os.fsdecode(b"n_\xe9.txt")]
    (escaped,) = [hit for hit in value["results"] if "esc" in str(hit["file"])]
    assert "\x1b[2J" in escaped["content"]
    assert "\\u001b[2J" in answer.out
    assert "\u202e" not in answer.out


def test_json_lines_are_one_complete_object_a_hit(run: Run, tree: Path, data: Path) -> None:
    rows = run("search", "--jsonl", "kiwi", "-k", "4", data=data, cwd=tree).out.splitlines()

    values = [json.loads(row) for row in rows]
    assert [value["rank"] for value in values] == [1, 2, 3, 4]
    assert {value["root"] for value in values} == {str(tree)}


def test_filters_choose_files(run: Run, tree: Path, data: Path) -> None:
    def found(*words: str) -> set[object]:
        return {hit["file"] for hit in hits(run("search", "kiwi", "--json", *words, data=data, cwd=tree).out)}

    assert found("-t", "python") == {"src/auth.py"}
    assert found("-g", "src/**") == {"src/auth.py", "src/sub/deep.md"}
    assert found("-g", "*.md", "-g", "!guide.md", "--format", "markdown") >= {"-rf.md"}
    assert "guide.md" not in found("-g", "*.md", "-g", "!guide.md")


@pytest.mark.parametrize("before", [True, False])
def test_shared_options_stand_before_or_behind_the_command(run: Run, tree: Path, data: Path, before: bool) -> None:
    shared = ["--json", "--color", "never", "-v"]
    words = [*shared, "search", "kiwi"] if before else ["search", "kiwi", *shared]

    assert hits(run(*words, data=data, cwd=tree).out)


def test_exit_codes_differ_by_what_happened(run: Run, tree: Path, data: Path, tmp_path: Path) -> None:
    where = {"data": data, "cwd": tree}
    assert run("search", "kiwi", **where).code == 0
    assert run("search", "zzqqxx", **where).code == 1
    assert run("search", "--no-such-option", **where).code == 2
    assert run("search", "-k", "0", "kiwi", **where).code == 2
    assert run("index", "no-such-directory", **where).code == 2
    assert run("search", "kiwi", data=data, cwd=tmp_path).code == 3
    assert run("search", "-s", "nobody", "kiwi", **where).code == 3
    assert run("rm", "ffffffffffff", **where).code == 3
    assert run("show", "no/such/file", **where).code == 3


def test_quiet_search_answers_by_its_exit_code_alone(run: Run, tree: Path, data: Path) -> None:
    assert run("search", "-q", "kiwi", data=data, cwd=tree) == (0, "", "")
    assert run("search", "-q", "zzqqxx", data=data, cwd=tree) == (1, "", "")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["serach", "x"], "did you mean: ragcli search"),
        (["search"], "ragcli search --help"),
        (["search", "--cold-boot"], "go behind --"),
        (["search", "--json", "--plain", "x"], "exclude each other"),
        (["search", "-0", "x"], "-0 goes with -l"),
        (["search", "--color", "sometimes", "x"], "auto, always, never"),
        (["index", "--format", "WORD", "."], "AUTO"),
        (["clear"], "--yes"),
        (["add", "text", "--meta", "novalue"], "KEY=VALUE"),
        (["completion", "tcsh"], "bash, zsh, fish"),
        (["--nonsense"], "ragcli --help"),
    ],
)
def test_wrong_usage_is_one_line_and_a_hint(run: Run, tree: Path, data: Path, words: list[str], told: str) -> None:
    answer = run(*words, data=data, cwd=tree)

    assert (answer.code, answer.out) == (2, "")
    first, second = answer.err.splitlines()
    assert first.startswith("ragcli: ")
    assert second.startswith("hint: ")
    assert told in answer.err


@pytest.mark.parametrize("query", ["--cold-boot", "-amber"])
def test_a_query_behind_two_dashes_may_begin_with_one(run: Run, tree: Path, data: Path, query: str) -> None:
    assert hits(run("search", "--json", "--", query, data=data, cwd=tree).out)[0]["file"] == "src/sub/deep.md"


def test_added_documents_from_words_files_and_with_metadata(run: Run, tree: Path, tmp_path: Path) -> None:
    where = {"data": tmp_path / "d", "cwd": tmp_path}
    (tmp_path / "note.txt").write_bytes(b"\xef\xbb\xbfa note with a papaya \xff\n")
    first = run("add", "-s", "notes", "a mango", "and more", "--meta", "author=Ada", **where).out.strip()
    second = json.loads(run("add", "-s", "notes", "--file", "note.txt", "--json", **where).out)
    again = json.loads(run("add", "-s", "notes", "--file", "note.txt", "--json", **where).out)

    assert second["created"] and not again["created"] and second["id"] == again["id"]
    listed = json.loads(run("list", "-s", "notes", "--json", **where).out)["documents"]
    assert {row["id"]: row["metadata"] for row in listed} == {first: {"author": "Ada"}, second["id"]: {}}
    assert run("search", "-s", "notes", "papaya", **where).out.startswith(f"<{second['id']}>:1:a note with a papaya")
    assert run("show", "-s", "notes", first[:6], "--text", **where).out == "a mango and more"
    assert run("show", "-s", "notes", f"<{first}>", "--text", **where).out == "a mango and more"
    assert run("rm", "-s", "notes", first[:6], **where).code == 0
    assert run("search", "-s", "notes", "mango", **where).code == 1


def test_show_takes_paths_of_the_root_and_of_the_working_directory(run: Run, tree: Path, data: Path) -> None:
    text = (tree / "src/sub/deep.md").read_text()

    for cwd, name in ((tree, "src/sub/deep.md"), (tree / "src", "sub/deep.md"), (tree / "src", "src/sub/deep.md")):
        assert run("show", name, "--text", data=data, cwd=cwd).out == text
    value = json.loads(run("show", "src/auth.py", "--json", data=data, cwd=tree).out)
    assert "".join(chunk["content"] for chunk in value["chunks"]) == (tree / "src/auth.py").read_text()
    assert value["chunks"][0]["symbol"] == "check_token"


def test_list_names_failed_and_skipped_with_the_reason(run: Run, tree: Path, data: Path) -> None:
    value = json.loads(run("list", "--failed", "--skipped", "--json", data=data, cwd=tree).out)

    assert [(row["file"], row["status"]) for row in value["files"]] == [("[x].pdf", "failed"), ("build", "skipped")]
    assert len(json.loads(run("list", "--files", "--json", data=data, cwd=tree).out)["files"]) == 8


def test_clear_empties_and_remove_deletes(run: Run, tree: Path, tmp_path: Path) -> None:
    where = {"data": tmp_path / "d", "cwd": tmp_path}
    run("index", "-s", "one", tree, "-q", **where)
    assert run("clear", "-s", "one", **where).code == 2
    assert run("clear", "-s", "one", "--yes", **where).code == 0
    assert json.loads(run("status", "-s", "one", "--json", **where).out)["files"] == 0
    assert run("clear", "-s", "one", "--yes", "--remove", **where).code == 0
    assert run("status", "-s", "one", **where).code == 3
    assert json.loads(run("status", "--all", "--json", **where).out)["sessions"] == []


def test_an_exported_session_answers_elsewhere_as_at_home(run: Run, tree: Path, data: Path, tmp_path: Path) -> None:
    there = {"data": tmp_path / "other", "cwd": tmp_path}
    assert run("export", tmp_path / "s.tar", data=data, cwd=tree).code == 0
    assert run("import", "-s", "copy", tmp_path / "s.tar", **there).code == 0

    here = hits(run("search", "--json", "kiwi", data=data, cwd=tree).out)
    copied = hits(run("search", "--json", "-s", "copy", "kiwi", **there).out)
    assert [(hit["id"], hit["score"]) for hit in copied] == [(hit["id"], hit["score"]) for hit in here]


def test_the_prompt_quotes_and_lists_its_evidence(run: Run, tree: Path, data: Path) -> None:
    answer = run("prompt", "-v", "where", "is", "the", "kiwi?", "-k", "2", data=data, cwd=tree)

    assert answer.code == 0
    assert answer.out.startswith("<tnsai-memory>\n<evidence>\n")
    assert answer.out.endswith("\n<tnsai-user-message>\nwhere is the kiwi?\n</tnsai-user-message>\n")
    assert "2 pieces of evidence" in answer.err
    value = json.loads(run("prompt", "--json", "where is the kiwi?", "-k", "2", data=data, cwd=tree).out)
    assert value["prompt"] + "\n" == answer.out
    assert len(value["evidence"]) == 2


def test_a_prompt_without_evidence_is_the_question(run: Run, tree: Path, data: Path, tmp_path: Path) -> None:
    (tmp_path / "question").write_text("zzqqxx?\n")
    answer = run("prompt", "-f", tmp_path / "question", data=data, cwd=tree)

    assert (answer.code, answer.out) == (0, "zzqqxx?\n")
    assert "the question alone" in answer.err
    assert run("prompt", "-q", "kiwi", "--max-tokens", "8", data=data, cwd=tree) == (0, "kiwi\n", "")
    assert run("prompt", "kiwi", "--max-tokens", "1", data=data, cwd=tree).code == 2


def test_fresh_finds_what_was_written_since(run: Run, tmp_path: Path) -> None:
    root, where = tmp_path / "t", {"data": tmp_path / "d", "cwd": tmp_path / "t"}
    root.mkdir()
    (root / "a.md").write_text("apple\n")
    run("index", root, "-q", **where)
    (root / "b.md").write_text("banana\n")

    assert run("search", "banana", **where).code == 1
    assert run("search", "--fresh", "banana", **where).out == "b.md:1:banana\n"


def test_a_changed_file_is_marked_stale(run: Run, tmp_path: Path) -> None:
    root, where = tmp_path / "t", {"data": tmp_path / "d", "cwd": tmp_path / "t"}
    root.mkdir()
    (root / "a.md").write_text("apple\n")
    run("index", root, "-q", **where)
    assert hits(run("search", "apple", "--json", **where).out)[0]["stale"] is False
    (root / "a.md").write_text("apple and more\n")

    assert hits(run("search", "apple", "--json", **where).out)[0]["stale"] is True
    assert "(changed since indexed)" in run("search", "apple", "--pretty", **where).out


def test_config_shows_each_value_and_its_origin(
    run: Run, tree: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGCLI_K", "7")
    answer = run("config", "--json", data=data, cwd=tree)

    rows = {row["key"]: row for row in json.loads(answer.out)["settings"]}
    assert rows["k"] == {"key": "k", "value": 7, "origin": "RAGCLI_K"}
    assert rows["max_per_file"]["origin"] == "default"
    assert "k                        = 7  # RAGCLI_K" in run("config", data=data, cwd=tree).out
    assert len(hits(run("search", "--json", "kiwi", data=data, cwd=tree).out)) == 7


def test_a_project_file_sets_what_it_may(run: Run, tmp_path: Path) -> None:
    root, where = tmp_path / "t", {"data": tmp_path / "d", "cwd": tmp_path / "t"}
    root.mkdir()
    for name in "abc":
        (root / f"{name}.md").write_text(f"apple {name}\n")
    (root / "ragcli.toml").write_text('k = 2\ninclude = ["*.md"]\n')
    run("index", root, "-q", **where)

    assert len(hits(run("search", "apple", "--json", **where).out)) == 2
    assert len(hits(run("search", "apple", "--json", "-k", "3", **where).out)) == 3
    (root / "ragcli.toml").write_text("k = 2\nkk = 3\n")
    answer = run("search", "apple", **where)
    assert answer.code == 2
    assert "ragcli.toml:2" in answer.err


def test_a_variable_replaces_a_limit_that_is_stored(
    run: Run, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = {"data": tmp_path / "d", "cwd": tree}
    assert "7 new" in run("index", tree, "--max-raw-text", "1000", **where).err

    monkeypatch.setenv("RAGCLI_LIMIT_MAX_RAW_TEXT", "16MiB")

    assert "1 new, 0 changed, 7 kept" in run("index", **where).err


def test_fresh_reads_what_changed_and_no_more(run: Run, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "kept.md").write_text("kiwi kept\n")
    where = {"data": tmp_path / "d", "cwd": root}
    assert run("index", root, **where).code == 0

    def stored() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in tmp_path.glob("d/sessions/*/*") if path.suffix != ".stat"}

    before = stored()
    assert run("search", "--fresh", "-l", "kiwi", **where).out == "kept.md\n"
    unchanged = stored()
    (root / "new.md").write_text("kiwi new\n")
    assert run("search", "--fresh", "-l", "kiwi", **where).out.split() == ["kept.md", "new.md"]

    assert {name for name in unchanged if unchanged[name] != before.get(name)} <= {"lock"}
    assert {name for name in before if name.endswith(".segment")} <= set(stored())


def test_a_batch_with_one_query_that_cannot_be_meant_is_exit_2_whatever_the_others_find(
    run: Run, tree: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = RagService.query

    def query(self: RagService, query: str, *more: Any) -> SearchOutcome:
        if query == "bad":
            raise UsageError("it cannot be meant")
        return plain(self, query, *more)

    monkeypatch.setattr(RagService, "query", query)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"kiwi\nbad\nkiwi\n")))
    answer = run("search", "--batch", data=data, cwd=tree)

    rows = [json.loads(line) for line in answer.out.splitlines()]
    assert [bool(row["results"]) for row in rows] == [True, False, True]
    assert rows[1]["error"] == "it cannot be meant"
    assert answer.code == 2


def test_wait_zero_does_not_wait(run: Run, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "d"
    assert run("index", tree, data=data, cwd=tree).code == 0
    (session,) = (data / "sessions").iterdir()
    with held(session, 60):
        monkeypatch.setattr("time.sleep", lambda seconds: pytest.fail(f"it slept {seconds} s"))
        assert run("add", "kiwi", "--wait", "0", data=data, cwd=tree).code == 4
