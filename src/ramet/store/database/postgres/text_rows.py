"""Every text in a PostgreSQL database."""

from collections.abc import Iterator
from typing import Any

from psycopg.sql import SQL, Identifier

from ramet.store.database.postgres.connection import PostgresConnection
from ramet.store.database.postgres.export import known_tables
from ramet.store.database.text_rows import EXEMPT, TextRow, TextRows

_PAGE = 500
_COLUMNS = (
    b"SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = %s "
    b"AND data_type IN ('text', 'bytea') ORDER BY ordinal_position"
)


class PostgresTextRows(TextRows):
    """Rows by ctid, which names a row until it is changed, and each is changed once."""

    def __init__(self, connection: PostgresConnection) -> None:
        self._database = connection.database
        self._changed: set[str] = {"blobs"}

    def tables(self) -> list[str]:
        return [table for table in known_tables() if table not in EXEMPT]

    def read(self, table: str) -> Iterator[TextRow]:
        columns = [str(name) for (name,) in self._database.execute(_COLUMNS, (table,)).fetchall()]
        if not columns:
            return
        names = SQL(", ").join(Identifier(column) for column in columns)
        with self._database.cursor(name="texts") as cursor:
            cursor.itersize = _PAGE
            cursor.execute(SQL("SELECT ctid::text, {} FROM {}").format(names, Identifier(table)))
            for key, *values in cursor:
                pairs = zip(columns, values, strict=True)
                yield TextRow(key, {name: value for name, value in pairs if isinstance(value, str | bytes)})

    def change(self, table: str, key: Any, texts: dict[str, str | bytes]) -> None:
        sets = SQL(", ").join(SQL("{} = %s").format(Identifier(column)) for column in texts)
        statement = SQL("UPDATE {} SET {} WHERE ctid = %s::tid").format(Identifier(table), sets)
        self._database.execute(statement, (*texts.values(), key))
        self._changed.add(table)

    def defer_references(self) -> None:
        self._database.execute("SET CONSTRAINTS ALL DEFERRED")

    def compact(self) -> None:
        for table in sorted(self._changed):
            self._database.execute(SQL("VACUUM FULL {}").format(Identifier(table)))
