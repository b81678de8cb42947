"""Reads an archive of Ramet: a file of compressed lines, never more of it than one line and one part at a time.

The file is read twice. The first time everything in it is verified, so that nothing is written of an archive that is
damaged or hostile. The second time its rows are sent.
"""

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import msgspec
import zstandard

from ramet.errors import ArchiveInvalid, FileMissing
from ramet.model.memory.exports.archive import LONGEST_LINE_BYTES, ArchiveRow, Header, Verifier
from ramet.protocol.memory.archives import AddArchiveRows, AddedRows

MAGIC = b"\x28\xb5\x2f\xfd"
"""How a zstd file starts."""
_CHUNK_BYTES = 1 << 20
_LARGEST_WINDOW_BYTES = 1 << 27
_PART_ROWS = 200
_PART_BYTES = 1 << 20

Advance = Callable[[int], None]


class Archive:
    """An archive that was verified."""

    def __init__(self, path: Path, header: Header, counts: dict[str, int], digest: bytes) -> None:
        self.path = path
        self.header = header
        self.counts = counts
        self._digest = digest

    @property
    def total(self) -> int:
        """How many rows it has."""
        return sum(self.counts.values())

    def parts(self) -> Iterator[AddArchiveRows]:
        """Its rows, a few at a time. A file that has changed since it was verified is refused before its end."""
        digest = hashlib.sha256()
        rows: list[ArchiveRow] = []
        size = 0
        for number, line in enumerate(_lines(self.path)):
            digest.update(line)
            if number == 0 or line.startswith(b'{"end":'):
                continue
            rows.append(msgspec.json.decode(line, type=ArchiveRow))
            size += len(line)
            if len(rows) >= _PART_ROWS or size >= _PART_BYTES:
                yield self._part(rows)
                rows, size = [], 0
        if digest.digest() != self._digest:
            raise ArchiveInvalid(f"{self.path} changed while it was read", field="path", value=str(self.path))
        if rows:
            yield self._part(rows)

    def _part(self, rows: list[ArchiveRow]) -> AddArchiveRows:
        return AddArchiveRows(origin=self.header.origin, exported_at=self.header.exported_at, rows=rows)


class ImportReport(msgspec.Struct, frozen=True, kw_only=True):
    """What an import of an archive added."""

    path: str
    origin: str
    added: dict[str, int]
    known: int
    renamed: dict[str, str]


def is_archive(path: Path) -> bool:
    """Whether a file is compressed as archives of Ramet are. Whether it is a good one shows when it is verified."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def verify(path: Path) -> Archive:
    """Read the whole file, and refuse it with the number of the first line that is wrong."""
    verifier = Verifier()
    digest = hashlib.sha256()
    for line in _lines(path):
        digest.update(line)
        verifier.read(line)
    verifier.close()
    assert verifier.header is not None  # noqa: S101
    return Archive(path, verifier.header, verifier.counts, digest.digest())


def send(archive: Archive, ask: Callable[[AddArchiveRows], AddedRows], advance: Advance) -> ImportReport:
    """Import a verified archive. `advance` gets the number of rows of each part."""
    added: dict[str, int] = {}
    renamed: dict[str, str] = {}
    known = 0
    for part in archive.parts():
        reply = ask(part)
        for table, count in reply.added.items():
            added[table] = added.get(table, 0) + count
        renamed |= reply.renamed
        known += reply.known
        advance(len(part.rows))
    return ImportReport(path=str(archive.path), origin=archive.header.origin, added=added, known=known, renamed=renamed)


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from _split(file)
    except FileNotFoundError as error:
        raise FileMissing(f"{path} does not exist", field="path", value=str(path)) from error
    except OSError as error:
        raise ArchiveInvalid(
            f"{path} cannot be read: {error.strerror or error}", field="path", value=str(path)
        ) from error
    except zstandard.ZstdError as error:
        raise ArchiveInvalid(f"{path} is damaged: {error}", field="path", value=str(path)) from error


def _split(file: IO[bytes]) -> Iterator[bytes]:
    """Lines with their ends. A line without one is the last, and the verifier misses what should follow it."""
    stream = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW_BYTES).stream_reader(file)
    pending: list[bytes] = []
    size = 0
    while chunk := stream.read(_CHUNK_BYTES):
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            yield b"".join((*pending, part, b"\n"))
            pending, size = [], 0
        pending.append(rest)
        size += len(rest)
        if size > LONGEST_LINE_BYTES:
            raise ArchiveInvalid(f"a line has more than {LONGEST_LINE_BYTES:,} bytes", field="line")
    if size:
        yield b"".join(pending)
