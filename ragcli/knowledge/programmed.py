"""What a program gives beside the files: whole entries of the default agent, and the names that its actions use."""

from collections.abc import Mapping, Sequence

from ragcli.knowledge.layers import entry_of, given_of
from ragcli.knowledge.members import shown
from ragcli.knowledge.project import Project
from ragcli.knowledge.values import DEFAULT_AGENT, PROGRAM, Agent, KnowledgeEntry, Member, Problems


def programmed(
    project: Project, entries: Sequence[KnowledgeEntry], action_knowledge: Mapping[str, Sequence[str]]
) -> Project:
    """The project with a program's word over it.

    An entry replaces the declared one of its name in place, others follow; the names given to an action replace the
    list that it declares. What is wrong joins the project's problems.
    """
    if not entries and not action_knowledge:
        return project
    problems = Problems()
    problems.found += project.problems
    agent = project.agents.get(DEFAULT_AGENT, Agent(DEFAULT_AGENT))
    own: dict[str, KnowledgeEntry] = {}
    for given in entries:
        where = PROGRAM.below("knowledge", given.name)
        if given.name in own:
            problems.add(where, "is given twice")
        elif not given.name.strip():
            problems.add(where, "has no name")
        else:
            own[given.name] = entry_of(given.name, given_of(given._replace(origin=where)), where, problems) or given
    below = tuple(own.pop(entry.name, entry) for entry in agent.knowledge)
    actions = dict(agent.actions)
    for name, sources in action_knowledge.items():
        where = PROGRAM.below("actions", name)
        if name not in actions:
            problems.add(where, f"no action {shown(name)} is declared; there are: {', '.join(actions) or 'none'}")
            continue
        named = tuple({"name": Member(source, where.below(source))} for source in sources)
        actions[name] = actions[name]._replace(knowledge=named)
    changed = agent._replace(knowledge=(*below, *own.values()), actions=actions)
    return project._replace(agents={**project.agents, DEFAULT_AGENT: changed}, problems=tuple(problems.found))
