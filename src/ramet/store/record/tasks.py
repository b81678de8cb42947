"""What is remembered of tasks."""

from msgspec import Struct

from ramet.model.record.task import Task
from ramet.store.database.connection import Connection, containing
from ramet.store.database.queries import QueryFile

_sql = QueryFile("record/tasks")


class TaskFacts(Struct, frozen=True):
    """What the engine needs of a task without counting its efforts."""

    project_id: int
    keywords: str | None


def save(
    db: Connection,
    *,
    dir_path: str,
    project_id: int,
    workspace: str | None,
    title: str | None,
    description: str | None,
    keywords: str | None,
    now: str,
) -> Task:
    """Create a task, or change what is given."""
    db.run(
        _sql.upsert,
        dir_path=dir_path,
        project_id=project_id,
        workspace=workspace,
        title=title,
        description=description,
        keywords=keywords,
        now=now,
    )
    return db.must_struct(Task, _sql.summary, dir_path=dir_path)


def find(db: Connection, dir_path: str) -> Task | None:
    """A task and what its efforts say about it."""
    return db.struct(Task, _sql.summary, dir_path=dir_path)


def find_facts(db: Connection, dir_path: str) -> TaskFacts | None:
    """A task's project and keywords."""
    return db.struct(TaskFacts, _sql.facts, dir_path=dir_path)


def set_keywords(db: Connection, dir_path: str, keywords: str | None) -> None:
    """Replace a task's keywords."""
    db.run(_sql.set_keywords, dir_path=dir_path, keywords=keywords)


def list_matching(
    db: Connection, *, query: str | None = None, workspace: str | None = None, project_id: int | None = None
) -> list[Task]:
    """Tasks by word, workspace and project."""
    return db.structs(Task, _sql.matching, pattern=containing(query), workspace=workspace, project_id=project_id)
