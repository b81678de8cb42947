"""Salvage: a new database with every row of a damaged one that can still be read.

Rows come from the pages themselves, each where it says it belongs. They go into the schema of the version that the
damaged file has, whose constraints refuse what cannot be a row of ours. Then what points at nothing is repaired. The
damaged file is only read.
"""

import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import apsw
from msgspec import Struct

from ramet.errors import DatabaseForeign, DatabaseNewer
from ramet.store.database.schema.migrations import load_migrations
from ramet.store.database.sqlite.backup_file import APPLICATION_ID
from ramet.store.database.sqlite.files import create_private, remove_database
from ramet.store.database.sqlite.salvage.pages import PageFile, Trees
from ramet.store.database.sqlite.salvage.records import Row, read_rows
from ramet.store.database.sqlite.salvage.repairs import REASON, Repairs, repair

_SCHEMA_ROOT = 1
_SAMPLE_ROWS = 50


class TableLosses(Struct, frozen=True, kw_only=True):
    """What was read of one table, and what is known to be lost."""

    table: str
    rows: int
    """How many rows the new database has."""
    unreadable: int = 0
    """Rows whose bytes make no sense, or that break a rule of the table."""
    missing: int = 0
    """Numbers below the highest that no row has. Rows that were deleted before the damage count, too."""


class Salvaged(Struct, frozen=True, kw_only=True):
    """What a salvage has read."""

    schema_version: int
    pages: int
    orphans: int
    """Rows of pages that belong to no known table. They are left out."""
    tables: list[TableLosses]
    messages_without_text: int
    """Messages whose own row is there, and whose text is lost."""
    repairs: Repairs


class _Columns(NamedTuple):
    """The columns of a table in the order of its records."""

    names: list[str]
    key: int | None
    """Which of them is the number of the row, of which a record says nothing."""


class _Target:
    """The new database while it is filled."""

    def __init__(self, path: Path, version: int) -> None:
        self.database = apsw.Connection(str(path))
        # Nothing is flushed before the end: an unfinished file is removed.
        self.database.execute("PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA synchronous = OFF")
        self.database.execute("PRAGMA foreign_keys = OFF; PRAGMA cache_size = -64000; BEGIN IMMEDIATE")
        for migration in load_migrations("sqlite"):
            if migration.number <= version:
                for statement in migration.statements:
                    self.database.execute(statement)
        self.database.pragma("application_id", APPLICATION_ID)
        names = self.database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
        )
        self.columns = {str(name): self._columns(str(name)) for (name,) in names}
        for table in self.columns:
            self.database.execute(f"DELETE FROM {table}")  # noqa: S608 - a migration may have put a row there

    def insert(self, table: str, row: Row) -> bool:
        """Add a row; False if it cannot be a row of this table."""
        columns = self.columns[table]
        if len(row.values) > len(columns.names):
            return False
        values = list(row.values)
        if columns.key is not None and columns.key < len(values):
            values[columns.key] = row.rowid
        names = ", ".join(columns.names[: len(values)])
        places = ", ".join("?" * len(values))
        try:
            self.database.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", values)  # noqa: S608
        except apsw.Error:
            return False
        return True

    def accepts(self, table: str, rows: list[Row]) -> int:
        """How many of these rows the table would take."""
        self.database.execute("SAVEPOINT trial")
        taken = sum(self.insert(table, row) for row in rows)
        self.database.execute("ROLLBACK TO trial; RELEASE trial")
        return taken

    def complete(self, version: int) -> None:
        """Fill in what no database is without: the record of its migrations, and its own name."""
        for migration in load_migrations("sqlite"):
            if migration.number <= version:
                self.database.execute(
                    "INSERT OR IGNORE INTO schema_migrations (number, name, applied_at) VALUES (?, ?, '')",
                    (migration.number, migration.name),
                )
        if "origins" in self.columns:
            self.database.execute("INSERT OR IGNORE INTO origins (id, name) VALUES (1, ?)", (secrets.token_hex(16),))

    def count(self, table: str) -> int:
        """How many rows a table has now."""
        ((rows,),) = self.database.execute(f"SELECT count(*) FROM {table}")  # noqa: S608
        return int(rows)

    def find_highest(self, table: str) -> int:
        """The highest number of a row."""
        key = self.columns[table].key
        if key is None:
            return 0
        name = self.columns[table].names[key]
        ((highest,),) = self.database.execute(f"SELECT coalesce(max({name}), 0) FROM {table}")  # noqa: S608
        return int(highest)

    def count_silent(self) -> int:
        """How many messages have lost their text."""
        ((count,),) = self.database.execute(
            "SELECT count(*) FROM messages m LEFT JOIN commits c ON c.id = m.commit_id "
            "LEFT JOIN blobs b ON b.id = c.blob_id LEFT JOIN tombstones t ON t.subject = 'blob' AND t.hash = b.hash "
            "WHERE b.id IS NULL OR t.reason = ?",
            (REASON,),
        )
        return int(count)

    def _columns(self, table: str) -> _Columns:
        rows = self.database.execute(f"PRAGMA table_info({table})").fetchall()
        keys = [index for index, row in enumerate(rows) if row[5]]
        is_number = len(keys) == 1 and rows[keys[0]][2] == "INTEGER"
        return _Columns([str(row[1]) for row in rows], keys[0] if is_number else None)


def salvage(source: Path, staged: Path, now: str) -> Salvaged:
    """Read what can be read of `source` into the new file `staged`."""
    file = PageFile(source)
    remove_database(staged)
    try:
        file.require_ours()
        trees = Trees(file)
        trees.walk(_SCHEMA_ROOT)
        roots = _find_roots(file, trees)
        for root in roots:
            trees.walk(root)
        create_private(staged)
        return _fill(file, trees, roots, staged, now)
    except BaseException:
        remove_database(staged)
        raise
    finally:
        file.close()


def _find_roots(file: PageFile, trees: Trees) -> dict[int, str]:
    """The table of each root, as the schema says that is in the file."""
    roots = {}
    for page, root in trees.find_leaves():
        if root in (_SCHEMA_ROOT, None):  # its own rows are known by what they say
            for row in read_rows(file, page):
                match row:
                    case Row(values=["table", str(name), _, int(number), str(sql)]) if sql.startswith("CREATE TABLE"):
                        roots[number] = name
    return roots


def _fill(file: PageFile, trees: Trees, roots: dict[int, str], staged: Path, now: str) -> Salvaged:
    known: dict[str, list[int]] = {}
    unknown: list[list[int]] = []
    nameless: dict[int, list[int]] = {}
    for page, root in trees.find_leaves():
        if root is None:
            unknown.append([page])
        elif root in roots:
            known.setdefault(roots[root], []).append(page)
        elif root != _SCHEMA_ROOT:
            nameless.setdefault(root, []).append(page)
    version = _find_version(file, known.get("schema_migrations", []))
    target = _Target(staged, version)
    try:
        bad = {table: _insert(target, table, file, pages) for table, pages in known.items() if table in target.columns}
        orphans = 0
        # After those whose place is known: a row that is there already is not taken twice.
        for pages in (*nameless.values(), *unknown):
            rows = [row for page in pages for row in read_rows(file, page) if row is not None]
            table = _guess(target, rows)
            if table is None:
                orphans += len(rows)
            else:
                bad[table] = bad.get(table, 0) + _insert(target, table, file, pages)
        if not any(target.count(table) for table in target.columns):
            raise DatabaseForeign("no row of a Ramet database was found in the file", field="path")
        target.complete(version)
        repairs = repair(target.database, now)
        target.database.execute("COMMIT")
        given = _read_given_numbers(file, known.get("sqlite_sequence", []))
        tables = [_report(target, table, bad.get(table, 0), given.get(table, 0)) for table in sorted(target.columns)]
        return Salvaged(
            schema_version=version,
            pages=file.pages,
            orphans=orphans,
            tables=tables,
            messages_without_text=target.count_silent(),
            repairs=repairs,
        )
    finally:
        target.database.close()


def _report(target: _Target, table: str, unreadable: int, given: int) -> TableLosses:
    rows, highest = target.count(table), max(given, target.find_highest(table))
    return TableLosses(table=table, rows=rows, unreadable=unreadable, missing=max(0, highest - rows) if highest else 0)


def _read_given_numbers(file: PageFile, pages: Iterable[int]) -> dict[str, int]:
    """The highest number that each table has ever given to a row, as far as SQLite keeps it."""
    found: dict[str, int] = {}
    for page in pages:
        for row in read_rows(file, page):
            match row:
                case Row(values=[str(name), int(number)]):
                    found[name] = max(number, found.get(name, 0))
    return found


def _insert(target: _Target, table: str, file: PageFile, leaves: Iterable[int]) -> int:
    """Add the rows of these pages; how many could not be added."""
    return sum(row is None or not target.insert(table, row) for page in leaves for row in read_rows(file, page))


def _guess(target: _Target, rows: list[Row]) -> str | None:
    """The table whose rows these are, if neither the schema nor a pointer says so: the only one that takes them."""
    sample = rows[:_SAMPLE_ROWS]
    fitting = [
        table
        for table, columns in target.columns.items()
        if sample and len(columns.names) == len(sample[0].values) and target.accepts(table, sample) == len(sample)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _find_version(file: PageFile, pages: Iterable[int]) -> int:
    """The schema version: as the file records it, or else the newest."""
    newest = load_migrations("sqlite")[-1].number
    found = [row.rowid for page in pages for row in read_rows(file, page) if row is not None]
    version = max(found, default=newest)
    if version > newest:
        raise DatabaseNewer(
            f"the database has schema version {version}; this version of Ramet knows versions up to {newest}",
            field="schema_version",
            value=version,
        )
    return version
