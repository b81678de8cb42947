"""Another program's SQLite file, read without writing to it or beside it. It is never one of ours.

SQLite itself would write: the first reader of a file in WAL mode makes `-wal` and `-shm` beside it, or writes into
them. So how a file is opened depends on what stands beside it:

- in rollback mode: read-only, with the usual locks, which write nothing;
- in WAL mode without a log: as a file that nobody changes (`immutable`);
- with a log and its index: read-only, the index too (`readonly_shm`);
- with a log but no index, or with a journal of a crash: a private copy of both, removed when nobody reads it.

Memory is bounded by the cache of pages and by the values that a query selects.
"""

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import quote

import apsw

from ramet.model.memory.stored_session import Source
from ramet.vendors.contract.stored_files.line_file import open_file
from ramet.vendors.contract.stored_files.unreadable import SourceUnreadable

LARGEST_COPY = 8 * 1024**3
"""The largest file of which a private copy is made, in bytes."""
_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_WAL_MODE = 2
_BUSY_MS = 2000
_COPY_ATTEMPTS = 3
_FLAGS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
_BOUNDS = (
    "PRAGMA cache_size=-8192",  # 8 MiB
    "PRAGMA mmap_size=0",  # a file that shrinks while it is mapped would end the process
    "PRAGMA query_only=1",
    "PRAGMA trusted_schema=0",
    "PRAGMA temp_store=2",
)
Value = str | int | float | bytes | None


class Database:
    """A file that is open for reading."""

    def __init__(self, path: Path, connection: apsw.Connection) -> None:
        self.path = path
        self._connection = connection

    def rows(self, query: str, *values: Value) -> Iterator[tuple[Any, ...]]:
        """The rows that a query gives, one at a time."""
        with _reasons(self.path):
            yield from self._connection.execute(query, values)

    def record(self, query: str, *values: Value) -> dict[str, Any] | None:
        """The first row by the names of its columns: what columns there are differs between versions of a program."""
        with _reasons(self.path):
            cursor = self._connection.execute(query, values)
            row = next(cursor, None)
            if row is None:
                return None
            names = [column[0] for column in cursor.get_description()]
            cursor.close()
            return dict(zip(names, row, strict=True))

    def columns(self, table: str) -> set[str]:
        """The columns of a table; none if it does not exist, or is a view."""
        found = "SELECT 1 FROM sqlite_schema WHERE type='table' AND name=?1 AND sql NOT LIKE 'CREATE VIRTUAL%'"
        if not list(self.rows(found, table)):
            return set()
        return {row[0] for row in self.rows("SELECT name FROM pragma_table_info(?1)", table)}


@contextmanager
def open_database(path: Path, needs: Mapping[str, Sequence[str]]) -> Iterator[Database]:
    """A file with these tables, and these columns in them; `SourceUnreadable` says why it cannot be read."""
    _check_header(path)
    connection = None
    try:
        with _reasons(path):
            connection, _copy = _connect(path)
            for bound in _BOUNDS:
                connection.execute(bound)
        database = Database(path, connection)
        _check_tables(database, needs)
        yield database
    finally:
        if connection is not None:
            connection.close()


def is_database(path: Path) -> bool:
    """Whether a file begins like one of SQLite's."""
    try:
        return _read_header(path).startswith(_MAGIC)
    except OSError:
        return False


def describe_file(vendor: str, path: Path) -> Source:
    """A database whose sessions cannot be listed, as one source: reading it says why."""
    states = [_state(path), _state(_beside(path, "wal"))]
    size, changed_ns = sum(state.size for state in states), max(state.changed_ns for state in states)
    return Source(vendor=vendor, key=str(path), path=str(path), size_bytes=size, changed_ms=changed_ns // 1_000_000)


def _read_header(path: Path) -> bytes:
    with open_file(path) as file:
        return file.read(_HEADER_BYTES)


def _check_header(path: Path) -> None:
    header = _read_header(path)
    if not header:
        raise SourceUnreadable(path, "it is empty")
    if not header.startswith(_MAGIC):
        raise SourceUnreadable(path, "it is no SQLite database, or it is encrypted")


def _check_tables(database: Database, needs: Mapping[str, Sequence[str]]) -> None:
    for table, columns in needs.items():
        missing = sorted(set(columns) - database.columns(table))
        if missing:
            raise SourceUnreadable(
                database.path,
                f"its table {table!r} has no {', '.join(missing)}: an unknown version of the program wrote it",
            )


class _Copy:
    """A private copy of a file, in a folder that is removed when nothing refers to it, or the process ends."""

    def __init__(self, path: Path, states: tuple["_State", ...]) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ramet-import-"))
        self.file = self.folder / path.name
        self.states = states
        """What it is a copy of."""
        self.remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)


class _State(NamedTuple):
    """By what a changed file is noticed."""

    size: int
    changed_ns: int
    inode: int


_copies: dict[Path, _Copy] = {}
"""The newest copy alone: many sessions are in one file, and each is read on its own."""
_copying = Lock()


def _connect(path: Path) -> tuple[apsw.Connection, _Copy | None]:
    wal, shm, journal = (_state(_beside(path, name)).size for name in ("wal", "shm", "journal"))
    if journal and not _is_wal(path):
        return _connect_copy(path)
    if not _is_wal(path):
        return _open(path, "mode=ro"), None
    if not wal:
        return _open(path, "mode=ro&immutable=1"), None
    if shm:
        try:
            connection = _open(path, "mode=ro&readonly_shm=1")
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.BusyError, apsw.IOError, apsw.ProtocolError):
            pass  # the index does not fit the log: nobody has it open, and we may not write a new one
        else:
            return connection, None
    return _connect_copy(path)


def _connect_copy(path: Path) -> tuple[apsw.Connection, _Copy]:
    copy = _copy(path)
    connection = apsw.Connection(str(copy.file), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(_BUSY_MS)
    return connection, copy


def _open(path: Path, parameters: str) -> apsw.Connection:
    connection = apsw.Connection(f"file:{quote(str(path.absolute()))}?{parameters}", flags=_FLAGS)
    connection.set_busy_timeout(_BUSY_MS)
    return connection


def _is_wal(path: Path) -> bool:
    return _read_header(path)[18:20] == bytes((_WAL_MODE, _WAL_MODE))


def _beside(path: Path, name: str) -> Path:
    return path.with_name(f"{path.name}-{name}")


def _state(path: Path) -> _State:
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return _State(0, 0, 0)
    return _State(status.st_size, status.st_mtime_ns, status.st_ino)


def _copy(path: Path) -> _Copy:
    """A copy of a file and its log as they were at one moment."""
    sources = [path, _beside(path, "wal"), _beside(path, "journal")]
    with _copying:
        for _ in range(_COPY_ATTEMPTS):
            before = tuple(_state(source) for source in sources)
            if path in _copies and _copies[path].states == before:
                return _copies[path]
            _copies.clear()
            made = _copy_files(path, sources, before)
            if tuple(_state(source) for source in sources) == before:
                _copies[path] = made
                return made
            made.remove()
    raise SourceUnreadable(path, "another program is writing to it; repeat the import when it is idle")


def _copy_files(path: Path, sources: Sequence[Path], states: tuple[_State, ...]) -> _Copy:
    size, room = sum(state.size for state in states), Path(tempfile.gettempdir())
    if size > LARGEST_COPY or shutil.disk_usage(room).free < 2 * size:
        raise SourceUnreadable(
            path, f"it was not closed, and there is no room in {room} for a private copy of {size:,} bytes"
        )
    copy = _Copy(path, states)
    for source, state in zip(sources, states, strict=True):
        if state.size:
            with open_file(source) as original, (copy.folder / source.name).open("wb") as target:
                shutil.copyfileobj(original, target, 1024 * 1024)
    return copy


@contextmanager
def _reasons(path: Path) -> Iterator[None]:
    """Says in words for a person what SQLite could not do."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise SourceUnreadable(path, "another program has locked it; repeat the import when it is idle") from error
    except apsw.NotADBError as error:
        raise SourceUnreadable(path, "it is no SQLite database, or it is encrypted") from error
    except (apsw.CorruptError, apsw.FormatError) as error:
        raise SourceUnreadable(path, f"it is damaged: {error}") from error
    except (apsw.Error, UnicodeDecodeError) as error:
        raise SourceUnreadable(path, f"SQLite cannot read it: {error}") from error
