"""Requests and replies about the database as a whole: queries, checks, backups."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from ramet.errors import InvalidParams, QueryFailed, QueryRefused, QueryTimeout, StorageFailed
from ramet.protocol.fields import _NO_NUL, Path
from ramet.protocol.operation import Operation, Request


class QueryResult(Struct, frozen=True, kw_only=True):
    """The rows of a query. `truncated` is true if there are more rows than `query.max_rows`."""

    columns: list[str]
    rows: list[list[Any]]
    truncated: bool


class Query(Request[QueryResult], frozen=True, kw_only=True):
    """Run one read-only SELECT."""

    op = Operation("db.query", errors=(QueryRefused, QueryFailed, QueryTimeout), host="store", is_long=True)

    sql: Annotated[str, Meta(min_length=1, max_length=100_000, pattern=_NO_NUL)]
    params: list[str | int | float | bool | None] = []


class CheckFinding(Struct, frozen=True, kw_only=True):
    """One problem that a check found."""

    check: str
    detail: str


class CheckReport(Struct, frozen=True, kw_only=True):
    """How many rows a check read, and the problems that it found."""

    passed: bool
    counts: dict[str, int]
    findings: list[CheckFinding]


class CheckDatabase(Request[CheckReport], frozen=True, kw_only=True):
    """Verify the database's pages, references, hashes and branches."""

    op = Operation("db.check", host="store", is_long=True)


class BackupReport(Struct, frozen=True, kw_only=True):
    """A backup file, its size in bytes and its schema version."""

    path: str
    bytes: int
    schema_version: int


class BackUpDatabase(Request[BackupReport], frozen=True, kw_only=True):
    """Write a consistent copy of the database to a new SQLite file, without interrupting work."""

    op = Operation("db.backup", errors=(InvalidParams, StorageFailed), host="store", is_long=True)

    path: Path
