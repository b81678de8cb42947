"""The names in a task file: agents and skills that do not exist are refused with their line, before anything runs.

A dry run checks the same. The daemon is asked only about names that are not built in.
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path

from ramet.cli.commands.queue.drivers import list_drivers
from ramet.cli.commands.record.project import projects_around
from ramet.cli.commands.record.project_scope import path_here
from ramet.cli.invocation import Invocation
from ramet.cli.repository import find_checkout
from ramet.model.record.skill import BUILT_IN
from ramet.model.runs import task_file
from ramet.model.runs.task_file import TaskFile
from ramet.protocol.record.skills import ListSkills
from ramet.vendors import registry
from ramet.workspace.files import skills

_SIMILAR = 0.6


def check_names(invocation: Invocation, content: bytes, tasks: TaskFile) -> None:
    """Refuse the first agent or skill of an open task that does not exist."""
    agents = {line.agent for line in tasks.to_do if line.agent is not None}
    known_agents = [row.name for row in list_drivers(invocation, versions=False).items] if agents else []
    named = {line.skill for line in tasks.to_do if line.skill is not None}
    known_skills = list(BUILT_IN) if named <= set(BUILT_IN) else _list_skills(invocation)
    for line in tasks.to_do:
        if line.agent is not None and line.agent not in known_agents:
            fix = _suggest(line.agent, known_agents, "or configure it in drivers.profiles")
            task_file.refuse(content, line, "agent", line.agent, f"there is no agent {line.agent!r}", fix)
        if line.skill is not None and line.skill not in known_skills:
            fix = _suggest(line.skill, known_skills, f"or write {line.skill}/SKILL.md in .ramet/skills")
            task_file.refuse(content, line, "skill", line.skill, f"there is no skill {line.skill!r}", fix)


def _list_skills(invocation: Invocation) -> list[str]:
    """The built-in skills, those that the project has registered, and those of which there is a file."""
    here = str(invocation.cwd)
    around = {path_here(invocation, row) or "/": row.id for row in projects_around(invocation, here)}
    checkout = find_checkout(invocation.environ, invocation.cwd)
    root = max([*around, *([str(checkout.project)] if checkout else [])], key=len, default=None)
    project_id = None if root is None else around.get(root)
    registered = [] if project_id is None else invocation.ask(ListSkills(project_id=project_id)).items
    files = skills.list_all(None if root is None else Path(root), invocation.environ, registry.skill_folders())
    return sorted({*BUILT_IN, *(row.name for row in registered), *(found.name for found in files)})


def _suggest(name: str, known: Sequence[str], otherwise: str) -> str:
    close: Iterable[str] = get_close_matches(name, known, n=2, cutoff=_SIMILAR)
    meant = " or ".join(close)
    return (
        f"did you mean {meant}? Use one of {', '.join(known)}, {otherwise}"
        if meant
        else (f"use one of {', '.join(known)}, {otherwise}")
    )
