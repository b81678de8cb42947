"""One query that a person wrote: read-only, for a bounded time."""

import time
from collections.abc import Sequence
from typing import Any

import apsw

from ramet.errors import QueryFailed, QueryRefused, QueryTimeout
from ramet.protocol.system.database import QueryResult

_PROGRESS_STEPS = 10_000

_SHOW_TABLES = "`ramet query 'SELECT sql FROM sqlite_schema'` shows the tables and their columns"

_DENIED = frozenset(
    {
        apsw.SQLITE_ATTACH,
        apsw.SQLITE_DETACH,
        apsw.SQLITE_PRAGMA,
        apsw.SQLITE_TRANSACTION,
        apsw.SQLITE_SAVEPOINT,
        apsw.SQLITE_INSERT,
        apsw.SQLITE_UPDATE,
        apsw.SQLITE_DELETE,
    }
)


def run_query(
    database: apsw.Connection, sql: str, params: Sequence[object], timeout_seconds: int, max_rows: int
) -> QueryResult:
    """Run `sql` on a connection of its own; a second statement, or one that writes, is refused."""
    deadline = time.monotonic() + timeout_seconds
    database.set_progress_handler(lambda: time.monotonic() > deadline, _PROGRESS_STEPS)
    database.authorizer = lambda action, *_: apsw.SQLITE_DENY if action in _DENIED else apsw.SQLITE_OK
    cursor = database.cursor()
    columns: list[str] = []

    def refuse_more(_cursor: apsw.Cursor, statement: str, _bindings: Any) -> bool:
        if columns or not _cursor.is_readonly:
            raise QueryRefused(field="sql", value=statement)
        columns.extend(column[0] for column in _cursor.get_description())
        return True

    cursor.exec_trace = refuse_more
    try:
        rows = [list(row) for _, row in zip(range(max_rows + 1), cursor.execute(sql, tuple(params)), strict=False)]
    except apsw.AuthError as error:
        raise QueryRefused(f"only reading is allowed: {error}", field="sql", value=sql) from error
    except (apsw.InterruptError, apsw.AbortError) as error:
        raise QueryTimeout(f"the query took longer than {timeout_seconds} seconds", field="sql", value=sql) from error
    except apsw.NoMemError as error:
        raise MemoryError(str(error)) from error  # of the process that reads, which says what to do
    except (apsw.SQLError, apsw.BindingsError, apsw.MismatchError, apsw.TooBigError) as error:
        raise QueryFailed(str(error), field="sql", value=sql, fix=_SHOW_TABLES) from error
    if not columns:
        raise QueryRefused("the query is empty", field="sql", value=sql)
    return QueryResult(columns=columns, rows=jsonable(rows[:max_rows]), truncated=len(rows) > max_rows)


def jsonable(rows: list[list[Any]]) -> list[list[Any]]:
    """Hashes and other bytes as hex."""
    return [[value.hex() if isinstance(value, bytes) else value for value in row] for row in rows]
