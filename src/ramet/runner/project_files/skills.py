"""`agent.skills.*`: the skill files of a project and of its user."""

from pathlib import Path

from msgspec.structs import asdict

from ramet.model.record.skill_file import FILE_NAME, SkillFile
from ramet.protocol.commands import ListSkillFiles, ParsedSkill, ParseSkill, SkillEntry
from ramet.protocol.replies import Page
from ramet.runner import projects
from ramet.runner.host import Workplace
from ramet.workspace.files import skills


def parse(workplace: Workplace, request: ParseSkill) -> ParsedSkill:
    """The operation `agent.skills.parse`."""
    path = Path(request.path)
    if path.name != FILE_NAME:
        path /= FILE_NAME
    return ParsedSkill(**asdict(_find_own(workplace, path) or _read(workplace, path)), path=str(path))


def _find_own(workplace: Workplace, path: Path) -> SkillFile | None:
    """A skill file of the user's own, which is in no project."""
    found = next((each for each in skills.list_all(None, workplace.environ) if each.path == str(path)), None)
    if found is not None and found.error is not None:
        raise found.error
    return None if found is None else found.skill


def _read(workplace: Workplace, path: Path) -> SkillFile:
    return skills.read(projects.find(workplace, str(path)).root, path)


def list_all(workplace: Workplace, request: ListSkillFiles) -> Page[SkillEntry]:
    """The operation `agent.skills.list`."""
    root = None if request.project is None else projects.find(workplace, request.project, "project").root
    return Page(items=[_entry(found) for found in skills.list_all(root, workplace.environ)])


def _entry(found: skills.Found) -> SkillEntry:
    return SkillEntry(
        name=found.name,
        path=found.path,
        source=found.source,
        description=found.skill.description if found.skill else None,
        error=found.error.message if found.error else None,
    )
