"""What is remembered of replies, so that a request sent twice is done once."""

from msgspec import Struct

from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile

_sql = QueryFile("idempotency")


class KeptReply(Struct, frozen=True):
    """A reply, and the request that it answered."""

    request_hash: bytes
    reply: bytes


def find(db: Connection, principal: str, key: str) -> KeptReply | None:
    """The reply that a key was given."""
    row = db.one(_sql.find, principal=principal, key=key)
    return None if row is None else KeptReply(bytes(row[0]), bytes(row[1]))


def keep(db: Connection, principal: str, key: str, request_hash: bytes, reply: bytes, now_ms: int) -> None:
    """Keep a reply for its key."""
    db.run(_sql.keep, principal=principal, key=key, request_hash=request_hash, reply=reply, now_ms=now_ms)


def forget(db: Connection, before_ms: int, limit: int) -> int:
    """Let go of some of the replies from before an instant, the oldest first; how many these were."""
    return len(db.all(_sql.forget, before_ms=before_ms, limit=limit))
