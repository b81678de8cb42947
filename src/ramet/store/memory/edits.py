"""What is remembered of edits: rows of line hashes, and how far each session was read for them."""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from ramet.model.history.content import PAYLOAD
from ramet.model.instant import from_datetime, from_iso
from ramet.model.memory.edit import EditMaker, EditOrigin, RecordedEdit
from ramet.protocol.memory.edits import Call, Described, NewEdit, Unread
from ramet.store.database.blobs import Codec
from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile

_sql = QueryFile("memory/edits")

_LONGEST_BYTES = 4 * 1024 * 1024
"""A longer call is not read: nobody asks for the lines of a generated file."""
_MOST_EDITS = 5000
_MOST_RESULTS = 4
"""Results that are read for each call: programs run several tools at once, so results come in another order."""
_EXCERPT_BYTES = 262_144
_MOST_NOTES = 3


class _Result(Struct, frozen=True):
    text: str
    is_error: bool
    at_ms: int


def list_behind(db: Connection, project_id: int, limit: int) -> list[Unread]:
    """The sessions of a project that have calls which were not read for edits."""
    return db.structs(Unread, _sql.behind, project_id=project_id, limit=limit)


def list_calls(db: Connection, codec: Codec, session_id: int, after: int, limit: int) -> list[Call]:
    """The next calls of a session, each with its result if that is there."""
    rows = db.all(_sql.calls, session_id=session_id, after=after, limit=limit, bytes=_LONGEST_BYTES)
    if not rows:
        return []
    results = _list_results(db, codec, session_id, rows[0][0], rows[0][2], limit)
    calls = []
    for message_id, tool, at_ms, metadata, *blob in rows:
        call_id = _payload(metadata).get("call_id")
        result = results.get(call_id)
        calls.append(
            Call(
                message_id=message_id,
                call_id=call_id,
                tool=tool,
                given=_text(codec, *blob),
                at_ms=at_ms if result is None else result.at_ms,
                result=None if result is None else result.text,
                is_error=result is not None and result.is_error,
            )
        )
    return calls


def _list_results(
    db: Connection, codec: Codec, session_id: int, after: int, since: int, limit: int
) -> dict[Any, _Result]:
    most = limit * _MOST_RESULTS
    rows = db.all(_sql.results, session_id=session_id, after=after, since=since, limit=most, bytes=_EXCERPT_BYTES)
    found = {}
    for _, at_ms, metadata, *blob in rows:
        payload = _payload(metadata)
        found[payload.get("call_id")] = _Result(_text(codec, *blob), payload.get("status") == "error", at_ms)
    found.pop(None, None)
    return found


def put(db: Connection, project_id: int, effort_id: int, session_id: int | None, edits: Iterable[NewEdit]) -> None:
    """Remember edits; those that are there stay as they are."""
    for edit in edits:
        db.run(
            _sql.put,
            project_id=project_id,
            effort_id=effort_id,
            session_id=session_id,
            message_id=edit.message_id,
            kind=edit.kind,
            path=edit.path,
            part=edit.part,
            at_ms=edit.at_ms,
            git_commit=edit.git_commit,
            origin=edit.origin,
            is_certain=int(edit.is_certain),
            lines=edit.lines,
        )


def has_children(db: Connection, effort_id: int) -> bool:
    """Whether sessions of an effort started others, which may work in its worktree."""
    return db.one(_sql.child, effort_id=effort_id) is not None


def note_reading(db: Connection, session_id: int, last_message_id: int) -> None:
    """Remember how far a session was read."""
    db.run(_sql.read_up_to, session_id=session_id, last_message_id=last_message_id)


def list_of_paths(db: Connection, project_id: int, paths: Iterable[str]) -> list[RecordedEdit]:
    """The edits of files in a project."""
    found = []
    for path in paths:
        found += db.structs(RecordedEdit, _sql.of_path, project_id=project_id, path=path, limit=_MOST_EDITS)
    return found


def find_commit_maker(db: Connection, project_id: int, commit: str) -> int | None:
    """The effort that made a commit."""
    row = db.one(_sql.commit_maker, project_id=project_id, git_commit=commit)
    return None if row is None else int(row[0])


def find_maker(db: Connection, project_id: int, effort_id: int) -> EditMaker | None:
    """An effort as an answer needs it."""
    row = db.one(_sql.maker, effort_id=effort_id, project_id=project_id)
    if row is None:
        return None
    _, task_id, title, skill, driver, created, finished, worktree, workspace, prompt = row
    began, ended = db.must(_sql.began, effort_id=effort_id)
    last = finished or (None if ended is None or ended == "9999" else ended)
    return EditMaker(
        effort_id=effort_id,
        task_id=task_id,
        task_title=title,
        skill=skill,
        driver=driver,
        started_ms=_instant(began or created),
        ended_ms=None if last is None else _instant(last),
        worktree=worktree,
        workspace=workspace,
        prompt=prompt,
    )


def _instant(moment: Any) -> int:
    return from_datetime(from_iso(moment) if isinstance(moment, str) else moment)


def describe_call(db: Connection, codec: Codec, message_id: int) -> Described | None:
    """Where a call is in the history, and the prompt that it followed."""
    row = db.one(_sql.call, message_id=message_id, bytes=_EXCERPT_BYTES)
    if row is None:
        return None
    session_id, tool, commit, at_ms, driver, report, *given = row
    prompt = db.one(_sql.prompt_before, session_id=session_id, at_ms=at_ms, message_id=message_id, bytes=_EXCERPT_BYTES)
    return Described(
        origin=EditOrigin(session_id=session_id, driver=driver, tool=tool, commit=commit.hex(), message_id=message_id),
        prompt=None if prompt is None else _text(codec, *prompt[:3]),
        decisions=_decisions(report),
        given=_text(codec, *given) or None,
    )


def describe_effort(db: Connection, effort_id: int) -> Described:
    """The newest session of an effort, and what it decided."""
    row = db.one(_sql.last_session, effort_id=effort_id)
    if row is None:
        return Described(origin=None, prompt=None, decisions=[])
    session_id, driver, report = row
    origin = EditOrigin(session_id=session_id, driver=driver, tool=None, commit=None, message_id=None)
    return Described(origin=origin, prompt=None, decisions=_decisions(report))


def list_notes(db: Connection, effort_id: int) -> list[str]:
    """The newest notes of an effort, the oldest of them first."""
    rows = db.all(_sql.notes, effort_id=effort_id, limit=_MOST_NOTES)
    notes = [_decoded(row[0]).get("text") for row in rows]
    return [note for note in reversed(notes) if isinstance(note, str)]


def _decisions(report: Any) -> list[str]:
    found = _decoded(report).get("decisions")
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def _payload(metadata: Any) -> dict[str, Any]:
    payload = _decoded(metadata).get(PAYLOAD)
    return payload if isinstance(payload, dict) else {}


def _decoded(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        value = msgspec.json.decode(value)
    return value if isinstance(value, dict) else {}


def _text(codec: Codec, kind: int, size: int, data: bytes | None) -> str:
    return "" if data is None else codec.unpack_text(kind, size, data)
