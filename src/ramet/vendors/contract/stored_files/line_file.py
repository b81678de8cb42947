"""A file to which a program appends lines, read in pieces from a place on.

A place has a mark of the bytes before it. If these are others by now, the file was rewritten, and it is read from its
beginning. A line that is still being written is left for the next time. At most one line is in memory at once, plus one
piece.
"""

import os
import stat
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO, NamedTuple

from msgspec import Struct

from ramet.vendors.contract.stored_files.session_files import PIECE_BYTES
from ramet.vendors.contract.stored_files.unreadable import SourceUnreadable
from ramet.vendors.contract.transcript_lines import LONGEST_LINE

_MARKED_BYTES = 4096
_BLOCK_BYTES = 1024 * 1024


class Place(Struct, frozen=True, omit_defaults=True):
    """How far a file was read."""

    offset: int = 0
    line: int = 0
    """How many lines are before it."""
    mark: str = ""
    """Stands for the bytes before it."""


class Line(NamedTuple):
    """One whole line, without its end."""

    data: bytes
    number: int
    """From 0 on."""
    offset: int


class Lines(NamedTuple):
    """Lines that were read at once."""

    lines: list[Line]
    place: Place
    """Where to continue."""
    skipped: int
    """Lines that are too long."""
    changed_ms: int
    """When the file changed last."""


def open_file(path: Path) -> BinaryIO:
    """A file for reading. A pipe or a device is refused, and never waited for."""
    try:
        file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
    except OSError as error:
        raise SourceUnreadable(path, error.strerror or str(error)) from error
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise SourceUnreadable(path, "it is no regular file")
    return file


def read(path: Path, place: Place | None, until: int | None = None) -> Iterator[Lines]:
    """The whole lines behind a place, up to an offset or to the end that the file has now; at least one piece, which
    may be empty.
    """
    with open_file(path) as file:
        start = _begin(file, place)
        changed_ms = os.fstat(file.fileno()).st_mtime_ns // 1_000_000
        lines: list[Line] = []
        size = skipped = 0
        offset, number = start.offset, start.line
        for data in _split(file, offset, until):
            if data is None or len(data) > LONGEST_LINE:
                skipped += 1
            elif data.strip():
                lines.append(Line(data.rstrip(b"\r\n"), number, offset))
            offset, number = file.tell(), number + 1
            size += len(data or b"")
            if size >= PIECE_BYTES:
                yield Lines(lines, Place(offset, number, _mark(file, offset)), skipped, changed_ms)
                lines, size, skipped = [], 0, 0
                file.seek(offset)
        yield Lines(lines, Place(offset, number, _mark(file, offset)), skipped, changed_ms)


def is_valid(path: Path, place: Place) -> bool:
    """Whether what is before a place is still the same."""
    with open_file(path) as file:
        return _begin(file, place) == place


def read_at(file: BinaryIO, offset: int) -> bytes:
    """The line at an offset."""
    file.seek(offset)
    return file.readline(LONGEST_LINE + 1)


def _split(file: BinaryIO, offset: int, until: int | None) -> Iterator[bytes | None]:
    """Whole lines; None for each that is too long. The file stands behind the line that was given last."""
    file.seek(offset)
    while until is None or file.tell() < until:
        line = file.readline(LONGEST_LINE + 1)
        if line.endswith(b"\n"):
            yield line
        elif len(line) > LONGEST_LINE and _pass_over(file):
            yield None
        else:
            return


def _pass_over(file: BinaryIO) -> bool:
    """Whether a line that is too long has an end."""
    while part := file.readline(_BLOCK_BYTES):
        if part.endswith(b"\n"):
            return True
    return False


def _begin(file: BinaryIO, place: Place | None) -> Place:
    if place is None or place.offset < 0 or place.line < 0:
        return Place()
    size = os.fstat(file.fileno()).st_size
    return place if place.offset <= size and _mark(file, place.offset) == place.mark else Place()


def _mark(file: BinaryIO, offset: int) -> str:
    """Stands for the first and the last bytes before an offset: enough to notice that a file was rewritten."""
    if offset == 0:
        return ""
    file.seek(0)
    first = file.read(min(offset, _MARKED_BYTES))
    file.seek(max(0, offset - _MARKED_BYTES))
    last = file.read(min(offset, _MARKED_BYTES))
    return blake2b(first + last, digest_size=12).hexdigest()
