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
    """How many rows there are, and the problems that a check found: at most 100 of them.

    A part of a check has the counts only if it is the last one. `passed` is about this part.
    """

    passed: bool
    counts: dict[str, int]
    findings: list[CheckFinding]
    more: int = 0
    """How many further problems were found."""
    checked: int = 0
    """How many rows were checked, with the parts before this one."""
    rows: int = 0
    """How many rows are checked in all, about."""
    next: str | None = None
    """Where the next part starts; null if this was the last one."""


class CheckDatabase(Request[CheckReport], frozen=True, kw_only=True):
    """Verify the database's pages, references, hashes and branches.

    With `limit`, check a part of about so many rows. Repeat it with `next` as the `cursor` until `next` is null.
    """

    op = Operation("db.check", errors=(InvalidParams,), host="store", is_long=True)

    limit: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    cursor: Annotated[str, Meta(min_length=1, max_length=100)] | None = None


class LogState(Struct, frozen=True, kw_only=True):
    """The size of the write-ahead log in bytes, and the processes that keep a large one from being cut."""

    bytes: int
    limit_bytes: int
    readers: list[str] = []

    @property
    def is_large(self) -> bool:
        """Whether it is larger than it is left by itself."""
        return self.bytes > self.limit_bytes


class SampleReport(Struct, frozen=True, kw_only=True):
    """What a check of some rows found, how many rows it read, and the state of the write-ahead log."""

    passed: bool
    findings: list[CheckFinding]
    sampled: dict[str, int]
    is_whole: bool
    """Whether these were all rows."""
    log: LogState | None
    """The write-ahead log; null if the database keeps its own."""


class SampleDatabase(Request[SampleReport], frozen=True, kw_only=True):
    """Verify the newest rows and rows at random places, for about as long as is asked for. `db.check` verifies all."""

    op = Operation("db.sample", host="store", is_long=True)

    milliseconds: Annotated[int, Meta(ge=1, le=60_000)] = 1000


class BackupReport(Struct, frozen=True, kw_only=True):
    """A backup file, its size in bytes and its schema version."""

    path: str
    bytes: int
    schema_version: int


class BackUpDatabase(Request[BackupReport], frozen=True, kw_only=True):
    """Write a consistent copy of the database to a new SQLite file, without interrupting work."""

    op = Operation("db.backup", errors=(InvalidParams, StorageFailed), host="store", is_long=True)

    path: Path
