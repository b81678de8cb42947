"""What is remembered of drivers that are left alone for a while."""

from msgspec import Struct

from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile

_sql = QueryFile("work/parked_drivers")


class Parked(Struct, frozen=True):
    """One row of `parked`."""

    driver: str
    until: str | None
    """None where its failures are only counted."""
    reason: str
    failures: int
    """How often it failed for good in a row; 0 where its account is at a limit."""


class Begun(Struct, frozen=True):
    """An attempt that came to a session."""

    driver: str
    """The adapter."""
    profile: str
    """The name under which it was run, which is the one that is parked."""
    created_at: str


def find(db: Connection, driver: str) -> Parked | None:
    """What is known of a driver's trouble."""
    return db.struct(Parked, _sql.find, driver=driver)


def put(db: Connection, parked: Parked) -> None:
    """Leave a driver alone, or count its failures."""
    db.run(_sql.put, driver=parked.driver, until=parked.until, reason=parked.reason, failures=parked.failures)


def remove(db: Connection, driver: str) -> None:
    """The driver works again."""
    db.run(_sql.remove, driver=driver)


def let_begin(db: Connection, parked: Parked) -> list[int]:
    """Let the efforts begin that wait for a driver; which they are."""
    return sorted(int(row[0]) for row in db.all(_sql.let_begin, driver=parked.driver, until=parked.until))


def list_parked(db: Connection, now: str) -> list[Parked]:
    """The drivers that are not to be used now, by name."""
    return sorted(db.structs(Parked, _sql.parked_now, now=now), key=lambda parked: parked.driver)


def find_begun(db: Connection, effort_id: int, generation: int) -> Begun | None:
    """The attempt that was made under a lease; None where it never came to one."""
    return db.struct(Begun, _sql.attempt, effort_id=effort_id, generation=generation)
