"""PostgreSQL's SQLSTATEs as errors of ours.

A row for a whole class of codes has its first two characters. A server that refuses a connection is known by its words:
psycopg does not pass on the code then. What no row has is logged.
"""

import re

import psycopg

from ramet.errors import (
    ConnectionsExhausted,
    DatabaseAltered,
    DatabaseBusy,
    DatabaseDamaged,
    DatabaseExhausted,
    DatabaseReadOnly,
    DatabaseRefused,
    DatabaseUnreachable,
    StatementStopped,
    StorageFailed,
)
from ramet.store.database.connection import Retry
from ramet.store.database.failures import Failure, unforeseen

RETRIED = frozenset({"40001", "40P01", "23505"})
"""Lost conflicts: serialization, a deadlock, and a row that another transaction has added first."""

_DAMAGED = "restore a backup of the server; `ramet db check` lists what Ramet can still read"
_LOCKS = (
    'end the transaction that holds the lock: `ramet query "SELECT pid, state, query FROM pg_stat_activity"` lists '
    "them; nothing of this request was saved"
)
_TABLES = "the tables of the PostgreSQL database are not those of Ramet"

FAILURES: dict[str, Failure] = {
    "08": Failure(DatabaseUnreachable, "the PostgreSQL server does not answer"),
    "25006": Failure(DatabaseReadOnly, "the PostgreSQL server is read-only"),
    "25P03": Failure(DatabaseUnreachable, "the PostgreSQL server ended an idle transaction"),
    "25P04": Failure(StatementStopped, "the PostgreSQL server ended a long transaction"),
    "28": Failure(DatabaseRefused, "the PostgreSQL server refuses the user"),
    "3D000": Failure(DatabaseRefused, "the PostgreSQL server has no such database"),
    "3F000": Failure(DatabaseAltered, _TABLES),
    "42501": Failure(
        DatabaseRefused,
        "the PostgreSQL user is not allowed to do this",
        "make the user the owner of Ramet's tables, or of the schema for a new database",
    ),
    "42703": Failure(DatabaseAltered, _TABLES),
    "42704": Failure(DatabaseAltered, _TABLES),
    "42883": Failure(DatabaseAltered, _TABLES),
    "42P01": Failure(DatabaseAltered, _TABLES),
    "53": Failure(DatabaseExhausted, "the PostgreSQL server lacks resources"),
    "53100": Failure(
        StorageFailed,
        "the PostgreSQL server's disk is full",
        "free space on the server's disk, then try again; nothing of this request was saved",
    ),
    "53200": Failure(DatabaseExhausted, "the PostgreSQL server is out of memory"),
    "53300": Failure(ConnectionsExhausted, "the PostgreSQL server accepts no more connections"),
    "55006": Failure(DatabaseBusy, "another session uses the PostgreSQL database", _LOCKS),
    "55P03": Failure(DatabaseBusy, "another transaction holds a lock in the PostgreSQL database", _LOCKS),
    "57014": Failure(
        StatementStopped,
        "the PostgreSQL server stopped a statement",
        'if it was too slow, raise database.timeout_seconds, or end what slows the server down: `ramet query "SELECT '
        'pid, state, query FROM pg_stat_activity"`; nothing of this request was saved',
    ),
    "57": Failure(DatabaseUnreachable, "the PostgreSQL server ended the connection"),
    "57P01": Failure(DatabaseUnreachable, "the PostgreSQL server ended the connection"),
    "57P02": Failure(DatabaseUnreachable, "the PostgreSQL server has crashed and is starting again"),
    "57P03": Failure(DatabaseUnreachable, "the PostgreSQL server is starting or stopping"),
    "57P04": Failure(DatabaseRefused, "the PostgreSQL database was removed"),
    "58": Failure(StorageFailed, "the PostgreSQL server cannot use its disk", "see the log of the PostgreSQL server"),
    "XX001": Failure(DatabaseDamaged, "the PostgreSQL database is damaged", _DAMAGED),
    "XX002": Failure(DatabaseDamaged, "an index of the PostgreSQL database is damaged", _DAMAGED),
}

REFUSALS: dict[str, str] = {
    r"session is read-only|server is in hot standby mode": "25006",
    r"password authentication failed|no password supplied|no pg_hba\.conf entry|role .* does not exist"
    r"|authentication failed|not permitted to log in": "28",
    r"database .* does not exist": "3D000",
    r"too many clients|too many connections|remaining connection slots": "53300",
    r"starting up|shutting down|recovery mode|not accepting|not yet accepting": "57P03",
    r"permission denied for database": "42501",
}
"""What a server says that refuses a connection, and the code behind it."""


def translate(error: psycopg.Error, *, is_standby: bool = False) -> Exception:
    """An error of PostgreSQL as ours. `is_standby`: whether the server has said that it only follows another one."""
    code = error.sqlstate
    if code in RETRIED:
        return Retry(str(error))
    if code == "0A000" and is_standby:  # it refuses to begin a serializable transaction
        code = "25006"
    if code is None:
        code = _read_refusal(str(error))
    failure = FAILURES.get(code) or FAILURES.get(code[:2])
    if failure is None:
        return unforeseen("the PostgreSQL server failed", code, error)
    return failure.error(error.diag.message_primary or str(error))


def _read_refusal(words: str) -> str:
    """The code behind the words; without any it is the connection that has failed."""
    return next((code for pattern, code in REFUSALS.items() if re.search(pattern, words)), "08")
