"""Requests and replies about skill files."""

from typing import Literal

from msgspec import Struct

from ramet.errors import FileMissing, InvalidParams, PathOutside, ProjectNotFound, SkillFileInvalid
from ramet.model.record.skill_file import SkillFile
from ramet.protocol.fields import Path
from ramet.protocol.operation import Operation, Request
from ramet.protocol.replies import Page

Source = Literal["project", "user"]


class ParsedSkill(SkillFile, frozen=True, kw_only=True):
    """A skill file that can be used."""

    path: str


class ParseSkill(Request[ParsedSkill], frozen=True, kw_only=True):
    """What a SKILL.md says; what is wrong with it is refused with its line and field."""

    op = Operation(
        "agent.skills.parse",
        errors=(ProjectNotFound, PathOutside, InvalidParams, FileMissing, SkillFileInvalid),
        host="machine",
        audience="compatibility",
    )

    path: Path
    """The SKILL.md, or the folder that it is in."""


class SkillEntry(Struct, frozen=True, kw_only=True):
    """A skill file that was found; one that cannot be used says why."""

    name: str
    path: str
    source: Source
    description: str | None
    error: str | None


class ListSkillFiles(Request[Page[SkillEntry]], frozen=True, kw_only=True):
    """The skill files of a project and of the user, by name; broken ones with what is wrong."""

    op = Operation("agent.skills.list", errors=(ProjectNotFound,), host="machine")

    project: Path | None = None
    """A path in the project; without one only the user's own skills are listed."""
