"""Transcripts on the disk: the next piece of one, wherever the last reading ended and whatever has become of it."""

import os
import stat
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ramet.model.hooks.transcript import Reading
from ramet.vendors.contract.transcript_lines import LONGEST_LINE, Transcripts

PIECE_BYTES = 128 * 1024
"""What is read at once, and written in one transaction: little enough that nobody waits for it."""


class Position(NamedTuple):
    """How far a file was read, and which file that was."""

    offset: int = 0
    inode: int | None = None


class Piece(NamedTuple):
    """What was read at once."""

    reading: Reading
    position: Position
    """Where to go on."""
    is_last: bool
    """Whether there are no whole lines behind it."""


def read_piece(path: Path, position: Position, reader: Transcripts) -> Piece | None:
    """What follows a position; from the beginning where the file is another one by now. None where there is no file."""
    try:
        with open(path, "rb", opener=_open) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return None
            offset = _begin(file, position, status)
            reading = _read(file, offset, reader)
    except OSError:
        return None
    is_last = reading.offset == offset or reading.offset >= status.st_size
    return Piece(reading, Position(reading.offset, status.st_ino), is_last)


def _open(path: str, flags: int) -> int:
    """Nobody's pipe may hold us up."""
    return os.open(path, flags | os.O_NONBLOCK)


def _begin(file: BinaryIO, position: Position, status: os.stat_result) -> int:
    """A file that was replaced, cut off or written anew is read again: what is known of it is not written twice."""
    offset, inode = position
    if offset == 0 or inode not in (None, status.st_ino) or status.st_size < offset:
        return 0
    file.seek(offset - 1)
    return offset if file.read(1) == b"\n" else 0


def _read(file: BinaryIO, offset: int, reader: Transcripts) -> Reading:
    file.seek(offset)
    data = file.read(PIECE_BYTES)
    if len(data) == PIECE_BYTES and b"\n" not in data:
        data += file.readline(LONGEST_LINE)
        if not data.endswith(b"\n") and len(data) > LONGEST_LINE:
            return _pass_over(file, offset)
    return reader.read(data, offset)


def _pass_over(file: BinaryIO, offset: int) -> Reading:
    """The rest of a line beyond all bounds; one that is still being written is left for later."""
    while part := file.readline(PIECE_BYTES):
        if part.endswith(b"\n"):
            return Reading(entries=[], offset=file.tell(), skipped=1)
    return Reading(entries=[], offset=offset)
