"""What is remembered of projects."""

from ramet.model.project import Project
from ramet.store.connection import Connection
from ramet.store.queries import QueryFile

_sql = QueryFile("projects")


def register(db: Connection, path: str, name: str | None, now: str) -> Project:
    """Register a project, or change its name where one is given."""
    return db.must_struct(Project, _sql.upsert, path=path, name=name, now=now)


def find_at(db: Connection, path: str) -> Project | None:
    """The project at exactly this path."""
    return db.struct(Project, _sql.at_path, path=path)


def find(db: Connection, project_id: int) -> Project | None:
    """A project by its id."""
    return db.struct(Project, _sql.by_id, id=project_id)


def find_containing(db: Connection, path: str) -> Project | None:
    """The innermost project that a path lies in."""
    return db.struct(Project, _sql.containing, path=path)


def list_all(db: Connection) -> list[Project]:
    """Every project."""
    return db.structs(Project, _sql.everything)
