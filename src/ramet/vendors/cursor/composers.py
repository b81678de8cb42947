"""The conversations of Cursor, the editor: `composerData:<id>` and `bubbleId:<id>:<bubble>` in `state.vscdb`.

A conversation lists its bubbles in their order; very old ones hold them. The database may have gigabytes, so a bubble
is read by its key and single fields are taken out of it.
"""

from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Struct

from ramet.model.hooks.transcript import MESSAGE_USAGE, Entry
from ramet.model.memory.stored_session import Head, Piece, Source
from ramet.vendors.contract import json_lines, transcript_lines
from ramet.vendors.contract.stored_files import document_file, positions
from ramet.vendors.contract.stored_files.database_file import Database, open_database
from ramet.vendors.contract.stored_files.family_order import parents_first
from ramet.vendors.contract.stored_files.instants import from_milliseconds
from ramet.vendors.contract.stored_files.session_files import PIECE_BYTES
from ramet.vendors.contract.stored_files.unreadable import SourceUnreadable
from ramet.vendors.contract.transcript_lines import LONGEST_LINE

VENDOR = "cursor"
NAME = "state.vscdb"
_TABLES = {"cursorDiskKV": ("key", "value")}
_ITEMS = {"ItemTable": ("key", "value")}
_COMPOSERS = """
    SELECT key, octet_length(value),
           CASE WHEN json_valid(CAST(value AS TEXT)) THEN CAST(json_extract(CAST(value AS TEXT),
               '$.lastUpdatedAt', '$.createdAt', '$.subagentInfo.parentComposerId') AS BLOB) END
    FROM cursorDiskKV
    WHERE key >= 'composerData:' AND key < 'composerData;' AND octet_length(value) BETWEEN 3 AND ?1
"""
_COMPOSER = """
    SELECT CASE WHEN json_valid(CAST(value AS TEXT)) THEN CAST(json_extract(CAST(value AS TEXT),
               '$.name', '$.createdAt', '$.subagentInfo.parentComposerId', '$.modelConfig.modelName',
               '$.workspaceIdentifier.uri', '$.fullConversationHeadersOnly', '$.conversation') AS BLOB) END
    FROM cursorDiskKV WHERE key = 'composerData:' || ?1 AND octet_length(value) <= ?2
"""
_COMPOSER_FIELDS = ("name", "createdAt", "parent", "model", "workspace", "headers", "conversation")
_BUBBLE = """
    SELECT CASE WHEN json_valid(CAST(value AS TEXT)) THEN CAST(json_extract(CAST(value AS TEXT),
               '$.type', '$.text', '$.createdAt', '$.thinking.text', '$.toolFormerData.name',
               '$.toolFormerData.toolCallId', '$.toolFormerData.rawArgs', '$.toolFormerData.result',
               '$.toolFormerData.status', '$.tokenCount', '$.modelInfo.modelName') AS BLOB) END
    FROM cursorDiskKV WHERE key = 'bubbleId:' || ?1 || ':' || ?2 AND octet_length(value) <= ?3
"""
_BUBBLE_FIELDS = (
    "type",
    "text",
    "createdAt",
    "thought",
    "tool",
    "call",
    "given",
    "result",
    "status",
    "tokens",
    "model",
)
_OVER = ("completed", "error", "cancelled")


class _Position(Struct, frozen=True):
    bubbles: int = 0
    """How many were read."""
    last: str = ""
    """Stands for the last of them: it may not have been finished, and then it is read again."""


def find(path: Path) -> Iterator[Source]:
    """The conversations in a database, parents first."""
    sources, parents = {}, {}
    with open_database(path, _TABLES) as database:
        for key, size, fields in database.rows(_COMPOSERS, LONGEST_LINE):
            name = key.removeprefix("composerData:")
            told = _object(fields, ("updated", "created", "parent")) or {}
            changed = next((told[each] for each in ("updated", "created") if from_milliseconds(told.get(each))), 0)
            parents[name] = json_lines.text(told, "parent") or None
            sources[name] = Source(
                vendor=VENDOR,
                key=name,
                path=str(path),
                size_bytes=size,
                changed_ms=int(changed),
                is_subagent=parents[name] is not None,
            )
    yield from parents_first(sources, parents)


def read(source: Source, position: str | None) -> Iterator[Piece]:
    """A conversation from a position on."""
    known, path = positions.decode(position, _Position), Path(source.path)
    with open_database(path, _TABLES) as database:
        found = next(database.rows(_COMPOSER, source.key, LONGEST_LINE), None)
        if found is None:
            raise SourceUnreadable(path, f"conversation {source.key} is not in it any more")
        composer = _object(found[0], _COMPOSER_FIELDS)
        if composer is None:
            raise SourceUnreadable(path, f"conversation {source.key} is no JSON object")
        yield from _read(database, source.key, composer, known or _Position())


def _read(database: Database, name: str, composer: dict[str, Any], known: _Position) -> Iterator[Piece]:
    held = json_lines.entries(composer, "conversation")
    names = [json_lines.text(each, "bubbleId") for each in json_lines.entries(composer, "headers") or held]

    def look(number: int) -> dict[str, Any] | None:
        return _bubble(database, name, names[number]) or (_flatten(held[number]) if number < len(held) else None)

    # From the beginning if there are fewer by now.
    start = known.bubbles if 0 <= known.bubbles <= len(names) else 0
    start -= start > 0 and _stand_for(look(start - 1)) != known.last
    head: Head | None = _head(database.path, name, composer)
    entries: list[Entry] = []
    size = skipped = 0
    last = known.last
    for number in range(start, len(names)):
        bubble = look(number)
        last = _stand_for(bubble)
        told = [] if bubble is None else list(_tell(names[number], bubble))
        skipped += bubble is None
        entries += told
        size += sum(len(entry.text) for entry in told)
        if size >= PIECE_BYTES:
            here = positions.encode(_Position(number + 1, last))
            yield Piece(entries=entries, position=here, head=head, skipped=skipped)
            head, entries, size, skipped = None, [], 0, 0
    end = positions.encode(_Position(len(names), last))
    yield Piece(entries=entries, position=end, head=head, skipped=skipped)


def _stand_for(bubble: dict[str, Any] | None) -> str:
    return blake2b(msgspec.json.encode(bubble), digest_size=8).hexdigest()


def _bubble(database: Database, composer: str, name: str) -> dict[str, Any] | None:
    row = next(database.rows(_BUBBLE, composer, name, LONGEST_LINE), None)
    return _object(row[0], _BUBBLE_FIELDS) if row else None


def _flatten(bubble: dict[str, Any]) -> dict[str, Any]:
    """A bubble that its conversation holds, as the query gives others."""
    former = json_lines.entry(bubble, "toolFormerData")
    return {
        **bubble,
        "thought": json_lines.entry(bubble, "thinking").get("text"),
        "tool": former.get("name"),
        "call": former.get("toolCallId"),
        "given": former.get("rawArgs"),
        "result": former.get("result"),
        "status": former.get("status"),
        "tokens": bubble.get("tokenCount"),
        "model": json_lines.entry(bubble, "modelInfo").get("modelName"),
    }


def _object(fields: bytes | None, names: tuple[str, ...]) -> dict[str, Any] | None:
    try:
        values = msgspec.json.decode(fields) if fields is not None else None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return dict(zip(names, values, strict=True)) if values and json_lines.is_shallow(values) else None


def _tell(name: str, bubble: dict[str, Any]) -> Iterator[Entry]:
    at, model = _instant(bubble.get("createdAt")), json_lines.text(bubble, "model") or None
    role: Literal["user", "assistant"] = "user" if bubble.get("type") == 1 else "assistant"
    if thought := json_lines.text(bubble, "thought"):
        yield Entry(key=f"{name}/thought", kind="reasoning", at=at, text=thought, model=model)
    if text := json_lines.text(bubble, "text"):
        yield Entry(key=name, kind="text", at=at, role=role, text=text, model=None if role == "user" else model)
    if tool := json_lines.text(bubble, "tool"):
        call_id = json_lines.text(bubble, "call") or name
        given = _encode(bubble.get("given"))
        yield Entry(key=f"{name}/call", kind="tool_call", at=at, text=given, tool=tool, call_id=call_id, model=model)
        status, result = bubble.get("status"), bubble.get("result")
        if status in _OVER or result:
            yield Entry(
                key=f"{name}/result",
                kind="tool_result",
                at=at,
                role="tool",
                text=_encode(result),
                tool=tool,
                call_id=call_id,
                is_error=status in ("error", "cancelled"),
            )
    yield from _usage(name, bubble, at, model)


def _usage(name: str, bubble: dict[str, Any], at: datetime | None, model: str | None) -> Iterator[Entry]:
    """Tokens alone: Cursor keeps no cost."""
    tokens = json_lines.entry(bubble, "tokens")
    sent, said = json_lines.count(tokens, "inputTokens"), json_lines.count(tokens, "outputTokens")
    if sent or said:
        used: dict[str, int | float] = {"input_tokens": sent, "output_tokens": said, "context_tokens": sent}
        yield Entry(key=f"{MESSAGE_USAGE}{name}", kind="usage", at=at, model=model, usage=used)


def _encode(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _instant(value: Any) -> datetime | None:
    """Conversations have milliseconds since 1970, bubbles a text."""
    if isinstance(value, str):
        return transcript_lines.instant({"timestamp": value})
    return from_milliseconds(value)


def _head(path: Path, name: str, composer: dict[str, Any]) -> Head:
    parent = json_lines.text(composer, "parent")
    return Head(
        native_id=name,
        cwd=_local_path(composer.get("workspace")) or _workspaces(path.parents[1] / "workspaceStorage").get(name),
        started_at=_instant(composer.get("createdAt")),
        title=json_lines.text(composer, "name") or None,
        parent_id=parent if parent and parent != name else None,
        model=json_lines.text(composer, "model") or None,
    )


def _local_path(uri: Any) -> str | None:
    """The directory that a workspace's address names, in either form."""
    if isinstance(uri, dict):
        return json_lines.text(uri, "fsPath") or json_lines.text(uri, "path") or None
    parts = urlsplit(uri) if isinstance(uri, str) else None
    return unquote(parts.path) or None if parts and parts.scheme == "file" else None


@lru_cache(maxsize=4)
def _workspaces(folder: Path) -> dict[str, str]:
    """The directories of conversations that do not say it: each workspace has a list of its own."""
    found: dict[str, str] = {}
    for file in sorted(folder.glob(f"*/{NAME}")):
        directory = _local_path(document_file.read_small(file.parent / "workspace.json").get("folder"))
        if directory:
            found |= dict.fromkeys(_list_composers(file), directory)
    return found


def _list_composers(path: Path) -> Iterator[str]:
    query = (
        "SELECT CAST(value AS BLOB) FROM ItemTable WHERE key = 'composer.composerData' AND octet_length(value) <= ?1"
    )
    try:
        with open_database(path, _ITEMS) as database:
            for (value,) in database.rows(query, LONGEST_LINE):
                listed = json_lines.parse((value or b"").decode(errors="replace")) or {}
                yield from (json_lines.text(each, "composerId") for each in json_lines.entries(listed, "allComposers"))
    except SourceUnreadable:
        return
