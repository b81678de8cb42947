"""Stored sessions that are files of lines: finding them below a folder, and reading one in pieces.

A position is an offset behind a whole line and a digest of what is before it. A file that grew is read from there; one
that was rewritten is read from its beginning, however long it is by now.
"""

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ramet.model.hooks.transcript import Reading
from ramet.model.memory.stored_session import Head, Piece, Source
from ramet.vendors.contract import transcript_lines
from ramet.vendors.contract.transcript_lines import LONGEST_LINE

PIECE_BYTES = 128 * 1024
"""What is read at once, and written in one transaction: little enough that nobody waits for it."""
_MARK_BYTES = 1024
"""How much of the beginning, and how much before an offset, tells whether a file is still the same."""
_DEEPEST = 8
"""How deep a folder that a person named is searched."""

ReadLines = Callable[[bytes, int], Reading]
"""What lines say; the bytes are those from an offset on."""
Tell = Callable[[list[dict[str, Any]]], Head | None]
"""What the first lines of a file say of its session; None if they are not enough, or not of this vendor."""


def walk(folder: Path, depth: int = _DEEPEST) -> Iterator[Path]:
    """The files below a folder, in the order of their names, those of a folder before those of its folders.

    Links to folders are not followed, so no loop is endless. Folders that cannot be read are passed over.
    """
    try:
        with os.scandir(folder) as listed:
            found = sorted(listed, key=lambda each: each.name)
    except OSError:
        return
    below = []
    for each in found:
        if _is(each.is_dir, follow_symlinks=False):
            below.append(each.path)
        elif _is(each.is_file):
            yield Path(each.path)
    for path in below if depth > 0 else ():
        yield from walk(Path(path), depth - 1)


def _is(asked: Callable[..., bool], **options: bool) -> bool:
    """A link may lead to itself."""
    try:
        return asked(**options)
    except OSError:
        return False


def find_source(vendor: str, path: Path, *, is_subagent: bool = False) -> Iterator[Source]:
    """The file as a source; nothing if it is gone or no regular file."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return
    if stat.S_ISREG(status.st_mode) and status.st_size:
        yield Source(
            vendor=vendor,
            key=str(path),
            path=str(path),
            size_bytes=status.st_size,
            changed_ms=status.st_mtime_ns // 1_000_000,
            is_subagent=is_subagent,
        )


def first_objects(path: Path, most: int = 20, most_bytes: int = 256 * 1024) -> list[dict[str, Any]]:
    """What the first lines of a file say, as far as they can be read; for telling whose file it is."""
    try:
        with _open(path) as file:
            return parse_lines(file.read(most_bytes), most)
    except OSError:
        return []


def parse_lines(data: bytes, most: int) -> list[dict[str, Any]]:
    """The first whole lines that are objects."""
    lines = data[: data.rfind(b"\n") + 1].split(b"\n", most)[:most]
    return [parsed for line in lines if line.strip() and (parsed := transcript_lines.parse_object(line)) is not None]


def read(source: Source, position: str | None, interpret: ReadLines, tell: Tell) -> Iterator[Piece]:
    """The pieces of a file from a position on, or from its beginning."""
    with _open(Path(source.path)) as file:
        offset = _find_offset(file, position)
        head_needed = offset == 0
        while True:
            data, skipped, end = _next_lines(file, offset)
            if end == offset:
                return
            reading = interpret(data, offset) if data else Reading(entries=[], offset=end)
            head = tell(parse_lines(data, 200)) if head_needed else None
            offset = end
            if head_needed and head is None:
                if reading.entries:
                    raise ValueError("its first lines do not say which session it is")
                continue  # nothing was said up to here
            head_needed = False
            yield Piece(
                entries=reading.entries,
                position=_position(file, offset),
                head=head,
                skipped=reading.skipped + skipped,
            )


def read_lines(path: Path) -> Iterator[bytes]:
    """The whole lines of a file, several at a time; those that are too long are left out."""
    with _open(path) as file:
        offset = 0
        while True:
            data, _, end = _next_lines(file, offset)
            if end == offset:
                return
            offset = end
            yield data


def _open(path: Path) -> BinaryIO:
    """Raises OSError if it is no regular file. Nobody's pipe may hold us up."""
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK | os.O_CLOEXEC))  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(f"{path} is not a regular file")
    return file


def _next_lines(file: BinaryIO, offset: int) -> tuple[bytes, int, int]:
    """The whole lines that follow, how many were passed over because they are too long, and where they end."""
    file.seek(offset)
    data = file.read(PIECE_BYTES)
    if len(data) == PIECE_BYTES and b"\n" not in data:
        data += file.readline(LONGEST_LINE)
        if not data.endswith(b"\n") and len(data) > LONGEST_LINE:
            return b"", *_pass_over(file, offset)
    end = data.rfind(b"\n") + 1
    return data[:end], 0, offset + end


def _pass_over(file: BinaryIO, offset: int) -> tuple[int, int]:
    """The rest of a line beyond all bounds; one that has no end yet is left for later."""
    while part := file.readline(PIECE_BYTES):
        if part.endswith(b"\n"):
            return 1, file.tell()
    return 0, offset


def _position(file: BinaryIO, offset: int) -> str:
    return f"{offset}-{_mark(file, offset)}"


def _find_offset(file: BinaryIO, position: str | None) -> int:
    """Where to continue; at the beginning if the file is another one by now."""
    offset, _, mark = (position or "").partition("-")
    if not offset.isdecimal() or os.fstat(file.fileno()).st_size < int(offset):
        return 0
    return int(offset) if _mark(file, int(offset)) == mark else 0


def _mark(file: BinaryIO, offset: int) -> str:
    """A digest of the beginning of a file, and of what is before an offset."""
    file.seek(0)
    digest = hashlib.blake2b(file.read(min(_MARK_BYTES, offset)), digest_size=8)
    file.seek(max(0, offset - _MARK_BYTES))
    digest.update(file.read(min(_MARK_BYTES, offset)))
    return digest.hexdigest()
