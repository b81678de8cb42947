"""What an import writes: rows of an archive, each once, and which rows of other databases they were."""

from typing import Any

from msgspec import Struct

from ramet.model.memory.exports.archive_tables import Value
from ramet.store.database.blobs import PURGED
from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile

_sql = QueryFile("memory/archive_rows")
_sessions = QueryFile("record/sessions")
_branches = QueryFile("memory/archive_branches")


class FoundProject(Struct, frozen=True):
    """A project of this database."""

    id: int
    path: str


def find_key(db: Connection, origin: str, subject: str, foreign_key: Value) -> str | None:
    """The row that a row of another database has become."""
    row = db.one(_sql.find_key, origin=origin, subject=subject, foreign_key=str(foreign_key))
    return None if row is None else str(row[0])


def keep_key(db: Connection, origin: str, subject: str, foreign_key: Value, local_key: object) -> None:
    """Remember it."""
    db.run(_sql.keep_key, origin=origin, subject=subject, foreign_key=str(foreign_key), local_key=str(local_key))


def change_key(db: Connection, origin: str, subject: str, foreign_key: Value, local_key: object) -> None:
    """The row has another name now."""
    db.run(_branches.change_key, origin=origin, subject=subject, foreign_key=str(foreign_key), local_key=str(local_key))


def own_origin(db: Connection) -> str:
    """The name of this database."""
    return str(db.must(_branches.own_origin)[0])


def find_project(db: Connection, path: Value, remote: Value) -> FoundProject | None:
    """A project of the same remote, or else of the same path."""
    row = db.one(_sql.find_project, path=path, remote=remote)
    return None if row is None else FoundProject(int(row[0]), row[1])


def add(db: Connection, table: str, values: dict[str, Any]) -> int | None:
    """A row; its id, or 1 of one without an id. None if it is there already."""
    row = db.one(_sql.all[f"add_{table}"], **values)
    return None if row is None else int(row[0])


def link_effort(db: Connection, values: dict[str, Any]) -> bool:
    """The sessions that an effort names; whether it named none before."""
    return db.one(_sql.link_effort, **values) is not None


def name_dependencies(db: Connection, effort_id: int) -> None:
    """Let an effort say what it waits for."""
    db.run(_sql.name_dependencies, effort_id=effort_id)


def has_row(db: Connection, subject: str, row_id: int, created_at: Value) -> bool:
    """Whether a row of this database is the one that an archive means."""
    return db.one(_sql.has_row, subject=subject, id=row_id, created_at=created_at) is not None


def find_move(db: Connection, values: dict[str, Any]) -> int | None:
    """A move that is there already."""
    row = db.one(_sql.has_move, **{name: values[name] for name in ("branch", "at_ms", "old", "new")})
    return None if row is None else int(row[0])


def find_skill(db: Connection, project_id: int, name: Value) -> int:
    """A project's skill."""
    return int(db.must(_sql.skill_named, project_id=project_id, name=name)[0])


def find_spawn(db: Connection, child_branch: str) -> int:
    """Whose child a branch is already."""
    return int(db.must(_sql.spawned, child_branch=child_branch)[0])


def find_blob(db: Connection, blob_hash: bytes) -> int | None:
    """A content by its hash, be it purged."""
    row = db.one(_sql.find_blob, hash=blob_hash)
    return None if row is None else int(row[0])


def add_purged_blob(db: Connection, blob_hash: bytes, size: int) -> None:
    """A content whose text is gone."""
    db.run(_branches.put_blob, hash=blob_hash, codec=PURGED, size=size, data=b"")


def has_tombstone(db: Connection, subject: str, subject_hash: bytes) -> bool:
    """Whether something was purged."""
    return db.one(_sql.has_tombstone, subject=subject, hash=subject_hash) is not None


def next_session_id(db: Connection) -> int:
    """The id of the next session."""
    return int(db.must(_sessions.next_id)[0])


def rename_branch(db: Connection, old: str, new: str) -> None:
    """Give a branch another name."""
    db.run(_branches.rename, old=old, new=new)
