"""Turns of a session around a place, for whoever opens it."""

from typing import Any

import msgspec
from msgspec import Struct

from ramet.model.history.content import PAYLOAD
from ramet.store.database.blobs import Codec
from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile

_sql = QueryFile("memory/recall")
_MOST_TEXT_BYTES = 1_000_000
"""Of a turn whose text is read: a longer one would have to be unpacked whole."""


class Turn(Struct, frozen=True, kw_only=True):
    """One turn of a session."""

    id: int
    role: str
    tool: str | None
    at_ms: int
    text: str
    call_id: str | None
    status: str | None
    """Of a tool's result: success or error."""


class Anchor(Struct, frozen=True):
    """A turn, by what its neighbours are found with."""

    message_id: int
    at_ms: int


def find(db: Connection, session_id: int, message_id: int) -> Anchor | None:
    """A turn of a session."""
    row = db.one(_sql.instant, session_id=session_id, message_id=message_id)
    return None if row is None else Anchor(message_id, row[0])


def find_newest(db: Connection, session_id: int) -> Anchor | None:
    """The last turn of a session."""
    row = db.one(_sql.newest_turn, session_id=session_id)
    return None if row is None else Anchor(*row)


def list_around(
    db: Connection, codec: Codec, session_id: int, anchor: Anchor, *, before: int, after: int
) -> list[Turn]:
    """The turns around one: so many up to it, itself included, and so many after it."""
    given = {"session_id": session_id, "message_id": anchor.message_id, "at_ms": anchor.at_ms}
    rows = db.all(_sql.around, **given, before=before, after=after, bytes=_MOST_TEXT_BYTES)
    return [_turn(codec, row) for row in rows]


def _turn(codec: Codec, row: Any) -> Turn:
    message_id, role, tool, at_ms, code, size, data, metadata = row
    payload = msgspec.json.decode(metadata).get(PAYLOAD) if metadata else None
    said = payload if isinstance(payload, dict) else {}
    text = f"[{size} bytes]" if data is None else codec.unpack(code, size, data).decode(errors="replace")
    return Turn(
        id=message_id,
        role=role,
        tool=tool,
        at_ms=at_ms,
        text=text,
        call_id=said.get("call_id"),
        status=said.get("status"),
    )
