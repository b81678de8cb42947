"""Goose's sessions: rows of `sessions.db`, and before version 1.10 one `<session>.jsonl` each.

When Goose moved to the database it copied the files into it and left them. A session has the same id in both, but its
messages may not, so a message is named after its time, its role and its number among those of that time.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from ramet.model.memory.stored_session import Piece, Source
from ramet.vendors.contract import transcript_lines
from ramet.vendors.contract.stored_files.conversations import spoken
from ramet.vendors.contract.stored_files.database_file import describe_file
from ramet.vendors.contract.stored_files.session_sources import Sessions, Surroundings
from ramet.vendors.contract.stored_files.unreadable import SourceUnreadable
from ramet.vendors.goose import database, old_files

_FOLDERS = (".local/share/goose", "Library/Application Support/Block.goose/data")
"""Where Goose keeps its data below the user's home, on Linux and on macOS."""


def find(around: Surroundings) -> Iterator[Source]:
    """Every session in Goose's data folder."""
    root, data = around.environ.get("GOOSE_PATH_ROOT"), around.environ.get("XDG_DATA_HOME")
    if root:
        folders = [Path(root) / "data"]
    else:
        folders = [Path(data) / "goose"] if data else []
        folders += [around.home / each for each in _FOLDERS]
    for folder in dict.fromkeys(folders):
        yield from _list(folder / "sessions")


def recognise(path: Path) -> Iterator[Source]:
    """A database, an old file, Goose's data folder, or the folder of sessions in it."""
    if path.is_file():
        if path.name == database.NAME:
            yield from _list_database(path)
        elif path.suffix == ".jsonl" and "working_dir" in transcript_lines.first_object(path):
            yield from old_files.list_files([path])
    elif path.is_dir():
        for folder in (path, path / "sessions", *(path / each / "sessions" for each in _FOLDERS)):
            if (folder / database.NAME).exists() or folder.name == "sessions":
                yield from _list(folder)


def read(source: Source, position: str | None) -> Iterator[Piece]:
    """A session from a position on."""
    reader = old_files if Path(source.path).suffix == ".jsonl" else database
    return spoken(reader.read(source, position), position)


def _list(folder: Path) -> Iterator[Source]:
    known = set()
    for source in _list_database(folder / database.NAME):
        known.add(source.key)
        yield source
    files = old_files.list_files(sorted(folder.glob("*.jsonl")))
    yield from (source for source in files if source.key not in known)


def _list_database(file: Path) -> Iterator[Source]:
    if not os.path.lexists(file):
        return
    try:
        yield from database.find(file)
    except SourceUnreadable:
        yield describe_file(database.VENDOR, file)


SESSIONS = Sessions(find=find, recognise=recognise, read=read)
