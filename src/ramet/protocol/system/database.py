"""Requests and replies about the database as a whole: queries, checks, backups."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from ramet.errors import InvalidParams, QueryFailed, QueryRefused, QueryTimeout, StorageFailed
from ramet.protocol.fields import _NO_NUL, Path
from ramet.protocol.operation import Operation, Request


class QueryResult(Struct, frozen=True, kw_only=True):
    """The rows of a query, at most `query.max_rows`, and at most `query.max_bytes` of JSON."""

    columns: list[str]
    rows: list[list[Any]]
    truncated: bool
    """Whether there are more rows."""
    next: int | None = None
    """The `cursor` of the rows that follow; null if there are none."""


class Query(Request[QueryResult], frozen=True, kw_only=True):
    """Run one read-only SELECT. If there are more rows than one reply holds, the same query with `cursor` gives those
    that follow; it needs an ORDER BY to give each row once.
    """

    op = Operation("db.query", errors=(QueryRefused, QueryFailed, QueryTimeout), host="store", is_long=True)

    sql: Annotated[str, Meta(min_length=1, max_length=100_000, pattern=_NO_NUL)]
    params: list[str | int | float | bool | None] = []
    limit: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None
    """The most rows of the reply (default: `query.max_rows`, which is also the maximum)."""
    cursor: Annotated[int, Meta(ge=0, le=2**62)] = 0
    """`next` of the reply before."""


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


class LogState(Struct, frozen=True, kw_only=True):
    """The size of the write-ahead log in bytes, and the processes that keep a large one from being cut."""

    bytes: int
    limit_bytes: int
    readers: list[str] = []

    @property
    def is_large(self) -> bool:
        """Whether it is larger than it is left by itself."""
        return self.bytes > self.limit_bytes


class BackupReport(Struct, frozen=True, kw_only=True):
    """A backup file, its size in bytes and its schema version."""

    path: str
    bytes: int
    schema_version: int


class BackUpDatabase(Request[BackupReport], frozen=True, kw_only=True):
    """Write a consistent copy of the database to a new SQLite file, without interrupting work."""

    op = Operation("db.backup", errors=(InvalidParams, StorageFailed), host="store", is_long=True)

    path: Path
