"""Outages of a shared server. For one lease after an outage, a lease that ended in it is given to no other worker
(`leases.sql`).
"""

from ramet.model.event import NewEvent
from ramet.model.instant import to_iso
from ramet.store import events
from ramet.store.database.connection import Connection

_KEY = "database.returned/"


def record(db: Connection, began_ms: int, ended_ms: int, noticed_by: str) -> None:
    """Write down that the server answers again. The key is how claims find it: in the index of keys, by its time."""
    away_from = to_iso(began_ms)
    data = {"away_from": away_from, "seconds": round((ended_ms - began_ms) / 1000, 1), "noticed_by": noticed_by}
    key = f"{_KEY}{to_iso(ended_ms)}/{noticed_by}"
    events.write(db, NewEvent(kind="database.returned", dedupe_key=key, data=data), ended_ms)
