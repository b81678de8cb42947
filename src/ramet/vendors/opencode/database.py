"""opencode's database: `session`, `message` and `part`, the last two with a JSON object each.

It may have gigabytes, so queries take single fields out of the objects. A row that changes gets a new `time_updated`,
so what is new is read by that.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ramet.model.hooks.transcript import Entry
from ramet.model.memory.stored_session import Head, Piece, Source
from ramet.vendors.contract import json_lines
from ramet.vendors.contract.stored_files import positions
from ramet.vendors.contract.stored_files.database_file import Database, open_database
from ramet.vendors.contract.stored_files.family_order import parents_first
from ramet.vendors.contract.stored_files.instants import from_milliseconds
from ramet.vendors.contract.stored_files.session_files import PIECE_BYTES
from ramet.vendors.contract.stored_files.unreadable import SourceUnreadable
from ramet.vendors.contract.transcript_lines import LONGEST_LINE
from ramet.vendors.opencode import parts

VENDOR = "opencode"
NAME = "opencode.db"
_TABLES = {
    "session": ("id", "parent_id", "directory", "title", "time_created", "time_updated"),
    "message": ("id", "session_id", "time_updated", "data"),
    "part": ("id", "message_id", "session_id", "time_updated", "data"),
}
_SESSIONS = """
    SELECT id, parent_id, time_updated,
           octet_length(id)
               + coalesce((SELECT sum(octet_length(data)) FROM part WHERE part.session_id = session.id), 0)
    FROM session ORDER BY time_created, id
"""
_SESSION = "SELECT * FROM session WHERE id = ?1"
# Objects and arrays come as they are, single values too: one call parses the text once.
_MESSAGES = """
    SELECT id, time_updated, octet_length(data) > ?4 OR NOT json_valid(data),
           CASE WHEN octet_length(data) <= ?4 AND json_valid(data) THEN CAST(json_extract(
               data, '$.role', '$.time', '$.modelID', '$.summary', '$.cost', '$.tokens', '$.error') AS BLOB) END
    FROM message
    WHERE session_id = ?1 AND id > ?2 AND (time_updated >= ?3 OR EXISTS (
        SELECT 1 FROM part WHERE part.message_id = message.id AND part.time_updated >= ?3))
    ORDER BY id
"""
_MESSAGE_FIELDS = ("role", "time", "modelID", "summary", "cost", "tokens", "error")
_CHANGED_AT = """
    SELECT (SELECT count(*) FROM part WHERE session_id = ?1 AND time_updated = ?2)
         + (SELECT count(*) FROM message WHERE session_id = ?1 AND time_updated = ?2)
"""
_PARTS = """
    SELECT id, time_updated, octet_length(data) > ?3 OR NOT json_valid(data),
           CASE WHEN octet_length(data) <= ?3 AND json_valid(data) THEN CAST(json_extract(
               data, '$.type', '$.text', '$.synthetic', '$.time', '$.tool', '$.callID', '$.state.status',
               '$.state.input', '$.state.output', '$.state.error', '$.state.metadata.exit', '$.state.time',
               '$.filename', '$.mime', '$.url') AS BLOB) END
    FROM part WHERE message_id = ?1 AND time_updated >= ?2 ORDER BY id
"""


class _Position(Struct, frozen=True, omit_defaults=True):
    """What was read: rows that changed before `since`, and of the newer ones messages up to `message`."""

    since: int = 0
    message: str = ""
    newest: int = 0
    """When the newest row changed that was read."""
    same: int = 0
    """How many rows had changed at `since` by then: times are in milliseconds, and another may come."""


def is_ours(path: Path) -> bool:
    """Whether a file is a database with opencode's tables."""
    try:
        with open_database(path, _TABLES):
            return True
    except SourceUnreadable:
        return path.name == NAME


def find(path: Path) -> Iterator[Source]:
    """The sessions in a database, parents first."""
    sources, parents = {}, {}
    with open_database(path, _TABLES) as database:
        for name, parent, updated, size in database.rows(_SESSIONS):
            if isinstance(name, str) and name:
                when = updated if isinstance(updated, int) else 0
                sources[name] = Source(
                    vendor=VENDOR,
                    key=name,
                    path=str(path),
                    size_bytes=size or 0,
                    changed_ms=max(0, when),
                    is_subagent=bool(parent),
                )
                parents[name] = parent if isinstance(parent, str) else None
    yield from parents_first(sources, parents)


def read(source: Source, position: str | None) -> Iterator[Piece]:
    """A session from a position on."""
    known = positions.decode(position, _Position) or _Position()
    path = Path(source.path)
    with open_database(path, _TABLES) as database:
        row = database.record(_SESSION, source.key)
        if row is None:
            raise SourceUnreadable(path, f"session {source.key} is not in it any more")
        yield from _read(database, row, known)


def _read(database: Database, row: dict[str, Any], known: _Position) -> Iterator[Piece]:
    head: Head | None = _head(row)
    entries: list[Entry] = []
    size = skipped = 0
    newest = max(known.newest, known.since)
    since = known.since + (known.same > 0 and known.same == _count(database, row["id"], known.since))
    values = (row["id"], known.message, since, LONGEST_LINE)
    for name, updated, is_bad, fields in database.rows(_MESSAGES, *values):
        newest = max(newest, _time(updated))
        message = _object(fields, _MESSAGE_FIELDS)
        if is_bad or message is None:
            skipped += 1
            continue
        for part, changed, is_unread, told in database.rows(_PARTS, name, since, LONGEST_LINE):
            newest, skipped = max(newest, _time(changed)), skipped + bool(is_unread)
            entries += parts.tell(part, _part(told), message)
            size += len(told or b"")
        entries += [*parts.failure(name, message), *parts.usage(name, message)]
        if size >= PIECE_BYTES:
            here = _Position(since, name, newest)
            yield Piece(entries=entries, position=positions.encode(here), head=head, skipped=skipped)
            head, entries, size, skipped = None, [], 0, 0
    end = positions.encode(_Position(since=newest, same=_count(database, row["id"], newest)))
    yield Piece(entries=entries, position=end, head=head, skipped=skipped)


def _count(database: Database, session: str, changed: int) -> int:
    """How many rows of a session changed at a time."""
    return sum(count for (count,) in database.rows(_CHANGED_AT, session, changed))


def _time(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _object(fields: bytes | None, names: tuple[str, ...]) -> dict[str, Any] | None:
    if fields is None:
        return None
    try:
        values = msgspec.json.decode(fields)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return dict(zip(names, values, strict=True)) if json_lines.is_shallow(values) else None


_PART_FIELDS = ("type", "text", "synthetic", "time", "tool", "callID")
_STATE_FIELDS = ("status", "input", "output", "error", "exit", "time")
_FILE_FIELDS = ("filename", "mime", "url")


def _part(fields: bytes | None) -> dict[str, Any]:
    """A part in the shape that the tree of files has."""
    names = (*_PART_FIELDS, *(f"state.{name}" for name in _STATE_FIELDS), *_FILE_FIELDS)
    part = _object(fields, names) or {}
    state = {name: part.pop(f"state.{name}", None) for name in _STATE_FIELDS}
    return {**part, "state": {**state, "metadata": {"exit": state["exit"]}}}


def _head(row: dict[str, Any]) -> Head:
    parent, model = json_lines.text(row, "parent_id"), None
    if text := json_lines.text(row, "model"):
        model = json_lines.text(json_lines.parse(text) or {}, "id") or None
    return Head(
        native_id=row["id"],
        # The project may be `global`, which is every folder outside of a repository: the session knows its own.
        cwd=json_lines.text(row, "directory") or None,
        started_at=from_milliseconds(row.get("time_created")),
        title=json_lines.text(row, "title") or None,
        parent_id=parent if parent and parent != row["id"] else None,
        model=model,
        version=json_lines.text(row, "version") or None,
    )
