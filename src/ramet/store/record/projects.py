"""What is remembered of projects, and of where each of several machines has them."""

from collections import defaultdict

from msgspec.structs import replace

from ramet.model.record.project import Project
from ramet.store.database.connection import Connection
from ramet.store.database.queries import Query, QueryFile

_sql = QueryFile("record/projects")


def register(db: Connection, path: str, name: str | None, now: str) -> Project:
    """Register a project, or change its name where one is given."""
    return db.must_struct(Project, _sql.upsert, path=path, name=name, now=now)


def set_name(db: Connection, project_id: int, name: str) -> None:
    """Change a project's name."""
    db.run(_sql.rename, id=project_id, name=name)


def put_path(db: Connection, project_id: int, host: str, path: str) -> None:
    """Say where on a host a project is."""
    db.run(_sql.put_path, project_id=project_id, host=host, path=path)


def set_remote(db: Connection, project_id: int, remote: str) -> None:
    """Say by which git remote other machines know a project."""
    db.run(_sql.set_remote, id=project_id, remote=remote)


def remove(db: Connection, project_id: int, now: str) -> bool:
    """Take a project off the list; whether it was on it."""
    return db.one(_sql.remove, id=project_id, now=now) is not None


def restore(db: Connection, project_id: int) -> bool:
    """Put a project back on the list; whether it was off it."""
    return db.one(_sql.restore, id=project_id) is not None


def find_open_effort(db: Connection, project_id: int) -> int | None:
    """An effort of a project that is not finished."""
    row = db.one(_sql.open_effort, id=project_id)
    return None if row is None else int(row[0])


def find_at(db: Connection, path: str) -> Project | None:
    """The project at exactly this path, on whichever host."""
    return _with_hosts(db, _sql.at_path, path=path)


def find(db: Connection, project_id: int) -> Project | None:
    """A project by its id."""
    return _with_hosts(db, _sql.by_id, id=project_id)


def find_remote(db: Connection, remote: str) -> Project | None:
    """The project that has this git remote."""
    return _with_hosts(db, _sql.by_remote, remote=remote)


def find_containing(db: Connection, path: str) -> Project | None:
    """The innermost project that a path lies in, on whichever host."""
    return db.struct(Project, _sql.containing, path=path)


def list_all(db: Connection, *, removed: bool = False) -> list[Project]:
    """Every project on the list, and those off it if they are asked for."""
    hosts: defaultdict[int, dict[str, str]] = defaultdict(dict)
    for project_id, host, path in db.all(_sql.paths, project_id=None):
        hosts[project_id][host] = path
    return [
        replace(project, hosts=hosts[project.id])
        for project in db.structs(Project, _sql.everything, removed=int(removed))
    ]


def _with_hosts(db: Connection, query: Query, **params: str | int) -> Project | None:
    project = db.struct(Project, query, **params)
    if project is None:
        return None
    return replace(project, hosts={row[1]: row[2] for row in db.all(_sql.paths, project_id=project.id)})
