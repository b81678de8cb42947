"""Cursor's sessions: those of the editor are in its database, those of its command line in transcripts.

The editor writes transcripts too, under the same ids and with less in them; what is in both is read from the database.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from ramet.model.memory.stored_session import Piece, Source
from ramet.vendors.contract.stored_files.conversations import spoken
from ramet.vendors.contract.stored_files.database_file import describe_file
from ramet.vendors.contract.stored_files.session_sources import Sessions, Surroundings
from ramet.vendors.contract.stored_files.unreadable import SourceUnreadable
from ramet.vendors.cursor import composers, transcripts

_CONFIGURATIONS = (".config/Cursor/User", "Library/Application Support/Cursor/User")
"""Where the editor keeps its state below the user's home, on Linux and on macOS."""


def find(around: Surroundings) -> Iterator[Source]:
    """Every session of the editor and of the command line."""
    configured = around.environ.get("XDG_CONFIG_HOME")
    folders = [around.home / each for each in _CONFIGURATIONS]
    folders[:0] = [Path(configured) / "Cursor" / "User"] if configured else []
    own = around.environ.get("CURSOR_CONFIG_DIR")
    files = [folder / "globalStorage" / composers.NAME for folder in dict.fromkeys(folders)]
    yield from _list(files, Path(own) if own else around.home / ".cursor")


def recognise(path: Path) -> Iterator[Source]:
    """A database of the editor, a transcript, or a folder of either."""
    if path.is_file():
        if path.suffix == ".vscdb":
            yield from _list([path], None)
        elif transcripts.is_ours(path):
            yield from transcripts.list_files([path])
    elif path.is_dir():
        inside = (path, path / "globalStorage", *(path / each / "globalStorage" for each in _CONFIGURATIONS))
        home = path / ".cursor" if (path / ".cursor").is_dir() else path
        yield from _list([folder / composers.NAME for folder in inside], home)


def read(source: Source, position: str | None) -> Iterator[Piece]:
    """A session from a position on."""
    reader = composers if Path(source.path).suffix == ".vscdb" else transcripts
    return spoken(reader.read(source, position), position)


def _list(files: list[Path], home: Path | None) -> Iterator[Source]:
    known = set()
    for file in files:
        if not os.path.lexists(file):
            continue
        try:
            for source in composers.find(file):
                known.add(source.key)
                yield source
        except SourceUnreadable:
            yield describe_file(composers.VENDOR, file)
    if home is not None:
        yield from (source for source in transcripts.find(home) if source.key not in known)


SESSIONS = Sessions(find=find, recognise=recognise, read=read)
