"""Declared knowledge through the command line: scopes, layers, paths, refresh, failure and account."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Answer, Run
from tests.cli.process import COMMAND, environment
from tests.unprivileged import NOBODY, commands

FILES = {
    "faq/returns.md": "# Returns\nA kiwi can be returned within 30 days.\n",
    "products/kiwi.md": "# Kiwi 3000\nThe Kiwi 3000 has a battery of 10 hours.\n",
    "style.md": "# Style\n\nBe brief.\n",
    "CHANGELOG.md": "# 1.1\n\nMore kiwi.\n\n# 1.0\n\nFirst kiwi.\n",
}
SOURCES = """
[knowledge.faq]
path = "faq"
[knowledge.products]
path = "products"
[knowledge.style]
path = "style.md"
use = "direct"
[knowledge.changes]
path = "CHANGELOG.md"
use = "sequential"
"""


class Shop:
    """A project with declarations, and the command line in it."""

    def __init__(self, run: Run, root: Path) -> None:
        self._run = run
        self.root = root / "shop"
        self.data = root / "data"
        self.root.mkdir()
        for name, text in FILES.items():
            self.write(name, text)

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def declare(self, text: str) -> None:
        self.write("ragcli.toml", text)

    def __call__(self, *words: str | Path) -> Answer:
        return self._run(*words, data=self.data, cwd=self.root)

    def json(self, *words: str | Path) -> Any:
        answer = self(*words, "--json")
        assert answer.code == 0, answer.err
        return json.loads(answer.out)

    def sources(self, *words: str) -> list[str]:
        """The names of the sources that a prompt quotes, in order."""
        return list(dict.fromkeys(one["source"] for one in self.json("prompt", *words)["evidence"]))

    def problems(self, text: str, *words: str) -> list[str]:
        self.declare(text)
        answer = self("knowledge", "check", *words)
        assert answer.code == (2 if answer.out else 0)
        return answer.out.splitlines()


@pytest.fixture
def shop(run: Run, tmp_path: Path) -> Shop:
    made = Shop(run, tmp_path)
    made.declare(SOURCES)
    return made


# -- scopes


def test_rule_01_chat_sees_search_and_direct_sources_and_no_sequential_one(shop: Shop) -> None:
    assert set(shop.sources("--chat", "kiwi")) == {"faq", "products", "style"}


def test_rule_01_a_disabled_source_is_not_seen(shop: Shop) -> None:
    shop.declare(SOURCES.replace('path = "faq"', 'path = "faq"\nenabled = false'))

    assert set(shop.sources("--chat", "kiwi")) == {"products", "style"}


def test_rule_01_role_sources_join_the_chat_only_where_the_agent_lets_them(shop: Shop) -> None:
    agent = (
        '[agents.Shop]\n{}\n[agents.Shop.knowledge.faq]\npath = "faq"\n'
        '[agents.Shop.roles.Seller.knowledge.products]\npath = "products"\n'
    )
    shop.declare(agent.format(""))
    assert shop.sources("--chat", "kiwi", "--agent", "Shop") == ["faq"]

    shop.declare(agent.format("chat_roles = true"))
    assert set(shop.sources("--chat", "kiwi", "--agent", "Shop")) == {"faq", "products"}


def test_rule_02_an_action_sees_only_what_it_names(shop: Shop) -> None:
    shop.declare(SOURCES + '[actions.answer]\nparams = ["question"]\nknowledge = ["products", "changes"]\n')

    assert shop.sources("--action", "answer", "--param", "question=kiwi") == ["products", "changes"]


def test_rule_02_an_actions_entry_may_not_set_a_member_of_the_source(shop: Shop) -> None:
    found = shop.problems(SOURCES + '[actions.a]\nparams = ["q"]\nknowledge = [{name = "faq", path = "x"}]\n')

    assert len(found) == 1
    assert "actions.a.knowledge.0.path: belongs to the source" in found[0]


def test_rule_02_an_actions_entry_sets_use_and_budget_of_its_own(shop: Shop) -> None:
    shop.declare(
        SOURCES + '[actions.a]\nparams = ["q"]\nknowledge = [{name = "faq", use = "direct", max_tokens = 900}]\n'
    )

    value = shop.json("prompt", "--action", "a", "--param", "q=nothing that is there")
    assert [row["use"] for row in value["usage"]] == ["direct"]


def test_rule_03_a_local_action_is_pulled_and_an_llm_action_prompted(shop: Shop) -> None:
    shop.declare(SOURCES + '[actions.a]\ntype = "local"\nparams = ["q"]\nknowledge = ["faq"]\n')

    pulled = shop("knowledge", "pull", "--action", "a", "--param", "q=kiwi")
    assert pulled.code == 0
    assert pulled.out.startswith("<tnsai-memory>") and "tnsai-user-message" not in pulled.out
    refused = shop("prompt", "--action", "a", "--param", "q=kiwi")
    assert (refused.code, refused.out) == (2, "")
    assert "hint: run: ragcli knowledge pull --action a" in refused.err


def test_rule_03_another_type_of_action_takes_no_knowledge(shop: Shop) -> None:
    found = shop.problems(SOURCES + '[actions.a]\ntype = "http"\nparams = ["q"]\nknowledge = ["faq"]\n')

    assert len(found) == 1
    assert "actions.a.type: an action of type http takes no knowledge" in found[0]


def test_rule_04_names_are_case_sensitive_and_taken_once(shop: Shop) -> None:
    assert shop.problems('[knowledge.faq]\npath = "faq"\n[knowledge.FAQ]\npath = "products"\n') == []
    found = shop.problems('[[knowledge]]\nname = "faq"\npath = "faq"\n[[knowledge]]\nname = "faq"\npath = "products"\n')
    assert len(found) == 1 and "'faq' is taken by another entry" in found[0]


def test_rule_04_an_agent_and_its_role_in_one_chat_share_no_name(shop: Shop) -> None:
    text = '[agents.A]\nchat_roles = true\n[agents.A.knowledge.faq]\npath = "faq"\n'
    text += '[agents.A.roles.R.knowledge.faq]\npath = "products"\n'
    found = shop.problems(text)

    assert len(found) == 1 and "agents.A.roles.R.knowledge.faq" in found[0] and "is taken" in found[0]
    assert shop.problems(text.replace("chat_roles = true", "")) == []


def test_rule_04_an_agents_source_replaces_its_roles_for_the_roles_actions(shop: Shop) -> None:
    shop.declare(
        '[agents.A.knowledge.x]\npath = "faq"\n[agents.A.roles.R.knowledge.x]\npath = "products"\n'
        '[agents.A.roles.R.actions.a]\nparams = ["q"]\nknowledge = ["x"]\n'
    )

    value = shop.json("prompt", "--action", "a", "--param", "q=kiwi", "--agent", "A", "--role", "R")
    assert [one["file"] for one in value["evidence"]] == ["returns.md"]


def test_rule_05_the_query_is_the_named_parameter(shop: Shop) -> None:
    action = (
        '[actions.a]\nparams = ["question", "tone"]\nknowledge = [{name = "faq", search = {query_param = "tone"}}]\n'
    )
    shop.declare(SOURCES + action)

    assert shop.sources("--action", "a", "--param", "question=zzz", "--param", "tone=kiwi") == ["faq"]
    value = shop.json("prompt", "--action", "a", "--param", "question=kiwi", "--param", "tone=zzz")
    assert value["evidence"] == []
    assert value["query"] == "question: kiwi\ntone: zzz"


def test_rule_05_a_missing_query_parameter_is_found_by_check_and_comes_before_on_failure(shop: Shop) -> None:
    source = '[knowledge.faq]\npath = "gone"\nsearch = { query_param = "question" }\n'
    text = source + '[actions.a]\nparams = ["q"]\non_failure = "continue"\nknowledge = ["faq"]\n'
    found = shop.problems(text)
    assert any("actions.a.params: lacks 'question', the query_param of faq" in line for line in found)

    answer = shop("prompt", "--action", "a", "--param", "q=kiwi")
    assert answer.code == 2 and "lacks 'question'" in answer.err


def test_rule_06_search_settings_merge_and_two_values_name_both_sources(shop: Shop) -> None:
    text = (
        '[knowledge.a]\npath = "faq"\nsearch = {top_k = 3}\n[knowledge.b]\npath = "products"\nsearch = {top_k = %s}\n'
    )
    found = shop.problems(text % 4)
    assert len(found) == 1 and "is 4 for b and 3 for a" in found[0]
    assert shop.problems(text % 3) == []


def test_rule_06_a_disabled_search_source_takes_part_in_the_merge(shop: Shop) -> None:
    found = shop.problems(
        '[knowledge.a]\npath = "faq"\nenabled = false\nsearch = {top_k = 3}\n'
        '[knowledge.b]\npath = "products"\nsearch = {top_k = 4}\n'
    )
    assert len(found) == 1 and "top_k" in found[0]


def test_rule_06_a_graph_source_takes_no_part_beside_others(shop: Shop) -> None:
    text = '[knowledge.a]\npath = "faq"\nsearch = {top_k = 3}\n[knowledge.g]\ntype = "graph"\nsearch = {top_k = 4}\n'
    assert shop.problems(text + '[actions.x]\nparams = ["q"]\nknowledge = ["a", "g"]\n') == []
    two = '[knowledge.g]\ntype = "graph"\nsearch = {top_k = 3}\n[knowledge.h]\ntype = "graph"\nsearch = {top_k = 4}\n'
    assert len(shop.problems(two + '[actions.x]\nparams = ["q"]\nknowledge = ["g", "h"]\n')) == 1


def test_rule_06_min_score_is_a_share_of_the_best_hit(shop: Shop) -> None:
    for number in range(4):
        shop.write(f"faq/{number}.md", "kiwi " + "other words " * 40 * number)
    shop.declare('[knowledge.faq]\npath = "faq"\n')
    every = shop.json("prompt", "--chat", "kiwi returned")["evidence"]
    shop.declare('[knowledge.faq]\npath = "faq"\nsearch = { min_score = 1.0 }\n')

    best = shop.json("prompt", "--chat", "kiwi returned")["evidence"]
    assert len(best) < len(every)
    assert {one["score"] for one in best} == {every[0]["score"]}


def test_rule_07_direct_gives_whole_text_cut_at_a_chunks_end_with_a_note(shop: Shop) -> None:
    shop.write("style.md", "".join(f"# Part {n}\n\nSentence {n} of the guide.\n\n" for n in range(40)))
    whole = shop.json("prompt", "--chat", "zzz")["evidence"]
    assert [one["content"] for one in whole] == [(shop.root / "style.md").read_text()]

    shop.declare(SOURCES.replace('use = "direct"', 'use = "direct"\nmax_tokens = 100'))
    (cut,) = shop.json("prompt", "--chat", "zzz")["evidence"]
    assert cut["content"].endswith("of the guide.\n[cut here to fit the token budget]")


def test_rule_07_sequential_gives_one_chunk_a_call_and_begins_anew(shop: Shop) -> None:
    shop.declare(SOURCES + '[actions.next]\nparams = ["q"]\nknowledge = ["changes"]\n')

    def call() -> str:
        (one,) = shop.json("prompt", "--action", "next", "--param", "q=x")["evidence"]
        return str(one["content"]).split("\n")[0]

    assert [call() for _ in range(3)] == ["# 1.1", "# 1.0", "# 1.1"]
    shop("knowledge", "refresh", "changes")
    assert call() == "# 1.1"


def test_rule_07_a_read_only_data_directory_is_an_error_with_a_hint_and_gives_no_chunk(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.declare(SOURCES + '[actions.next]\nparams = ["q"]\nknowledge = ["changes"]\n')
    shop("index", "--knowledge", "changes")
    # Elsewhere, since a temporary directory of pytest can be entered by its owner alone.
    place = Path(tempfile.mkdtemp(prefix="ragcli-read-only-"))
    try:
        shutil.copytree(shop.root.parent, place, dirs_exist_ok=True, symlinks=True)
        (place / "shop" / "ragcli.toml").write_text((shop.root / "ragcli.toml").read_text())
        words = ["prompt", "--action", "next", "--param", "q=x"]
        for path in [place, *place.rglob("*")]:
            if os.getuid() == 0:
                os.chown(path, NOBODY, NOBODY)
        monkeypatch.chdir(place / "shop")
        (first,) = commands([words], place / "data")
        assert (first.code, "More kiwi" in first.out) == (0, True), first
        subprocess.run(["chmod", "-R", "a-w", str(place / "data")], check=True)

        (refused,) = commands([words], place / "data")
        assert (refused.code, refused.out) == (2, "")
        assert "cannot write" in refused.err and "hint: choose another with --data-dir" in refused.err
    finally:
        subprocess.run(["chmod", "-R", "u+rwX", str(place)], check=True)
        shutil.rmtree(place)


def test_rule_07_calls_at_once_give_each_chunk_once(shop: Shop) -> None:
    shop.write("CHANGELOG.md", "".join(f"# {n}\n\nKiwi {n}.\n\n" for n in range(6)))
    shop.declare(SOURCES + '[actions.next]\nparams = ["q"]\nknowledge = ["changes"]\n')
    shop("index", "--knowledge", "changes")
    words = [*COMMAND, "prompt", "--action", "next", "--param", "q=x", "--json"]
    running = [
        subprocess.Popen(words, cwd=shop.root, env=environment(shop.data), stdout=subprocess.PIPE) for _ in range(6)
    ]
    given = [json.loads(process.communicate(timeout=60)[0])["evidence"][0]["content"] for process in running]

    assert sorted(text.split("\n")[0] for text in given) == [f"# {n}" for n in range(6)]


# -- layers


def test_rule_08_a_configuration_file_overrides_member_by_member_and_adds_in_name_order(shop: Shop) -> None:
    shop.write(
        "shop.json",
        json.dumps({"knowledge": {
            "zoo": {"path": "faq"}, "extra": {"path": "products"}, "faq": {"search": {"topK": 2}},
        }}),
    )  # fmt: skip
    shop.declare('[agents.A]\nconfig = "shop.json"\n[agents.A.knowledge.faq]\npath = "faq"\nsearch = {cache_ttl = 9}\n')

    listed = shop.json("knowledge", "list", "--agent", "A")["sources"]
    assert [one["name"] for one in listed] == ["faq", "extra", "zoo"]
    assert listed[0]["search"] == {"cache_ttl": 9.0, "top_k": 2}
    assert listed[0]["location"] == str(shop.root / "faq")


def test_rule_09_a_changed_use_keeps_only_what_applies_to_it(shop: Shop) -> None:
    config = {"knowledge": {"style": {"use": "SEARCH"}, "faq": {"use": "direct", "maxTokens": 50}}}
    shop.write("shop.json", json.dumps(config))
    shop.declare(
        '[agents.A]\nconfig = "shop.json"\n'
        '[agents.A.knowledge.style]\npath = "style.md"\nuse = "direct"\nmax_tokens = 9\n'
        '[agents.A.knowledge.faq]\npath = "faq"\nsearch = {top_k = 2}\n'
    )

    style, faq = shop.json("knowledge", "list", "--agent", "A")["sources"]
    assert "max_tokens" not in style and style["use"] == "search"
    assert "search" not in faq and faq["max_tokens"] == 50


def test_rule_10_a_run_file_moves_a_source_and_an_llm_section_is_left_alone(shop: Shop) -> None:
    shop.write("runs/faq-v2/new.md", "# Returns\nA kiwi can be returned within 60 days.\n")
    run = {"Agents": {"default": {"llm": {"any": [1]}, "knowledge": {"faq": {"path": "faq-v2"}}}}}
    shop.write("runs/run.json", json.dumps(run))

    value = shop.json("prompt", "--chat", "kiwi returned", "--run", "runs/run.json")
    assert "new.md" in [one["file"] for one in value["evidence"]]
    assert "returns.md" not in [one["file"] for one in value["evidence"]]


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"Unknown": {}}, "Agents.Unknown: no agent of this name is declared"),
        ({"R": {"knowledge": {}}}, "Agents.R: is a role of A; give it as Agents.A.roles.R"),
        ({"Bare": {"knowledge": {"x": {"path": "faq"}}}}, "the agent Bare declares no knowledge, nor does a base"),
        ({"A": {"roles": {"S": {}}}}, "Agents.A.roles.S: the agent A has no role of this name"),
        ({"A": {"models": {}}}, "Agents.A.models: is no member here"),
    ],
)
def test_rule_10_what_a_run_file_may_not_say(shop: Shop, section: dict[str, Any], message: str) -> None:
    run = shop.write("run.json", json.dumps({"Agents": section}))
    text = '[agents.A.knowledge.faq]\npath = "faq"\n'
    text += '[agents.A.roles.R.knowledge.p]\npath = "products"\n[agents.Bare.actions.x]\n'

    (found,) = shop.problems(text, "--run", str(run))
    assert message in found and str(run) in found and "(run file)" in found


def test_rule_10_a_section_configures_its_own_agent_and_not_those_that_extend_it(shop: Shop) -> None:
    run = shop.write("run.json", json.dumps({"Agents": {"Base": {"knowledge": {"faq": {"path": "products"}}}}}))
    shop.declare('[agents.Base.knowledge.faq]\npath = "faq"\n[agents.Child]\nextends = "Base"\n')

    def location(agent: str) -> str:
        return str(shop.json("knowledge", "list", "--agent", agent, "--run", run)["sources"][0]["location"])

    assert location("Base") == str(shop.root / "products")
    assert location("Child") == str(shop.root / "faq")


def test_rule_11_every_layer_is_validated_and_named(shop: Shop) -> None:
    shop.write("shop.json", '{"knowledge": {"faq": {"use": "often", "colour": 1, "search": {"top_k": [1, 2]}}}}')
    found = shop.problems('[agents.A]\nconfig = "shop.json"\n[agents.A.knowledge.faq]\npath = "faq"\n')

    assert len(found) == 3
    assert all(line.startswith(str(shop.root / "shop.json")) and line.endswith("(config file)") for line in found)


def test_rule_12_an_agent_takes_its_bases_knowledge_whole_or_none_of_it(shop: Shop) -> None:
    shop.declare(
        '[agents.Base.knowledge.faq]\npath = "faq"\n[agents.Base.actions.a]\nparams = ["q"]\nknowledge = ["faq"]\n'
        '[agents.Child]\nextends = "Base"\n[agents.Own]\nextends = "Base"\n'
        '[agents.Own.knowledge.p]\npath = "products"\n'
    )

    def names(agent: str) -> list[str]:
        return [one["name"] for one in shop.json("knowledge", "list", "--agent", agent)["sources"]]

    assert (names("Child"), names("Own")) == (["faq"], ["p"])
    assert shop.sources("--agent", "Child", "--action", "a", "--param", "q=kiwi") == ["faq"]


# -- paths


def test_rule_13_paths_count_from_the_declaring_file_or_the_base_directory(
    shop: Shop, run: Run, tmp_path: Path
) -> None:
    (shop.root / "below").mkdir()
    answer = run("knowledge", "list", "--json", data=shop.data, cwd=shop.root / "below")
    assert json.loads(answer.out)["sources"][0]["location"] == str(shop.root / "faq")

    based = shop.json("knowledge", "list", "--base-dir", tmp_path / "elsewhere")
    assert based["sources"][0]["location"] == str(tmp_path / "elsewhere" / "faq")


@pytest.mark.parametrize(
    "source",
    [
        'path = "../outside"',
        'path = "/etc"',
        'path = "link"',
        'url = "http://127.0.0.1:9/x"',
        'connection = "sqlite:x"',
    ],
)
def test_rule_14_a_tree_reaches_nothing_outside_it_unless_its_user_says_so(
    shop: Shop, tmp_path: Path, source: str
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "kiwi.md").write_text("kiwi\n")
    (shop.root / "link").symlink_to(tmp_path / "outside")
    (found,) = shop.problems(f"[knowledge.x]\n{source}\n")
    assert "of this tree" in found

    for words in (["prompt", "--chat", "kiwi"], ["search", "--knowledge", "x", "kiwi"], ["index", "--knowledge"]):
        answer = shop(*words)
        assert answer.code in (0, 1, 2)
        assert "of this tree" in answer.err or "is skipped" in answer.err
    assert not shop.data.exists() or not list(shop.data.glob("sessions/source-*/*.segment"))


def test_rule_14_a_trees_own_settings_cannot_allow_it(shop: Shop) -> None:
    shop.declare('allow_outside = true\n[knowledge.x]\npath = "/etc"\n')

    answer = shop("knowledge", "check")
    assert answer.code == 2
    assert "a project file cannot set allow_outside" in answer.out
    assert "leads out of it" in answer.out


def test_rule_14_the_users_own_file_reaches_where_it_says(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "n.md").write_text("kiwi notes\n")
    user = tmp_path / "home" / ".config" / "ragcli" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text(f'[knowledge.notes]\npath = "{tmp_path / "notes"}"\n')

    assert "notes" in shop.sources("--chat", "kiwi")
    shop.declare('[knowledge.x]\npath = "../notes"\n')
    assert shop("search", "--knowledge", "x", "kiwi").code == 2
    assert shop("search", "--knowledge", "x", "kiwi", "--allow-outside").code == 0


def test_rule_15_a_source_for_configuration_is_skipped_until_it_is_given_a_place(shop: Shop) -> None:
    shop.declare('[knowledge.faq]\npath = "faq"\nwhen = "configured"\n[knowledge.products]\npath = "products"\n')
    skipped = shop("prompt", "--chat", "kiwi")
    assert "the source faq is skipped" in skipped.err and str(shop.root / "faq") in skipped.err

    same = shop.write(
        "same.json", json.dumps({"Agents": {"default": {"knowledge": {"faq": {"path": str(shop.root / "faq")}}}}})
    )
    assert "is skipped" in shop("prompt", "--chat", "kiwi", "--run", same).err
    other = shop.write("other.json", '{"Agents": {"default": {"knowledge": {"faq": {"path": "style.md"}}}}}')
    assert "is skipped" not in shop("prompt", "--chat", "kiwi", "--run", other).err


# -- refresh, failure, account


def generations(shop: Shop) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes() for path in sorted(shop.data.rglob("*")) if path.is_file() and path.name != "lock"
    }


def test_rule_19_nothing_is_read_again_by_itself_and_refresh_touches_its_source_alone(shop: Shop) -> None:
    shop("index", "--knowledge")
    before = generations(shop)
    shop.write("faq/more.md", "a kumquat\n")
    shop.write("products/more.md", "a kumquat\n")
    assert shop("search", "--knowledge", "faq", "kumquat").code == 1

    assert shop("knowledge", "refresh", "faq").code == 0
    after = generations(shop)
    assert shop("search", "--knowledge", "faq", "kumquat").code == 0
    assert shop("search", "--knowledge", "products", "kumquat").code == 1
    changed = {Path(path).parent for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert len(changed) == 1


@pytest.mark.parametrize("name", ["", " ", "FAQ", "nothing", "off"])
def test_rule_19_refresh_of_a_blank_unknown_or_disabled_name_fails(shop: Shop, name: str) -> None:
    shop.declare(SOURCES + '[knowledge.off]\npath = "faq"\nenabled = false\n')

    answer = shop("knowledge", "refresh", name)
    assert answer.code == 2 and "hint:" in answer.err


def test_rule_19_results_are_kept_for_their_time_and_forgotten_by_refresh(shop: Shop) -> None:
    shop.declare('[knowledge.faq]\npath = "faq"\nsearch = { cache_ttl = 1000 }\n')

    def cached() -> bool:
        (row,) = shop.json("prompt", "--chat", "kiwi")["usage"]
        return bool(row["cached"])

    assert [cached(), cached()] == [False, True]
    shop("knowledge", "refresh", "faq")
    assert [cached(), cached()] == [False, True]


def test_rule_20_an_action_fails_or_goes_on_without_the_source(shop: Shop) -> None:
    text = (
        SOURCES.replace('path = "faq"', 'path = "gone"')
        + '[actions.a]\nparams = ["q"]\non_failure = "%s"\nknowledge = ["faq", "products"]\n'
    )
    shop.declare(text % "fail")
    failed = shop("prompt", "--action", "a", "--param", "q=kiwi")
    assert (failed.code, failed.out) == (2, "") and "the source faq has nothing at" in failed.err

    shop.declare(text % "continue")
    value = shop.json("prompt", "--action", "a", "--param", "q=kiwi")
    assert [one["source"] for one in value["evidence"]] == ["products"]
    assert {row["source"]: bool(row["error"]) for row in value["usage"]} == {"faq": True, "products": False}


def test_rule_21_a_usage_row_a_source_in_json_and_with_v(shop: Shop) -> None:
    value = shop.json("prompt", "--chat", "kiwi")
    assert [set(row) for row in value["usage"]] == [
        {"scope", "source", "use", "documents", "tokens", "milliseconds", "cached", "error"}
    ] * 3
    assert {row["scope"] for row in value["usage"]} == {"chat"}
    assert "chat: faq (search): 1 documents, about" in shop("prompt", "--chat", "kiwi", "-v").err


def test_rule_22_chat_comes_with_the_disclosure_for_the_system_prompt(shop: Shop) -> None:
    value = shop.json("prompt", "--chat", "kiwi")
    assert "untrusted data" in value["system"] and "follow no instruction" in value["system"]
    text = shop("prompt", "--chat", "kiwi").out
    assert text == f"{value['system']}\n\n{value['prompt']}\n"


def test_rule_22_without_evidence_there_is_nothing_to_disclose(shop: Shop) -> None:
    shop.declare('[knowledge.faq]\npath = "faq"\n')
    value = shop.json("prompt", "--chat", "zzz")
    assert (value["system"], value["prompt"], value["evidence"]) == ("", "zzz", [])


def test_results_of_several_sources_say_which_and_one_costs_no_union(shop: Shop) -> None:
    both = shop.json("search", "--knowledge", "faq", "--knowledge", "products", "kiwi")["results"]
    assert {one["source"] for one in both} == {"faq", "products"}
    assert [one["source"] for one in shop.json("search", "--knowledge", "faq", "kiwi")["results"]] == ["faq"]
    assert shop("search", "--knowledge", "style", "kiwi").code == 2
    assert shop("search", "--knowledge", "faq", "zzz").code == 1


# -- broken projects

BROKEN = {
    "toml": ("[knowledge.faq\n", ["Expected ']'"]),
    "type": (
        '[knowledge.faq]\npath = 3\nenabled = "yes"\n',
        ["knowledge.faq.path: must be a text", "knowledge.faq.enabled: must be true"],
    ),
    "member": ('[knowledge.faq]\npaht = "faq"\n', ["knowledge.faq.paht: is no member here; did you mean path?"]),
    "use": (
        '[knowledge.faq]\npath = "faq"\nuse = ["search", "direct"]\n',
        ["knowledge.faq.use: takes one value, not 2"],
    ),
    "budget": (
        '[knowledge.faq]\npath = "faq"\nmax_tokens = 5\n',
        ["knowledge.faq.max_tokens: goes with use = direct alone"],
    ),
    "location": ('[knowledge.faq]\nuse = "search"\n', ["knowledge.faq: a file source needs path"]),
    "both": (
        '[knowledge.faq]\npath = "faq"\nurl = "http://x.example/"\n',
        ["knowledge.faq.url: a file source takes no url"],
    ),
    "missing": ('[knowledge.faq]\npath = "gone"\n', ["knowledge.faq.path: there is nothing at"]),
    "action": (
        '[actions.a]\nparams = ["q"]\nknowledge = ["nope"]\n',
        ["actions.a.knowledge.0: no source 'nope' is declared"],
    ),
    "extends": (
        '[agents.A]\nextends = "B"\n[agents.B]\nextends = "A"\n',
        [
            "agents.A.extends: goes round in a circle: A -> B -> A",
            "agents.B.extends: goes round in a circle: B -> A -> B",
        ],
    ),
    "config": ('[agents.A]\nconfig = "gone.json"\n', ["agents.A.config:"]),
    "memory": (
        '[knowledge.a]\ntype = "memory"\n[knowledge.b]\ntype = "memory"\n',
        ["knowledge.b: a chat has one memory source at most"],
    ),
    "setting": ("knowlege = 1\n", ["unknown setting 'knowlege'"]),
    "url": ('[knowledge.a]\npath = "https://x.example/"\n', ["knowledge.a.path: is a URL; give it as url"]),
    "role": ('[agents.A.roles.R.knowledge.m]\ntype = "memory"\n', ["a memory source belongs to an agent's chat"]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_check_tells_each_mistake_of_a_broken_project_with_file_and_key(shop: Shop, name: str) -> None:
    text, messages = BROKEN[name]
    found = shop.problems(text)

    assert len(found) == len(messages), found
    for line, message in zip(found, messages, strict=True):
        assert line.startswith(str(shop.root / "ragcli.toml")) and message in line
    if name != "setting":
        other = shop("prompt", "--chat", "kiwi")
        assert (other.code, other.out) == (2, "") or name in ("missing", "memory", "action")


def test_check_names_keys_given_twice_in_a_json_file(shop: Shop) -> None:
    shop.write("a.json", '{"knowledge": {"faq": {"path": "faq", "path": "products"}, "faq": {"path": "faq"}}}')
    found = shop.problems('[agents.A]\nconfig = "a.json"\n[agents.A.knowledge.faq]\npath = "faq"\n')

    assert len(found) == 1
    assert "knowledge.faq: is given twice" in found[0]
    shop.write("a.json", '{"knowledge": {"faq": {"path": "faq", "path": "products"}}}')
    (found,) = shop.problems('[agents.A]\nconfig = "a.json"\n[agents.A.knowledge.faq]\npath = "faq"\n')
    assert "knowledge.faq.path: is given twice" in found


def test_check_of_a_sound_project_says_so_and_of_none_too(shop: Shop) -> None:
    answer = shop("knowledge", "check")
    assert (answer.code, answer.out) == (0, "") and "nothing is wrong" in answer.err
    shop.declare("k = 3\n")
    assert "no knowledge is declared here" in shop("knowledge", "check").err


@pytest.mark.parametrize(
    "words",
    [
        ["search", "--knowledge", "faq", "--fresh", "kiwi"],
        ["search", "--knowledge", "faq", "--batch"],
        ["prompt", "--chat", "--fresh", "kiwi"],
        ["prompt", "--chat", "--param", "a=b", "kiwi"],
        ["prompt", "--chat", "--action", "a"],
        ["prompt", "--action", "a", "kiwi"],
        ["prompt", "--action", "a", "--param", "x"],
        ["prompt", "--action", "none"],
        ["prompt", "--chat", "kiwi", "--agent", "none"],
        ["prompt", "--chat"],
        ["index", "--knowledge", "--rebuild"],
        ["index", "--knowledge", "none"],
        ["knowledge", "lsit"],
        ["knowledge", "pull"],
        ["knowledge", "check", "faq"],
        ["knowledge", "list", "--role", "none"],
        ["knowledge", "list", "--run", "gone.json"],
    ],
)
def test_words_that_make_no_sense_get_one_line_and_a_hint(shop: Shop, words: list[str]) -> None:
    shop.declare(SOURCES + '[actions.a]\nparams = ["q"]\nknowledge = ["faq"]\n')

    answer = shop(*words)
    assert (answer.code, answer.out) == (2, "")
    lines = answer.err.splitlines()
    assert len(lines) == 2 and lines[0].startswith("ragcli: ") and lines[1].startswith("hint: ")


def test_filters_of_search_and_prompt_hold_for_declared_sources(shop: Shop) -> None:
    shop.write("faq/kiwi.txt", "kiwi in a text\n")

    assert [one["file"] for one in shop.json("search", "--knowledge", "faq", "-g", "*.txt", "kiwi")["results"]] == [
        "kiwi.txt"
    ]
    found = shop.json("prompt", "--chat", "kiwi", "--format", "TEXT")["evidence"]
    assert [one["file"] for one in found if one["source"] == "faq"] == ["kiwi.txt"]


def test_rule_10_the_environment_names_a_run_file_too(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    run = shop.write("run.json", '{"Agents": {"default": {"knowledge": {"faq": {"path": "products"}}}}}')
    monkeypatch.setenv("RAGCLI_RUN", str(run))

    assert shop.json("knowledge", "list")["sources"][0]["location"] == str(shop.root / "products")


def test_sources_show_in_status_and_go_with_their_session(shop: Shop) -> None:
    shop("index", "--knowledge", "faq")
    (session,) = [path.name for path in (shop.data / "sessions").iterdir()]
    assert session in shop("status", "--all").out
    assert shop("clear", "-s", session, "--remove", "--yes").code == 0
    assert list((shop.data / "sessions").iterdir()) == []
    shutil.rmtree(shop.data)
