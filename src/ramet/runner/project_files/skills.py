"""`agent.skills.*`: the skill files of a project and of its user."""

from pathlib import Path

from msgspec.structs import asdict

from ramet.model.record.skills.skill_file import FILE_NAME, SkillFile
from ramet.protocol.hooks.skill_files import ListSkillFiles, ParsedSkill, ParseSkill, SkillEntry
from ramet.protocol.replies import Page
from ramet.runner import projects
from ramet.runner.answers import answers
from ramet.runner.machine import Machine
from ramet.vendors import registry
from ramet.workspace.files import skills


@answers(ParseSkill)
def parse(machine: Machine, request: ParseSkill) -> ParsedSkill:
    """The operation `agent.skills.parse`."""
    path = Path(request.path)
    if path.name != FILE_NAME:
        path /= FILE_NAME
    return ParsedSkill(**asdict(_find_own(machine, path) or _read(machine, path)), path=str(path))


def _find_own(machine: Machine, path: Path) -> SkillFile | None:
    """A skill file of the user's own, which is in no project."""
    every = skills.list_all(None, machine.environ, registry.skill_folders())
    found = next((each for each in every if each.path == str(path)), None)
    if found is not None and found.error is not None:
        raise found.error
    return None if found is None else found.skill


def _read(machine: Machine, path: Path) -> SkillFile:
    return skills.read(projects.find(machine, str(path)).root, path)


@answers(ListSkillFiles)
def list_all(machine: Machine, request: ListSkillFiles) -> Page[SkillEntry]:
    """The operation `agent.skills.list`."""
    root = None if request.project is None else projects.find(machine, request.project, "project").root
    every = skills.list_all(root, machine.environ, registry.skill_folders())
    return Page(items=[_entry(found) for found in every])


def _entry(found: skills.Found) -> SkillEntry:
    return SkillEntry(
        name=found.name,
        path=found.path,
        source=found.source,
        description=found.skill.description if found.skill else None,
        error=found.error.message if found.error else None,
    )
