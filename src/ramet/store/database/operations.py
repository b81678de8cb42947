"""The operations that are about the database itself: querying, checking and backing it up."""

from pathlib import Path
from typing import Any, NamedTuple

from ramet.config.settings import QuerySettings
from ramet.errors import InvalidParams
from ramet.protocol.answers import Answers
from ramet.protocol.history.branches import CheckHistory
from ramet.protocol.operation import Request
from ramet.protocol.system.backups import BackUpDaily, DailyBackup
from ramet.protocol.system.database import (
    BackUpDatabase,
    BackupReport,
    CheckDatabase,
    CheckReport,
    Query,
    QueryResult,
    SampleDatabase,
    SampleReport,
)
from ramet.store.database.blobs import Codec
from ramet.store.database.check import check_database, sample_database
from ramet.store.database.sqlite.daily_backups import back_up_daily
from ramet.store.database.sqlite.store import SqliteReadableStore
from ramet.store.database.store import QueryBounds, ReadableStore


class Asked(NamedTuple):
    """What each function is given beside the request."""

    store: ReadableStore
    settings: QuerySettings


answers = Answers[Asked]("store")


def answer(store: ReadableStore, request: Request[Any], settings: QuerySettings) -> Any:
    """The reply to a request whose host is the store. It may take long; it never waits for the writer."""
    return answers.find(type(request))(Asked(store, settings), request)


@answers(Query)
def query(asked: Asked, request: Query) -> QueryResult:
    """Run one SELECT."""
    settings = asked.settings
    bounds = QueryBounds(
        timeout_seconds=settings.timeout_seconds,
        max_rows=min(request.limit or settings.max_rows, settings.max_rows),
        max_bytes=settings.max_bytes,
        skip=request.cursor,
    )
    return asked.store.query(request.sql, request.params, bounds)


@answers(CheckDatabase)
def check(asked: Asked, request: CheckDatabase) -> CheckReport:
    """Verify every content, commit and pointer, or a part of them."""
    return check_database(asked.store, Codec(), request.limit, request.cursor)


@answers(SampleDatabase)
def sample(asked: Asked, request: SampleDatabase) -> SampleReport:
    """Verify some contents, commits and pointers."""
    return sample_database(asked.store, Codec(), request.milliseconds)


@answers(CheckHistory)
def check_history(asked: Asked, request: CheckHistory) -> CheckReport:  # noqa: ARG001
    """The same under its older name."""
    return check_database(asked.store, Codec())


@answers(BackUpDatabase)
def back_up(asked: Asked, request: BackUpDatabase) -> BackupReport:
    """Write a copy of the database."""
    return asked.store.back_up(_target(request))


@answers(BackUpDaily)
def back_up_by_itself(asked: Asked, request: BackUpDaily) -> DailyBackup:
    """Make a backup if something has changed, and remove old ones."""
    if not isinstance(asked.store, SqliteReadableStore):
        raise InvalidParams(
            "a server is backed up by its administrator",
            field="database.type",
            value="postgres",
            fix="use the server's own tools, such as pg_dump",
        )
    return back_up_daily(asked.store, request)


def _target(request: BackUpDatabase) -> Path:
    path = Path(request.path)
    if not path.is_absolute():
        raise InvalidParams(
            "the path is not absolute", field="path", value=request.path, fix="give a path that starts with /"
        )
    return path
