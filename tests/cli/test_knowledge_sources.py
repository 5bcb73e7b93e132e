"""Where declared documents come from: a web server that misbehaves, a database, and what a kill leaves."""

import http.server
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragcli.errors import RagError
from ragcli.knowledge.fetch import FetchBounds, fetch, is_public
from tests.cli.conftest import Run
from tests.cli.process import COMMAND, environment
from tests.cli.test_knowledge import Shop
from tests.sqlite_source import ENTRY_POINTS

LOCAL = FetchBounds(allow_private=True, timeout=3.0, max_bytes=100_000)


class Site:
    """A web server: `pages` by path are (status, headers, body); a body that is a function writes as it likes."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[int, dict[str, str], Any]] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append((self.path, {key.lower(): value for key, value in self.headers.items()}))
                status, headers, body = site.pages.get(self.path, (404, {}, b"gone"))
                if headers.get("ETag") and self.headers.get("If-None-Match") == headers["ETag"]:
                    status, body = 304, b""
                self.send_response(status)
                for key, value in headers.items():
                    self.send_header(key, value)
                self.end_headers()
                try:
                    body(self.wfile) if callable(body) else self.wfile.write(body)
                except OSError:
                    self.close_connection = True

            def log_message(self, *words: Any) -> None:
                """Nothing on standard error."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def shop(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    made = Shop(run, tmp_path)
    monkeypatch.setenv("RAGCLI_ALLOW_OUTSIDE", "1")
    monkeypatch.setenv("RAGCLI_ALLOW_PRIVATE", "1")
    return made


def html(text: str) -> bytes:
    return f"<html><body><h1>News</h1><p>{text}</p></body></html>".encode()


def test_rule_16_a_url_is_fetched_read_by_its_content_type_and_cited_by_its_url(shop: Shop, site: Site) -> None:
    site.pages["/news"] = (200, {"Content-Type": "text/html; charset=utf-8"}, html("The kiwi is ripe."))
    shop.declare(f'[knowledge.news]\nurl = "{site.url}/news?token=secret"\n')
    site.pages["/news?token=secret"] = site.pages["/news"]

    value = shop.json("prompt", "--chat", "kiwi")
    (one,) = value["evidence"]
    assert (one["format"], one["url"]) == ("HTML", f"{site.url}/news")
    assert "The kiwi is ripe." in one["content"] and "<p>" not in one["content"]
    assert "secret" not in json.dumps(value) and str(shop.data) not in json.dumps(value)
    assert "secret" not in shop("knowledge", "list").out


def test_rule_16_etag_and_time_are_kept_and_nothing_is_fetched_by_itself(shop: Shop, site: Site) -> None:
    headers = {"Content-Type": "text/plain", "ETag": '"one"', "Last-Modified": "Tue, 01 Dec 2026 00:00:00 GMT"}
    site.pages["/a.md"] = (200, headers, b"# A\n\nkiwi\n")
    shop.declare(f'[knowledge.a]\nurl = "{site.url}/a.md"\n')
    assert shop("search", "--knowledge", "a", "kiwi").code == 0
    assert shop("search", "--knowledge", "a", "kiwi").code == 0
    assert len(site.asked) == 1

    assert shop("knowledge", "refresh").code == 0
    assert site.asked[1][1]["if-none-match"] == '"one"'
    assert site.asked[1][1]["if-modified-since"] == headers["Last-Modified"]
    assert shop("search", "--knowledge", "a", "kiwi").code == 0
    site.pages["/a.md"] = (200, headers | {"ETag": '"two"'}, b"# A\n\nkumquat\n")
    shop("knowledge", "refresh", "a")
    assert shop("search", "--knowledge", "a", "kiwi").code == 1
    assert shop("search", "--knowledge", "a", "kumquat").code == 0


@pytest.mark.parametrize(
    "broken",
    [(500, {}, b""), (200, {"Content-Type": "video/mp4"}, b"x"), (302, {"Location": "/loop"}, b""), (302, {}, b"")],
)
def test_rule_16_a_failed_fetch_keeps_the_last_good_copy_and_says_so(shop: Shop, site: Site, broken: Any) -> None:
    site.pages["/a"] = (200, {"Content-Type": "text/plain"}, b"kiwi\n")
    site.pages["/loop"] = (302, {"Location": "/loop"}, b"")
    shop.declare(f'[knowledge.a]\nurl = "{site.url}/a"\n')
    shop("index", "--knowledge")
    site.pages["/a"] = broken

    answer = shop("knowledge", "refresh")
    assert answer.code == 0 and "the copy fetched before is used" in answer.err
    assert shop("search", "--knowledge", "a", "kiwi").code == 0


def test_rule_16_a_first_fetch_that_fails_is_the_sources_failure(shop: Shop, site: Site) -> None:
    shop.declare(f'[knowledge.a]\nurl = "{site.url}/none"\n')

    answer = shop("prompt", "--chat", "kiwi")
    assert (answer.code, answer.out) == (2, "")
    assert "/none: the server answers 404" in answer.err


def test_rule_16_private_addresses_are_refused_unless_allowed_also_behind_a_redirect(site: Site) -> None:
    site.pages["/x"] = (200, {}, b"kiwi")
    with pytest.raises(RagError, match=r"127\.0\.0\.1 is no public address"):
        fetch(f"{site.url}/x")
    with pytest.raises(RagError, match="no public address"):
        fetch(f"http://localhost:{site.server.server_address[1]}/x")
    assert site.asked == []
    assert fetch(f"{site.url}/x", bounds=LOCAL).body == b"kiwi"


def test_rule_16_each_redirect_is_checked_anew(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first host is taken for a public one; the second is what it is."""
    port = site.server.server_address[1]
    site.pages["/x"] = (302, {"Location": f"http://127.0.0.2:{port}/secret"}, b"")
    monkeypatch.setattr(
        "ragcli.knowledge.fetch.is_public", lambda address: address == "127.0.0.1" or is_public(address)
    )

    with pytest.raises(RagError, match=r"127\.0\.0\.2 is no public address"):
        fetch(f"{site.url}/x")
    site.pages["/x"] = (302, {"Location": "file:///etc/passwd"}, b"")
    with pytest.raises(RagError, match="only http and https"):
        fetch(f"{site.url}/x")


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "192.168.0.1", "172.16.0.1", "169.254.169.254", "0.0.0.0", "100.64.0.1", "224.0.0.1",
     "::1", "fe80::1%eth0", "fc00::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"],
)  # fmt: skip
def test_rule_16_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(address)
    assert is_public("93.184.215.14") and is_public("2606:2800:21f:cb07:6820:80da:af6b:8b2c")


def test_rule_16_an_endless_body_ends_at_the_size_cap(site: Site) -> None:
    def endless(out: Any) -> None:
        while True:
            out.write(b"kiwi " * 1000)

    site.pages["/endless"] = (200, {"Content-Type": "text/plain"}, endless)
    with pytest.raises(RagError, match="larger than 100000 bytes"):
        fetch(f"{site.url}/endless", bounds=LOCAL)


def test_rule_16_a_slow_body_ends_at_the_time_cap(site: Site) -> None:
    def slow(out: Any) -> None:
        for _ in range(2000):
            out.write(b".")
            out.flush()
            time.sleep(0.02)

    site.pages["/slow"] = (200, {"Content-Type": "text/plain"}, slow)
    with pytest.raises(RagError, match="took too long"):
        fetch(f"{site.url}/slow", bounds=LOCAL._replace(timeout=0.5))


def test_rule_16_trickling_headers_end_at_the_time_cap() -> None:
    """Each byte comes before any timeout of a single read."""

    def trickle(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        try:
            for byte in b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"y" * 5000:
                connection.sendall(bytes([byte]))
                time.sleep(0.02)
        except OSError:
            connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=trickle, args=[listener], daemon=True).start()
        with pytest.raises(RagError, match="took too long"):
            fetch(f"http://127.0.0.1:{listener.getsockname()[1]}/", bounds=LOCAL._replace(timeout=0.5))


def test_rule_16_an_answer_that_is_cut_short_is_no_document(site: Site) -> None:
    site.pages["/cut"] = (200, {"Content-Type": "text/plain", "Content-Length": "1000"}, b"kiwi")
    with pytest.raises(RagError, match="cut short by 996 bytes"):
        fetch(f"{site.url}/cut", bounds=LOCAL)


def test_rule_16_a_server_that_never_answers_ends_at_the_time_cap() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(RagError, match="took too long"):
        fetch(f"http://127.0.0.1:{silent.getsockname()[1]}/", bounds=LOCAL._replace(timeout=0.3))


def test_rule_16_too_many_redirects(site: Site) -> None:
    site.pages["/loop"] = (302, {"Location": "/loop"}, b"")
    with pytest.raises(RagError, match="more than 5 redirects"):
        fetch(f"{site.url}/loop", bounds=LOCAL)


# -- databases


@pytest.fixture
def loader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that brings the loader, found as an installed one is."""
    about = tmp_path / "packages" / "sqlite_source-0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: sqlite-source\nVersion: 0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(str(tmp_path / "packages"))


def database(shop: Shop, *rows: tuple[str, str]) -> str:
    path = shop.root / "faq.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS faq (answer TEXT, topic TEXT)")
        connection.execute("DELETE FROM faq")
        connection.executemany("INSERT INTO faq VALUES (?, ?)", rows)
    connection.close()
    return f'[knowledge.faq]\nconnection = "sqlite:{path}"\nquery = "SELECT answer, topic FROM faq"\n'


def test_rule_17_a_database_is_read_by_the_loader_of_its_scheme(shop: Shop, loader: None) -> None:
    shop.declare(database(shop, ("A kiwi keeps a week.", "storage"), ("Pears differ.", "fruit")))
    (one,) = shop.json("prompt", "--chat", "kiwi")["evidence"]
    assert (one["source"], one["metadata"]["topic"], one["content"]) == ("faq", "storage", "A kiwi keeps a week.")

    database(shop, ("A kumquat keeps two.", "storage"))
    assert shop("search", "--knowledge", "faq", "kumquat").code == 1
    assert shop("knowledge", "refresh", "faq").code == 0
    assert shop("search", "--knowledge", "faq", "kumquat").code == 0
    assert shop("search", "--knowledge", "faq", "kiwi").code == 1


def test_rule_17_without_a_loader_the_source_is_skipped_with_a_warning(shop: Shop) -> None:
    shop.declare('[knowledge.x]\nconnection = "oracle:secret"\n[knowledge.faq]\npath = "faq"\n')

    answer = shop("prompt", "--chat", "kiwi")
    assert answer.code == 0 and "kiwi" in answer.out
    assert "the source x is skipped: no loader for it is installed" in answer.err and "secret" not in answer.err


def test_rule_17_a_loader_that_fails_is_the_sources_failure_and_tells_no_secret(shop: Shop, loader: None) -> None:
    shop.declare('[knowledge.x]\nconnection = "sqlite:/nowhere/secret.db"\nquery = "SELECT 1"\n')

    answer = shop("prompt", "--chat", "kiwi")
    assert (answer.code, answer.out) == (2, "")
    assert "the loader of the source x failed: OperationalError" in answer.err and "secret" not in answer.err


def test_rule_17_memory_and_graph_load_nothing(shop: Shop) -> None:
    shop.declare('[knowledge.m]\ntype = "memory"\n[knowledge.g]\ntype = "graph"\n')

    assert shop.json("prompt", "--chat", "kiwi")["evidence"] == []
    assert shop.json("knowledge", "refresh")["refreshed"] == []
    assert shop("search", "--knowledge", "g", "kiwi").code == 2
    assert not (shop.data / "sessions").exists()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('type = "memory"\nuse = "direct"', "a memory source is searched"),
        ('type = "memory"\npath = "faq"', "a memory source takes no path"),
        ('type = "database"', "a database source needs connection"),
        ('path = "faq"\nquery = "x"', "a file source takes no query"),
    ],
)
def test_rule_18_what_a_source_of_each_type_may_not_give(shop: Shop, source: str, message: str) -> None:
    (found,) = shop.problems(f"[knowledge.x]\n{source}\n")
    assert message in found


def test_rule_18_an_action_cannot_name_a_memory_source(shop: Shop) -> None:
    text = '[knowledge.m]\ntype = "memory"\n[actions.a]\nparams = ["q"]\nknowledge = ["m"]\n'
    assert any("m is a memory source, which chat alone can search" in line for line in shop.problems(text))


def test_rule_14_a_tree_cannot_ask_a_database_of_its_user_for_something_else(
    shop: Shop, loader: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGCLI_ALLOW_OUTSIDE", "0")
    user = tmp_path / "home" / ".config" / "ragcli" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text(database(shop, ("kiwi", "public"), ("secret", "private")))
    shop.declare("")
    assert shop("search", "--knowledge", "faq", "kiwi").code == 0

    shop.declare('[agents.default]\nconfig = "evil.json"\n')
    shop.write("evil.json", '{"knowledge": {"faq": {"query": "SELECT topic FROM faq"}}}')
    answer = shop("search", "--knowledge", "faq", "private")
    assert answer.code == 2 and "the source faq of this tree reaches out of it" in answer.err


# -- what a kill leaves


def pairs(results: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(one["id"], one["content"]) for one in results]


def test_a_kill_during_refresh_leaves_the_old_generation(shop: Shop) -> None:
    (shop.root / "faq" / "returns.md").unlink()
    for number in range(200):
        shop.write(f"faq/{number}.md", f"# {number}\n\nkiwi {number}\n\n" + "words and more words\n" * 60)
    shop.declare('[knowledge.faq]\npath = "faq"\n')
    shop("index", "--knowledge")
    (session,) = (shop.data / "sessions").iterdir()
    old = shop.json("search", "--knowledge", "faq", "kiwi", "-k", "200")["results"]
    for number in range(200):
        shop.write(f"faq/{number}.md", f"# {number}\n\nkumquat {number}\n\n" + "words and others\n" * 60)
    for _ in range(3):
        before = set(os.listdir(session))
        process = subprocess.Popen(
            [*COMMAND, "knowledge", "refresh"], cwd=shop.root, env=environment(shop.data, RAGCLI_WORKERS="0"),
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        # Killed as soon as it has begun to write, or at the latest when it is done.
        while process.poll() is None and set(os.listdir(session)) <= before:
            time.sleep(0.001)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        found = json.loads(shop("search", "--knowledge", "faq", "kiwi", "-k", "200", "--json").out)["results"]
        assert pairs(found) in ([], pairs(old)), "neither the new generation nor the old"
    assert shop("knowledge", "refresh").code == 0
    assert shop("search", "--knowledge", "faq", "kiwi").code == 1
    assert len(shop.json("search", "--knowledge", "faq", "kumquat", "-k", "200")["results"]) > 0


def test_asking_for_help_or_searching_a_session_loads_nothing_of_declared_knowledge(shop: Shop) -> None:
    shop("index", ".")
    script = "import sys; from ragcli.cli.app import main; main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    for words in (["--help"], ["search", "kiwi"], ["prompt", "kiwi"]):
        done = subprocess.run(
            [sys.executable, "-c", script, *words], cwd=shop.root, env=environment(shop.data), capture_output=True
        )
        loaded = done.stderr.decode().splitlines()[-1]
        assert "ragcli.cli.app" in loaded and "ragcli.knowledge" not in loaded
