"""The one door of declared knowledge: what a place declares, searched, refreshed, and made into prompts."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from ragcli.config.options import QueryOptions
from ragcli.errors import RagError, UsageError
from ragcli.knowledge.grounding import Evidence, Grounding, gather, ground, move_cursors
from ragcli.knowledge.programmed import programmed
from ragcli.knowledge.project import Project, load_project
from ragcli.knowledge.scopes import (
    Scope,
    action_scope,
    chat_scope,
    check_scopes,
    checked_params,
    find_action,
    merged_search,
    query_of,
)
from ragcli.knowledge.sources import SourceOptions, Sources, all_entries, named_entries
from ragcli.knowledge.values import LOADED, KnowledgeEntry, KnowledgeUsage, Problem, Problems, SourceType, Use
from ragcli.model import SearchOutcome
from ragcli.session.manager import SessionManager

Listener = Callable[[KnowledgeUsage], None]


class Choice(NamedTuple):
    """Whose knowledge is meant, and what the call itself says of the search."""

    agent: str = ""
    role: str = ""
    top_k: int | None = None
    max_tokens: int | None = None


class DeclaredKnowledge:
    """What is declared for a directory. Reads its files once; sources are opened when they are used.

    `entries` and `action_knowledge` (names by action) are a program's own word for the default agent, over the files.

    Every method but `check` raises UsageError where a declaration is wrong, and the errors of the sessions it opens.
    """

    def __init__(
        self,
        data_dir: str | os.PathLike[str],
        directory: str = ".",
        *,
        run_file: str = "",
        entries: Sequence[KnowledgeEntry] = (),
        action_knowledge: Mapping[str, Sequence[str]] = {},
        options: SourceOptions = SourceOptions(),
        environ: Mapping[str, str] | None = None,
        tell: Callable[[str], None] = lambda notice: None,
        listener: Listener = lambda row: None,
    ) -> None:
        loaded = load_project(directory, os.environ if environ is None else environ, run_file)
        self.project: Project = programmed(loaded, entries, action_knowledge)
        self.sources = Sources(SessionManager(data_dir), self.project.root, options, tell)
        self._options = options
        self._listener = listener

    # -- reading

    def check(self) -> list[Problem]:
        """Everything that is wrong with the declarations, scopes and locations."""
        found = Problems()
        found.found += self.project.problems
        scoped, _ = check_scopes(self.project.agents.values())
        for problem in scoped.found:
            if problem not in found.found:
                found.found.append(problem)
        for entry in all_entries(self.project.agents.values()):
            self._check_location(entry, found)
        return found.found

    def entries(self, choice: Choice = Choice()) -> list[KnowledgeEntry]:
        """The entries of an agent, or of one of its roles beside them, the agent's before the role's of its name.

        UsageError for an agent or role that is not declared.
        """
        agent = self.project.agent(choice.agent)
        if choice.role and choice.role not in agent.roles:
            find = ", ".join(agent.roles) or "none"
            raise UsageError(f"the agent {agent.name} has no role {choice.role!r}", f"there are: {find}")
        roles = [agent.roles[choice.role]] if choice.role else list(agent.roles.values())
        return [*agent.knowledge, *(entry for role in roles for entry in role.knowledge)]

    def search(
        self, names: Sequence[str], query: str, choice: Choice = Choice(), options: QueryOptions = QueryOptions()
    ) -> SearchOutcome:
        """Search some sources by name as one collection; results say their source.

        UsageError for a name that is not declared, and for one that is not searched.
        """
        entries = self.entries(choice)
        chosen = [named_entries(entries, name)[0] for name in dict.fromkeys(names)]
        for entry in chosen:
            if entry.source.type not in LOADED:
                raise UsageError(f"{entry.name} is a {entry.source.type} source, which holds nothing to search")
            if entry.use is not Use.SEARCH:
                raise UsageError(
                    f"the source {entry.name} is used as {entry.use}, not searched", "see: ragcli knowledge list"
                )
        problems = Problems()
        settings = merged_search(chosen, problems)
        if problems.found:
            raise UsageError(str(problems.found[0]), "search one source at a time")
        scope = Scope("search", tuple(chosen), settings._replace(top_k=choice.top_k or settings.top_k))
        evidence = gather(self.sources, scope, query, options)
        self._account(evidence)
        return SearchOutcome(query, ",".join(e.name for e in chosen), "", "", evidence.results, [], [])

    # -- prompts

    def chat(self, query: str, choice: Choice = Choice(), options: QueryOptions = QueryOptions()) -> Grounding:
        """The prompt of a chat turn: evidence retrieved before the model is called, and its disclosure."""
        scope = self._limited(chat_scope(self.project.agent(choice.agent), choice.role), choice)
        evidence = gather(self.sources, scope, query, options)
        self._account(evidence)
        return ground(query, evidence, choice.max_tokens)

    def action(
        self, name: str, params: Mapping[str, str], choice: Choice = Choice(), *, type: str = "llm",
        options: QueryOptions = QueryOptions(), used: Callable[[Grounding], None] = lambda made: None,
    ) -> Grounding:  # fmt: skip
        """The prompt of an action's call. Cursors of sequential sources move once `used` has returned.

        UsageError for a parameter that is missing, before any source is looked at, and for an action of another type.
        """
        agent = self.project.agent(choice.agent)
        action, role = find_action(agent, name, choice.role)
        scope = self._limited(action_scope(agent, action, role), choice)
        given = checked_params(action, params)
        if action.type != type:
            other = (
                f"ragcli knowledge pull --action {name}" if action.type == "local" else f"ragcli prompt --action {name}"
            )
            raise UsageError(f"{name} is an action of type {action.type}", f"run: {other}")
        query = query_of(scope, given) if given else ""
        with self.sources.cursors(self._sequential(scope)):
            evidence = gather(self.sources, scope, query, options)
            self._account(evidence)
            made = self._call(scope, given, evidence, choice.max_tokens)
            used(made)
            move_cursors(self.sources, evidence)
        return made

    # -- writing

    def refresh(self, name: str | None = None, choice: Choice = Choice()) -> list[str]:
        """Read every enabled source again, or those of a name; the names of those that were read."""
        if name is not None:
            return self.sources.refresh(named_entries(self.entries(choice), name))
        agents = self.project.agents.values() if not choice.agent else [self.project.agent(choice.agent)]
        self.project.check()
        return self.sources.refresh(all_entries(agents))

    def build(self, name: str | None = None, choice: Choice = Choice()) -> list[str]:
        """Make the sessions of sources that have none yet; the names of all that are looked at."""
        self.project.check()
        entries = (
            all_entries(self.project.agents.values()) if name is None else named_entries(self.entries(choice), name)
        )
        usable = self.sources.usable(entries)
        for entry in usable:
            self.sources.ready(entry)
        return list(dict.fromkeys(entry.name for entry in usable))

    # -- private

    def _limited(self, scope: Scope, choice: Choice) -> Scope:
        if choice.top_k is None:
            return scope
        return scope._replace(search=scope.search._replace(top_k=choice.top_k))

    def _sequential(self, scope: Scope) -> list[str]:
        """The sessions of a scope's sequential sources; one that cannot be built is left to the call itself."""
        ids = []
        for entry in self.sources.usable(scope.using(Use.SEQUENTIAL)):
            with suppress(RagError):
                ids.append(self.sources.ready(entry))
        return ids

    def _call(self, scope: Scope, given: Mapping[str, str], evidence: Evidence, max_tokens: int | None) -> Grounding:
        """The prompt of an action's call: all its parameters behind the evidence."""
        whole = scope._replace(search=scope.search._replace(query_param=None))
        message = query_of(whole, given) if given else ""
        return ground(message, evidence, max_tokens, scope.action.description if scope.action else "")

    def _account(self, evidence: Evidence) -> None:
        for row in evidence.usage:
            self._listener(row)

    def _check_location(self, entry: KnowledgeEntry, found: Problems) -> None:
        if not entry.source.enabled or not entry.location:
            return
        try:
            id_ = self.sources.id(entry)
        except UsageError as error:
            found.add(entry.origin, error.message.partition(f"{entry.origin.key}: ")[2] or error.message)
            return
        location = self.sources.location(entry)
        unset = entry.source.when == "configured" and not self.sources.usable([entry])
        if entry.source.type is SourceType.FILE and not os.path.exists(location) and not unset and id_:
            found.add(entry.origin, f"there is nothing at {location}")
