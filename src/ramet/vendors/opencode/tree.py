"""opencode's tree of JSON files, before version 1.2: `storage/session/<project>/<session>.json`,
`storage/message/<session>/<message>.json` and `storage/part/<message>/<part>.json`.

What is new is read by the times of the files.
"""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from ramet.model.hooks.transcript import Entry
from ramet.model.memory.stored_session import Head, Piece, Source
from ramet.vendors.contract import json_lines
from ramet.vendors.contract.stored_files import document_file, positions
from ramet.vendors.contract.stored_files.family_order import parents_first
from ramet.vendors.contract.stored_files.instants import from_milliseconds
from ramet.vendors.contract.stored_files.session_files import PIECE_BYTES
from ramet.vendors.contract.stored_files.unreadable import SourceUnreadable
from ramet.vendors.opencode import parts

VENDOR = "opencode"
NAME = "storage"


class _Position(Struct, frozen=True, omit_defaults=True):
    """What was read: files that changed before `since`, and of the newer ones messages up to `message`."""

    since: int = 0
    message: str = ""
    newest: int = 0
    same: int = 0
    """How many files had changed at `since` by then: some clocks are coarse."""


def find(storage: Path) -> Iterator[Source]:
    """The sessions in a tree, parents first. Their own files are small, and say who their parents are."""
    sources, parents = {}, {}
    for file in sorted((storage / "session").glob("*/ses_*.json")):
        folder = storage / "message" / file.stem
        changed = [(status.st_mtime_ns, status.st_size) for path in (file, folder) if (status := _status(path))]
        changed += [(each.stat().st_mtime_ns, each.stat().st_size) for each in _files(folder)]
        parents[file.stem] = json_lines.text(document_file.read_small(file), "parentID") or None
        sources[file.stem] = Source(
            vendor=VENDOR,
            key=file.stem,
            path=str(file),
            size_bytes=sum(size for _, size in changed),
            changed_ms=max((when for when, _ in changed), default=0) // 1_000_000,
            is_subagent=parents[file.stem] is not None,
        )
    yield from parents_first(sources, parents)


def read(source: Source, position: str | None) -> Iterator[Piece]:
    """A session from a position on."""
    known, file = positions.decode(position, _Position) or _Position(), Path(source.path)
    storage = file.parents[2]
    head: Head | None = _head(file)
    entries: list[Entry] = []
    size = skipped = 0
    newest = max(known.newest, known.since)
    changes = Counter(_list_changes(storage, file.stem))
    since = known.since + (known.same > 0 and known.same == changes[known.since])
    for path in _files(storage / "message" / file.stem):
        if path.stem <= known.message:
            continue
        # A part is always written before its message is: a message that did not change may have new parts.
        fresh = [each for each in _files(storage / "part" / path.stem) if _changed_ns(each) >= since]
        if not fresh and _changed_ns(path) < since:
            continue
        newest = max([newest, _changed_ns(path), *map(_changed_ns, fresh)])
        told, bad = _read_message(path, fresh)
        entries, skipped = entries + told, skipped + bad
        size += sum(len(entry.text) for entry in told)
        if size >= PIECE_BYTES:
            here = _Position(since, path.stem, newest)
            yield Piece(entries=entries, position=positions.encode(here), head=head, skipped=skipped)
            head, entries, size, skipped = None, [], 0, 0
    end = positions.encode(_Position(since=newest, same=changes[newest]))
    yield Piece(entries=entries, position=end, head=head, skipped=skipped)


def _list_changes(storage: Path, session: str) -> Iterator[int]:
    """When the files of a session's messages and parts changed."""
    for path in _files(storage / "message" / session):
        yield _changed_ns(path)
        yield from map(_changed_ns, _files(storage / "part" / path.stem))


def _read_message(path: Path, files: list[Path]) -> tuple[list[Entry], int]:
    """What a message and its parts say, and how many files could not be read."""
    try:
        message, _ = document_file.read(path)
    except SourceUnreadable:
        return [], 1
    entries: list[Entry] = []
    bad = 0
    for file in files:
        try:
            part, _ = document_file.read(file)
        except SourceUnreadable:
            bad += 1
            continue
        entries += parts.tell(file.stem, part or {}, message or {})
    told = message or {}
    return [*entries, *parts.failure(path.stem, told), *parts.usage(path.stem, told)], bad


def _head(file: Path) -> Head:
    session = document_file.read(file)[0] or {}
    native_id, parent = json_lines.text(session, "id") or file.stem, json_lines.text(session, "parentID")
    return Head(
        native_id=native_id,
        cwd=json_lines.text(session, "directory") or None,
        started_at=from_milliseconds(json_lines.entry(session, "time").get("created")),
        title=json_lines.text(session, "title") or None,
        parent_id=parent if parent and parent != native_id else None,
        version=json_lines.text(session, "version") or None,
    )


def _files(folder: Path) -> list[Path]:
    """The documents in a folder, in the order of their ids, which is that of time."""
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".json")
    except OSError:
        return []


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def _changed_ns(path: Path) -> int:
    status = _status(path)
    return status.st_mtime_ns if status else 0
