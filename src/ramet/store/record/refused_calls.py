"""What is remembered of calls that were refused."""

from ramet.model.record.session import RefusedCall
from ramet.model.work.stream import Refusal
from ramet.store.database.connection import Connection, to_json
from ramet.store.database.queries import QueryFile

_sql = QueryFile("record/refused_calls")


def put(db: Connection, session_id: int, effort_id: int, refusal: Refusal, now: str) -> bool:
    """Remember a refused call; whether that is news."""
    row = db.one(
        _sql.put,
        session_id=session_id,
        effort_id=effort_id,
        subject=refusal.subject,
        name=refusal.name,
        key=refusal.key,
        call=refusal.call,
        rules=to_json(refusal.rules),
        advice=refusal.rule,
        times=refusal.times,
        now=now,
    )
    return row is not None


def count(db: Connection, effort_id: int) -> int:
    """How often something was refused to an effort's agents."""
    return int(db.must(_sql.count, effort_id=effort_id)[0])


def list_of_effort(db: Connection, effort_id: int, limit: int) -> list[RefusedCall]:
    """What was refused to an effort's agents, the oldest first."""
    return db.structs(RefusedCall, _sql.of_effort, effort_id=effort_id, limit=limit)
