"""The index as a file: who opens it, when it is replaced, and by which rules it was written.

`search.db` is fed by one writer and read by any thread. It can be deleted, damaged or written by another version at any
time: then it is built again, and an old one that can still be asked answers until the new one is complete. Nothing else
is in it, so nothing is lost.
"""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import apsw

from ramet.errors import IndexDamaged
from ramet.model.memory.search.words import SPLITTER
from ramet.store.database.connection import Connection
from ramet.store.database.queries import QueryFile
from ramet.store.database.sqlite.connection import SqliteConnection
from ramet.store.database.sqlite.result_codes import is_damage

_sql = QueryFile("memory/index")

TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])
_BUSY_MS = 5000
_CACHE_KIB = 8192

Freshen = Callable[[Connection], None]
"""Brings the index up to date before a query, as far as that is quick. It is given the asker's connection."""


@cache
def _schema() -> str:
    return (files("ramet.store") / "sql" / "search.sql").read_text(encoding="utf-8")


@cache
def _schema_mark() -> str:
    return sha256(_schema().encode()).hexdigest()[:12]


def fingerprint() -> str:
    """By which rules an index is written: its schema, with the tokenizer in it, and how words are split."""
    return f"{_schema_mark()}/{SPLITTER}"


class IndexConnection(SqliteConnection):
    """A connection to an index, whose damage is not the database's."""

    def explain(self, error: apsw.Error) -> Exception:
        return IndexDamaged(f"the search index is damaged: {error}") if is_damage(error) else super().explain(error)


class SearchIndex:
    """One index. Without a path it is temporary: nobody else sees it, and it is gone with its owner."""

    def __init__(self, path: Path | None = None, *, rules: str | None = None) -> None:
        self.path = path
        self.rules = rules or fingerprint()
        self.freshen: Freshen | None = None
        self.is_damaged = False
        """A reader sets this; the writer replaces the file."""
        self._local = threading.local()
        self._readers: list[apsw.Connection] = []
        self._writer: SqliteConnection | None = None
        self._inode: int | None = None
        self._is_next = False
        self._lock = threading.Lock()

    # For the one who writes.

    def writer(self) -> SqliteConnection:
        """The connection that writes. It opens the file, makes a new one, or begins the next one beside an old one."""
        if self.is_damaged:
            self.discard()
        if self._writer is not None and self._has_vanished():
            self.close_writer()
        if self._writer is None:
            self._open_writer()
        assert self._writer is not None  # noqa: S101
        return self._writer

    @property
    def is_building_next(self) -> bool:
        """Whether an index is being written that replaces this one when it is complete, in whichever process."""
        return self.path is not None and _inode_of(self._next_path()) is not None

    def complete(self) -> None:
        """The next index has everything: it takes the place of the old one."""
        if not self._is_next or self.path is None or self._writer is None:
            return
        self._writer.database.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        self.close_writer()
        _remove(self.path, keep_main=True)
        self._next_path().replace(self.path)
        _remove(self._next_path())

    def discard(self) -> None:
        """Remove the file. What is asked next makes a new one."""
        self.is_damaged = False
        self.close_writer()
        if self.path is not None:
            _remove(self._next_path())
            _remove(self.path)

    def supersede(self) -> None:
        """Begin a new index beside this one, which answers until the new one is complete."""
        if self._writer is not None and self.path is not None and not self._is_next:
            self._writer.run(_sql.put_meta, name="rules", value=f"{self.rules.partition('/')[0]}/superseded")
            self.close_writer()
        else:
            self.discard()

    def scrub(self) -> None:
        """What was deleted is in no file any more: the free pages are zero, and the log is empty."""
        if self._writer is not None and self.path is not None:
            self._writer.database.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def close_writer(self) -> None:
        """Let go of the file that is written."""
        writer, self._writer, self._inode, self._is_next = self._writer, None, None, False
        if writer is not None:
            with suppress(apsw.Error):
                writer.database.close()

    # For those who ask.

    def reader(self) -> SqliteConnection | None:
        """This thread's connection that only reads; None if there is no index yet, or none that can be asked."""
        if self.path is None:
            return self.writer()
        inode = _inode_of(self.path)
        if inode is None:
            return None
        known: tuple[int, SqliteConnection] | None = getattr(self._local, "reader", None)
        if known is not None and known[0] == inode:
            return known[1]
        reader = self._open_reader(self.path)
        if reader is not None:
            self._local.reader = (inode, reader)
        return reader

    def close(self) -> None:
        """Close every connection."""
        self.close_writer()
        with self._lock:
            for reader in self._readers:
                with suppress(apsw.Error):
                    reader.close()
            self._readers.clear()

    def _open_reader(self, path: Path) -> SqliteConnection | None:
        database = None
        try:
            database = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY, statementcachesize=64)
            database.set_busy_timeout(_BUSY_MS)
            for pragma in ("query_only = ON", "mmap_size = 0", "temp_store = MEMORY", f"cache_size = -{_CACHE_KIB}"):
                database.execute(f"PRAGMA {pragma}").fetchall()
            reader = IndexConnection(database)
            rules = _rules_of(reader)
        except (apsw.CorruptError, apsw.NotADBError):
            self.is_damaged = True
            return None
        except (apsw.CantOpenError, apsw.SQLError):
            return None  # it is being made
        if rules is None or rules.partition("/")[0] != self.rules.partition("/")[0]:
            database.close()
            return None  # of another schema: only the next index can be asked
        with self._lock:
            self._readers.append(database)
        return reader

    def _next_path(self) -> Path:
        assert self.path is not None  # noqa: S101
        return self.path.with_name(f"{self.path.name}.next")

    def _has_vanished(self) -> bool:
        return self.path is not None and _inode_of(self._written_path()) != self._inode

    def _written_path(self) -> Path:
        assert self.path is not None  # noqa: S101
        return self._next_path() if self._is_next else self.path

    def _open_writer(self) -> None:
        if self.path is None:
            self._writer = _create(None, self.rules)
            return
        found = _open_written(self.path)
        rules = None if found is None else _rules_of(found)
        if found is not None and rules == self.rules:
            self._keep(found, is_next=False)
            return
        if found is not None:
            found.database.close()
        if rules is None or rules.partition("/")[0] != self.rules.partition("/")[0]:
            _remove(self.path)
            self._keep(_create(self.path, self.rules), is_next=False)
            return
        following = _open_written(self._next_path())
        if following is None or _rules_of(following) != self.rules:
            if following is not None:
                following.database.close()
            _remove(self._next_path())
            following = _create(self._next_path(), self.rules)
        self._keep(following, is_next=True)

    def _keep(self, writer: SqliteConnection, *, is_next: bool) -> None:
        self._writer, self._is_next = writer, is_next
        self._inode = _inode_of(self._written_path())


def _open_written(path: Path) -> SqliteConnection | None:
    """A file that is there and can be read; None if it has to be made."""
    if _inode_of(path) is None:
        return None
    try:
        writer = _connect(str(path), apsw.SQLITE_OPEN_READWRITE)
        _rules_of(writer)
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, apsw.CantOpenError):
        return None
    return writer


def _create(path: Path | None, rules: str) -> SqliteConnection:
    """A new, empty index. The folder has to be there: a home that was deleted is not made again."""
    if path is not None:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
    writer = _connect("" if path is None else str(path), apsw.SQLITE_OPEN_READWRITE)
    writer.begin()
    writer.database.execute(_schema())
    writer.run(_sql.put_meta, name="rules", value=rules)
    writer.commit()
    return writer


def _connect(name: str, flags: int) -> SqliteConnection:
    database = apsw.Connection(
        name, flags=flags | apsw.SQLITE_OPEN_CREATE if name == "" else flags, statementcachesize=128
    )
    database.set_busy_timeout(_BUSY_MS)
    for pragma in (
        "journal_mode = WAL",
        # A power loss may cost the newest part, which is then read again; the database has everything.
        "synchronous = NORMAL",
        "secure_delete = ON",
        "temp_store = MEMORY",
        f"cache_size = -{_CACHE_KIB}",
        "wal_autocheckpoint = 500",
    ):
        database.execute(f"PRAGMA {pragma}").fetchall()
    return IndexConnection(database)


def _rules_of(connection: SqliteConnection) -> str | None:
    """By which rules a file was written; None if it is no index or is not finished."""
    try:
        row = connection.database.execute("SELECT value FROM meta WHERE name = 'rules'").fetchone()
    except apsw.SQLError:
        return None
    return None if row is None else str(row[0])


def _inode_of(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _remove(path: Path, *, keep_main: bool = False) -> None:
    for end in ("-wal", "-shm", *(() if keep_main else ("",))):
        with suppress(OSError):
            path.with_name(path.name + end).unlink()
