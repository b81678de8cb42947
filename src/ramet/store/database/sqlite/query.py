"""One query that a person wrote: read-only, for a bounded time, and a bounded amount of its rows."""

import time
from collections.abc import Sequence
from itertools import islice
from typing import Any

import apsw
import msgspec

from ramet.errors import QueryFailed, QueryRefused, QueryTimeout
from ramet.protocol.system.database import QueryResult
from ramet.store.database.store import QueryBounds

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


class QueryPage:
    """Rows of a query, as many as the bounds allow."""

    def __init__(self, bounds: QueryBounds, sql: str) -> None:
        self._bounds = bounds
        self._sql = sql
        self._rows: list[list[Any]] = []
        self.size = 0
        """The size of the rows as JSON, in bytes."""
        self.is_full = False
        """Whether there was a row that has no place."""

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, row: Sequence[Any]) -> bool:
        """Add a row; False if it has no place any more."""
        values = [jsonable(value) for value in row]
        size = _measure(values)
        if size > self._bounds.max_bytes:
            raise too_large(self._bounds.max_bytes, self._sql)
        self.is_full = len(self._rows) >= self._bounds.max_rows or self.size + size > self._bounds.max_bytes
        if not self.is_full:
            self._rows.append(values)
            self.size += size
        return not self.is_full

    def result(self, columns: list[str]) -> QueryResult:
        """The reply."""
        following = self._bounds.skip + len(self._rows) if self.is_full else None
        return QueryResult(columns=columns, rows=self._rows, truncated=self.is_full, next=following)


def _measure(values: list[Any]) -> int:
    return len(msgspec.json.encode(values))


def jsonable(value: Any) -> Any:
    """A value that JSON has: hashes and other bytes as hex, and types of the database's own as text."""
    if isinstance(value, bytes | memoryview):
        return value.hex()
    if value is None or isinstance(value, str | int | float):
        return value
    try:
        msgspec.json.encode(value)
    except (TypeError, ValueError):
        return str(value)
    return value


def too_large(max_bytes: int, sql: str) -> QueryFailed:
    """The error for one row, or one value on the way to it, that is larger than a whole reply may be."""
    return QueryFailed(
        f"a row or a value is larger than {max_bytes} bytes (query.max_bytes)",
        field="sql",
        value=sql,
        fix="select fewer columns, or a part of the value with substr(); or raise query.max_bytes",
    )


def run_query(database: apsw.Connection, sql: str, params: Sequence[object], bounds: QueryBounds) -> QueryResult:
    """Run `sql` on a connection of its own; a second statement, or one that writes, is refused."""
    deadline = time.monotonic() + bounds.timeout_seconds
    database.set_progress_handler(lambda: time.monotonic() > deadline, _PROGRESS_STEPS)
    database.authorizer = lambda action, *_: apsw.SQLITE_DENY if action in _DENIED else apsw.SQLITE_OK
    database.limit(apsw.SQLITE_LIMIT_LENGTH, max(bounds.max_bytes, len(sql.encode()) + 1))
    cursor = database.cursor()
    columns: list[str] = []

    def refuse_more(_cursor: apsw.Cursor, statement: str, _bindings: Any) -> bool:
        if columns or not _cursor.is_readonly:
            raise QueryRefused(field="sql", value=statement)
        columns.extend(column[0] for column in _cursor.get_description())
        return True

    cursor.exec_trace = refuse_more
    page = QueryPage(bounds, sql)
    try:
        rows = islice(cursor.execute(sql, tuple(params)), bounds.skip, None)
        while (row := next(rows, None)) is not None and page.add(row):
            pass
    except apsw.AuthError as error:
        raise QueryRefused(f"only reading is allowed: {error}", field="sql", value=sql) from error
    except (apsw.InterruptError, apsw.AbortError) as error:
        message = f"the query took longer than {bounds.timeout_seconds} seconds"
        raise QueryTimeout(message, field="sql", value=sql) from error
    except apsw.TooBigError as error:
        raise too_large(bounds.max_bytes, sql) from error
    except apsw.NoMemError as error:
        raise MemoryError(str(error)) from error  # of the process that reads, which says what to do
    except (apsw.SQLError, apsw.BindingsError, apsw.MismatchError) as error:
        raise QueryFailed(str(error), field="sql", value=sql, fix=_SHOW_TABLES) from error
    if not columns:
        raise QueryRefused("the query is empty", field="sql", value=sql)
    return page.result(columns)
