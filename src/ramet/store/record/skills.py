"""What is remembered of skills: the parsed recipes of each project."""

from ramet.model.record.skill import Skill, SkillText
from ramet.protocol.record.skills import UpsertSkill
from ramet.store.database.connection import Connection, containing, to_json
from ramet.store.database.queries import QueryFile

_sql = QueryFile("record/skills")


def save(db: Connection, skill: UpsertSkill, now: str) -> Skill:
    """Register a skill, or replace the parts that are given."""
    return db.must_struct(
        Skill,
        _sql.upsert,
        project_id=skill.project_id,
        name=skill.name,
        phases=to_json(skill.phases),
        modes=to_json(skill.modes),
        templates=to_json(skill.templates),
        cmd_dependencies=to_json(skill.cmd_dependencies),
        next_skills=to_json(skill.next_skills),
        directives=to_json(skill.directives),
        now=now,
    )


def find(db: Connection, project_id: int, name: str) -> Skill | None:
    """A project's own skill."""
    return db.struct(Skill, _sql.by_name, project_id=project_id, name=name)


def list_of_project(db: Connection, project_id: int) -> list[Skill]:
    """A project's own skills by name."""
    return db.structs(Skill, _sql.of_project, project_id=project_id)


def delete(db: Connection, project_id: int, name: str) -> bool:
    """Forget a skill; False where there was none."""
    return db.one(_sql.delete, project_id=project_id, name=name) is not None


def list_matching(db: Connection, word: str, project_id: int | None) -> list[Skill]:
    """Skills whose name or content has a word."""
    return db.structs(Skill, _sql.matching, pattern=containing(word), project_id=project_id)


def save_text(db: Connection, skill_id: int, text: SkillText) -> None:
    """Keep the text of a skill's file."""
    db.run(
        _sql.put_text,
        skill_id=skill_id,
        file=text.file,
        description=text.description,
        instructions=text.instructions,
        template_texts=to_json(text.template_texts),
        command_texts=to_json(text.command_texts),
        changes=text.changes,
    )


def find_text(db: Connection, skill_id: int) -> SkillText | None:
    """The text of a skill's file, if it has one."""
    return db.struct(SkillText, _sql.text_of, skill_id=skill_id)
