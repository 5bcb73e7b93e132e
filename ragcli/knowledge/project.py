"""Everything that is declared for one place: the files read, the layers laid, and what is wrong with any of it."""

import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ragcli.config.files import Table, read_project_table, read_user_table
from ragcli.errors import RagError, UsageError
from ragcli.knowledge.declaration_files import JsonObject, find_project, read_values
from ragcli.knowledge.declarations import DeclaredAgent, DeclaredRole, LayerFile, agent_of, layer_file_of
from ragcli.knowledge.layers import layered
from ragcli.knowledge.members import shown
from ragcli.knowledge.paths import is_inside
from ragcli.knowledge.values import (
    DEFAULT_AGENT,
    Agent,
    KnowledgeEntry,
    Layer,
    Member,
    Origin,
    Problem,
    Problems,
    Role,
)

_TABLES = ("knowledge", "actions", "agents")


class Project(NamedTuple):
    """What holds for one place: `root` is the directory whose file declares it, '' where only the user's does."""

    root: str
    agents: Mapping[str, Agent]
    problems: tuple[Problem, ...]

    def agent(self, name: str = "") -> Agent:
        """An agent by its name, the default one for ''; UsageError where there is none, or a declaration is wrong."""
        self.check()
        found = self.agents.get(name or DEFAULT_AGENT)
        if found is None:
            if not name:
                raise UsageError("no knowledge is declared here", "declare it in ragcli.toml: [knowledge.NAME]")
            raise UsageError(f"no agent {shown(name)} is declared", f"there are: {', '.join(self.agents)}")
        return found

    def check(self) -> None:
        """UsageError with the first problem where there is any."""
        if self.problems:
            more = len(self.problems) - 1
            raise UsageError(
                str(self.problems[0]),
                f"{more} more; run: ragcli knowledge check" if more else "see: ragcli knowledge check",
            )


def load_project(directory: str, environ: Mapping[str, str], run_file: str = "") -> Project:
    """Read what is declared for a directory: the user's file, the nearest project's, configuration and run files."""
    problems = Problems()
    root = find_project(directory)
    declared: dict[str, DeclaredAgent] = {}
    user = _declared_by(_user_table(environ, problems), "", problems)
    project = _declared_by(_project_table(root, problems), root, problems) if root else {}
    for each in (user, project):
        for name, agent in each.items():
            declared[name] = _joined(declared[name], agent) if name in declared else agent
    run = _run_sections(run_file, root, declared, problems) if run_file else {}
    agents = {}
    for name, agent in declared.items():
        agents[name] = _layered_agent(agent, declared, run.get(name), problems)
    return Project(root, agents, tuple(problems.found))


# -- reading


def _user_table(environ: Mapping[str, str], problems: Problems) -> Table:
    try:
        return read_user_table(environ)
    except RagError as error:
        problems.found.append(_of_error(error, Layer.DECLARATION))
        return Table("", {}, "")


def _project_table(root: str, problems: Problems) -> Table:
    try:
        table, notices = read_project_table(root)
    except RagError as error:
        problems.found.append(_of_error(error, Layer.DECLARATION))
        return Table("", {}, "")
    for notice in notices:
        problems.found.append(Problem(Layer.DECLARATION.value, root, "", notice))
    return table


def _of_error(error: RagError, layer: Layer) -> Problem:
    file, _, message = error.message.partition(": ")
    return Problem(layer.value, file, "", message or error.message)


def _declared_by(table: Table, root: str, problems: Problems) -> dict[str, DeclaredAgent]:
    """The agents of one file; what stands at its top level belongs to the default agent."""
    values = {name: table.values[name] for name in _TABLES if name in table.values}
    if not values:
        return {}
    origin = Origin(Layer.DECLARATION, table.path, "", os.path.dirname(table.path), root)
    agents = values.pop("agents", {})
    found: dict[str, DeclaredAgent] = {}
    if values:
        found[DEFAULT_AGENT] = agent_of(DEFAULT_AGENT, values, origin, problems)
    if not isinstance(agents, dict):
        problems.add(origin.below("agents"), "must be a table of agents by name")
        return found
    for name, raw in agents.items():
        agent = agent_of(name, raw, origin.below("agents", name), problems)
        known = found.get(name)
        if known is not None:
            for member in ("knowledge", "actions"):
                if getattr(known, member) and getattr(agent, member):
                    problems.add(agent.origin.below(member), "is declared at the top level too, for the default agent")
            agent = _joined(known, agent)
        found[name] = agent
    return found


def _joined(lower: DeclaredAgent, upper: DeclaredAgent) -> DeclaredAgent:
    """An agent that two files declare: an entry, action or role of the upper one replaces that of the lower."""
    knowledge = lower.knowledge
    if upper.knowledge is not None:
        knowledge = {**(lower.knowledge or {}), **upper.knowledge}
    return DeclaredAgent(
        upper.name, upper.origin, knowledge, {**lower.actions, **upper.actions}, {**lower.roles, **upper.roles},
        upper.config or lower.config, upper.extends or lower.extends,
        lower.chat_roles if upper.chat_roles is None else upper.chat_roles,
    )  # fmt: skip


def _config(member: Member | None, problems: Problems, *, roles: bool) -> LayerFile | None:
    """The configuration file that a declaration names; a tree's own must lie inside it."""
    if member is None:
        return None
    origin = member.origin
    path = os.path.abspath(os.path.join(origin.base, str(member.value)))
    if origin.root and not is_inside(os.path.realpath(path), os.path.realpath(origin.root)):
        problems.add(origin, f"leads out of the tree, to {path}")
        return None
    try:
        raw = read_values(path)
    except UsageError as error:
        problems.add(origin, error.message)
        return None
    where = Origin(Layer.CONFIG_FILE, path, "", os.path.dirname(path), origin.root)
    return layer_file_of(raw, where, problems, roles=roles)


def _run_sections(
    path: str, root: str, declared: Mapping[str, DeclaredAgent], problems: Problems
) -> dict[str, LayerFile]:
    """The sections of a run file by agent; a file inside the tree is trusted no further than the tree."""
    path = os.path.abspath(path)
    tree = root if root and is_inside(os.path.realpath(path), os.path.realpath(root)) else ""
    origin = Origin(Layer.RUN_FILE, path, "", os.path.dirname(path), tree)
    try:
        raw = read_values(path)
    except UsageError as error:
        problems.found.append(_of_error(error, Layer.RUN_FILE))
        return {}
    if isinstance(raw, JsonObject) and "Agents" in raw.duplicates:
        problems.add(origin.below("Agents"), "is given twice")
    agents = raw.get("Agents") if isinstance(raw, dict) else None
    if not isinstance(agents, dict):
        problems.add(origin, "must be an object with Agents, the sections by agent")
        return {}
    for key in getattr(agents, "duplicates", ()):
        problems.add(origin.below("Agents", key), "is given twice")
    sections: dict[str, LayerFile] = {}
    for name, each in agents.items():
        where = origin.below("Agents", name)
        if name not in declared:
            owner = next((agent.name for agent in declared.values() if name in agent.roles), "")
            known = ", ".join(declared) or "none"
            problems.add(where, f"is a role of {owner}; give it as Agents.{owner}.roles.{name}" if owner else
                         f"no agent of this name is declared; there are: {known}")  # fmt: skip
            continue
        sections[name] = layer_file_of(each, where, problems)
    return sections


# -- layers


def _layered_agent(
    agent: DeclaredAgent, declared: Mapping[str, DeclaredAgent], run: LayerFile | None, problems: Problems
) -> Agent:
    line = list(_bases(agent, declared, problems))
    home = next((each for each in line if each.knowledge is not None or each.config), None)
    if run is not None and home is None and run.knowledge:
        problems.add(run.origin.below("knowledge"), f"the agent {agent.name} declares no knowledge, nor does a base")
    base = home or agent
    config = _config(base.config, problems, roles=True)
    layers = [base.knowledge or {}]
    origins = [base.origin.below("knowledge")]
    for each in (config, run):
        if each is not None:
            layers.append(each.knowledge)
            origins.append(each.origin.below("knowledge"))
    actions = {name: action for one in reversed(line) for name, action in one.actions.items()}
    roles = {name: role for one in reversed(line) for name, role in one.roles.items()}
    chat = next((one.chat_roles for one in line if one.chat_roles is not None), False)
    for each in (config, run):
        for name in each.roles if each else ():
            if each and name not in roles:
                problems.add(each.origin.below("roles", name), f"the agent {agent.name} has no role of this name")
    return Agent(
        agent.name,
        layered(layers, origins, problems),
        actions,
        {name: _layered_role(role, (config, run), problems) for name, role in roles.items()},
        chat,
    )


def _layered_role(role: DeclaredRole, above: Iterable[LayerFile | None], problems: Problems) -> Role:
    layers, origins = [role.knowledge], [role.origin.below("knowledge")]
    own = _config(role.config, problems, roles=False)
    if own is not None:
        layers.append(own.knowledge)
        origins.append(own.origin.below("knowledge"))
    for each in above:
        if each is not None and role.name in each.roles:
            layers.append(each.roles[role.name])
            origins.append(each.origin.below("roles", role.name, "knowledge"))
    entries = layered(layers, origins, problems)
    for entry in entries:
        _refuse_memory(entry, problems)
    return Role(role.name, entries, role.actions)


def _refuse_memory(entry: KnowledgeEntry, problems: Problems) -> None:
    if entry.source.type == "memory":
        problems.add(entry.origin, "a memory source belongs to an agent's chat, not to a role")


def _bases(agent: DeclaredAgent, declared: Mapping[str, DeclaredAgent], problems: Problems) -> Iterable[DeclaredAgent]:
    """The agent and what it extends, nearest first."""
    seen: list[str] = []
    first = agent.extends
    while True:
        seen.append(agent.name)
        yield agent
        if agent.extends is None:
            return
        name = str(agent.extends.value)
        if name in seen:
            if name == seen[0] and first is not None:  # else the circle's own agents tell
                problems.add(first.origin, f"goes round in a circle: {' -> '.join([*seen, name])}")
            return
        if name not in declared:
            problems.add(agent.extends.origin, f"no agent {shown(name)} is declared")
            return
        agent = declared[name]
