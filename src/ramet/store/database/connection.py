"""A connection: runs named queries, in a transaction of its owner's making. One class per database implements it."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from string import ascii_lowercase, ascii_uppercase
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.inspect import DictType, ListType, StructType, UnionType, type_info

from ramet.errors import StoreError
from ramet.store.database.queries import Query

Row = tuple[Any, ...]
AnyStruct = TypeVar("AnyStruct", bound=Struct)

_ASCII_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


class Retry(Exception):
    """Another transaction got in the way: run the operation again from its start."""


class Connection(ABC):
    """What the domain verbs need of a database."""

    @property
    def is_broken(self) -> bool:
        """Whether the database has gone away under this connection."""
        return False

    @abstractmethod
    def all(self, query: Query, **params: Any) -> list[Row]:
        """Every row."""

    @abstractmethod
    def one(self, query: Query, **params: Any) -> Row | None:
        """The first row, or None."""

    @abstractmethod
    def columns(self, query: Query) -> Sequence[str]:
        """The names of the columns of a query that has returned a row."""

    @abstractmethod
    def begin(self, *, locks_rows: bool = False) -> None:
        """Start a transaction that may write. One that locks the rows it decides on need not see one single moment."""

    @abstractmethod
    def begin_reading(self) -> None:
        """Start a transaction that only reads and sees one moment throughout."""

    @abstractmethod
    def commit(self) -> None:
        """Make it durable."""

    @abstractmethod
    def rollback(self) -> None:
        """Undo it; harmless where the database has already done so."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the database."""

    def run(self, query: Query, **params: Any) -> None:
        """Execute for the effect alone."""
        self.all(query, **params)

    def must(self, query: Query, **params: Any) -> Row:
        """The row of a statement that always gives one."""
        row = self.one(query, **params)
        if row is None:
            raise LookupError(f"{query.name} gave no row")
        return row

    def structs(self, kind: type[AnyStruct], query: Query, **params: Any) -> list[AnyStruct]:
        """Every row as a struct whose fields are the columns."""
        rows = self.all(query, **params)
        names = self.columns(query) if rows else ()
        return [_build(kind, names, row) for row in rows]

    def struct(self, kind: type[AnyStruct], query: Query, **params: Any) -> AnyStruct | None:
        """The first row as a struct, or None."""
        row = self.one(query, **params)
        return None if row is None else _build(kind, self.columns(query), row)

    def must_struct(self, kind: type[AnyStruct], query: Query, **params: Any) -> AnyStruct:
        """The row of a statement that always gives one, as a struct."""
        row = self.must(query, **params)
        return _build(kind, self.columns(query), row)


def _build(kind: type[AnyStruct], names: Sequence[str], row: Row) -> AnyStruct:
    values = dict(zip(names, row, strict=True))
    for name in json_fields(kind):
        text = values.get(name)
        if isinstance(text, str):
            values[name] = _decode(kind, name, text)
    return msgspec.convert(values, kind, strict=False)


def _decode(kind: type[Struct], name: str, text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise StoreError(
            f"the {name} of a stored {kind.__name__.lower()} is damaged: {error}",
            field=name,
            value=text,
            fix="run `ramet db check`; restore a backup, or write it anew",
        ) from error


@cache
def json_fields(kind: type[Struct]) -> tuple[str, ...]:
    """The fields that the database keeps as JSON text."""
    info = type_info(kind)
    assert isinstance(info, StructType)  # noqa: S101
    return tuple(field.name for field in info.fields if _is_json(field.type))


def _is_json(kind: msgspec.inspect.Type) -> bool:
    if isinstance(kind, UnionType):
        return any(_is_json(part) for part in kind.types)
    return isinstance(kind, DictType | ListType | StructType)


def to_json(value: Any) -> str | None:
    """A value as the database keeps it; None stays NULL."""
    return None if value is None else msgspec.json.encode(value).decode()


def containing(word: str | None) -> str | None:
    """A LIKE pattern (escaped by `!`) for lower-case texts that contain a word; None stands for any text.

    Only the letters A to Z have a lower case here, because more than those SQLite does not know.
    """
    if word is None:
        return None
    escaped = word.translate(_ASCII_LOWER).replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return f"%{escaped}%"
