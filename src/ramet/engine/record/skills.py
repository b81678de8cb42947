"""Skills: the recipes. A project's own come first, the built-in ones are always there.

The engine reads no file. Whoever performs a request that adds work has read the files of the skills that it names, and
passes them along (`Discovered`): so a skill is registered in the same transaction as the work, or not at all.
"""

import shlex
from typing import Any

from ramet.engine.answers import answers
from ramet.engine.record import lookup
from ramet.engine.transaction import Transaction
from ramet.errors import RametError, SkillNotFound, UnknownSkill
from ramet.model.record.phase import parse_phases
from ramet.model.record.skill import BUILT_IN, Skill, SkillText
from ramet.protocol.operation import Change, Request
from ramet.protocol.pages import split, take, unite
from ramet.protocol.record.skills import (
    DeleteSkill,
    FindSkills,
    GetSkill,
    KeepSkill,
    ListSkills,
    SkillDefinition,
    UpsertSkill,
)
from ramet.protocol.record.starting_points import StartingPoint
from ramet.protocol.replies import Deleted, Page
from ramet.store.record import skills

FoundSkills = dict[str, SkillDefinition | RametError]
"""What the files of skills say, by the skills' names; or why a file cannot be used."""


class Discovered(Request[None], frozen=True, kw_only=True):
    """A request, the files of the skills that it names, and where its work starts. It never travels: it is made here
    and performed here.
    """

    asked: Change[Any]
    found: FoundSkills
    start: StartingPoint | None = None


@answers(UpsertSkill)
def upsert(tx: Transaction, request: UpsertSkill) -> Skill:
    """Register a project's skill, or replace the parts that are given."""
    lookup.project(tx, request.project_id)
    parse_phases(request.phases)
    known = skills.find(tx.db, request.project_id, request.name)
    skill = skills.save(tx.db, request, tx.now)
    tx.record("skill.changed" if known else "skill.added", project_id=request.project_id, data={"name": request.name})
    return skill


@answers(KeepSkill)
def keep(tx: Transaction, request: KeepSkill) -> Skill:
    """Register a skill as its file is now."""
    lookup.project(tx, request.project_id)
    return register(tx, request.project_id, request.name, request.definition)


@answers(GetSkill)
def get(tx: Transaction, request: GetSkill) -> Skill:
    """A skill as a project sees it."""
    lookup.project(tx, request.project_id)
    skill = find(tx, request.project_id, request.name)
    if skill is None:
        raise SkillNotFound(
            f"project {request.project_id} has no skill {request.name!r}",
            field="name",
            value=request.name,
            fix=f"use one of: {_names(tx, request.project_id)}",
        )
    return skill


@answers(ListSkills)
def list_all(tx: Transaction, request: ListSkills) -> Page[Skill]:
    """A project's skills, built-in ones included."""
    lookup.project(tx, request.project_id)
    own = {skill.name: skill for skill in skills.list_of_project(tx.db, request.project_id)}
    built_in = {name: skill.in_project(request.project_id) for name, skill in BUILT_IN.items()}
    found = [skill for _, skill in sorted((built_in | own).items())]
    items, last = take(found, lambda skill: skill.name, after=request.cursor, limit=request.limit)
    return Page(items=items, next=last)


@answers(DeleteSkill)
def delete(tx: Transaction, request: DeleteSkill) -> Deleted:
    """Forget a project's own skill."""
    lookup.project(tx, request.project_id)
    deleted = skills.delete(tx.db, request.project_id, request.name)
    if deleted:
        tx.record("skill.deleted", project_id=request.project_id, data={"name": request.name})
    return Deleted(deleted=deleted)


@answers(FindSkills)
def find_matching(tx: Transaction, request: FindSkills) -> Page[Skill]:
    """Registered skills whose name or content has a word."""
    if request.project_id is not None:
        lookup.project(tx, request.project_id)
    found = skills.list_matching(tx.db, request.query, request.project_id)
    cursor = split(request.cursor)
    items, last = take(found, _place, after=None if cursor is None else cursor[::-1], limit=request.limit)
    return Page(items=items, next=None if last is None else unite(last[1], last[0]))


def _place(skill: Skill) -> tuple[str, int]:
    return skill.name, skill.project_id


def find(tx: Transaction, project_id: int, name: str) -> Skill | None:
    """A project's own skill of that name, else the built-in one."""
    own = skills.find(tx.db, project_id, name)
    if own is not None:
        return own
    return BUILT_IN[name].in_project(project_id) if name in BUILT_IN else None


def find_text(tx: Transaction, skill: Skill | None) -> SkillText | None:
    """The text of a skill's file, if it has one."""
    return None if skill is None or skill.id is None else skills.find_text(tx.db, skill.id)


def apply(tx: Transaction, project_id: int, name: str) -> Skill:
    """The skill that an effort applies, registered as its file is now."""
    known = require(tx, project_id, name)
    found = tx.found_skills.get(name)
    if isinstance(found, SkillDefinition):
        return register(tx, project_id, name, found)
    assert known is not None  # noqa: S101 - else it was refused
    return known


def register(tx: Transaction, project_id: int, name: str, definition: SkillDefinition) -> Skill:
    """Keep what a skill's file says, if it says something new."""
    known = skills.find(tx.db, project_id, name)
    if known is not None and not definition.is_news(known, find_text(tx, known)):
        return known
    skill = upsert(tx, UpsertSkill(name=name, project_id=project_id, **definition.parts))
    if definition.text is not None and skill.id is not None:
        skills.save_text(tx.db, skill.id, definition.text)
    return skill


def require(tx: Transaction, project_id: int, name: str) -> Skill | None:
    """The skill that is known by a name; None if there is only a file of it. An unknown one is an error that names the
    known ones, and so is a file that cannot be used.
    """
    found = tx.found_skills.get(name)
    if isinstance(found, RametError):
        raise found
    skill = find(tx, project_id, name)
    if skill is None and found is None:
        raise UnknownSkill(
            f"there is no skill {name!r}",
            field="skill",
            value=name,
            fix=f"use one of: {_names(tx, project_id)}; "
            f"or register it with `ramet skill add {shlex.quote(name)} --phase LABEL`",
        )
    return skill


def _names(tx: Transaction, project_id: int) -> str:
    own = {skill.name for skill in skills.list_of_project(tx.db, project_id)}
    return ", ".join(sorted(own | set(BUILT_IN)))
