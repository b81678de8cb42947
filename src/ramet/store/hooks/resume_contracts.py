"""What is remembered of what a session has to know when it goes on."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ramet.model.history.branch import Span
from ramet.model.history.content import PAYLOAD
from ramet.model.hooks.open_items import ListCall
from ramet.model.hooks.worked_commands import CommandRun, read_command
from ramet.store.database.blobs import Codec
from ramet.store.database.connection import Connection, to_json
from ramet.store.database.queries import QueryFile

_sql = QueryFile("hooks/resume_contracts")
_MOST_CALL_BYTES = 4096
"""Of a call whose command is read."""


class Boundary(Struct, frozen=True):
    """A boundary of a session: its text, and the lists beside it."""

    summary: str
    payload: dict[str, Any]


class Window(Struct, frozen=True):
    """A context window, and what it has handed on."""

    session_id: int
    payload: dict[str, Any] | None
    effort_id: int


def list_boundaries(db: Connection, codec: Codec, spans: list[Span], limit: int) -> list[Boundary]:
    """The newest boundaries of a history, the newest first."""
    found: list[Boundary] = []
    for span in reversed(spans):
        left = limit - len(found)
        if left <= 0:
            break
        rows = db.all(_sql.boundaries, segment_id=span.segment_id, first=span.first, last=span.last, limit=left)
        found += [Boundary(codec.unpack_text(*blob), _payload(metadata)) for *blob, metadata in rows]
    return found


def list_windows(db: Connection, session_id: int, steps: int) -> list[Window]:
    """A session and those that it continues, the newest first."""
    rows = db.all(_sql.windows, session_id=session_id, steps=steps)
    return [Window(row[0], None if row[1] is None else msgspec.json.decode(row[1]), row[2]) for row in rows]


def list_prompts(db: Connection, codec: Codec, session_id: int) -> list[str]:
    """The first and the last thing that a person said in a session."""
    return [codec.unpack_text(*blob) for blob in db.all(_sql.prompts, session_id=session_id)]


def list_first_prompts(db: Connection, codec: Codec, session_ids: Sequence[int]) -> dict[int, str]:
    """The first thing that a person said in each of these sessions, as far as somebody did."""
    rows = db.all(_sql.first_prompts, ids=to_json(list(session_ids)))
    return {session_id: codec.unpack_text(*blob) for session_id, *blob in rows}


def list_calls(db: Connection, codec: Codec, session_id: int, limit: int) -> list[ListCall]:
    """How an agent kept its list, oldest first, as far as so many turns back; with the answers to what it created."""
    calls: list[tuple[str, Any, Any]] = []
    answers: dict[Any, str] = {}
    for role, tool, *blob, metadata in db.all(_sql.calls, session_id=session_id, limit=limit):
        text, call_id = codec.unpack_text(*blob), _payload(metadata).get("call_id")
        if role == "tool":
            answers[call_id] = text
        else:
            calls.append((tool, _decode(text), call_id))
    return [ListCall(tool, given, answers.get(call_id)) for tool, given, call_id in calls]


def list_ended(db: Connection, effort_id: int, limit: int) -> list[int]:
    """The sessions of an effort that ended last, the newest first."""
    return [row[0] for row in db.all(_sql.ended_sessions, effort_id=effort_id, limit=limit)]


def list_command_runs(db: Connection, codec: Codec, session_id: int, limit: int) -> list[CommandRun]:
    """The commands that a session ran, oldest first, as far as so many turns back, and whether each worked. A command
    whose result is not recorded is left out.
    """
    started: dict[Any, str] = {}
    runs: list[CommandRun] = []
    rows = db.all(_sql.command_runs, session_id=session_id, limit=limit, bytes=_MOST_CALL_BYTES)
    for role, at_ms, code, size, data, metadata in rows:
        payload = _payload(metadata)
        call_id = payload.get("call_id")
        if role == "tool":
            command, status = started.pop(call_id, None), payload.get("status")
            if command is not None and status is not None:
                runs.append(CommandRun(command, status == "success", at_ms))
        elif data is not None and call_id is not None:
            command = read_command(_decode(codec.unpack_text(code, size, data)))
            if command is not None:
                started[call_id] = command
    return runs


def _decode(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None


def _payload(metadata: str | None) -> dict[str, Any]:
    found = msgspec.json.decode(metadata).get(PAYLOAD) if metadata else None
    return found if isinstance(found, dict) else {}
