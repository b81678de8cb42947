"""What the index is made from: the rows of the database, read in small pieces."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ramet.model.history.content import PAYLOAD
from ramet.model.record.message import Role
from ramet.store.database.blobs import PURGED, Codec
from ramet.store.database.connection import Connection, to_json
from ramet.store.database.queries import QueryFile

_sql = QueryFile("memory/sources")

_LONGEST_BYTES = 4_000_000
"""A longer content is not read: nobody said it."""


class SourceMessage(Struct, frozen=True, kw_only=True):
    """A message, with what search needs to know of its commit."""

    id: int
    role: Role
    tool_name: str | None
    time_ms: int
    is_provisional: bool
    content_type: str
    payload: dict[str, Any]
    text: str
    """Empty if the content was purged or is too long."""


class SourceSession(Struct, frozen=True):
    """A session as a whole."""

    id: int
    effort_id: int
    project_id: int
    driver: str | None
    agent_id: str | None
    is_below: bool
    title: str | None
    notes: str | None
    report: str | None
    created_at: str


class SourceEffort(Struct, frozen=True):
    """An effort as a whole."""

    id: int
    project_id: int
    prompt: str | None
    output: str | None
    created_at: str
    ended_at: str
    driver: str | None


class SourceChunk(Struct, frozen=True):
    """A text that a program gave."""

    id: int
    project_id: int | None
    source_type: str
    source_path: str
    text: str
    updated_at: str


class NamedSession(Struct, frozen=True):
    """What is shown of a session beside a hit."""

    id: int
    title: str | None
    driver: str | None
    native_id: str | None
    agent_id: str | None


def list_messages(db: Connection, codec: Codec, session_id: int, after: int, limit: int) -> list[SourceMessage]:
    """The messages of a session behind one."""
    rows = db.all(_sql.new_messages, session_id=session_id, after=after, limit=limit, bytes=_LONGEST_BYTES)
    return [_message(codec, *row) for row in rows]


def _message(codec: Codec, *row: Any) -> SourceMessage:
    message_id, role, tool_name, time_ms, is_provisional, content_type, metadata, kind, size, data = row
    decoded = msgspec.json.decode(metadata) if metadata else {}
    payload = decoded.get(PAYLOAD) if isinstance(decoded, dict) else None
    try:
        text = "" if data is None or kind == PURGED else codec.unpack(kind, size, data).decode(errors="replace")
    except ValueError:
        text = ""  # damaged: `db check` says so
    return SourceMessage(
        id=message_id,
        role=role,
        tool_name=tool_name,
        time_ms=time_ms,
        is_provisional=bool(is_provisional),
        content_type=content_type,
        payload=payload if isinstance(payload, dict) else {},
        text=text,
    )


def find_session(db: Connection, session_id: int) -> SourceSession | None:
    """A session as a whole."""
    row = db.one(_sql.session, session_id=session_id)
    return None if row is None else SourceSession(*row)


def find_effort(db: Connection, effort_id: int) -> SourceEffort | None:
    """An effort as a whole."""
    row = db.one(_sql.effort, effort_id=effort_id)
    return None if row is None else SourceEffort(*row)


def list_phases(db: Connection, effort_id: int) -> list[tuple[int, str, str | None, str | None, str]]:
    """What was proved of an effort's phases: id, label, proof, reason and time."""
    return [tuple(row) for row in db.all(_sql.phases, effort_id=effort_id)]


def list_findings(db: Connection, effort_id: int) -> list[tuple[int, str, str | None, int | None, str]]:
    """What a review found: id, severity, file, line and text."""
    return [tuple(row) for row in db.all(_sql.findings, effort_id=effort_id)]


def list_sessions_before(db: Connection, before: int, limit: int) -> list[int]:
    """The sessions before one, the newest first."""
    return [row[0] for row in db.all(_sql.sessions_before, before=before, limit=limit)]


def list_efforts_before(db: Connection, before: int, limit: int) -> list[int]:
    """The efforts before one, the newest first."""
    return [row[0] for row in db.all(_sql.efforts_before, before=before, limit=limit)]


def list_notes(db: Connection, after: int, last: int, limit: int) -> list[tuple[int, int, int | None, str]]:
    """The notes in efforts' logs between two events: event, time, effort and text."""
    rows = db.all(_sql.notes, after=after, last=last, limit=limit)
    return [
        (event, at_ms, effort, str(msgspec.json.decode(data).get("text") or "")) for event, at_ms, effort, data in rows
    ]


def list_chunks(db: Connection, after: int, limit: int) -> list[SourceChunk]:
    """The texts that programs gave, behind one."""
    return [SourceChunk(*row) for row in db.all(_sql.chunks, after=after, limit=limit)]


def find_chunk(db: Connection, chunk_id: int) -> SourceChunk | None:
    """One text that a program gave."""
    row = db.one(_sql.chunk, id=chunk_id)
    return None if row is None or row[4] is None else SourceChunk(*row)


def existing_sessions(db: Connection, ids: Sequence[int]) -> set[int]:
    """Which of some sessions are still there."""
    return {row[0] for row in db.all(_sql.existing_sessions, ids=to_json(list(ids)))}


def existing_notes(db: Connection, ids: Sequence[int]) -> set[int]:
    """Which of some notes, named by their events, still have their text."""
    return {row[0] for row in db.all(_sql.existing_notes, ids=to_json(list(ids)))}


def existing_messages(db: Connection, ids: Sequence[int]) -> set[int]:
    """Which of some messages are still there."""
    return {row[0] for row in db.all(_sql.existing_messages, ids=to_json(list(ids)))}


def find_event_time(db: Connection, event_id: int) -> int | None:
    """When an event was written."""
    row = db.one(_sql.event_mark, id=event_id)
    return None if row is None else int(row[0])


def count_behind(db: Connection, event_id: int, most: int) -> int:
    """How many events follow one, as far as somebody counts."""
    return int(db.must(_sql.behind, after=event_id, most=most)[0])


def name_sessions(db: Connection, ids: Sequence[int]) -> dict[int, NamedSession]:
    """What is shown of sessions beside a hit."""
    return {row[0]: NamedSession(*row) for row in db.all(_sql.named_sessions, ids=to_json(list(ids)))}


def find_commits(db: Connection, message_ids: Sequence[int]) -> dict[int, str]:
    """The commits that carry some messages."""
    rows = db.all(_sql.message_commits, ids=to_json(list(message_ids)))
    return {message_id: bytes(commit).hex() for message_id, commit in rows}
