"""Goose's sessions before version 1.10: a line about the session, then one for each message."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

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
    """A session from a position on. A message's number among those of its time depends on all before it, so the file is
    read from its beginning, but only what is behind the position is told.
    """
    path, known = Path(source.path), positions.decode(position, _Position)
    start = known.place.line if known and line_file.is_valid(path, known.place) else 0
    numbers: Counter[tuple[str, Any]] = Counter()
    head: Head | None = _head(path)
    for lines in line_file.read(path, None):
        entries: list[Entry] = []
        skipped = lines.skipped
        for line in lines.lines:
            said = transcript_lines.parse_object(line.data)
            told = tell(_message(said, numbers)) if said and "role" in said else ()
            entries += told if line.number >= start else ()
            skipped += said is None and line.number >= start
        if lines.place.line >= start:
            yield Piece(entries=entries, position=positions.encode(_Position(lines.place)), head=head, skipped=skipped)
            head = None


def _message(said: dict[str, Any], numbers: Counter[tuple[str, Any]]) -> Message:
    role, created, content = json_lines.text(said, "role"), said.get("created"), said.get("content")
    created = created if isinstance(created, int | float | str) else None
    numbers[role, created] += 1
    parts = content if isinstance(content, list) else []
    return Message(
        f"{created}/{role}/{numbers[role, created]}", role, created, parts, json_lines.entry(said, "metadata")
    )


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
