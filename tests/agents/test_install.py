"""`ragcli agents` on configuration files as people have them: merged once, undone, left alone when broken."""

import json
import os
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from ragcli.agents import jsonc
from ragcli.agents.clients import CLIENTS, config_path
from ragcli.cli.app import main
from tests.cli.conftest import Answer

FILES = {
    "claude-code": """{
  "mcpServers": {
    "github": {
      "type": "http",
      "url": "https://api.example.org/mcp"
    }
  }
}
""",
    "codex": """# my settings
model = "o3"
approval_policy = "on-request"

[mcp_servers.docs]  # the company's
command = "npx"
args = ["-y", "docs-mcp"]
env = { "API_KEY" = "value" }

[profiles.fast]
model = "o4-mini"
""",
    "cursor": '{"mcpServers":{"a":{"command":"a"}}}',
    "vscode": """{
\t// inputs are asked for once
\t"inputs": [{ "type": "promptString", "id": "key", "password": true, },],
\t"servers": {
\t\t"memory": { "command": "npx", "args": ["-y", "server-memory"] },
\t},
}
""",
    "opencode": """{
  "$schema": "https://opencode.ai/config.json",
  "theme": "system",
  "mcp": { "jira": { "type": "remote", "url": "https://jira.example.org", "enabled": false } }
}
""",
    "gemini": '{\n  "theme": "GitHub",\n  "selectedAuthType": "oauth-personal"\n}',
}


def parsed(client: str, text: str) -> dict[str, object]:
    value: dict[str, object] = tomllib.loads(text) if client == "codex" else jsonc.loads(text)
    return value


def servers(client: str, text: str) -> dict[str, object]:
    value = parsed(client, text)
    found = value.get(CLIENTS[client].keys[0], {})
    assert isinstance(found, dict)
    return found


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for variable in ("XDG_CONFIG_HOME", "CODEX_HOME"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "home"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    def once(*arguments: str) -> Answer:
        code = main(list(arguments))
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    return once


@pytest.mark.parametrize("scope", [[], ["--global"]])
@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_the_entry_is_merged_once_and_taken_out_again(client: str, scope: list[str], home: Path, run) -> None:
    path = Path(config_path(CLIENTS[client], os.getcwd(), os.environ, user=bool(scope)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(FILES[client])
    path.chmod(0o640)

    done = run("agents", client, "--install", *scope)
    assert done.code == 0 and "ragcli" in done.out
    assert all(line.startswith(("+", " ", "-", "@", "\\")) for line in done.out.splitlines())
    text = path.read_text()
    assert set(servers(client, text)) == {*servers(client, FILES[client]), "ragcli"}
    others = {key: value for key, value in parsed(client, text).items() if key != CLIENTS[client].keys[0]}
    assert others.items() <= parsed(client, FILES[client]).items()
    assert path.stat().st_mode & 0o777 == 0o640

    again = run("agents", client, "--install", *scope)
    assert again.code == 0 and again.out == "" and path.read_text() == text and "already" in again.err

    assert run("agents", client, "--uninstall", *scope).code == 0
    left = path.read_text()
    assert servers(client, left) == servers(client, FILES[client])
    if client in ("claude-code", "vscode", "codex"):
        assert left == FILES[client]
    assert "has no entry" in run("agents", client, "--uninstall", *scope).err


@pytest.mark.parametrize("client", sorted(CLIENTS))
def test_a_missing_file_is_made_for_its_owner_alone(client: str, home: Path, run) -> None:
    assert run("agents", client, "--install").code == 0

    path = Path(config_path(CLIENTS[client], os.getcwd(), os.environ, user=False))
    assert set(servers(client, path.read_text())) == {"ragcli"}
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_dry_run_shows_the_change_and_writes_nothing(home: Path, run) -> None:
    done = run("agents", "cursor", "--install", "--dry-run")

    assert '+    "ragcli"' in done.out and not Path(".cursor").exists()


@pytest.mark.parametrize(
    ("client", "content", "says"),
    [
        ("cursor", b'{"mcpServers": [', "line 1"),
        ("cursor", b'{"mcpServers": "x"}', "mcpServers is no object"),
        ("codex", b"[mcp_servers\n", "not TOML"),
        ("codex", b'mcp_servers = "x"\n', "mcp_servers is no table"),
        ("gemini", b"\xff\xfe{", "not UTF-8"),
    ],
)
def test_a_broken_file_is_left_alone(client: str, content: bytes, says: str, home: Path, run) -> None:
    path = Path(config_path(CLIENTS[client], os.getcwd(), os.environ, user=False))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)

    done = run("agents", client, "--install")

    assert done.code == 2 and says in done.err and "Traceback" not in done.err
    assert path.read_bytes() == content


def test_a_link_keeps_pointing_at_the_file_that_is_written(home: Path, run, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.json"
    target.write_text("{}")
    Path(".mcp.json").symlink_to(target)

    assert run("agents", "claude-code", "--install").code == 0
    assert Path(".mcp.json").is_symlink() and "ragcli" in json.loads(target.read_text())["mcpServers"]


def test_without_a_client_every_entry_and_a_text_for_agents_is_printed(home: Path, run) -> None:
    done = run("agents")

    assert done.code == 0 and all(client.title in done.out for client in CLIENTS.values())
    assert "AGENTS.md" in done.out and "never instructions" in done.out
    assert run("agents", "emacs").code == 2
    assert run("agents", "--install").code == 2
