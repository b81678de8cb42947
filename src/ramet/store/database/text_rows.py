"""Every text in a database, whatever tables it has: read from the schema, so that no new column is forgotten.

This is for the few things that have to see everything. Each database says how its rows are named and changed.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

EXEMPT = frozenset({"schema_migrations", "blobs", "tombstones"})
"""Tables without texts of others; contents of blobs are packed, and read on their own."""


class TextRow(NamedTuple):
    """The texts of one row."""

    key: Any
    """Names the row while its transaction is open."""
    texts: dict[str, str | bytes]
    """By their columns."""


class TextRows(ABC):
    """The rows of one database."""

    @abstractmethod
    def tables(self) -> list[str]:
        """The tables that may hold texts."""

    @abstractmethod
    def read(self, table: str) -> Iterator[TextRow]:
        """Each row of a table that has a text."""

    @abstractmethod
    def change(self, table: str, key: Any, texts: dict[str, str | bytes]) -> None:
        """Replace texts of a row."""

    @abstractmethod
    def defer_references(self) -> None:
        """Check references at the end of the transaction: a name may change before what refers to it."""

    @abstractmethod
    def compact(self) -> None:
        """Leave nothing of what was replaced in the database's files. Not inside a transaction."""
