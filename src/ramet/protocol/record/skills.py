"""Requests and replies about skills."""

from typing import Any

from msgspec import Struct

from ramet.errors import ProjectNotFound, SkillNotFound
from ramet.model.record.skill import Skill, SkillText
from ramet.protocol.fields import Id, Name, Text
from ramet.protocol.operation import Change, Operation, Pages, Request
from ramet.protocol.pages import Limit, NumberedName
from ramet.protocol.replies import Deleted, Page


class SkillDefinition(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the database keeps of a skill file."""

    phases: list[Any] = []
    modes: dict[str, Any] = {}
    templates: dict[str, Any] = {}
    cmd_dependencies: list[Text] = []
    next_skills: list[Name] = []
    directives: list[Text] = []
    text: SkillText | None = None

    @property
    def parts(self) -> dict[str, Any]:
        """The columns of `skills`."""
        return {name: getattr(self, name) for name in self.__struct_fields__ if name != "text"}

    def is_news(self, known: Skill | None, text: SkillText | None) -> bool:
        """Whether the definition differs from the known skill and its text, or there is none."""
        if known is None or (self.text is not None and self.text != text):
            return True
        return any(getattr(known, name) != value for name, value in self.parts.items())


class UpsertSkill(Change[Skill], frozen=True, kw_only=True):
    """Register a project's skill, or replace the given parts."""

    op = Operation("db.skills.upsert", errors=(ProjectNotFound,))

    name: Name
    project_id: Id
    phases: list[Any] | None = None
    modes: dict[str, Any] | None = None
    templates: dict[str, Any] | None = None
    cmd_dependencies: list[Text] | None = None
    next_skills: list[Name] | None = None
    directives: list[Text] | None = None


class KeepSkill(Change[Skill], frozen=True, kw_only=True):
    """Register a skill as its file is now."""

    op = Operation("db.skills.keep", errors=(ProjectNotFound,), audience="internal")

    name: Name
    project_id: Id
    definition: SkillDefinition


class GetSkill(Request[Skill], frozen=True, kw_only=True):
    """Show a skill of a project: the project's own, or else the built-in one."""

    op = Operation("db.skills.get", errors=(ProjectNotFound, SkillNotFound))

    name: Name
    project_id: Id


class DeleteSkill(Change[Deleted], frozen=True, kw_only=True):
    """Delete a project's skill. A built-in skill of the same name applies again."""

    op = Operation("db.skills.delete", errors=(ProjectNotFound,))

    name: Name
    project_id: Id


class ListSkills(Request[Page[Skill]], frozen=True, kw_only=True):
    """List a project's skills, including built-in ones."""

    op = Operation("db.skills.list", errors=(ProjectNotFound,), pages=Pages())

    project_id: Id
    limit: Limit | None = None
    cursor: Name | None = None


class FindSkills(Request[Page[Skill]], frozen=True, kw_only=True):
    """Find registered skills whose name or content contains a word, in one project or in all."""

    op = Operation("db.skills.find", errors=(ProjectNotFound,), pages=Pages())

    query: Text
    project_id: Id | None = None
    limit: Limit | None = None
    cursor: NumberedName | None = None
