"""Plain values of a file to declared agents, roles and actions; a mistake becomes a problem and ends no reading."""

from typing import NamedTuple

from ragcli.knowledge.members import (
    ACTION_ENTRY_MEMBERS,
    ACTION_MEMBERS,
    SOURCE_MEMBERS,
    checked,
    items,
    put,
    shown,
    switch,
    text,
    unknown,
)
from ragcli.knowledge.values import Action, Given, Member, OnFailure, Origin, Problems

Entries = dict[str, Given]


class DeclaredRole(NamedTuple):
    """A role as one file declares it."""

    name: str
    origin: Origin
    knowledge: Entries
    actions: dict[str, Action]
    config: Member | None = None


class DeclaredAgent(NamedTuple):
    """An agent as one file declares it; `knowledge` is None where it has none of its own."""

    name: str
    origin: Origin
    knowledge: Entries | None
    actions: dict[str, Action]
    roles: dict[str, DeclaredRole]
    config: Member | None = None
    extends: Member | None = None
    chat_roles: bool | None = None


class LayerFile(NamedTuple):
    """What a configuration file, or a run file's section, gives one agent or role."""

    origin: Origin
    knowledge: Entries
    roles: dict[str, Entries]


def agent_of(name: str, raw: object, origin: Origin, problems: Problems) -> DeclaredAgent:
    """An agent's table: knowledge, actions, config, extends, roles, chat_roles."""
    knowledge: Entries | None = None
    actions: dict[str, Action] = {}
    roles: dict[str, DeclaredRole] = {}
    members: dict[str, Member] = {}
    for member, key, value in items(raw, origin, problems):
        where = origin.below(key)
        if member == "knowledge":
            knowledge = entries_of(value, where, problems)
        elif member == "actions":
            actions = actions_of(value, where, problems)
        elif member == "roles":
            roles = {
                role: _role(role, each, where.below(role), problems) for role, each in _table(value, where, problems)
            }
        elif member in _AGENT:
            put(members, member, _AGENT[member], value, where, problems)
        else:
            problems.add(where, unknown(member, ["knowledge", "actions", "roles", *_AGENT]))
    chat = members["chat_roles"].value is True if "chat_roles" in members else None
    return DeclaredAgent(name, origin, knowledge, actions, roles, members.get("config"), members.get("extends"), chat)


def entries_of(raw: object, origin: Origin, problems: Problems) -> Entries:
    """The entries of a knowledge table: by name, or a list of tables that give their names."""
    found: Entries = {}
    for key, value, where in _named(raw, origin, problems):
        given = checked(value, where, SOURCE_MEMBERS, problems)
        own = given.pop("name", None)
        name = str(own.value) if own else key
        if not name or not name.strip():
            problems.add(where, "has no name")
        elif name in found:
            problems.add(own.origin if own else where, f"the name {shown(name)} is taken by another entry of this list")
        else:
            found[name] = given
    return found


def actions_of(raw: object, origin: Origin, problems: Problems) -> dict[str, Action]:
    """The actions of a table by name."""
    return {name: _action(name, value, origin.below(name), problems) for name, value in _table(raw, origin, problems)}


def layer_file_of(raw: object, origin: Origin, problems: Problems, *, roles: bool = True) -> LayerFile:
    """What a configuration file or a run file's section gives: llm (left alone), knowledge and, for an agent, roles."""
    knowledge: Entries = {}
    by_role: dict[str, Entries] = {}
    known = ["llm", "knowledge", *(["roles"] if roles else [])]
    for member, key, value in items(raw, origin, problems):
        where = origin.below(key)
        if member == "knowledge":
            knowledge = entries_of(value, where, problems)
        elif member == "roles" and roles:
            for role, each in _table(value, where, problems):
                by_role[role] = layer_file_of(each, where.below(role), problems, roles=False).knowledge
        elif member != "llm":
            problems.add(where, unknown(member, known))
    return LayerFile(origin, knowledge, by_role)


def _action(name: str, raw: object, origin: Origin, problems: Problems) -> Action:
    members = checked(raw, origin, ACTION_MEMBERS, problems, "knowledge")
    knowledge: tuple[Given, ...] = ()
    if isinstance(raw, dict) and "knowledge" in raw:
        knowledge = _named_knowledge(raw["knowledge"], origin.below("knowledge"), problems)
    made = Action(name, knowledge=knowledge, origin=origin)
    if "type" in members:
        made = made._replace(type=str(members["type"].value).lower())
    if "params" in members:
        made = made._replace(params=tuple(members["params"].value))  # type: ignore[arg-type]
        if len(set(made.params)) < len(made.params):
            problems.add(members["params"].origin, "names a parameter twice")
    if "on_failure" in members:
        made = made._replace(on_failure=OnFailure(str(members["on_failure"].value)))
    if "description" in members:
        made = made._replace(description=str(members["description"].value))
    if made.type not in ("llm", "local") and knowledge:
        problems.add(origin.below("type"), f"an action of type {made.type} takes no knowledge; llm and local do")
    return made


def _named_knowledge(raw: object, origin: Origin, problems: Problems) -> tuple[Given, ...]:
    """The entries that an action names: texts, or tables of name, use, max_tokens and search."""
    if not isinstance(raw, list):
        problems.add(origin, f"must be a list of names or tables, not {shown(raw)}")
        return ()
    found: dict[str, Given] = {}
    for number, each in enumerate(raw):
        where = origin.below(str(number))
        given = {"name": Member(each, where)} if isinstance(each, str) else _narrowed(each, where, problems)
        name = given.get("name")
        if name is None or not str(name.value).strip():
            problems.add(where, "has no name")
        elif name.value in found:
            problems.add(where, f"names {shown(name.value)} twice")
        else:
            found[str(name.value)] = given
    return tuple(found.values())


def _narrowed(raw: object, where: Origin, problems: Problems) -> dict[str, Member]:
    source = set(SOURCE_MEMBERS) - set(ACTION_ENTRY_MEMBERS)
    if isinstance(raw, dict):
        for key in [key for key in raw if key in source]:
            problems.add(where.below(key), "belongs to the source; an action may set use, max_tokens and search alone")
        raw = {key: value for key, value in raw.items() if key not in source}
    return checked(raw, where, ACTION_ENTRY_MEMBERS, problems)


def _role(name: str, raw: object, origin: Origin, problems: Problems) -> DeclaredRole:
    made = DeclaredRole(name, origin, {}, {})
    members: dict[str, Member] = {}
    for member, key, value in items(raw, origin, problems):
        where = origin.below(key)
        if member == "knowledge":
            made = made._replace(knowledge=entries_of(value, where, problems))
        elif member == "actions":
            made = made._replace(actions=actions_of(value, where, problems))
        elif member == "config":
            put(members, "config", text, value, where, problems)
        else:
            problems.add(where, unknown(member, ["knowledge", "actions", "config"]))
    return made._replace(config=members.get("config"))


def _table(raw: object, origin: Origin, problems: Problems) -> list[tuple[str, object]]:
    return [(key, value) for _, key, value in items(raw, origin, problems)]


def _named(raw: object, origin: Origin, problems: Problems) -> list[tuple[str, object, Origin]]:
    if isinstance(raw, list):
        return [("", each, origin.below(str(number))) for number, each in enumerate(raw)]
    if not isinstance(raw, dict):
        problems.add(origin, f"must be a table of sources by name, not {shown(raw)}")
        return []
    for key in getattr(raw, "duplicates", ()):
        problems.add(origin.below(key), "is given twice")
    return [(str(key), each, origin.below(str(key))) for key, each in raw.items()]


_AGENT = {"config": text, "extends": text, "chat_roles": switch}
