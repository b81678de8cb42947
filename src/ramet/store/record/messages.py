"""What is remembered of transcripts: thin rows that point at commits."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ramet.model.history.branch import Head
from ramet.model.instant import to_datetime
from ramet.model.record.message import Message, Role
from ramet.model.record.session import SessionRef
from ramet.store.database.blobs import Codec
from ramet.store.database.connection import Connection, to_json
from ramet.store.database.queries import QueryFile

_sql = QueryFile("record/messages")

_LONGEST_BYTES = 262_144
"""A longer content is not unpacked for the sake of its first line."""
_TURNS = 20
"""How many of a session's newest turns are searched for a tool call."""


class Transcript(Struct, frozen=True):
    """A session as an append sees it: whose it is, and where its branch stands."""

    session_id: int
    agent_id: str | None
    head: Head


def find_transcript(db: Connection, ref: SessionRef) -> Transcript | None:
    """The transcript of the session that an id, or `driver:native_id`, names."""
    if isinstance(ref, int):
        row = db.one(_sql.transcript, session_id=ref)
    else:
        driver, _, native_id = ref.partition(":")
        row = db.one(_sql.native_transcript, driver=driver, native_id=native_id)
    return None if row is None else Transcript(row[0], row[1], Head(*row[2:]))


def append(
    db: Connection,
    *,
    session_id: int,
    role: Role,
    commit_id: int,
    tool_name: str | None,
    now_ms: int,
    source_key: str | None = None,
) -> int:
    """Add one turn, and give its id."""
    row = db.must(
        _sql.insert,
        session_id=session_id,
        role=role,
        commit_id=commit_id,
        tool_name=tool_name,
        now_ms=now_ms,
        source_key=source_key,
    )
    return int(row[0])


def list_page(db: Connection, codec: Codec, session_id: int, limit: int, offset: int) -> list[Message]:
    """A part of a transcript, with its contents."""
    rows = db.all(_sql.page, session_id=session_id, limit=limit, offset=offset)
    return [_message(codec, *row) for row in rows]


def list_newest(db: Connection, codec: Codec, session_id: int, limit: int) -> list[Message]:
    """The end of a transcript, in order, with its contents."""
    return [_message(codec, *row) for row in db.all(_sql.newest, session_id=session_id, limit=limit)]


def count(db: Connection, session_id: int) -> int:
    """How many messages a transcript has."""
    return int(db.must(_sql.count, session_id=session_id)[0])


def _message(codec: Codec, message_id: int, session_id: int, role: Role, *rest: Any) -> Message:
    tool_name, at_ms, source_key, commit_hash, kind, size, data = rest
    return Message(
        id=message_id,
        session_id=session_id,
        role=role,
        content=codec.unpack_text(kind, size, data),
        tool_name=tool_name,
        timestamp=to_datetime(at_ms),
        commit=commit_hash.hex(),
        source_key=source_key,
    )


class NewestPrompt(Struct, frozen=True):
    """The newest prompt in a session, and its place there."""

    place: tuple[int, int]
    text: str


class NewestCall(Struct, frozen=True):
    """The newest tool call in a session, and its place there."""

    place: tuple[int, int]
    tool: str
    given: str


def list_newest_prompts(db: Connection, codec: Codec, session_ids: Sequence[int]) -> dict[int, NewestPrompt]:
    """The newest prompt in each of these sessions that has one."""
    rows = db.all(_sql.newest_prompts, ids=to_json(list(session_ids)), bytes=_LONGEST_BYTES)
    return {
        session_id: NewestPrompt((at_ms, message_id), _text(codec, *blob))
        for session_id, at_ms, message_id, *blob in rows
    }


def list_newest_calls(db: Connection, codec: Codec, session_ids: Sequence[int]) -> dict[int, NewestCall]:
    """The newest tool call in each of these sessions that made one lately."""
    rows = db.all(_sql.newest_calls, ids=to_json(list(session_ids)), bytes=_LONGEST_BYTES, turns=_TURNS)
    return {
        session_id: NewestCall((at_ms, message_id), tool, _text(codec, *blob))
        for session_id, at_ms, message_id, tool, *blob in rows
    }


def _text(codec: Codec, kind: int, size: int, data: bytes | None) -> str:
    return "" if data is None else codec.unpack_text(kind, size, data)
