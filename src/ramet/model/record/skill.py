"""A skill: a recipe with phases. The built-in ones exist in every project without being registered."""

import json
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal

from msgspec import Struct


class Skill(Struct, frozen=True, kw_only=True):
    """One row of `skills`; a built-in skill has no id and no time."""

    id: int | None
    project_id: int
    name: str
    phases: list[Any] | None
    modes: dict[str, Any] | None
    templates: dict[str, Any] | None
    cmd_dependencies: list[str] | None
    next_skills: list[str] | None
    directives: list[str] | None
    updated_at: datetime | None


class SkillText(Struct, frozen=True, kw_only=True):
    """What a skill's file says to agents, as it was when work was last added with it."""

    file: str
    """The path of the file."""
    description: str
    instructions: str
    """The text below the front matter."""
    template_texts: dict[str, str]
    """The texts of its templates, by name; one that cannot be read is not here."""
    command_texts: dict[str, str] = {}
    """The texts of the command files that it names, by path; one that cannot be read is not here."""
    changes: Literal["code"] | None = None
    """What its efforts are there to change, if the file says it."""


class BuiltInSkill(Struct, frozen=True, kw_only=True):
    """A skill that ships with Ramet."""

    name: str
    phases: tuple[str, ...] = ()
    next_skills: tuple[str, ...] = ()
    artifact_name: str | None = None
    short_name: str | None = None
    reports: bool = False
    """Whether what it produces is a text, kept as a report."""
    changes_code: bool = False
    """Whether it is there to change code: an effort that changes no file ends with `no_change`."""

    def in_project(self, project_id: int) -> Skill:
        """The skill as a project's row would show it."""
        return Skill(
            id=None,
            project_id=project_id,
            name=self.name,
            phases=list(self.phases),
            modes=None,
            templates=None,
            cmd_dependencies=None,
            next_skills=list(self.next_skills),
            directives=None,
            updated_at=None,
        )


BUILT_IN: dict[str, BuiltInSkill] = {
    skill.name: skill
    for skill in (
        BuiltInSkill(
            name="plan",
            phases=("1: Understand", "2: Draft", "3: Decide"),
            next_skills=("implement",),
            reports=True,
        ),
        BuiltInSkill(name="explore", phases=("1: Look", "2: Report"), next_skills=("plan",), reports=True),
        BuiltInSkill(
            name="implement",
            phases=("1: Prepare", "2: Build", "3: Test", "4: Finish"),
            next_skills=("review",),
            artifact_name="IMPLEMENTATION",
            short_name="impl",
            changes_code=True,
        ),
        BuiltInSkill(name="review", phases=("1: Read", "2: Judge"), next_skills=("improve",), reports=True),
        BuiltInSkill(
            name="improve",
            phases=("1: Prepare", "2: Change", "3: Test"),
            next_skills=("review",),
            changes_code=True,
        ),
        BuiltInSkill(name="do"),
        BuiltInSkill(name="shell"),
    )
}


WITHOUT_FILE = frozenset({"do", "shell"})
"""Skills that no file changes: their agents are told the task and nothing else."""


def mode_meaning(modes: dict[str, Any] | None, mode: str | None) -> str | None:
    """What a mode of a skill means, as text; None if the skill says nothing of it."""
    meaning = (modes or {}).get(mode or "")
    if not meaning:
        return None
    return meaning if isinstance(meaning, str) else json.dumps(meaning, ensure_ascii=False)


def artifact_prefix(ordinal: int, skill: str) -> str:
    """The prefix of an effort's files: `1_BRAINSTORM`, `2_IMPLEMENTATION`."""
    return f"{ordinal}_{_artifact_name(skill)}"


@lru_cache(maxsize=256)
def _artifact_name(skill: str) -> str:
    built_in = BUILT_IN.get(skill)
    if built_in and built_in.artifact_name:
        return built_in.artifact_name
    return "".join(letter if letter.isalnum() else "_" for letter in skill).upper()
