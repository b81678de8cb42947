"""What is remembered of spawning: who came of whom, who waits for whom, and what the children reported."""

from msgspec import Struct

from ramet.model.record.effort import Effort
from ramet.protocol.history.child_branches import Report
from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile

_sql = QueryFile("spawn/children")


class Width(Struct, frozen=True):
    """How far a tree has spread."""

    children: int
    """Those of one session."""
    total: int
    unfinished: int


def measure(db: Connection, session_id: int, root_session_id: int) -> Width:
    """How many a session and its whole tree have spawned."""
    return Width(*db.must(_sql.counts, session_id=session_id, root_session_id=root_session_id))


def is_within(db: Connection, session_id: int, of: int) -> bool:
    """Whether a session serves the same effort as another one, or was spawned from there."""
    return db.one(_sql.is_within, session_id=session_id, of=of) is not None


def list_unfinished_below(db: Connection, effort_id: int) -> list[Effort]:
    """What was spawned from an effort, be it over several steps, and is not over."""
    return db.structs(Effort, _sql.unfinished_below, effort_id=effort_id)


def list_awaited(db: Connection, effort_id: int) -> list[Effort]:
    """What the sessions of an effort wait for."""
    return db.structs(Effort, _sql.awaited, effort_id=effort_id)


def list_stranded(db: Connection, before: str) -> list[Effort]:
    """What waits outside the queue for somebody who has ended; or, since before an instant, for nobody we know of."""
    return db.structs(Effort, _sql.stranded, before=before)


def list_awaited_on(db: Connection, prefix: str) -> list[Effort]:
    """What is awaited by sessions whose agents have a name that begins so, or have none."""
    return db.structs(Effort, _sql.awaited_on, prefix=prefix)


def set_awaited(db: Connection, effort_id: int, session_id: int | None) -> Effort:
    """Say who waits for an effort; None: nobody."""
    return db.must_struct(Effort, _sql.set_awaited, id=effort_id, session_id=session_id)


def find_report(db: Connection, effort_id: int) -> Report | None:
    """The last closing report of an effort's sessions."""
    found = db.struct(_Reported, _sql.last_report, effort_id=effort_id)
    return None if found is None else found.report


class _Reported(Struct, frozen=True):
    report: Report


def list_notices(db: Connection, effort_id: int) -> list[str]:
    """What a person was told of an effort."""
    return [row[0] for row in db.all(_sql.notices, effort_id=effort_id)]


def is_child_alive(db: Connection, session_id: int, since: str) -> bool:
    """Whether anything below a session, or that it waits for, has given a sign of life since an instant."""
    return db.one(_sql.is_child_alive, session_id=session_id, since=since) is not None
