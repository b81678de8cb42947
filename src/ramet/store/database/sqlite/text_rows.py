"""Every text in a SQLite file."""

from collections.abc import Iterator
from typing import Any

import apsw

from ramet.store.database.sqlite.connection import SqliteConnection
from ramet.store.database.sqlite.result_codes import translate
from ramet.store.database.text_rows import EXEMPT, TextRow, TextRows

_PAGE = 500


class SqliteTextRows(TextRows):
    """Rows by rowid. Names of tables and columns come from the file's own schema, and are quoted."""

    def __init__(self, connection: SqliteConnection) -> None:
        self._database = connection.database
        # What is replaced is overwritten with zeros, in pages that stay in use as well.
        self._database.execute("PRAGMA secure_delete = ON").fetchall()

    def tables(self) -> list[str]:
        rows = self._database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
        return [str(name) for (name,) in rows.fetchall() if name not in EXEMPT]

    def read(self, table: str) -> Iterator[TextRow]:
        info = self._database.execute(f'PRAGMA table_info("{table}")').fetchall()
        columns = [str(row[1]) for row in info if row[2] in ("TEXT", "BLOB")]
        if not columns:
            return
        names = ", ".join(f'"{column}"' for column in columns)
        page = f'SELECT rowid, {names} FROM "{table}" WHERE rowid > ? ORDER BY rowid LIMIT {_PAGE}'  # noqa: S608
        after: Any = -(2**63)
        while rows := self._database.execute(page, (after,)).fetchall():
            for key, *values in rows:
                pairs = zip(columns, values, strict=True)
                yield TextRow(key, {name: value for name, value in pairs if isinstance(value, str | bytes)})
            after = rows[-1][0]

    def change(self, table: str, key: Any, texts: dict[str, str | bytes]) -> None:
        sets = ", ".join(f'"{column}" = ?' for column in texts)
        self._database.execute(f'UPDATE "{table}" SET {sets} WHERE rowid = ?', (*texts.values(), key))  # noqa: S608

    def defer_references(self) -> None:
        self._database.execute("PRAGMA defer_foreign_keys = ON").fetchall()

    def compact(self) -> None:
        try:
            self._database.execute("VACUUM")
            if self._database.pragma("journal_mode") == "wal":
                self._database.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.Error as error:
            raise translate(error) from error
