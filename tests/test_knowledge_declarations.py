"""Whatever stands in declarations, reading them ends in entries or in problems that name layer, file and key."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from ragcli import DeclaredKnowledge
from ragcli.knowledge.values import Layer

NAMES = ["faq", "style", "A", "R", "default", "question", "", " ", "x.y", "é"]
WORDS = [
    *NAMES, "search", "DIRECT", "sequential", "memory", "graph", "database", "url", "https://x.example/", "http://[",
    "../..", "/etc", "sqlite:x", "configured", "hybrid", "local", "llm", "\u202e", "a" * 300, True, False, -1, 0, 3,
    0.5, 2.5, [], ["search"], ["a", "b"], {}, {"a": 1},
]  # fmt: skip
SEARCH = ["strategy", "query_param", "top_k", "topK", "min_score", "cache_ttl", "colour"]
ENTRY = ["name", "type", "path", "url", "connection", "query", "include", "exclude", "format", "enabled", "when", "use",
         "max_tokens", "maxTokens", "search", "colour"]  # fmt: skip


class Maker:
    """Makes values that are now and then right."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def some(self, keys: list[str], value: Callable[[str], Any], most: int = 4) -> dict[str, Any]:
        return {key: value(key) for key in self._random.sample(keys, self._random.randint(0, min(most, len(keys))))}

    def or_any(self, value: Any) -> Any:
        return value if self._random.random() < 0.9 else self._random.choice(WORDS)

    def entry(self, _: str = "") -> Any:
        made = self.some(ENTRY, lambda key: self.search() if key == "search" else self._random.choice(WORDS))
        return self.or_any({"path": "faq"} | made if self._random.random() < 0.6 else made)

    def search(self) -> Any:
        return self.or_any(self.some(SEARCH, lambda key: self._random.choice(WORDS)))

    def entries(self, _: str = "") -> Any:
        return self.or_any(self.some(NAMES, self.entry))

    def action(self, _: str = "") -> Any:
        keys = ["type", "params", "knowledge", "on_failure", "description", "colour"]
        named = [self._random.choice([*NAMES, {"name": "faq", "use": "direct"}, {"path": "x"}, 3]) for _ in range(2)]
        return self.or_any(self.some(keys, lambda key: named if key == "knowledge" else self._random.choice(WORDS)))

    def owner(self, depth: int = 0) -> Any:
        def value(key: str) -> Any:
            if key == "knowledge":
                return self.entries()
            if key == "actions":
                return self.or_any(self.some(NAMES, self.action))
            if key == "roles":
                return self.or_any(self.some(NAMES, lambda role: self.owner(1))) if not depth else 1
            if key == "config":
                return self._random.choice(["layer.json", "gone.json", "/etc/passwd", 3])
            return self._random.choice(WORDS)

        return self.or_any(self.some(["knowledge", "actions", "roles", "config", "extends", "chat_roles"], value))

    def project(self) -> dict[str, Any]:
        def value(key: str) -> Any:
            if key == "agents":
                return self.some(NAMES, lambda agent: self.owner())
            return self.entries() if key == "knowledge" else self.or_any(self.some(NAMES, self.action))

        return self.some(["knowledge", "actions", "agents"], value)

    def layer(self, _: str = "") -> Any:
        keys = ["llm", "knowledge", "roles"]
        made = {"llm": {}, "knowledge": self.entries(), "roles": {"R": {"knowledge": self.entries()}}}
        return self.or_any(self.some(keys, made.__getitem__))


@pytest.mark.parametrize("seed", range(150))
def test_any_declarations_end_in_entries_or_in_problems(seed: int, tmp_path: Path) -> None:
    make = Maker(seed)
    (tmp_path / "faq").mkdir()
    (tmp_path / "ragcli.toml").write_text(tomlkit.dumps(make.project()), encoding="utf-8")
    (tmp_path / "layer.json").write_text(json.dumps(make.layer()))
    (tmp_path / "run.json").write_text(json.dumps({"Agents": make.some(NAMES, make.layer)}))
    declared = DeclaredKnowledge(tmp_path / "data", str(tmp_path), run_file=str(tmp_path / "run.json"), environ={})

    problems = declared.check()
    for problem in problems:
        assert problem.layer in set(Layer) and problem.file.startswith(str(tmp_path)) and problem.message
        assert problem.key or problem.message.startswith("must be")
    assert (
        problems
        == DeclaredKnowledge(tmp_path / "data", str(tmp_path), run_file=str(tmp_path / "run.json"), environ={}).check()
    )
    assert not (tmp_path / "data").exists()


def test_problems_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = "[knowledge.b]\nuse = 1\nx = 2\n[knowledge.a]\npath = 3\n[actions.z]\ny = 1\n"
    (tmp_path / "ragcli.toml").write_text(text)
    problems = DeclaredKnowledge(tmp_path / "d", str(tmp_path), environ={}).check()

    assert [problem.key for problem in problems] == [
        "knowledge.b.use", "knowledge.b.x", "knowledge.a.path", "actions.z.y",
    ]  # fmt: skip
