"""What is remembered of hosts on which no agent could start."""

from msgspec import Struct
from msgspec.structs import asdict

from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile

_sql = QueryFile("work/hosts")


class Host(Struct, frozen=True, kw_only=True):
    """One row of `hosts`."""

    name: str
    failures: int
    """How often in a row no agent could start; 0 where its disk is full before anything failed."""
    failed_at: str | None
    reason: str
    parked_at: str | None = None
    """Since when it claims nothing; None where its failures are only counted."""
    parked_until: str | None = None
    """When it tries one effort again; None while its disk lacks room."""


def find(db: Connection, name: str) -> Host | None:
    """What is known of a host's trouble."""
    return db.struct(Host, _sql.find, name=name)


def list_all(db: Connection) -> list[Host]:
    """The hosts that are in trouble, by name."""
    return db.structs(Host, _sql.list_all)


def put(db: Connection, host: Host) -> None:
    """Count a host's failures, or let it claim nothing until a time."""
    db.run(_sql.put, **asdict(host))


def remove(db: Connection, name: str) -> None:
    """The host works again."""
    db.run(_sql.remove, name=name)


def let_begin(db: Connection, name: str) -> list[int]:
    """Let the efforts begin that failed on a host; which they are."""
    return sorted(int(row[0]) for row in db.all(_sql.let_begin, name=name))


def forget_failures(db: Connection, name: str) -> None:
    """No effort that waits is known to have failed on a host."""
    db.run(_sql.forget_failures, name=name)
