"""Gemini CLI's sessions: `~/.gemini/tmp/<project>/chats/session-<minute>-<id>.jsonl`, sub-agents' in a folder below.

A line is a message, or changes what is before it: the same id again replaces a message, `$rewindTo` takes back a
message and all behind it, `$set` changes what the session says of itself. So what holds is known only at the end of the
file: it is read twice, first for the places of the messages that hold, then for these.

`$set` may have a list of messages. It takes nothing back: the program empties the list whenever it resumes a session,
writes it again without calls and counts of tokens, and a compaction leaves only its summary in it. So of a list only
messages are taken that are not known.

Old versions write one `.json` document; a new version that resumes such a session writes a `.jsonl` beside it, with the
same ids, and then only that is read.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct

from ramet.model.hooks.transcript import Entry
from ramet.model.memory.stored_session import Head, Piece, Source
from ramet.vendors.contract import json_lines, transcript_lines
from ramet.vendors.contract.stored_files import document_file, line_file, positions
from ramet.vendors.contract.stored_files.conversations import spoken
from ramet.vendors.contract.stored_files.document_file import Stamp
from ramet.vendors.contract.stored_files.line_file import Place
from ramet.vendors.contract.stored_files.session_files import PIECE_BYTES
from ramet.vendors.contract.stored_files.session_sources import Sessions, Surroundings
from ramet.vendors.gemini import messages

VENDOR = "gemini"


class _Position(Struct, frozen=True, omit_defaults=True):
    """How far a `.jsonl` was read, or which version of a `.json`."""

    place: Place | None = None
    document: Stamp | None = None
    done: int = 0
    """How many messages were told, if not all were."""
    end: Place | None = None
    """Up to where it was read for that."""


def find(around: Surroundings) -> Iterator[Source]:
    """Every session below the user's folder of Gemini CLI."""
    root = Path(around.environ.get("GEMINI_CLI_HOME") or around.home)
    yield from _list_folders(sorted((root / ".gemini" / "tmp").glob("*/chats")))


def recognise(path: Path) -> Iterator[Source]:
    """A chat, a project's folder, or the whole `.gemini`."""
    if path.is_file() and path.suffix in (".json", ".jsonl") and _is_chat(path):
        yield from _list([path])
    elif path.is_dir():
        folders = [path] if path.name == "chats" else [path / "chats"]
        inside = (each for pattern in ("*/chats", "tmp/*/chats", ".gemini/tmp/*/chats") for each in path.glob(pattern))
        yield from _list_folders([*(each for each in folders if each.is_dir()), *sorted(inside)])


def read(source: Source, position: str | None) -> Iterator[Piece]:
    """A chat from a position on."""
    known, path = positions.decode(position, _Position) or _Position(), Path(source.path)
    reader = _read_document if path.suffix == ".json" else _read_lines
    return spoken(reader(path, known), position)


def _list_folders(folders: Iterable[Path]) -> Iterator[Source]:
    for folder in folders:
        yield from _list(sorted(folder.glob("session-*.json*")))
        yield from _list(sorted(folder.glob("*/*.jsonl")))


def _list(files: list[Path]) -> Iterator[Source]:
    """Each session once: its key has no suffix, and a `.jsonl` goes before the `.json` that it continues."""
    wanted = [file for file in files if file.suffix in (".json", ".jsonl")]
    chosen = {file.with_suffix(""): file for file in sorted(wanted, key=lambda file: file.suffix)}
    for stem, file in chosen.items():
        try:
            status = os.stat(file)  # noqa: PTH116
        except OSError:
            continue
        changed_ms = status.st_mtime_ns // 1_000_000
        yield Source(
            vendor=VENDOR,
            key=str(stem),
            path=str(file),
            size_bytes=status.st_size,
            changed_ms=changed_ms,
            is_subagent=file.parent.name != "chats" and file.parent.parent.name == "chats",
        )


def _is_chat(path: Path) -> bool:
    try:
        with line_file.open_file(path) as file:
            start = file.read(4096)
    except OSError:
        return False
    return b'"sessionId"' in start and b'"projectHash"' in start


def _read_document(path: Path, known: _Position) -> Iterator[Piece]:
    document, stamp = document_file.read(path, None if known.done else known.document)
    if document is None:
        yield Piece(entries=[], position=positions.encode(_Position(document=stamp)))
        return
    listed = _listed(document)
    messages_read = [message for message in listed if isinstance(message, dict)]
    model = next((model for each in messages_read if (model := json_lines.text(each, "model"))), None)
    begun = known.done if known.document == stamp else 0
    skipped = 0 if begun else len(listed) - len(messages_read)
    pieces = _Pieces(_head(path, document, model), begun, lambda done: _Position(document=stamp, done=done))
    yield from pieces.cut(messages_read, skipped)


def _read_lines(path: Path, known: _Position) -> Iterator[Piece]:
    """What holds is known only at the end. A reading that was interrupted is repeated up to the same end."""
    is_begun = known.end is not None and line_file.is_valid(path, known.end)
    replay, end = _Replay(), Place()
    for lines in line_file.read(path, known.place, known.end.offset if is_begun and known.end else None):
        replay.skipped += lines.skipped
        for line in lines.lines:
            replay.take(line.data, line.offset)
        end = lines.place
    head = _head(path, replay.meta | _told_first(path), replay.model)

    def position(done: int) -> _Position:
        return _Position(place=known.place, done=done, end=end) if done else _Position(place=end)

    with line_file.open_file(path) as file:
        pieces = _Pieces(head, known.done if is_begun else 0, position)
        yield from pieces.cut(replay.messages(file), 0 if is_begun else replay.skipped)


class _Pieces:
    """Messages in pieces, from one of them on."""

    def __init__(self, head: Head, begun: int, position: Callable[[int], _Position]) -> None:
        """`begun` messages were told before; `position` is the one behind so many, and behind all for 0."""
        self._head = head
        self._begun = begun
        self._position = position

    def cut(self, listed: Iterable[dict[str, Any]], skipped: int) -> Iterator[Piece]:
        """The pieces; `skipped` is what could not be read."""
        reading, head, size = messages.Reading(), self._head, 0
        first: Head | None = head
        entries: list[Entry] = []
        for number, message in enumerate(listed, 1):
            told = list(reading.tell(message))  # those told before, too: a result is told once
            if number <= self._begun:
                continue
            entries += told
            size += sum(len(entry.text) for entry in told)
            if size >= PIECE_BYTES:
                yield Piece(entries=entries, position=positions.encode(self._position(number)), head=first)
                first, entries, size = None, [], 0
        yield Piece(entries=entries, position=positions.encode(self._position(0)), head=first, skipped=skipped)


class _Replay:
    """Which messages hold at the end, and where they are. Their texts stay in the file."""

    def __init__(self) -> None:
        self.meta: dict[str, Any] = {}
        self.model: str | None = None
        self.skipped = 0
        self._places: dict[str, tuple[int, int | None]] = {}
        """By the message's id: the offset of its line, and its number if the line is a list."""

    def take(self, data: bytes, offset: int) -> None:
        """One line."""
        record = transcript_lines.parse_object(data)
        if record is None:
            self.skipped += 1
        elif isinstance(target := record.get("$rewindTo"), str):
            self._rewind(target)
        elif isinstance(name := record.get("id"), str):
            self._places[name] = (offset, None)
            self.model = self.model or json_lines.text(record, "model") or None
        elif isinstance(changes := record.get("$set"), dict):
            self._add(changes, offset)
            self._note(changes)
        elif isinstance(record.get("sessionId"), str):
            self._add(record, offset)
            self._note(record)

    def messages(self, file: BinaryIO) -> Iterator[dict[str, Any]]:
        """The messages that hold, in their order."""
        held, line = -1, dict[str, Any]()
        for offset, number in self._places.values():
            if offset != held:
                held, line = offset, transcript_lines.parse_object(line_file.read_at(file, offset)) or {}
            if number is None:
                yield line
                continue
            listed = _listed(json_lines.entry(line, "$set") or line)
            if number < len(listed) and isinstance(listed[number], dict):
                yield listed[number]

    def _rewind(self, target: str) -> None:
        """A message that is not here is one before the place from which we read: then everything here is behind it."""
        names = list(self._places)
        for name in names[names.index(target) if target in self._places else 0 :]:
            del self._places[name]

    def _add(self, holder: dict[str, Any], offset: int) -> None:
        for number, message in enumerate(_listed(holder)):
            if isinstance(message, dict) and isinstance(name := message.get("id"), str):
                # The first form is the whole one: what a list repeats is shortened.
                self._places.setdefault(name, (offset, number))

    def _note(self, changes: dict[str, Any]) -> None:
        first = {name: changes[name] for name in ("sessionId", "projectHash", "startTime") if name in changes}
        last = {name: changes[name] for name in ("summary", "directories") if name in changes}
        self.meta = first | self.meta | last


def _told_first(path: Path) -> dict[str, Any]:
    """What the first line says of the session: a resumed one says it again, with another time."""
    first = transcript_lines.first_object(path)
    return {name: first[name] for name in ("sessionId", "projectHash", "startTime") if name in first}


def _listed(holder: dict[str, Any]) -> list[Any]:
    value = holder.get("messages")
    return value if isinstance(value, list) else []


def _head(path: Path, meta: dict[str, Any], model: str | None) -> Head:
    parent = path.parent.name if path.parent.parent.name == "chats" else None
    native_id = json_lines.text(meta, "sessionId") or path.stem
    return Head(
        native_id=native_id,
        cwd=_directory(path, meta),
        started_at=transcript_lines.instant(meta, "startTime"),
        title=json_lines.text(meta, "summary") or None,
        parent_id=parent if parent != native_id else None,
        model=model,
    )


def _directory(path: Path, meta: dict[str, Any]) -> str | None:
    """The project's directory. Old versions know it only by its hash."""
    chats = next((each for each in path.parents if each.name == "chats"), path.parent)
    try:
        with line_file.open_file(chats.parent / ".project_root") as file:
            if written := file.read(4096).decode(errors="replace").strip():
                return written
    except OSError:
        pass
    folders = _known_folders(chats.parents[2]) if len(chats.parents) > 2 else {}
    named = folders.get(chats.parent.name) or folders.get(json_lines.text(meta, "projectHash"))
    directories = meta.get("directories")
    listed = [each for each in directories if isinstance(each, str)] if isinstance(directories, list) else []
    return named or (listed[0] if listed else None)


@lru_cache(maxsize=4)
def _known_folders(home: Path) -> dict[str, str]:
    """Directories that Gemini CLI knows, by their short names and by their hashes."""
    projects = json_lines.entry(document_file.read_small(home / "projects.json"), "projects")
    trusted = document_file.read_small(home / "trustedFolders.json")
    hashed = {sha256(folder.encode()).hexdigest(): folder for folder in (*trusted, *projects)}
    return hashed | {name: folder for folder, name in projects.items() if isinstance(name, str)}


SESSIONS = Sessions(find=find, recognise=recognise, read=read)
