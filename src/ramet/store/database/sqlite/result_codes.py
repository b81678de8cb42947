"""SQLite's result codes as errors of ours. A row for an extended code takes precedence; what no row has is logged."""

import apsw

from ramet.errors import (
    DatabaseAltered,
    DatabaseBusy,
    DatabaseDamaged,
    DatabaseExhausted,
    DatabaseReadOnly,
    DatabaseRefused,
    DatabaseUnreachable,
    StatementFailed,
    StatementStopped,
    StorageFailed,
    StoreError,
)
from ramet.store.database.failures import Failure, unforeseen

_WRITABLE = "make the file and its folder writable: `ls -ld` shows their owner; nothing of this request was saved"
_DAMAGED = Failure(DatabaseDamaged, "the database is damaged")
_SPLIT = "send the text in smaller parts"

FAILURES: dict[int, Failure] = {
    apsw.SQLITE_PERM: Failure(DatabaseReadOnly, "the system does not allow access to the database file", _WRITABLE),
    apsw.SQLITE_BUSY: Failure(DatabaseBusy, "another process is writing to the database file"),
    apsw.SQLITE_LOCKED: Failure(DatabaseBusy, "a table of the database file is locked"),
    apsw.SQLITE_NOMEM: Failure(DatabaseExhausted, "there is no memory left for the database"),
    apsw.SQLITE_READONLY: Failure(DatabaseReadOnly, "the database file is read-only", _WRITABLE),
    apsw.SQLITE_INTERRUPT: Failure(StatementStopped, "a statement was interrupted", "try again"),
    apsw.SQLITE_IOERR: Failure(StorageFailed, "the database cannot use its disk"),
    apsw.SQLITE_IOERR_NOMEM: Failure(DatabaseExhausted, "there is no memory left for the database"),
    apsw.SQLITE_CORRUPT: _DAMAGED,
    apsw.SQLITE_FULL: Failure(StorageFailed, "the disk of the database is full"),
    apsw.SQLITE_CANTOPEN: Failure(DatabaseUnreachable, "the database cannot be opened"),
    apsw.SQLITE_PROTOCOL: Failure(DatabaseBusy, "other processes kept the database file locked"),
    apsw.SQLITE_SCHEMA: Failure(DatabaseBusy, "another process changes the tables of the database file"),
    apsw.SQLITE_TOOBIG: Failure(StatementFailed, "a text is larger than SQLite allows", _SPLIT),
    apsw.SQLITE_NOLFS: Failure(StorageFailed, "the disk allows no files of this size"),
    apsw.SQLITE_AUTH: Failure(DatabaseRefused, "SQLite does not allow this", "open the database without an authorizer"),
    apsw.SQLITE_NOTADB: _DAMAGED,
    # A file that no longer has what was written to it; the first is shorter than it says.
    apsw.SQLITE_IOERR_SHORT_READ: _DAMAGED,
    apsw.SQLITE_IOERR_CORRUPTFS: _DAMAGED,
    apsw.SQLITE_IOERR_DATA: _DAMAGED,
    apsw.SQLITE_IOERR_IN_PAGE: _DAMAGED,
    apsw.SQLITE_IOERR_VNODE: _DAMAGED,
    apsw.SQLITE_READONLY_DBMOVED: _DAMAGED,
}

_ALTERED = Failure(DatabaseAltered, "the tables of the database file are not those of Ramet")
_MISSING = ("no such table", "no such column", "has no column")


def translate(error: apsw.Error) -> StoreError:
    """An error of SQLite as ours."""
    failure, code = _find(error), _code_of(error)
    return unforeseen("SQLite failed", code, error) if failure is None else failure.error(str(error))


def is_damage(error: apsw.Error) -> bool:
    """Whether SQLite says that the file itself is damaged, and not only that it cannot be used just now."""
    failure = _find(error)
    return failure is not None and failure.kind is DatabaseDamaged


def _find(error: apsw.Error) -> Failure | None:
    code = _code_of(error)
    if any(words in str(error) for words in _MISSING) and code & 0xFF == apsw.SQLITE_ERROR:
        return _ALTERED
    return FAILURES.get(code) or FAILURES.get(code & 0xFF)


def _code_of(error: apsw.Error) -> int:
    """The extended result code; 0 for an error of apsw itself."""
    return int(getattr(error, "extendedresult", 0) or getattr(error, "result", 0))
