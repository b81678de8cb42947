"""Goose's database: `sessions`, `messages`, and in new versions `usage_ledger`.

A compaction writes all messages of a session again, as new rows. What is new is read by the numbers of rows; a message
that was written again has the key that it had.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ramet.model.hooks.transcript import MESSAGE_USAGE, Entry
from ramet.model.memory.stored_session import Head, Piece, Source
from ramet.vendors.contract import json_lines
from ramet.vendors.contract.stored_files import positions
from ramet.vendors.contract.stored_files.database_file import Database, open_database
from ramet.vendors.contract.stored_files.family_order import parents_first
from ramet.vendors.contract.stored_files.session_files import PIECE_BYTES
from ramet.vendors.contract.stored_files.unreadable import SourceUnreadable
from ramet.vendors.contract.transcript_lines import LONGEST_LINE
from ramet.vendors.goose.messages import Message, instant, tell

VENDOR = "goose"
NAME = "sessions.db"
_TABLES = {
    "sessions": ("id", "working_dir", "created_at", "updated_at"),
    "messages": ("id", "session_id", "role", "content_json", "created_timestamp"),
}
_SESSIONS = """
    SELECT id, updated_at, octet_length(id)
               + coalesce((SELECT sum(octet_length(content_json)) FROM messages WHERE session_id = sessions.id), 0)
    FROM sessions ORDER BY created_at, id
"""
_SESSION = "SELECT * FROM sessions WHERE id = ?1"
# The number is counted over all messages, because a message's key must not depend on where reading starts.
_MESSAGES = """
    SELECT id, role, created_timestamp, number, octet_length(content_json) > ?3,
           CASE WHEN octet_length(content_json) <= ?3 THEN CAST(content_json AS BLOB) END
    FROM (SELECT *, row_number() OVER (PARTITION BY role, created_timestamp ORDER BY id) AS number
          FROM messages WHERE session_id = ?1)
    WHERE id > ?2 ORDER BY id
"""
_METADATA = "SELECT CAST(metadata_json AS BLOB) FROM messages WHERE id = ?1 AND octet_length(metadata_json) < 65536"
_LEDGER = """
    SELECT id, created_timestamp, model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost
    FROM usage_ledger WHERE session_id = ?1 AND id > ?2 ORDER BY id
"""
_LEDGER_COLUMNS = {
    "id", "session_id", "created_timestamp", "model", "input_tokens", "output_tokens", "cache_read_tokens",
    "cache_write_tokens", "cost",
}  # fmt: skip


class _Position(Struct, frozen=True, omit_defaults=True):
    row: int = 0
    call: int = 0
    """The last row of the ledger that was read."""
    total: int = 0
    """The tokens of the whole session, if there is no ledger."""


def find(path: Path) -> Iterator[Source]:
    """The sessions in a database, parents first."""
    sources, parents = {}, {}
    with open_database(path, _TABLES) as database:
        above = next(iter({"parent_session_id", "parent_id"} & database.columns("sessions")), None)
        for name, updated, size in database.rows(_SESSIONS):
            at = instant(updated)
            changed_ms = int(at.timestamp() * 1000) if at else 0
            row = database.record(_SESSION, name) if above else None
            parents[name] = json_lines.text(row or {}, above) or None if above else None
            sources[name] = Source(
                vendor=VENDOR,
                key=name,
                path=str(path),
                size_bytes=size or 0,
                changed_ms=changed_ms,
                is_subagent=parents[name] is not None,
            )
    yield from parents_first(sources, parents)


def read(source: Source, position: str | None) -> Iterator[Piece]:
    """A session from a position on."""
    known, path = positions.decode(position, _Position) or _Position(), Path(source.path)
    with open_database(path, _TABLES) as database:
        row = database.record(_SESSION, source.key)
        if row is None:
            raise SourceUnreadable(path, f"session {source.key} is not in it any more")
        yield from _read(database, row, known)


def _read(database: Database, row: dict[str, Any], known: _Position) -> Iterator[Piece]:
    head: Head | None = _head(row)
    entries: list[Entry] = []
    size = skipped = 0
    has_metadata = "metadata_json" in database.columns("messages")
    last = known.row
    for number, role, created, place, _, content in database.rows(_MESSAGES, row["id"], known.row, LONGEST_LINE):
        last = number
        message = _message(database, (number, role, created, place), content, has_metadata=has_metadata)
        if message is None:
            skipped += 1
            continue
        entries += tell(message)
        size += len(content)
        if size >= PIECE_BYTES:
            here = positions.encode(_Position(last, known.call, known.total))
            yield Piece(entries=entries, position=here, head=head, skipped=skipped)
            head, entries, size, skipped = None, [], 0, 0
    used, call, total = _usage(database, row, known)
    end = positions.encode(_Position(last, call, total))
    yield Piece(entries=entries + used, position=end, head=head, skipped=skipped)


def _message(
    database: Database, row: tuple[int, Any, Any, int], content: bytes | None, *, has_metadata: bool
) -> Message | None:
    number, role, created, place = row
    parts = _decode(content)
    if not isinstance(parts, list) or not json_lines.is_shallow(parts) or role not in ("user", "assistant"):
        return None
    metadata = _decode(next(database.rows(_METADATA, number), (None,))[0]) if has_metadata else None
    return Message(f"{created}/{role}/{place}", role, created, parts, metadata if isinstance(metadata, dict) else {})


def _decode(data: bytes | None) -> object:
    try:
        return msgspec.json.decode(data) if data else None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _usage(database: Database, row: dict[str, Any], known: _Position) -> tuple[list[Entry], int, int]:
    """What was used: call by call from the ledger, which also has calls without a message; else the session's sums."""
    if database.columns("usage_ledger") >= _LEDGER_COLUMNS:
        used, call = [], known.call
        for number, created, model, *tokens in database.rows(_LEDGER, row["id"], known.call):
            call = number
            used.append(_spent(f"{MESSAGE_USAGE}{number}", created, model, tokens))
        return used, call, 0
    names = ("accumulated_input_tokens", "accumulated_output_tokens")
    sums = [json_lines.count(row, name) for name in names]
    if not any(sums) or sum(sums) == known.total:
        return [], 0, known.total
    tokens = [*sums, 0, 0, row.get("accumulated_cost")]
    # One key for the whole session: what is said last holds.
    return [_spent("session", row.get("updated_at"), _model(row), tokens)], 0, sum(sums)


def _spent(key: str, created: Any, model: Any, tokens: list[Any]) -> Entry:
    sent, said, cached, written, cost = tokens
    counts = {"sent": sent, "said": said, "cached": cached, "written": written, "cost": cost}
    read_tokens, write_tokens = json_lines.count(counts, "cached"), json_lines.count(counts, "written")
    whole = json_lines.count(counts, "sent")
    used: dict[str, int | float] = {
        # What came from the cache is counted as input too.
        "input_tokens": max(0, whole - read_tokens - write_tokens),
        "output_tokens": json_lines.count(counts, "said"),
        "cache_read_tokens": read_tokens,
        "cache_write_tokens": write_tokens,
    }
    dollars = json_lines.amount(counts, "cost")
    used |= {} if dollars is None else {"cost_usd": dollars}
    name = model if isinstance(model, str) and model else None
    return Entry(key=key, kind="usage", at=instant(created), model=name, usage=used)


def _model(row: dict[str, Any]) -> str | None:
    model = json_lines.parse(json_lines.text(row, "model_config_json") or "{}") or {}
    return json_lines.text(model, "model_name") or None


def _head(row: dict[str, Any]) -> Head:
    parent = json_lines.text(row, "parent_session_id") or json_lines.text(row, "parent_id")
    return Head(
        native_id=row["id"],
        cwd=json_lines.text(row, "working_dir") or None,
        started_at=instant(row.get("created_at")),
        title=json_lines.text(row, "name") or json_lines.text(row, "description") or None,
        parent_id=parent if parent and parent != row["id"] else None,
        model=_model(row),
    )
