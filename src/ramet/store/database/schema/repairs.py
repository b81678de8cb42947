"""Databases that superseded texts of migrations made, brought to what the present texts make.

Each repair is a file in `sql/repairs`, for both databases: how to see in the schema itself that a database needs it,
and what to do. It comes before the migrations that wait, because those expect its result, and it keeps every row. It
runs in one transaction, after which its question finds nothing. So one that was interrupted is done the next time.
"""

from importlib.resources import files
from typing import NamedTuple

from ramet.store.database.connection import Connection
from ramet.store.database.queries import Query, read_queries, split_statements


class Repair(NamedTuple):
    """One difference between a superseded text and the present one."""

    name: str
    """The number of its migration, and what it is about."""
    found: Query
    statements: tuple[Query, ...]


def load_repairs(dialect: str) -> list[Repair]:
    """Every repair, in the order of the migrations."""
    folder = files("ramet.store") / "sql" / "repairs" / dialect
    return [
        _parse(file.name.removesuffix(".sql"), read_queries(file))
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
    ]


def _parse(name: str, queries: dict[str, str]) -> Repair:
    texts = (queries["found"], *split_statements(queries["repair"]))
    found, *statements = (Query(f"repair {name}", text, text) for text in texts)
    return Repair(name, found, tuple(statements))


def find_repairs(connection: Connection, dialect: str) -> list[Repair]:
    """The repairs that a database needs."""
    return [repair for repair in load_repairs(dialect) if connection.one(repair.found)]
