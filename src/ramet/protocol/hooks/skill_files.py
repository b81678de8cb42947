"""Requests and replies about skill files."""

from typing import Literal

from msgspec import Struct

from ramet.errors import FileMissing, InvalidParams, PathOutside, ProjectNotFound, SkillFileInvalid
from ramet.model.record.skills.skill_file import SkillFile
from ramet.protocol.fields import Path
from ramet.protocol.operation import Operation, Request
from ramet.protocol.replies import Page

Source = Literal["project", "user"]


class ParsedSkill(SkillFile, frozen=True, kw_only=True):
    """A valid skill file."""

    path: str


class ParseSkill(Request[ParsedSkill], frozen=True, kw_only=True):
    """Parse a SKILL.md. An error names the line and the field."""

    op = Operation(
        "agent.skills.parse",
        errors=(ProjectNotFound, PathOutside, InvalidParams, FileMissing, SkillFileInvalid),
        host="machine",
        audience="compatibility",
    )

    path: Path
    """The SKILL.md or its folder."""


class SkillEntry(Struct, frozen=True, kw_only=True):
    """A skill file. `error` says why it cannot be used, or is null."""

    name: str
    path: str
    source: Source
    description: str | None
    error: str | None


class ListSkillFiles(Request[Page[SkillEntry]], frozen=True, kw_only=True):
    """List the skill files of a project and of the user by name, with the errors of invalid ones."""

    op = Operation("agent.skills.list", errors=(ProjectNotFound,), host="machine")

    project: Path | None = None
    """A path in the project (default: list only the user's own skills)."""
