"""Discovery: the files of the skills that a request names, read when it adds work.

A skill's files are read once, here. The database keeps what they say, in the transaction that adds the work; so an
agent is told the same on every machine, and a file that is broken later changes nothing for work that is queued.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ramet.errors import ProjectNotFound, RametError
from ramet.model.record.phase import parse_phases
from ramet.model.record.skill import BUILT_IN, SkillText
from ramet.model.record.skills.skill_file import SkillFile
from ramet.protocol.operation import Request
from ramet.protocol.record.efforts import GetEffort
from ramet.protocol.record.sessions import GetSession
from ramet.protocol.record.skills import SkillDefinition
from ramet.protocol.runs.runs import StartRun
from ramet.protocol.spawn.children import SpawnAgent, SpawnAgents
from ramet.protocol.work.queue import AddWork
from ramet.runner import projects
from ramet.runner.machine import Machine
from ramet.vendors import registry
from ramet.workspace.files import project_files, skills
from ramet.workspace.files.skills import Found

MOST_TEMPLATE_BYTES = 64 * 1024
"""Of one template or command file: a longer one is named and not quoted."""
_MOST_COMMANDS = 100


def discover(machine: Machine, request: Request[Any], asker: int | None) -> dict[str, SkillDefinition | RametError]:
    """What the files of the request's skills say, or why one cannot be used; `asker` is the session of an agent."""
    root = find_root(machine, request, asker)
    found = {name: _read(machine, root, name) for name in sorted(request.skill_names())}
    return {name: each for name, each in found.items() if each is not None}


def _read(machine: Machine, root: Path | None, name: str) -> SkillDefinition | RametError | None:
    try:
        found = skills.find(root, machine.environ, registry.skill_folders(), name)
    except RametError as error:
        return error
    return None if found is None else define(found)


def define(found: Found) -> SkillDefinition | None:
    """What the database keeps of a skill's file. A built-in skill whose file has no phases, as one that was written for
    another program, keeps its own.
    """
    skill = found.skill
    if skill is None:
        return None
    built_in = BUILT_IN.get(skill.name)
    return SkillDefinition(
        phases=list(built_in.phases) if built_in and not skill.phases else skill.phases,
        modes=skill.modes,
        templates=skill.templates,
        cmd_dependencies=skill.cmd_dependencies,
        next_skills=skill.next_skills,
        directives=skill.directives,
        text=SkillText(
            file=found.path,
            description=skill.description,
            instructions=skill.body,
            template_texts=_read_texts(found, skill.templates),
            command_texts=_read_texts(found, {path: path for path in _list_commands(skill)}),
            changes=skill.changes,
        ),
    )


def _list_commands(skill: SkillFile) -> list[str]:
    """The command files that a skill or one of its phases names, each once."""
    of_phases = [path for phase in parse_phases(skill.phases) for path in phase.commands]
    return list(dict.fromkeys([*skill.cmd_dependencies, *of_phases]))[:_MOST_COMMANDS]


def _read_texts(found: Found, paths: Mapping[str, str]) -> dict[str, str]:
    """The files of a skill that can be read; each has to stay where the skill has to stay."""
    texts = {}
    for name, path in paths.items():
        with suppress(RametError):
            text = project_files.read(found.root, Path(found.path).parent / path, MOST_TEMPLATE_BYTES)
            texts[name] = text.replace("\0", "")
    return texts


def find_root(machine: Machine, request: Request[Any], asker: int | None) -> Path | None:
    """The root of the project that the work is in; None if there is none yet, which the engine then refuses."""
    with suppress(RametError):
        match request:
            case AddWork(task=str(task)) | StartRun(task=task):
                return projects.find(machine, task).root
            case AddWork(based_on=int(effort_id)):
                return projects.find(machine, machine.ask(GetEffort(effort_id=effort_id)).task_id).root
            case AddWork(here=here) if here is not None:
                return _find_around(machine, here.directory, here.repository)
            case SpawnAgent() | SpawnAgents():
                session = asker if request.parent_session_id is None else request.parent_session_id
                return None if session is None else _root_of_session(machine, session)
    return None


def _find_around(machine: Machine, directory: str, repository: str | None) -> Path | None:
    """The nearest project, or the repository that becomes one."""
    try:
        known = projects.find(machine, directory).root
    except ProjectNotFound:
        return None if repository is None else Path(repository)
    return Path(repository) if repository is not None and Path(repository).is_relative_to(known) else known


def _root_of_session(machine: Machine, session: int | str) -> Path:
    return projects.find(machine, machine.ask(GetSession(session_id=session)).task_id).root
