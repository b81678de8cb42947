"""The names by which people call things, newest first."""

from ramet.protocol.record.names import Kind, NameRow
from ramet.store.database.connection import Connection
from ramet.store.database.queries import Query, QueryFile

_sql = QueryFile("record/names")

_QUERIES: dict[Kind, Query] = {
    "effort": _sql.efforts,
    "session": _sql.sessions,
    "run": _sql.runs,
    "branch": _sql.branches,
}


def list_names(db: Connection, kind: Kind, prefix: str, limit: int) -> list[NameRow]:
    """The newest names of one kind that start with a prefix."""
    return db.structs(NameRow, _QUERIES[kind], prefix=prefix, limit=limit)
