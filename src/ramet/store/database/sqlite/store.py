"""The store on one SQLite file."""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Literal, NamedTuple

import apsw

from ramet.clock import Clock
from ramet.config.places import make_private
from ramet.errors import DatabaseDamaged, DatabaseForeign, DatabaseReadOnly, InvalidParams, StoreError
from ramet.faults import Faults
from ramet.model.instant import to_iso
from ramet.protocol.system.database import BackupReport, LogState, QueryResult
from ramet.store.database.connection import Connection
from ramet.store.database.damage_signs import DamageSigns
from ramet.store.database.lock import DatabaseLock
from ramet.store.database.queries import QueryFile
from ramet.store.database.schema.catalog import compare
from ramet.store.database.schema.foreign import refuse_altered
from ramet.store.database.schema.migrations import Dialect, migrate
from ramet.store.database.sqlite import wal
from ramet.store.database.sqlite.backup_file import APPLICATION_ID, Identity, verify
from ramet.store.database.sqlite.catalog import expect_schema, read_schema
from ramet.store.database.sqlite.connection import SqliteConnection, open_reader, open_writer
from ramet.store.database.sqlite.files import create_private, flush, remove_database
from ramet.store.database.sqlite.marker import naming_ways_out, refuse_another, write_marker
from ramet.store.database.sqlite.query import run_query
from ramet.store.database.sqlite.result_codes import translate
from ramet.store.database.sqlite.swap import carry_on
from ramet.store.database.sqlite.text_rows import SqliteTextRows
from ramet.store.database.store import QueryBounds, ReadableStore, Store
from ramet.store.database.text_rows import TextRows

_sql = QueryFile("database/migrations")
_SMALL_ROWS = 1_000
"""A table with fewer rows may soon have many."""
_FEW_ROWS = 100
"""The same for an index that has only some of a table's rows."""
_CUT_MS = 20
"""How long the end of a purge waits for readers to cut the WAL: nobody can write meanwhile."""
_FLUSH_SECONDS = 0.02
"""How often a backup is flushed while it is written."""
_CUT_TRIES = 50
_CUT_REST_SECONDS = 0.1
"""Then others write, and it tries again."""
_FREED_PAGES = 64
"""How many free pages one transaction gives back, so that the writer waits only milliseconds for it."""


class Memory(NamedTuple):
    """What a home remembers of its database, in files of its own."""

    marker: Path
    decision: Path
    """A swap that was decided and perhaps not finished."""
    is_checked: bool
    """Whether another file in its place is refused. A program that names the file itself may have made it anew."""


class _SqliteFile:
    """What migrations need to know of the file."""

    dialect: Dialect = "sqlite"

    def __init__(self, connection: SqliteConnection) -> None:
        self.connection = connection

    def schema_version(self) -> int:
        try:
            mark = self.connection.database.pragma("application_id")
        except apsw.Error as error:
            raise translate(error) from error
        tables = [row[0] for row in self.connection.all(_sql.tables)]
        if mark == APPLICATION_ID:
            return int(self.connection.must(_sql.version)[0])
        if mark == 0 and not tables:
            return 0
        raise DatabaseForeign("the file is another program's database")

    def mark(self) -> None:
        self.connection.database.pragma("application_id", APPLICATION_ID)

    def differences(self, version: int) -> list[str]:
        return compare(expect_schema(version), read_schema(self.connection))


class SqliteReadableStore(ReadableStore):
    """One file, which somebody else may write."""

    dialect: Dialect = "sqlite"

    def __init__(self, path: Path, vfs: str | None = None) -> None:
        self.path = path
        self.signs = DamageSigns()
        self._vfs = vfs

    def describe(self) -> str:
        return f"sqlite {self.path}"

    def connect_reader(self) -> SqliteConnection:
        try:
            reader = open_reader(self.path, self._vfs)
        except DatabaseDamaged as error:
            self.signs.note(error)
            raise
        reader.signs = self.signs
        return reader

    def query(self, sql: str, params: Sequence[object], bounds: QueryBounds) -> QueryResult:
        reader = self.connect_reader()
        try:
            return run_query(reader.database, sql, params, bounds)
        except apsw.Error as error:
            raise reader.explain(error) from error
        finally:
            reader.close()

    def back_up(self, target: Path) -> BackupReport:
        try:
            copied = copy_database(self.path, target, self._vfs)
        except DatabaseDamaged as error:
            self.signs.note(error)
            raise
        return BackupReport(path=str(target), bytes=target.stat().st_size, schema_version=copied.schema_version)

    def measure(self) -> dict[str, int]:
        reader = self.connect_reader()
        try:
            rows = reader.database.execute("SELECT name, sum(pgsize) FROM dbstat WHERE aggregate = TRUE GROUP BY name")
            found: dict[str, int] = dict(rows.fetchall())  # type: ignore[arg-type]
            ((free,),) = reader.database.execute(
                "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size"
            )
        except apsw.Error as error:
            raise reader.explain(error) from error
        finally:
            reader.close()
        return found | {"(free)": int(free), "(wal)": wal.measure(self.path).bytes}

    def measure_log(self) -> LogState:
        return wal.measure(self.path)

    def schema_differences(self) -> list[str]:
        reader = open_reader(self.path, self._vfs)
        try:
            file = _SqliteFile(reader)
            return file.differences(file.schema_version())
        finally:
            reader.close()

    def integrity_parts(self) -> list[str]:
        """A part for each table with its indexes, and one for the list of tables with the free pages."""
        reader = self.connect_reader()
        try:
            return ["sqlite_schema", *(row[0] for row in reader.all(_sql.tables))]
        finally:
            reader.close()

    def integrity(self, part: str | None = None) -> Iterator[str]:
        reader = self.connect_reader()
        chosen = "" if part is None else f"({apsw.format_sql_value(part)})"
        try:
            for (found,) in reader.database.execute(f"PRAGMA integrity_check{chosen}"):
                if found != "ok":
                    yield str(found)
            for table, row, parent, _ in reader.database.execute(f"PRAGMA foreign_key_check{chosen}"):
                yield f"row {row} of {table} points at a missing row of {parent}"
        except apsw.Error as error:
            raise reader.explain(error) from error
        finally:
            reader.close()


class SqliteStore(SqliteReadableStore, Store):
    """One file, one lock, one writer, any number of readers."""

    def __init__(
        self,
        path: Path,
        *,
        lock_file: Path,
        backups: Path,
        durability: Literal["full", "process"],
        clock: Clock,
        faults: Faults,
        vfs: str | None = None,
        memory: Memory | None = None,
    ) -> None:
        """Without a memory, a file is taken for what it is."""
        super().__init__(path, vfs)
        self._clock = clock
        self._memory = memory
        self._lock = DatabaseLock(lock_file)
        self._are_files_left = False
        self.backups = backups
        try:
            if memory is not None:
                carry_on(path, memory.decision, memory.marker, faults)
                if memory.is_checked:
                    refuse_another(path, memory.marker, backups)
            create_private(path)
            with nullcontext() if memory is None else naming_ways_out(memory.marker, backups):
                _refuse_foreign(path, vfs)
            self._writer = open_writer(path, durability, vfs)
            self._writer.signs = self.signs
            try:
                faults.reach("during_recovery")
                # Again: what was cut off may have been undone only now.
                refuse_altered(self._writer, "sqlite", _SqliteFile(self._writer).schema_version())
                self.migrated = migrate(
                    _SqliteFile(self._writer),
                    clock=clock,
                    faults=faults,
                    back_up=lambda version: self.back_up_into(backups, f"before-v{version + 1}", clock),
                )
                self.remember()
            except BaseException:
                self._writer.close()
                raise
        except BaseException:
            self._lock.release()
            raise

    def connect(self) -> SqliteConnection:
        return self._writer

    def text_rows(self, connection: Connection) -> TextRows:
        assert isinstance(connection, SqliteConnection)  # noqa: S101
        return SqliteTextRows(connection)

    def limit_log(self) -> LogState:
        """Cut the WAL on the writer's connection if it is too large; its state before that, or who prevents it."""
        found = wal.measure(self.path)
        if found.is_large:
            # First without the writer's lock: this copies nearly everything.
            self._writer.copy_log()
            self._writer.cut_log()
        return found

    def forget_deleted(self) -> None:
        # On a connection of its own: the writer goes on between the pages.
        beside = open_writer(self.path, "process", self._vfs)
        try:
            with suppress(apsw.BusyError):
                # Pages that are free may have old texts: they leave the file, a few in each transaction.
                for _ in range(0, beside.database.pragma("freelist_count"), _FREED_PAGES):
                    beside.database.execute(f"PRAGMA incremental_vacuum({_FREED_PAGES})").fetchall()
                # The first holds nobody up and copies nearly everything; the second holds the writer up for the rest.
                beside.copy_log()
                for _ in range(_CUT_TRIES):
                    if beside.cut_log(_CUT_MS):
                        break
                    time.sleep(_CUT_REST_SECONDS)
        finally:
            beside.close()

    def erase(self) -> None:
        self._writer.close()
        if self._memory is not None:  # first: what follows is no loss
            self._memory.marker.unlink(missing_ok=True)
        remove_database(self.path)

    def mark(self, number: int | None) -> None:
        """Write a number into the header, where it is read without opening the database. It tells a file inside a
        project from another one that is put in its place.
        """
        if number is not None and self._writer.database.pragma("user_version") != number:
            self._writer.database.pragma("user_version", number)
            self._writer.database.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def remember(self) -> None:
        """Note in the home which database this is, and how far it has come. A full disk is no reason to fail: an older
        marker is right, too.
        """
        if self._memory is not None and self._memory.is_checked:
            with suppress(OSError, StoreError):
                write_marker(self._memory.marker, self.path, to_iso(self._clock.now_ms()))

    @property
    def files(self) -> list[Path]:
        """The database and what SQLite keeps beside it; the first is the database."""
        return [self.path.with_name(self.path.name + end) for end in ("", "-wal", "-shm")]

    def rescue(self, target: Path) -> None:
        """Copy what the writer's connection sees to a new file, whatever has become of the names of its own files."""
        partial = target.with_name(target.name + ".partial")
        partial.unlink(missing_ok=True)
        create_private(partial)
        self._writer.rollback()
        copy = apsw.Connection(str(partial))
        try:
            with copy.backup("main", self._writer.database, "main") as backup:
                backup.step()
            copy.execute("PRAGMA journal_mode = DELETE")
        except apsw.Error as error:
            raise translate(error) from error
        finally:
            copy.close()
        descriptor = os.open(partial, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
        partial.rename(target)

    def leave_files(self) -> None:
        """Change nothing more, also not when closing: neither the database nor its log, which may be needed."""
        self._writer.database.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        self._are_files_left = True

    def close(self) -> None:
        """Optimise, copy the WAL back, truncate it, and close."""
        try:
            if self.path.exists() and not self._are_files_left:
                self._writer.rollback()
                _learn_sizes(self._writer.database)
                self._writer.database.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                self.remember()
        except apsw.Error as error:
            raise translate(error) from error
        finally:
            try:
                self._writer.close()
            finally:
                self._lock.release()


def _learn_sizes(database: apsw.Connection) -> None:
    """Let SQLite learn how large its tables are, and make small ones look larger.

    The next daemon may run for months. A table that SQLite knows as empty is scanned by every hook, however large it
    becomes, because scanning nothing costs nothing. Indexes of a few rows of a table, such as its open sessions, stay
    smaller than the table, because that is what they are for.
    """
    database.execute("PRAGMA optimize").fetchall()
    if not database.execute("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'").fetchone():
        return
    partial = "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql LIKE '%WHERE%'"
    some_rows = {name for (name,) in database.execute(partial)}
    for row, index, stat in database.execute("SELECT rowid, idx, stat FROM sqlite_stat1").fetchall():
        rows, *keys = str(stat).split()
        least = _FEW_ROWS if index in some_rows else _SMALL_ROWS
        if int(rows) < least:
            known = " ".join([str(least), *("1" if key == "0" else key for key in keys)])
            database.execute("UPDATE sqlite_stat1 SET stat = ? WHERE rowid = ?", (known, row))


def _refuse_foreign(path: Path, vfs: str | None) -> None:
    """Raise if the file is another program's, by reading alone: opening it to write would change its header."""
    try:
        reader = open_reader(path, vfs)
        try:
            refuse_altered(reader, "sqlite", _SqliteFile(reader).schema_version())
        finally:
            reader.close()
    except DatabaseForeign as error:
        raise DatabaseForeign(
            f"{path}: {error.message}", field="database.path", value=str(path), fix=error.fix
        ) from error
    except DatabaseDamaged as error:
        if not isinstance(error.__cause__, apsw.NotADBError):
            raise DatabaseDamaged(f"{path}: {error.message}", field="database.path", value=str(path)) from error
        raise DatabaseForeign(
            f"{path}: the file is damaged or not a database: {error.__cause__}",
            field="database.path",
            value=str(path),
        ) from error
    except DatabaseReadOnly:
        pass  # what was cut off while the file was made has to be undone first, by a writer: migrating looks again


@contextmanager
def _flushing(path: Path) -> Iterator[None]:
    """Flush a file while it is written. If all of it is left for the end, the file system makes every other flush wait
    for it, those of the writer too.
    """
    is_over = threading.Event()

    def flush() -> None:
        descriptor = os.open(path, os.O_RDONLY)
        while not is_over.wait(_FLUSH_SECONDS):
            os.fsync(descriptor)
        os.close(descriptor)

    thread = threading.Thread(target=flush, name="flush")
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def copy_database(source: Path, target: Path, vfs: str | None = None) -> Identity:
    """A consistent copy in a new file, which appears under its name only when it is whole and was verified."""
    if target.exists():
        raise InvalidParams(
            f"{target} already exists", field="path", value=str(target), fix="name a file that does not exist yet"
        )
    make_private(target.parent)
    partial = target.with_name(target.name + ".partial")
    partial.unlink(missing_ok=True)
    try:
        create_private(partial)
        _copy_into(source, partial, vfs)
        identity = verify(partial)
        flush(partial)
        partial.rename(target)
        flush(target.parent)
    except BaseException:
        remove_database(partial)
        raise
    return identity


def _copy_into(source: Path, target: Path, vfs: str | None) -> None:
    reader = open_reader(source, vfs)
    try:
        reader.database.execute("PRAGMA query_only = OFF")
        with _flushing(target):
            reader.database.execute("VACUUM INTO ?", (str(target),))
    except apsw.Error as error:
        raise translate(error) from error
    finally:
        reader.close()
