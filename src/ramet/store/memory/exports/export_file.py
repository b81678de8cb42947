"""Writes an export to a new file, which gets its name when it is whole. Nothing waits for the writer meanwhile."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import zstandard

from ramet.errors import InvalidParams, StorageFailed
from ramet.protocol.memory.archives import Export, ExportReport
from ramet.store.database.blobs import Codec
from ramet.store.database.connection import Connection
from ramet.store.memory.exports.archive_lines import ArchiveLines
from ramet.store.memory.exports.scope import find_scope
from ramet.store.memory.exports.trajectories import Trajectories
from ramet.version import __version__

_LEVEL = 6
_PARTIAL = ".partial"


def write_export(db: Connection, request: Export) -> ExportReport:
    """Write what a request names. The whole export shows one moment."""
    target = Path(request.path)
    if not target.is_absolute():
        raise InvalidParams(
            "the path is not absolute", field="path", value=request.path, fix="give a path that starts with /"
        )
    db.begin_reading()
    try:
        scope = find_scope(db, request)
        if request.format == "ramet":
            source = ArchiveLines(db, Codec(), scope, exported_by=__version__)
            size = _write(target, source.lines(), is_compressed=True)
            counts = source.counts
        else:
            written = Trajectories(db, Codec(), scope, request.format)
            size = _write(target, written.parts(), is_compressed=False)
            counts = written.counts
    finally:
        db.rollback()
    return ExportReport(path=str(target), bytes=size, format=request.format, counts=counts)


def _write(target: Path, parts: Iterable[bytes], *, is_compressed: bool) -> int:
    try:
        with _new_file(target) as file:
            if is_compressed:
                with zstandard.ZstdCompressor(level=_LEVEL).stream_writer(file, closefd=False) as stream:
                    for part in parts:
                        stream.write(part)
            else:
                for part in parts:
                    file.write(part)
        return target.stat().st_size
    except OSError as error:
        raise StorageFailed(f"{target} cannot be written: {error.strerror or error}", field="path") from error


@contextmanager
def _new_file(target: Path) -> Iterator[IO[bytes]]:
    """A file that only its owner can read, and that takes no other file's place."""
    if target.exists() or target.is_symlink():
        raise InvalidParams(
            f"{target} already exists", field="path", value=str(target), fix="name a file that does not exist yet"
        )
    partial = target.with_name(target.name + _PARTIAL)
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.rename(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
