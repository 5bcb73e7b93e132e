"""Editing one member of a JSON file with comments leaves every other member, comment and byte as it was."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.agents.jsonc import loads, remove_member, set_member

ENTRY = {"command": "ragcli", "args": ["mcp"]}
PATH = ("mcpServers", "ragcli")
EDITOR_FILE = """// servers of this project
{
    /* the search of the company */
    "mcpServers": {
        "other": {"command": "x", "args": ["a", "b",],}, // keep
        // and this one
        "third": { "url": "https://example.org/a//b" }
    },
    "theme": "dark",
}
"""

names = st.text(st.characters(codec="utf-8", exclude_characters="\x7f"), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
spaces = st.sampled_from(["", " ", "\n", "\n    ", "\t", " // note }\n", ' /* { , " */ ', "\r\n"])


@st.composite
def written(draw: st.DrawFn, value: object) -> str:
    """A value as a person might have written it: odd white space, comments, trailing commas."""

    def gap() -> str:
        return draw(spaces)

    if isinstance(value, dict):
        parts = [f"{gap()}{json.dumps(k)}{gap()}:{gap()}{draw(written(v))}{gap()}" for k, v in value.items()]
        comma = "," if parts and draw(st.booleans()) else ""
        return "{" + ",".join(parts) + comma + gap() + "}"
    if isinstance(value, list):
        parts = [f"{gap()}{draw(written(v))}{gap()}" for v in value]
        return "[" + ",".join(parts) + ("," if parts and draw(st.booleans()) else "") + gap() + "]"
    return json.dumps(value)


@given(st.dictionaries(names, values, max_size=4), st.data())
def test_any_file_gets_the_entry_and_loses_it_again(content: dict[str, object], data: st.DataObject) -> None:
    servers = data.draw(st.none() | st.dictionaries(names, values, max_size=3))
    content.pop("mcpServers", None)
    if servers is not None:
        servers.pop("ragcli", None)
        content["mcpServers"] = servers
    text = data.draw(spaces) + data.draw(written(content)) + data.draw(spaces)
    assert loads(text) == content

    installed = set_member(text, PATH, ENTRY)
    assert loads(installed) == {**content, "mcpServers": {**(servers or {}), "ragcli": ENTRY}}
    assert set_member(installed, PATH, ENTRY) == installed
    removed = remove_member(installed, PATH)
    assert loads(removed) == {**content, "mcpServers": servers or {}}
    assert all(text.count(note) == removed.count(note) for note in ("// note }", "/* { ,"))


def test_comments_commas_and_layout_stay() -> None:
    installed = set_member(EDITOR_FILE, PATH, ENTRY)

    assert installed.replace(
        """,
        "ragcli": {
            "command": "ragcli",
            "args": ["mcp"]
        }""",
        "",
    ) == EDITOR_FILE  # fmt: skip
    assert remove_member(installed, PATH) == EDITOR_FILE


def test_an_older_entry_is_replaced_in_place() -> None:
    installed = set_member(EDITOR_FILE, ("mcpServers", "other"), ENTRY)

    assert loads(installed)["mcpServers"]["other"] == ENTRY
    assert installed.index("other") < installed.index("third") and "// keep" in installed


@pytest.mark.parametrize(
    "text",
    ["{", '{"a" 1}', '{"a": }', "[1, 2", '{"a": 1} x', "{'a': 1}", '{"mcpServers": []}', '{"mcpServers": 3}',
     "[" * 9000, '{"a": "\x01"}', '{"a": 1 "b": 2}', "nul", "{,}"],
)  # fmt: skip
def test_what_is_no_such_json_is_an_error_with_its_line(text: str) -> None:
    with pytest.raises(ValueError, match="line 1"):
        set_member(text, PATH, ENTRY)


@pytest.mark.parametrize("text", ["", "\n", "\ufeff", "{}", "{ }", "{\n}\n", "// nothing yet\n{}\n"])
def test_an_empty_file_becomes_one_with_the_entry(text: str) -> None:
    assert loads(set_member(text, PATH, ENTRY)) == {"mcpServers": {"ragcli": ENTRY}}
