"""What a copy of a thread has used itself: its totals include what its origin had used when it was copied.

A copy starts with the items of its origin, written again with new times. The last total among them is what both share.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ramet.model.hooks.transcript import Entry
from ramet.vendors.codex import transcript
from ramet.vendors.contract import json_lines, transcript_lines
from ramet.vendors.contract.stored_files import session_files

_COUNTED = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")

Tokens = Mapping[str, int | float]


def find_shared(path: Path) -> Tokens:
    """What a thread and its origin have used together; nothing if it is no copy, or its origin is gone."""
    meta = json_lines.entry(transcript_lines.first_object(path), "payload")
    origin = json_lines.text(meta, "forked_from_id")
    if not origin or origin == json_lines.text(meta, "id"):
        return {}
    root = path.parents[3] if path.match(transcript.DAYS) else path.parent
    found = next((file for file in session_files.walk(root) if file.name.endswith(f"-{origin}.jsonl")), None)
    return {} if found is None else _last_shared(path, found)


def take_off(entries: Sequence[Entry], shared: Tokens) -> list[Entry]:
    """The same entries, with what the copy has used alone."""
    return [each if each.kind != "usage" or each.usage is None else _less(each, each.usage, shared) for each in entries]


def _less(entry: Entry, usage: dict[str, int | float], shared: Tokens) -> Entry:
    left = {name: max(0, usage.get(name, 0) - shared.get(name, 0)) for name in _COUNTED}
    return replace(entry, usage={**usage, **left})


def _last_shared(path: Path, origin: Path) -> Tokens:
    """The last total before the first item that the origin does not have."""
    there = {_digest(line) for line in _lines(origin)}
    shared: Tokens = {}
    for line in _lines(path):
        if line.get("type") != "session_meta" and _digest(line) not in there:
            break
        for entry in transcript.read(msgspec.json.encode(line) + b"\n", 0).entries:
            shared = entry.usage if entry.kind == "usage" and entry.usage else shared
    return shared


def _digest(line: dict[str, Any]) -> bytes:
    item = (line.get("type"), line.get("payload"))
    return hashlib.blake2b(msgspec.json.encode(item, order="sorted"), digest_size=16).digest()


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """What the lines of a file say, as far as they can be read. Only one line is in memory at a time."""
    try:
        for data in session_files.read_lines(path):
            for line in data.split(b"\n"):
                if line.strip() and (parsed := transcript_lines.parse_object(line)) is not None:
                    yield parsed
    except OSError:
        return
