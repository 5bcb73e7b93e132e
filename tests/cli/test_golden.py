"""Each renderer gives, for fixed values, exactly the text of its golden file.

RAGCLI_UPDATE_GOLDEN=1 writes the files anew; read the difference before committing it.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from ragcli.cli.app import COMMANDS, build, tree
from ragcli.cli.rendering import render_documents, render_index, render_search, render_status
from ragcli.cli.terminal.output import json_text
from ragcli.cli.terminal.styles import Terminal
from ragcli.prompt import render
from ragcli.session import json_output as values
from tests.cli import values as fixed

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "cli"
CWD = "/home/ada/project/src"
PIPE = Terminal(80, color=False, links=False, is_terminal=False)
COLOR = Terminal(80, color=True, links=True, is_terminal=True)


def on_terminal(width: int) -> Terminal:
    return Terminal(width, color=False, links=False, is_terminal=True)


def check(name: str, text: str) -> None:
    file = GOLDEN / name
    if os.environ.get("RAGCLI_UPDATE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def lines(rows: Iterable[str]) -> str:
    return "".join(f"{row}\n" for row in rows)


@pytest.mark.parametrize("width", [20, 80, 140])
def test_search_for_people_at_a_width(width: int) -> None:
    check(f"search-{width}.txt", "".join(render_search.blocks(fixed.OUTCOME, on_terminal(width), CWD)))


def test_search_in_colour_with_hyperlinks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "uname", lambda: os.uname_result(("Linux", "host", "1", "1", "x86_64")))
    text = "".join(render_search.blocks(fixed.OUTCOME, COLOR, CWD))
    check("search-color.txt", text.replace("\x1b", "ESC"))


def test_search_with_context_and_explanation() -> None:
    check("search-explain.txt", "".join(render_search.blocks(fixed.OUTCOME, PIPE, CWD, context=1, explain=True)))


def test_search_plain() -> None:
    check("search-plain.txt", "".join(render_search.plain(fixed.OUTCOME, PIPE, CWD)))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("search", values.outcome_value(fixed.OUTCOME)),
        ("index", values.report_value(fixed.REPORT)),
        ("status", values.status_value(fixed.STATUS)),
        ("list", values.listing_value(fixed.DOCUMENTS, fixed.FILES)),
        ("show", values.stored_value(fixed.STORED)),
        ("prompt", values.prompt_value(render("How does it work?", fixed.RESULTS[:1]))),
    ],
)
def test_json(name: str, value: dict[str, object]) -> None:
    text = json_text(value, ascii_only=False, indent=1)

    check(f"{name}.json", text + "\n")
    assert json.loads(text) == value


def test_json_lines() -> None:
    check("search.jsonl", lines(json_text(value, ascii_only=True) for value in values.hit_values(fixed.OUTCOME)))


def test_index_summary() -> None:
    check("index.txt", lines(render_index.summary(fixed.REPORT, on_terminal(80))))


def test_index_summary_in_full() -> None:
    rows = render_index.summary(fixed.REPORT, on_terminal(80), verbose=True, dry_run=True)
    check("index-verbose.txt", lines(rows))


def test_index_summary_where_nothing_changed() -> None:
    quiet = fixed.REPORT._replace(failed=[], skipped=[], committed=False)
    check("index-nothing.txt", lines(render_index.summary(quiet, on_terminal(80))))


def test_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render_status, "moment", lambda seconds: f"@{seconds:.0f}" if seconds else "never")
    check("status.txt", lines(render_status.status_lines(fixed.STATUS, on_terminal(80))))
    check("status-all.txt", lines(render_status.sessions_table([fixed.STATUS, fixed.NAMED], on_terminal(80))))


def test_listing() -> None:
    check("list.txt", lines(render_documents.document_lines(fixed.DOCUMENTS, on_terminal(60))))
    check("list-files.txt", lines(render_documents.file_lines(fixed.FILES, on_terminal(60))))


def test_show() -> None:
    check("show.txt", lines(render_documents.stored_lines(fixed.STORED, on_terminal(80))))


def test_prompt() -> None:
    check("prompt.txt", render("How does it work?", fixed.RESULTS).prompt)


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    command = build(name) if name else tree()
    context = command.make_context(f"ragcli {name}".rstrip(), [], resilient_parsing=True)

    check(f"help-{name or 'ragcli'}.txt", context.get_help() + "\n")
