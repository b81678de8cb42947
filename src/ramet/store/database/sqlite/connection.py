"""SQLite through apsw: one connection writes and checkpoints, the others only read.

Acknowledged means durable (`synchronous=FULL`) unless the configuration says that a crash of the process is enough.
mmap stays off: it has been seen to amplify corruption.
"""

import sys
from pathlib import Path
from typing import Any, Literal

import apsw

from ramet.errors import DatabaseDamaged, StorageFailed
from ramet.store.database.connection import Connection, Row
from ramet.store.database.queries import Query
from ramet.store.database.sqlite import wal
from ramet.store.database.sqlite.result_codes import translate

CHECKPOINT_PAGES = 4000
"""How long the WAL may grow before it is copied back: at the default of 1000, group commits wait for it often."""

_BUSY_MS = 5000


class SqliteConnection(Connection):
    """One apsw connection with one reused cursor."""

    def __init__(self, database: apsw.Connection) -> None:
        self.database = database
        self._cursor = database.cursor()
        self._columns: dict[Query, tuple[str, ...]] = {}
        self._is_wiping = False

    def all(self, query: Query, **params: Any) -> list[Row]:
        try:
            rows = self._cursor.execute(query.sqlite, params)
            first = rows.fetchone()
            if first is None:
                return []
            self._remember_columns(query)
            return [first, *rows.fetchall()]
        except apsw.Error as error:
            raise self.explain(error) from error

    def one(self, query: Query, **params: Any) -> Row | None:
        try:
            row = self._cursor.execute(query.sqlite, params).fetchone()
            if row is not None:
                self._remember_columns(query)
                # A statement left at its first row would keep its snapshot open.
                self._cursor.fetchall()
        except apsw.Error as error:
            raise self.explain(error) from error
        return row

    def columns(self, query: Query) -> tuple[str, ...]:
        return self._columns[query]

    def _remember_columns(self, query: Query) -> None:
        if query not in self._columns:
            self._columns[query] = tuple(column[0] for column in self._cursor.get_description())

    def wipe_deleted(self) -> None:
        self.database.pragma("secure_delete", True)
        self._is_wiping = True

    def _stop_wiping(self) -> None:
        if self._is_wiping:
            self.database.pragma("secure_delete", "FAST")
            self._is_wiping = False

    def begin(self, *, locks_rows: bool = False) -> None:  # noqa: ARG002 - nobody else writes meanwhile
        self._execute("BEGIN IMMEDIATE")

    def begin_reading(self) -> None:
        self._execute("BEGIN DEFERRED")

    def commit(self) -> None:
        try:
            self._execute("COMMIT")
            self._stop_wiping()
        except StorageFailed as error:
            # What could not be flushed may be in the WAL all the same, where a restart would find it.
            raise StorageFailed(
                f"{error.message}; if Ramet stops before its next write, the request may still have been saved",
                fix="free disk space or repair the disk, then check with `ramet events` whether it was saved; "
                "a program repeats it with the same idempotency_key",
            ) from error

    def rollback(self) -> None:
        if self.database.in_transaction:
            self._execute("ROLLBACK")
        self._stop_wiping()

    def begin_operation(self) -> None:
        """Start one operation inside the transaction, so that it can be undone alone."""
        self._execute("SAVEPOINT operation")

    def keep_operation(self) -> None:
        """The operation stays part of the transaction."""
        self._execute("RELEASE operation")

    def undo_operation(self) -> bool:
        """Undo one operation; False if SQLite has rolled back the whole transaction by itself."""
        if not self.database.in_transaction:
            return False
        self._execute("ROLLBACK TO operation")
        self._execute("RELEASE operation")
        return True

    def copy_log(self) -> None:
        """Copy of the WAL what can be copied without waiting for anybody."""
        try:
            self.database.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        except apsw.BusyError:
            pass  # another connection does it just now
        except apsw.Error as error:
            raise self.explain(error) from error

    def cut_log(self, patience_ms: int = 0) -> bool:
        """Copy the WAL back and cut it; False if somebody reads from it. Whoever wants to write waits meanwhile, so
        readers are given only a little time to end.
        """
        self.database.set_busy_timeout(patience_ms)
        try:
            self.database.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.BusyError:
            return False
        except apsw.Error as error:
            raise self.explain(error) from error
        finally:
            self.database.set_busy_timeout(_BUSY_MS)
        return True

    def close(self) -> None:
        try:
            self.database.close()
        except apsw.Error as error:
            raise self.explain(error) from error

    def explain(self, error: apsw.Error) -> Exception:
        """An error of SQLite as ours. One that says that the file is damaged is noted."""
        found = translate(error)
        if isinstance(found, DatabaseDamaged) and self.signs is not None:
            self.signs.note(found)
        return found

    def _execute(self, statement: str) -> None:
        try:
            self._cursor.execute(statement)
        except apsw.Error as error:
            raise self.explain(error) from error


def open_writer(path: Path, durability: Literal["full", "process"], vfs: str | None = None) -> SqliteConnection:
    """The one connection that writes."""
    try:
        database = apsw.Connection(str(path), vfs=vfs, statementcachesize=256)
        _settle(database)
        for pragma in (
            "page_size = 4096",
            "auto_vacuum = INCREMENTAL",
            "journal_mode = WAL",
            f"synchronous = {'FULL' if durability == 'full' else 'NORMAL'}",
            "foreign_keys = ON",
            "mmap_size = 0",
            f"wal_autocheckpoint = {CHECKPOINT_PAGES}",
            # A log that a long reader has made large is cut when it is reused.
            f"journal_size_limit = {wal.LIMIT_BYTES}",
            "temp_store = MEMORY",
            # What a row said before is overwritten in pages that are written anyway: a purge cannot find it later.
            "secure_delete = FAST",
            *(("fullfsync = ON", "checkpoint_fullfsync = ON") if sys.platform == "darwin" else ()),
        ):
            database.execute(f"PRAGMA {pragma}").fetchall()
    except apsw.Error as error:
        raise translate(error) from error
    return SqliteConnection(database)


def open_reader(path: Path, vfs: str | None = None) -> SqliteConnection:
    """A connection that cannot write."""
    try:
        database = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY, vfs=vfs, statementcachesize=128)
        _settle(database)
        for pragma in ("query_only = ON", "mmap_size = 0", "temp_store = MEMORY"):
            database.execute(f"PRAGMA {pragma}").fetchall()
    except apsw.Error as error:
        raise translate(error) from error
    return SqliteConnection(database)


def _settle(database: apsw.Connection) -> None:
    """What every connection needs. Plans do not depend on bound values: otherwise this build of SQLite (STAT4) plans a
    join again at each execution, which costs three times as much as running it.
    """
    database.set_busy_timeout(_BUSY_MS)
    database.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
