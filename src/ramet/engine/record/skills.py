"""Skills: the recipes. A project's own come first, the built-in ones are always there."""

import shlex

from ramet.engine.answers import answers
from ramet.engine.record import lookup
from ramet.engine.transaction import Transaction
from ramet.errors import SkillNotFound, UnknownSkill
from ramet.model.record.phase import parse_phases
from ramet.model.record.skill import BUILT_IN, Skill
from ramet.protocol.record.skills import DeleteSkill, FindSkills, GetSkill, ListSkills, UpsertSkill
from ramet.protocol.replies import Deleted, Page
from ramet.store.record import skills


@answers(UpsertSkill)
def upsert(tx: Transaction, request: UpsertSkill) -> Skill:
    """Register a project's skill, or replace the parts that are given."""
    lookup.project(tx, request.project_id)
    parse_phases(request.phases)
    known = skills.find(tx.db, request.project_id, request.name)
    skill = skills.save(tx.db, request, tx.now)
    tx.record("skill.changed" if known else "skill.added", project_id=request.project_id, data={"name": request.name})
    return skill


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
    return Page(items=[skill for _, skill in sorted((built_in | own).items())])


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
    return Page(items=skills.list_matching(tx.db, request.query, request.project_id))


def find(tx: Transaction, project_id: int, name: str) -> Skill | None:
    """A project's own skill of that name, else the built-in one."""
    own = skills.find(tx.db, project_id, name)
    if own is not None:
        return own
    return BUILT_IN[name].in_project(project_id) if name in BUILT_IN else None


def require(tx: Transaction, project_id: int, name: str) -> Skill:
    """The skill that an effort is to apply; an unknown one is an error that names the known."""
    skill = find(tx, project_id, name)
    if skill is None:
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
