"""Who sees which sources: the scope of a chat and of an action, and the search that a scope's sources make together."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ragcli.errors import UsageError
from ragcli.knowledge.layers import entry_of, given_of, overlay
from ragcli.knowledge.members import shown
from ragcli.knowledge.values import (
    CHAT,
    Action,
    Agent,
    KnowledgeEntry,
    OnFailure,
    Problems,
    Role,
    SearchSettings,
    SourceType,
    Use,
)


class Scope(NamedTuple):
    """The entries of one chat or action, in order; `search` is what its search entries give together."""

    name: str
    entries: tuple[KnowledgeEntry, ...]
    search: SearchSettings = SearchSettings()
    on_failure: OnFailure = OnFailure.FAIL
    action: Action | None = None

    def using(self, use: Use) -> list[KnowledgeEntry]:
        """The enabled entries of one use."""
        return [entry for entry in self.entries if entry.use is use and entry.source.enabled]


def chat_scope(agent: Agent, role: str = "", problems: Problems | None = None) -> Scope:
    """The chat of an agent: its search and direct sources, those of its roles where it lets them join.

    UsageError, or a problem where they are collected, for names that clash, settings that differ and a second memory
    source.
    """
    found = problems if problems is not None else Problems()
    entries = list(agent.knowledge)
    if agent.chat_roles:
        for each in _roles(agent, role):
            for entry in each.knowledge:
                twin = next((one for one in entries if one.name == entry.name), None)
                if twin is not None:
                    found.add(
                        entry.origin, f"the name {shown(entry.name)} is taken: {twin.origin.key} joins the same chat"
                    )
                else:
                    entries.append(entry)
    seen = [e for e in entries if e.use is not Use.SEQUENTIAL and e.source.type is not SourceType.GRAPH]
    memory = [entry for entry in seen if entry.source.type is SourceType.MEMORY and entry.source.enabled]
    for entry in memory[1:]:
        found.add(entry.origin, f"a chat has one memory source at most, and {memory[0].name} is one")
    others = [entry for entry in seen if entry.source.type is not SourceType.MEMORY]
    search = merged_search(others, found)
    if problems is None:
        _raise(found)
    return Scope(CHAT, tuple(seen), search)


def find_action(agent: Agent, name: str, role: str = "") -> tuple[Action, Role | None]:
    """An action of the chosen role, else of the agent, else of its only role that has it; UsageError for none."""
    chosen = _roles(agent, role) if role else []
    for each in chosen:
        if name in each.actions:
            return each.actions[name], each
    if name in agent.actions:
        return agent.actions[name], chosen[0] if chosen else None
    having = [each for each in agent.roles.values() if name in each.actions]
    if len(having) == 1 and not role:
        return having[0].actions[name], having[0]
    if len(having) > 1 and not role:
        raise UsageError(f"several roles have an action {name}", f"give --role: {', '.join(r.name for r in having)}")
    known = sorted({*agent.actions, *(action for each in agent.roles.values() for action in each.actions)})
    raise UsageError(f"the agent {agent.name} has no action {shown(name)}", f"there are: {', '.join(known) or 'none'}")


def action_scope(agent: Agent, action: Action, role: Role | None = None, problems: Problems | None = None) -> Scope:
    """What an action sees: the entries it names, of the agent before those of its role, with what it sets itself.

    UsageError, or problems where they are collected, for names that nothing declares and settings that do not fit.
    """
    found = problems if problems is not None else Problems()
    known = {entry.name: entry for entry in (role.knowledge if role else ())}
    known |= {entry.name: entry for entry in agent.knowledge}
    entries: list[KnowledgeEntry] = []
    for given in action.knowledge:
        name, origin = str(given["name"].value), given["name"].origin
        below = known.get(name)
        if below is None:
            found.add(origin, f"no source {shown(name)} is declared; there are: {', '.join(known) or 'none'}")
            continue
        if below.source.type is SourceType.MEMORY:
            found.add(origin, f"{name} is a memory source, which chat alone can search")
            continue
        own = {key: member for key, member in given.items() if key != "name"}
        entry = entry_of(name, overlay(given_of(below), own), origin, found) if own else below
        if entry is not None:
            entries.append(entry._replace(origin=below.origin, declared=below.declared))
    search = merged_search(entries, found)
    _check_query_param(action, entries, search, found)
    if problems is None:
        _raise(found)
    return Scope(action.name, tuple(entries), search, action.on_failure, action)


def merged_search(entries: Iterable[KnowledgeEntry], problems: Problems) -> SearchSettings:
    """The search settings of a scope, member by member over its search sources, disabled ones too.

    Graph sources take part only where there is nothing else. Two values of one member are a problem.
    """
    searched = [entry for entry in entries if entry.use is Use.SEARCH]
    plain = [entry for entry in searched if entry.source.type is not SourceType.GRAPH]
    merged: dict[str, tuple[object, KnowledgeEntry]] = {}
    for entry in plain or searched:
        for name, value in entry.search_settings._asdict().items():
            if value is None:
                continue
            other = merged.setdefault(name, (value, entry))
            if other[0] != value:
                problems.add(
                    entry.origin.below("search", name),
                    f"is {value} for {entry.name} and {other[0]} for {other[1].name}, which are searched as one",
                )
    return SearchSettings(**{name: value for name, (value, _) in merged.items()})  # type: ignore[arg-type]


def query_of(scope: Scope, params: Mapping[str, str]) -> str:
    """The query of an action's call: its query parameter, its only parameter, or all as `name: value` lines.

    UsageError where the query parameter is not among them.
    """
    name = scope.search.query_param
    if name is not None:
        if name not in params:
            raise UsageError(f"the action {scope.name} has no parameter {shown(name)} to search with")
        return params[name]
    if len(params) == 1:
        return next(iter(params.values()))
    return "\n".join(f"{key}: {value}" for key, value in params.items())


def checked_params(action: Action, given: Mapping[str, str]) -> dict[str, str]:
    """A call's parameters in the order they are declared; UsageError for one that is missing or unknown."""
    missing = [name for name in action.params if name not in given]
    if missing:
        raise UsageError(f"the action {action.name} needs {', '.join(missing)}", f"give --param {missing[0]}=VALUE")
    others = [name for name in given if name not in action.params]
    if others:
        known = ", ".join(action.params) or "none"
        raise UsageError(f"the action {action.name} has no parameter {shown(others[0])}", f"it takes: {known}")
    return {name: given[name] for name in action.params}


def check_scopes(agents: Iterable[Agent]) -> tuple[Problems, int]:
    """Every chat and action scope of the agents looked at; what is wrong, and how many scopes there are."""
    problems, count = Problems(), 0
    for agent in agents:
        chat_scope(agent, problems=problems)
        count += 1
        owners: Sequence[Role | None] = [None, *agent.roles.values()]
        for role in owners:
            for action in (role.actions if role else agent.actions).values():
                action_scope(agent, action, role, problems)
                count += 1
    return problems, count


def _check_query_param(
    action: Action, entries: Sequence[KnowledgeEntry], search: SearchSettings, problems: Problems
) -> None:
    origin = action.origin.below("params")
    searched = [entry.name for entry in entries if entry.use is Use.SEARCH]
    if search.query_param is not None and search.query_param not in action.params:
        name = next(e.name for e in entries if e.search_settings.query_param == search.query_param)
        problems.add(origin, f"lacks {shown(search.query_param)}, the query_param of {name}")
    elif searched and not action.params:
        problems.add(origin, f"names no parameter to search {searched[0]} with")


def _roles(agent: Agent, role: str) -> list[Role]:
    if not role:
        return list(agent.roles.values())
    if role not in agent.roles:
        raise UsageError(
            f"the agent {agent.name} has no role {shown(role)}", f"there are: {', '.join(agent.roles) or 'none'}"
        )
    return [agent.roles[role]]


def _raise(problems: Problems) -> None:
    if problems.found:
        raise UsageError(str(problems.found[0]), "run: ragcli knowledge check")
