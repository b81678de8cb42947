"""What is remembered of what happened."""

from typing import Any

import msgspec

from ramet.model.event import Event, EventKind, NewEvent
from ramet.model.instant import to_datetime
from ramet.store.database.connection import Connection, to_json
from ramet.store.database.queries import QueryFile

_sql = QueryFile("events")


def write(db: Connection, event: NewEvent, now_ms: int) -> None:
    """Write down what happened, in the transaction in which it happens."""
    db.run(
        _sql.insert,
        kind=event.kind,
        now_ms=now_ms,
        project_id=event.project_id,
        task_id=event.task_id,
        effort_id=event.effort_id,
        session_id=event.session_id,
        agent_id=event.agent_id,
        dedupe_key=event.dedupe_key,
        data=to_json(event.data),
    )


def list_after(db: Connection, after: int, limit: int, kind: EventKind | None) -> list[Event]:
    """Events behind one, in the order in which readers may see them."""
    return [_event(*row) for row in db.all(_sql.after, after=after, limit=limit, kind=kind)]


def list_newest(db: Connection, limit: int, kind: EventKind | None) -> list[Event]:
    """The newest events that readers may see, in their order."""
    return [_event(*row) for row in reversed(db.all(_sql.newest, limit=limit, kind=kind))]


def find_last(db: Connection) -> int:
    """The id of the newest event, 0 where there is none."""
    return int(db.must(_sql.last)[0])


def _event(event_id: int, kind: EventKind, at_ms: int, *scope: Any) -> Event:
    project_id, task_id, effort_id, session_id, agent_id, dedupe_key, data = scope
    return Event(
        id=event_id,
        kind=kind,
        at=to_datetime(at_ms),
        project_id=project_id,
        task_id=task_id,
        effort_id=effort_id,
        session_id=session_id,
        agent_id=agent_id,
        dedupe_key=dedupe_key,
        data=None if data is None else msgspec.json.decode(data),
    )
