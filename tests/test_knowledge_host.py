"""Declared knowledge in Python: the protocol of a knowledge base, live corpora, hosts and their bindings."""

import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from ragcli import (
    ChatKnowledgeBinding,
    DeclaredKnowledge,
    Document,
    InMemoryKnowledgeBase,
    KnowledgeBase,
    KnowledgeEntry,
    KnowledgeHost,
    KnowledgePaths,
    KnowledgeSourceConfig,
    KnowledgeUsage,
    RagService,
    SearchSettings,
    SessionManager,
)
from ragcli.errors import RagError, UsageError
from ragcli.knowledge.values import SourceType, Use
from ragcli.session.knowledge_base import SessionKnowledgeBase

SOURCE = "session-corpus"
MEMORY = KnowledgeEntry.search(KnowledgeSourceConfig.memory(SOURCE))
KIWI = Document("1", "A kiwi is green.", {})


def corpus(*documents: Document) -> InMemoryKnowledgeBase:
    made = InMemoryKnowledgeBase()
    made.add_documents(documents)
    return made


def live(top_k: int = 5, owner: str = "me", source: str = SOURCE) -> ChatKnowledgeBinding:
    return ChatKnowledgeBinding.live(owner, source, top_k, corpus(KIWI))


def files(tmp_path: Path, name: str = "faq", text: str = "A kiwi can be returned.") -> KnowledgeEntry:
    (tmp_path / name).mkdir(exist_ok=True)
    (tmp_path / name / f"{name}.md").write_text(text)
    return KnowledgeEntry.search(KnowledgeSourceConfig.file(name, str(tmp_path / name)))


def declared(tmp_path: Path) -> DeclaredKnowledge:
    return DeclaredKnowledge(tmp_path / "data", str(tmp_path), environ={})


class Broken(InMemoryKnowledgeBase):
    """A corpus that fails when it is searched."""

    def search(self, query: str, top_k: int) -> list:
        raise OSError("the corpus is away")


class Stubborn(ChatKnowledgeBinding):
    """A binding that cannot be closed."""

    def close(self) -> None:
        super().close()
        raise OSError("will not close")


# -- the protocol


@pytest.mark.parametrize("made", ["memory", "session"])
def test_a_knowledge_base_is_a_protocol_that_memory_and_sessions_satisfy(made: str, tmp_path: Path) -> None:
    base: KnowledgeBase = InMemoryKnowledgeBase()
    if made == "session":
        base = SessionKnowledgeBase(SessionManager(tmp_path).get_rag("s"))
    assert base.is_empty and base.size == 0

    first = base.add_document(KIWI)
    base.add_documents([Document("2", "A pear is yellow.", {"kind": "fruit"})])
    assert (base.size, base.is_empty) == (2, False)
    found = base.get_document(first)
    assert found is not None and found.text == KIWI.text
    assert [result.content.strip() for result in base.search("kiwi", 3)] == ["A kiwi is green."]
    assert base.remove_document(first) and not base.remove_document(first)
    base.replace_documents([Document("3", "A plum is blue.", {})])
    assert base.size == 1 and base.search("pear", 3) == []
    assert base.get_document("nothing") is None


def test_rule_13_paths_are_resolved_as_readers_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert KnowledgePaths.resolve("a/../b") == str(tmp_path / "b")
    assert KnowledgePaths.resolve("b", "/base") == "/base/b"
    assert KnowledgePaths.resolve("/b", "/base") == "/b"
    assert KnowledgePaths.resolve("https://x.example/a") == "https://x.example/a"


# -- live bindings


def test_rule_23_a_live_binding_holds_the_corpus_and_sees_what_is_added_later() -> None:
    base = corpus()
    host = KnowledgeHost("me", [MEMORY])
    host.set_chat_knowledge_binding(ChatKnowledgeBinding.live("me", SOURCE, 5, base))
    host.start()
    assert host.ground("kiwi").prompt.evidence == []
    base.add_document(KIWI)

    made = host.ground("kiwi")
    assert [one.content for one in made.prompt.evidence] == ["A kiwi is green."]
    assert "untrusted data" in made.system
    host.stop()
    assert base.size == 1


def test_rule_23_a_corpus_that_fails_costs_its_evidence_and_not_the_turn() -> None:
    rows: list[KnowledgeUsage] = []
    host = KnowledgeHost("me", [MEMORY], listener=rows.append)
    host.set_chat_knowledge_binding(ChatKnowledgeBinding.live("me", SOURCE, 5, Broken()))
    host.start()

    assert host.ground("kiwi").prompt.prompt == "kiwi"
    assert [(row.scope, row.source, row.error) for row in rows] == [("chat", SOURCE, "the corpus is away")]


def test_rule_23_a_source_that_nothing_declares_is_given_to_a_turn() -> None:
    host = KnowledgeHost("me", [MEMORY])
    host.start()
    extra = ChatKnowledgeBinding.undeclared("me", "notes", 5, corpus(KIWI))

    assert [one.source for one in host.ground("kiwi", [extra]).prompt.evidence] == ["notes"]
    assert host.ground("kiwi").prompt.evidence == []
    with pytest.raises(ValueError, match="undeclared bindings"):
        host.ground("kiwi", [live()])


def test_rule_18_a_memory_source_is_ungrounded_until_it_is_bound() -> None:
    host = KnowledgeHost("me", [MEMORY])
    host.start()
    assert host.ground("kiwi").system == ""
    host.bind_live(SOURCE, 5, corpus(KIWI))
    assert len(host.ground("kiwi").prompt.evidence) == 1


def test_rule_24_the_others_come_before_memory_and_each_kind_has_one_binding(tmp_path: Path) -> None:
    host = KnowledgeHost("me", [MEMORY, files(tmp_path)], declared=declared(tmp_path))
    memory = live()
    host.set_memory_chat_knowledge_binding(memory)
    assert host.chat_knowledge_binding is memory
    host.start()
    others, last = host.chat_knowledge_bindings
    assert (others.sources, last) == (("faq",), memory)
    assert host.chat_knowledge_binding is others
    assert [one.source for one in host.ground("kiwi").prompt.evidence] == ["faq", SOURCE]

    other = live()
    host.set_chat_knowledge_binding(other)
    assert host.chat_knowledge_bindings == [others, other] and memory.closed


@pytest.mark.parametrize(
    ("binding", "message"),
    [
        (live(owner="you"), "owned by 'you'"),
        (live(owner="ME"), "owned by 'ME'"),
        (live(source="other"), "searches 'other'"),
        (live(top_k=4), "has top_k 4, and what is declared 5"),
    ],
)
def test_rule_25_owner_source_and_top_k_must_agree(binding: ChatKnowledgeBinding, message: str) -> None:
    host = KnowledgeHost("me", [MEMORY])
    with pytest.raises(ValueError, match=message):
        host.set_chat_knowledge_binding(binding)
    assert not binding.closed


def test_rule_25_without_a_search_source_or_after_stop_a_binding_is_refused() -> None:
    with pytest.raises(RuntimeError, match="no enabled search source"):
        KnowledgeHost("me").set_chat_knowledge_binding(live())
    host = KnowledgeHost("me", [MEMORY])
    host.start()
    host.stop()
    late = live()
    with pytest.raises(RuntimeError, match="stopped"):
        host.set_chat_knowledge_binding(late)
    assert late.closed
    wrong = live(top_k=9)
    with pytest.raises(ValueError, match="top_k"):
        host.set_chat_knowledge_binding(wrong)
    with pytest.raises(RuntimeError, match="stopped"):
        host.ground("kiwi")


def test_rule_25_memory_and_others_in_one_binding_are_refused(tmp_path: Path) -> None:
    host = KnowledgeHost("me", [MEMORY, files(tmp_path)], declared=declared(tmp_path))
    both = ChatKnowledgeBinding("me", [SOURCE, "faq"], 5, lambda query, top_k: ([], []), fail_open=True)

    with pytest.raises(ValueError, match="not both"):
        host.set_chat_knowledge_binding(both)
    with pytest.raises(ValueError, match="is no memory source"):
        host.set_memory_chat_knowledge_binding(live(source="faq"))


def test_rule_25_a_source_that_becomes_one_of_the_other_kind_fails_the_start(tmp_path: Path) -> None:
    host = KnowledgeHost("me", [], declared=declared(tmp_path))
    host.knowledge(MEMORY)
    given = live()
    host.set_chat_knowledge_binding(given)
    host._own[0] = files(tmp_path, SOURCE)

    with pytest.raises(RuntimeError, match="became declared knowledge"):
        host.start()
    assert given.closed and host.state == "failed"


def test_rule_20_and_25_a_source_that_cannot_be_loaded_fails_the_start_and_closes_bindings(tmp_path: Path) -> None:
    gone = KnowledgeEntry.search(KnowledgeSourceConfig.file("gone", str(tmp_path / "gone")))
    host = KnowledgeHost("me", [MEMORY, gone], declared=declared(tmp_path))
    given = live()
    host.set_chat_knowledge_binding(given)

    with pytest.raises(RagError, match="has nothing at"):
        host.start()
    assert given.closed and host.state == "failed"
    with pytest.raises(UsageError, match="nothing opens the declared sources gone"):
        KnowledgeHost("me", [gone]).start()


def test_rule_25_stop_closes_all_even_where_one_raises(tmp_path: Path) -> None:
    host = KnowledgeHost("me", [MEMORY, files(tmp_path)], declared=declared(tmp_path))
    first = Stubborn("me", ["faq"], 5, lambda query, top_k: ([], []), fail_open=True)
    second = live()
    host.set_chat_knowledge_binding(first)
    host.set_chat_knowledge_binding(second)
    host.start()

    with pytest.raises(OSError, match="will not close"):
        host.stop()
    assert (first.closed, second.closed, host.state) == (True, True, "stopped")


def test_rule_26_each_kind_has_its_own_top_k_and_its_own_window(tmp_path: Path) -> None:
    memory = MEMORY._replace(search_settings=SearchSettings(top_k=2))
    file = files(tmp_path)._replace(search_settings=SearchSettings(top_k=7))
    host = KnowledgeHost("me", [memory, file], declared=declared(tmp_path), context_tokens=150)
    host.set_chat_knowledge_binding(
        ChatKnowledgeBinding.live(
            "me", SOURCE, 2, corpus(*(Document(f"{n}", f"kiwi {'word ' * 60}{n}", {}) for n in range(9)))
        )
    )
    host.start()

    evidence = host.ground("kiwi").prompt.evidence
    assert [binding.top_k for binding in host.chat_knowledge_bindings] == [7, 2]
    assert [one.source for one in evidence].count(SOURCE) == 1
    wide = KnowledgeHost("me", [memory, file], declared=declared(tmp_path))
    wide.set_chat_knowledge_binding(live(top_k=2))
    wide.start()
    assert {one.source for one in wide.ground("kiwi").prompt.evidence} == {"faq", SOURCE}


def test_rule_26_invalidate_and_clear_advance_revisions(tmp_path: Path) -> None:
    host = KnowledgeHost("me", [MEMORY, files(tmp_path)], declared=declared(tmp_path))
    assert host.invalidate_chat_knowledge() == 0
    memory = live()
    host.set_chat_knowledge_binding(memory)
    host.start()
    memory.invalidate()

    assert host.invalidate_chat_knowledge() == 2
    host.clear_conversation_history()
    assert [binding.revision for binding in host.chat_knowledge_bindings] == [2, 3]


def test_rule_27_a_service_attaches_its_corpus_and_later_documents_are_seen(tmp_path: Path) -> None:
    rag = SessionManager(tmp_path / "data").get_rag("mine")
    entry = KnowledgeEntry.search(KnowledgeSourceConfig.memory(RagService.CHAT_SOURCE))
    host = KnowledgeHost("me", [entry])
    host.start()
    rag.attach_chat_to(host)
    assert host.chat_knowledge_bindings == []
    rag.add_document("A kiwi is green.")
    rag.attach_chat_to(host)
    rag.add_document("A kumquat is orange.")

    assert [one.content.strip() for one in host.ground("kumquat").prompt.evidence] == ["A kumquat is orange."]
    with pytest.raises(ValueError, match="top_k"):
        other = KnowledgeHost("me", [entry._replace(search_settings=SearchSettings(top_k=3))])
        rag.attach_chat_to(other)


def test_rule_08_entries_of_a_program_replace_declared_ones_in_place(tmp_path: Path) -> None:
    files(tmp_path), files(tmp_path, "other", "A kiwi of another place.")
    (tmp_path / "ragcli.toml").write_text(
        '[knowledge.faq]\npath = "faq"\nsearch = { top_k = 2 }\n[knowledge.style]\npath = "faq"\nuse = "direct"\n'
    )
    host = KnowledgeHost("me", declared=declared(tmp_path))
    host.knowledge(KnowledgeEntry.search(KnowledgeSourceConfig.file("faq", str(tmp_path / "other"))))

    assert [entry.name for entry in host.scope.entries] == ["faq", "style"]
    assert host.scope.search == SearchSettings()
    host.start()
    assert [(one.source, one.file) for one in host.ground("kiwi").prompt.evidence] == [
        ("style", "faq.md"), ("faq", "other.md"),
    ]  # fmt: skip
    with pytest.raises(UsageError, match="given twice"):
        KnowledgeHost("me", [MEMORY, MEMORY])


def test_rule_08_a_program_replaces_entries_and_the_names_that_an_action_uses(tmp_path: Path) -> None:
    other = files(tmp_path, "other", "A kiwi of another place.")
    files(tmp_path)
    (tmp_path / "ragcli.toml").write_text(
        '[knowledge.faq]\npath = "faq"\n[actions.a]\nparams = ["q"]\nknowledge = ["faq"]\n'
    )

    def made(**more: Any) -> DeclaredKnowledge:
        return DeclaredKnowledge(tmp_path / "data", str(tmp_path), environ={}, **more)

    named = made(entries=[other], action_knowledge={"a": ["other"]})
    assert [one.source for one in named.action("a", {"q": "kiwi"}).prompt.evidence] == ["other"]
    assert [entry.name for entry in named.entries()] == ["faq", "other"]
    replaced = made(entries=[files(tmp_path, "faq2")._replace(source=KnowledgeSourceConfig.file("faq", str(tmp_path)))])
    assert [entry.source.path for entry in replaced.entries()] == [str(tmp_path)]
    (wrong,) = made(action_knowledge={"b": ["faq"]}).check()
    assert str(wrong) == "program: actions.b: no action 'b' is declared; there are: a (program)"
    budget = KnowledgeEntry(KnowledgeSourceConfig.file("x", str(tmp_path)), Use.SEARCH, 9)
    assert any("max_tokens" in str(one) or "goes with use" in str(one) for one in made(entries=[budget]).check())


def test_rule_19_a_retrieval_under_way_finishes_on_the_generations_it_pinned(tmp_path: Path) -> None:
    """Searches beside refreshes each answer from one generation of the source, never from none."""
    files(tmp_path, "faq", "kiwi 0")
    (tmp_path / "ragcli.toml").write_text('[knowledge.faq]\npath = "faq"\n')
    failures: list[BaseException] = []
    answers: set[str] = set()
    done = threading.Event()

    def search() -> None:
        reading = declared(tmp_path)
        try:
            while not done.is_set():
                answers.update(hit.content for hit in reading.search(["faq"], "kiwi").results)
        except BaseException as error:
            failures.append(error)

    declared(tmp_path).refresh()
    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(1, 6):
        (tmp_path / "faq" / "faq.md").write_text(f"kiwi {number}" + "!" * number)
        declared(tmp_path).refresh("faq")
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert answers <= {f"kiwi {number}" + "!" * number for number in range(6)}


def test_values_are_what_the_application_writes() -> None:
    entry = KnowledgeEntry(KnowledgeSourceConfig.database("d", "sqlite:x", "SELECT 1"), Use.DIRECT, 9)
    assert (entry.source.type, entry.location, entry.max_tokens) == (SourceType.DATABASE, "sqlite:x", 9)
    assert KnowledgeSourceConfig.remote("u", "https://x.example/").type is SourceType.URL
    wrong: list[tuple[str, Iterable[str], int]] = [("", ["a"], 1), ("me", [], 1), ("me", ["a"], 0)]
    for owner, sources, top_k in wrong:
        with pytest.raises(ValueError):
            ChatKnowledgeBinding(owner, list(sources), top_k, lambda query, k: ([], []), fail_open=True)
