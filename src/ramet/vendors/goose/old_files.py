"""Goose's sessions before version 1.10: a line about the session, then one for each message.

A message's number among those of its time depends on all before it, so a file that has changed is read as a whole.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ramet.model.hooks.transcript import Entry
from ramet.model.memory.stored_session import Head, Piece, Source
from ramet.vendors.contract import json_lines, transcript_lines
from ramet.vendors.contract.stored_files import line_file, positions
from ramet.vendors.contract.stored_files.line_file import Place
from ramet.vendors.goose.messages import Message, instant, tell

VENDOR = "goose"


class _Position(Struct, frozen=True):
    place: Place


def list_files(files: Iterable[Path]) -> Iterator[Source]:
    """Each file is a session, named like it."""
    for file in files:
        try:
            status = os.stat(file)  # noqa: PTH116
        except OSError:
            continue
        changed_ms = status.st_mtime_ns // 1_000_000
        yield Source(vendor=VENDOR, key=file.stem, path=str(file), size_bytes=status.st_size, changed_ms=changed_ms)


def read(source: Source, position: str | None) -> Iterator[Piece]:
    """A file from its beginning, if it has grown."""
    path, known = Path(source.path), positions.decode(position, _Position)
    if known and _is_unchanged(path, known.place):
        yield Piece(entries=[], position=position or "")
        return
    numbers: Counter[tuple[str, Any]] = Counter()
    head: Head | None = _head(path)
    # A place before the end cannot be continued: an interrupted reading is repeated from the beginning.
    last, end = Piece(entries=[], position=""), Place()
    for lines in line_file.read(path, None):
        if end.offset:
            yield last
        entries: list[Entry] = []
        skipped = lines.skipped
        for line in lines.lines:
            said = _parse(line.data)
            if said is None:
                skipped += 1
            elif "role" in said:
                entries += tell(_message(said, numbers))
        last = Piece(entries=entries, position="", head=head, skipped=skipped)
        head, end = None, lines.place
    yield msgspec.structs.replace(last, position=positions.encode(_Position(end)))


def _is_unchanged(path: Path, place: Place) -> bool:
    lines = next(line_file.read(path, place))
    return not lines.lines and lines.place == place


def _message(said: dict[str, Any], numbers: Counter[tuple[str, Any]]) -> Message:
    role, created, content = json_lines.text(said, "role"), said.get("created"), said.get("content")
    created = created if isinstance(created, int | float | str) else None
    numbers[role, created] += 1
    parts = content if isinstance(content, list) else []
    return Message(
        f"{created}/{role}/{numbers[role, created]}", role, created, parts, json_lines.entry(said, "metadata")
    )


def _parse(data: bytes) -> dict[str, Any] | None:
    try:
        return transcript_lines.parse(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _head(path: Path) -> Head:
    about = transcript_lines.first_object(path)
    return Head(
        native_id=path.stem,
        cwd=json_lines.text(about, "working_dir") or None,
        started_at=instant(_start(path.stem)),
        title=json_lines.text(about, "description") or None,
    )


def _start(name: str) -> str:
    """Most files are named after the second in which they began: `20250901_120000`."""
    day, _, time = name.partition("_")
    is_time = len(day) == 8 and len(time) == 6 and (day + time).isdigit()
    return f"{day}T{time}" if is_time else ""
