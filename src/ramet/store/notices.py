"""What is remembered of what people have to know."""

from ramet.model.notice import Notice, NoticeKind
from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile

_sql = QueryFile("notices")


def add(
    db: Connection,
    *,
    kind: NoticeKind,
    text: str,
    effort_id: int | None,
    session_id: int | None,
    dedupe_key: str,
    now: str,
) -> int | None:
    """A new notice; None where it has been given before."""
    row = db.one(
        _sql.add,
        kind=kind,
        text=text,
        effort_id=effort_id,
        session_id=session_id,
        dedupe_key=dedupe_key,
        now=now,
    )
    return None if row is None else int(row[0])


def list_newest(db: Connection, limit: int, *, before: int, all_of_them: bool, project_id: int | None) -> list[Notice]:
    """What nobody has dismissed, or all there ever was, the newest first, older than one."""
    query = _sql.everything if all_of_them else _sql.open_ones
    return db.structs(Notice, query, limit=limit, before=before, project_id=project_id)


def is_there(db: Connection, notice_id: int) -> bool:
    """Whether there is such a notice."""
    return db.one(_sql.is_there, id=notice_id) is not None


def dismiss(db: Connection, notice_id: int | None, project_id: int | None, now: str) -> list[Notice]:
    """Put a notice aside, or all of them, or those of a project; those that were open."""
    return db.structs(Notice, _sql.dismiss, id=notice_id, project_id=project_id, now=now)
