"""The operations that are about the database itself: querying, checking and backing it up."""

from pathlib import Path

from ramet.config.settings import QuerySettings
from ramet.errors import InvalidParams
from ramet.protocol.history import CheckHistory
from ramet.protocol.replies import BackupReport, CheckReport, QueryResult
from ramet.protocol.requests import BackUpDatabase, CheckDatabase, Query, Request
from ramet.store.database.blobs import Codec
from ramet.store.database.check import check_database
from ramet.store.database.store import Store


def answer(store: Store, request: Request, settings: QuerySettings) -> QueryResult | CheckReport | BackupReport:
    """The reply to an operation whose host is the store. It may take long; it never waits for the writer."""
    match request:
        case Query():
            return store.query(
                request.sql,
                request.params,
                timeout_seconds=settings.timeout_seconds,
                max_rows=settings.max_rows,
            )
        case CheckDatabase() | CheckHistory():
            return check_database(store, Codec())
        case BackUpDatabase():
            return store.back_up(_target(request))
        case _:
            raise TypeError(f"{type(request).__name__} is not for the store")


def _target(request: BackUpDatabase) -> Path:
    path = Path(request.path)
    if not path.is_absolute():
        raise InvalidParams(
            "path is not absolute", field="path", value=request.path, fix="give a path that starts with /"
        )
    return path
