"""Whole lines of a file that somebody else writes, at this moment perhaps: nothing in them is taken for granted."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ramet.model.hooks.transcript import Entry, Reading
from ramet.vendors.contract import json_lines

LONGEST_LINE = 16 * 1024 * 1024
"""A longer line is passed over."""

Tell = Callable[[dict[str, Any], bytes], Iterable[Entry]]
"""What a line says: as an object, and as its bytes."""


class Subagent(NamedTuple):
    """The file of an agent that an agent program runs inside a session of its own."""

    agent_id: str
    path: Path
    above: Path
    """The file of the session that runs it."""


class Transcripts(NamedTuple):
    """One vendor's transcripts, and how they are read."""

    read: Callable[[bytes, int], Reading]
    """What a file says from an offset on; the bytes are those from there."""
    find_subagents: Callable[[Sequence[Path]], list[Subagent]]
    """The files of these sessions' sub-agents."""
    counts_subagents: bool
    """Whether the program's stream tells of its sub-agents, and counts their usage as its own."""


def read(data: bytes, offset: int, tell: Tell) -> Reading:
    """What the whole lines of `data` say, which stands at `offset` of the file. The rest is read another time."""
    end = data.rfind(b"\n") + 1
    entries: list[Entry] = []
    skipped = 0
    for line in data[:end].split(b"\n"):
        if said := _said(line, tell):
            entries += said
        elif said is None:
            skipped += 1
    return Reading(entries=entries, offset=offset + end, skipped=skipped)


def _said(line: bytes, tell: Tell) -> list[Entry] | None:
    """What a line says; None where it cannot be read."""
    if not line.strip():
        return []
    try:
        parsed = _parse(line) if len(line) <= LONGEST_LINE else None
        return None if parsed is None else list(tell(parsed, line))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        parsed = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        # JavaScript writes half of a character where it has cut a text in the middle of one.
        loose = json.loads(line.decode(errors="replace"))
        parsed = msgspec.json.decode(json.dumps(loose, ensure_ascii=False).encode(errors="replace"))
    if not isinstance(parsed, dict):
        return None
    # Nearly every line has too few brackets to be deep, and is not walked through.
    is_shallow = line.count(b"{") + line.count(b"[") <= json_lines.DEEPEST or json_lines.is_shallow(parsed)
    return parsed if is_shallow else None


def parse_object(line: bytes) -> dict[str, Any] | None:
    """What a line says, if it is an object; None if it cannot be read."""
    try:
        return _parse(line) if len(line) <= LONGEST_LINE else None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def digest(line: bytes) -> str:
    """The key of a line that has no id: the same line has the same one, wherever it stands."""
    return f"line/{hashlib.blake2b(line.strip(), digest_size=16).hexdigest()}"


def instant(holder: dict[str, Any], name: str = "timestamp") -> datetime | None:
    """When it was, if that is said."""
    try:
        at = datetime.fromisoformat(json_lines.text(holder, name))
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def first_object(path: Path, most_bytes: int = 1024 * 1024) -> dict[str, Any]:
    """What the first line of a file says; nothing where that is not to be had."""
    try:
        with path.open("rb") as file:
            return _parse(file.readline(most_bytes)) or {}
    except (OSError, msgspec.MsgspecError, ValueError, RecursionError):
        return {}
