"""opencode's sessions: rows of `opencode.db`, and the tree of JSON files that versions before 1.2 wrote.

When opencode moved to the database it copied the tree into it and left the tree. Ids are the same in both, so a session
that is in both is read from the database.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from ramet.model.memory.stored_session import Piece, Source
from ramet.vendors.contract.stored_files.conversations import spoken
from ramet.vendors.contract.stored_files.database_file import describe_file
from ramet.vendors.contract.stored_files.session_sources import Sessions, Surroundings
from ramet.vendors.contract.stored_files.unreadable import SourceUnreadable
from ramet.vendors.opencode import database, tree


def find(around: Surroundings) -> Iterator[Source]:
    """Every session in opencode's data folder."""
    data = Path(around.environ.get("XDG_DATA_HOME") or around.home / ".local" / "share")
    named = around.environ.get("OPENCODE_DB", "")
    folder = data / "opencode"
    yield from _list(folder / named if named and named != ":memory:" else folder / database.NAME, folder / tree.NAME)


def recognise(path: Path) -> Iterator[Source]:
    """A database, opencode's data folder, or the tree in it."""
    if path.is_file() and path.suffix == ".db":
        if database.is_ours(path):
            yield from _list(path, path.parent / tree.NAME)
    elif path.is_dir():
        inside = [path, path / "opencode", path / ".local" / "share" / "opencode"]
        for folder in inside:
            yield from _list(folder / database.NAME, folder if folder.name == tree.NAME else folder / tree.NAME)


def read(source: Source, position: str | None) -> Iterator[Piece]:
    """A session from a position on."""
    reader = tree if Path(source.path).suffix == ".json" else database
    return spoken(reader.read(source, position), position)


def _list(file: Path, folder: Path) -> Iterator[Source]:
    known = set()
    if os.path.lexists(file):
        try:
            for source in database.find(file):
                known.add(source.key)
                yield source
        except SourceUnreadable:
            yield describe_file(database.VENDOR, file)
    if folder.is_dir():
        yield from (source for source in tree.find(folder) if source.key not in known)


SESSIONS = Sessions(find=find, recognise=recognise, read=read)
