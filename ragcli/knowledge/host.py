"""KnowledgeHost: what an application that talks to a model holds, so that each turn of its chat is grounded."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from ragcli.errors import UsageError
from ragcli.knowledge.bindings import ChatKnowledgeBinding
from ragcli.knowledge.grounding import Evidence, Grounding, gather, ground
from ragcli.knowledge.scopes import Scope, chat_scope
from ragcli.knowledge.sources import Sources
from ragcli.knowledge.values import DEFAULT_AGENT, DEFAULT_TOP_K, Agent, KnowledgeEntry, KnowledgeUsage, SourceType, Use
from ragcli.model import KnowledgeBase, SearchResult
from ragcli.prompt import estimate_tokens, evidence_block

if TYPE_CHECKING:
    from ragcli.knowledge.declared import DeclaredKnowledge

CONTEXT_TOKENS = 8_000  # of the evidence of each kind


class State(StrEnum):
    """Where a host is in its life."""

    NEW = "new"
    STARTED = "started"
    STOPPED = "stopped"
    FAILED = "failed"


class Kind(StrEnum):
    """What a binding searches; each kind has one binding, its own top_k and its own context window."""

    DECLARED = "declared"
    MEMORY = "memory"


class KnowledgeHost:
    """Grounds the chat of one owner.

    Entries given here replace those of the declarations that have their name, in place, and others follow. Without
    `declared` only memory sources and live bindings can be used. `listener` gets a usage row a source a turn.
    """

    def __init__(
        self,
        owner: str,
        entries: Sequence[KnowledgeEntry] = (),
        *,
        declared: "DeclaredKnowledge | None" = None,
        agent: str = "",
        context_tokens: int = CONTEXT_TOKENS,
        listener: Callable[[KnowledgeUsage], None] = lambda row: None,
    ) -> None:
        self.owner = owner
        self.state = State.NEW
        self._agent = Agent(DEFAULT_AGENT)
        if declared is not None:
            declared.project.check()
            if agent or DEFAULT_AGENT in declared.project.agents:
                self._agent = declared.project.agent(agent)
        self._sources: Sources | None = declared.sources if declared else None
        self._own: list[KnowledgeEntry] = []
        self._bindings: dict[Kind, ChatKnowledgeBinding] = {}
        self._context_tokens = context_tokens
        self._listener = listener
        self.knowledge(*entries)

    # -- declarations

    def knowledge(self, *entries: KnowledgeEntry) -> None:
        """Add entries to those given so far. UsageError for a name given twice, RuntimeError once started."""
        if self.state is not State.NEW:
            raise RuntimeError(f"the host is {self.state}; entries are given before it starts")
        for entry in entries:
            if any(known.name == entry.name for known in self._own):
                raise UsageError(f"the name {entry.name!r} is given twice", "names of knowledge are unique")
            self._own.append(entry)

    @property
    def scope(self) -> Scope:
        """The chat scope as it is declared now; UsageError where it makes none."""
        own = {entry.name: entry for entry in self._own}
        below = tuple(own.pop(entry.name, entry) for entry in self._agent.knowledge)
        return chat_scope(self._agent._replace(knowledge=(*below, *own.values())))

    # -- bindings

    @property
    def chat_knowledge_bindings(self) -> list[ChatKnowledgeBinding]:
        """The bindings that a turn searches, in the order their evidence is rendered: the others, then memory."""
        return [self._bindings[kind] for kind in Kind if kind in self._bindings]

    @property
    def chat_knowledge_binding(self) -> ChatKnowledgeBinding | None:
        """The binding of the other sources, else that of memory."""
        return next(iter(self.chat_knowledge_bindings), None)

    def set_chat_knowledge_binding(self, binding: ChatKnowledgeBinding) -> None:
        """Search a binding in each turn, in place of the one of its kind.

        ValueError where owner, sources or top_k do not agree with what is declared; RuntimeError where no search
        source is, or the host has stopped or failed, which closes a binding that agrees.
        """
        self._bind(binding, self._kind(binding))

    def set_memory_chat_knowledge_binding(self, binding: ChatKnowledgeBinding) -> None:
        """The same for the memory source alone; ValueError for a binding of others."""
        kind = self._kind(binding)
        if kind is not Kind.MEMORY:
            raise ValueError(f"{', '.join(binding.sources)} is no memory source")
        self._bind(binding, kind)

    def bind_live(self, source: str, top_k: int, knowledge_base: KnowledgeBase) -> None:
        """Bind a live corpus to a source; errors as set_chat_knowledge_binding."""
        self.set_chat_knowledge_binding(ChatKnowledgeBinding.live(self.owner, source, top_k, knowledge_base))

    def invalidate_chat_knowledge(self) -> int:
        """Advance the revision of every binding; that of the memory binding, else of the other, 0 for none."""
        revisions = [binding.invalidate() for binding in self.chat_knowledge_bindings]
        return revisions[-1] if revisions else 0

    def clear_conversation_history(self) -> None:
        """Advance the revision of every binding: what was retrieved for the conversation no longer counts."""
        self.invalidate_chat_knowledge()

    # -- life

    def start(self) -> None:
        """Open the declared sources and check the bindings given so far again.

        Whatever fails closes the bindings and leaves the host failed: a source that cannot be loaded (RagError), a
        binding whose source has become one of the other kind (RuntimeError) or that no longer agrees (ValueError).
        """
        if self.state is not State.NEW:
            raise RuntimeError(f"the host is {self.state}")
        try:
            for kind, binding in list(self._bindings.items()):
                if self._kind(binding) is not kind:
                    raise RuntimeError(f"{', '.join(binding.sources)} became {self._kind(binding)} knowledge")
            self._open()
        except BaseException:
            self.state = State.FAILED
            self._close_all()
            raise
        self.state = State.STARTED

    def stop(self) -> None:
        """Close every binding, also where closing one raises; the first such error is raised at the end."""
        self.state = State.STOPPED
        error = self._close_all()
        if error is not None:
            raise error

    def ground(self, query: str, undeclared: Sequence[ChatKnowledgeBinding] = ()) -> Grounding:
        """The prompt of a turn: evidence found before the model is called, fenced, and the system text that goes with
        it. `undeclared` bindings are searched in this turn alone. RuntimeError on a host that is not started."""
        if self.state is not State.STARTED:
            raise RuntimeError(f"the host is {self.state}")
        if any(binding.is_declared or not binding.is_owned_by(self.owner) for binding in undeclared):
            raise ValueError("a turn takes undeclared bindings of its own owner alone")
        evidence = Evidence([], [], {})
        scope = self.scope
        if self._sources is not None:
            direct = gather(self._sources, scope._replace(entries=tuple(scope.using(Use.DIRECT))), query)
            evidence.results.extend(direct.results)
            evidence.usage.extend(direct.usage)
        for binding in (*self.chat_knowledge_bindings, *undeclared):
            found, rows = binding.search(query)
            evidence.results.extend(_within(found, self._context_tokens))
            evidence.usage.extend(rows)
        for row in evidence.usage:
            self._listener(row)
        return ground(query, evidence)

    # -- private

    def _open(self) -> None:
        """Build what the declared sources need, and the binding that searches them where none was given."""
        scope = self.scope
        loaded = [entry for entry in scope.using(Use.SEARCH) if entry.source.type is not SourceType.MEMORY]
        direct = scope.using(Use.DIRECT)
        given = self._bindings.get(Kind.DECLARED)
        needed = [entry for entry in loaded if given is None or entry.name not in given.sources]
        sources = self._sources
        if sources is None:
            if needed or direct:
                names = ", ".join(entry.name for entry in [*needed, *direct])
                raise UsageError(f"nothing opens the declared sources {names}", "give declared=DeclaredKnowledge(...)")
            return
        usable = sources.usable([*direct, *needed])
        for entry in usable:
            sources.ready(entry)
        searched = tuple(entry for entry in usable if entry.use is Use.SEARCH)
        if searched and given is None:
            part = scope._replace(entries=searched)

            def search(query: str, top_k: int) -> tuple[list[SearchResult], list[KnowledgeUsage]]:
                found = gather(sources, part, query)
                return found.results, found.usage

            held = [entry.name for entry in searched]
            top_k = scope.search.top_k or DEFAULT_TOP_K
            self._bindings[Kind.DECLARED] = ChatKnowledgeBinding(self.owner, held, top_k, search, fail_open=False)

    def _kind(self, binding: ChatKnowledgeBinding) -> Kind:
        """The kind of a binding's sources by what is declared now; errors as set_chat_knowledge_binding."""
        searched = {entry.name: entry for entry in self.scope.using(Use.SEARCH)}
        if not searched:
            raise RuntimeError("the chat declares no enabled search source")
        if not binding.is_owned_by(self.owner):
            raise ValueError(f"the binding is owned by {binding.owner!r}, not by {self.owner!r}")
        unknown = [name for name in binding.sources if name not in searched]
        if unknown:
            raise ValueError(
                f"the binding searches {unknown[0]!r}, which the chat does not; it has {', '.join(searched)}"
            )
        kinds = {searched[name].source.type is SourceType.MEMORY for name in binding.sources}
        if len(kinds) > 1:
            raise ValueError("a binding searches memory or other knowledge, not both")
        kind = Kind.MEMORY if kinds == {True} else Kind.DECLARED
        first = searched[binding.sources[0]]
        merged = first.search_settings.top_k if kind is Kind.MEMORY else self.scope.search.top_k
        if binding.top_k != (merged or DEFAULT_TOP_K):
            raise ValueError(f"the binding has top_k {binding.top_k}, and what is declared {merged or DEFAULT_TOP_K}")
        return kind

    def _bind(self, binding: ChatKnowledgeBinding, kind: Kind) -> None:
        if self.state in (State.STOPPED, State.FAILED):
            binding.close()
            raise RuntimeError(f"the host is {self.state}")
        before = self._bindings.get(kind)
        self._bindings[kind] = binding
        if before is not None and before is not binding:
            before.close()

    def _close_all(self) -> BaseException | None:
        first: BaseException | None = None
        for binding in self.chat_knowledge_bindings:
            try:
                binding.close()
            except Exception as error:
                first = first or error
        self._bindings.clear()
        return first


def _within(results: Sequence[SearchResult], budget: int) -> list[SearchResult]:
    """The first results that fit a window of so many tokens."""
    kept = []
    for result in results:
        budget -= estimate_tokens(evidence_block(result))
        if budget < 0:
            break
        kept.append(result)
    return kept
