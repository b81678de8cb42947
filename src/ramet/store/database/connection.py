"""A connection: runs named queries, in a transaction of its owner's making. One class per database implements it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from operator import itemgetter
from string import ascii_lowercase, ascii_uppercase
from typing import Any, NamedTuple, TypeVar, cast

import msgspec
from msgspec import Struct
from msgspec.inspect import DictType, ListType, StructType, UnionType, type_info

from ramet.errors import DatabaseDamaged
from ramet.model.row_parts import parts_of
from ramet.store.database.damage_signs import DamageSigns
from ramet.store.database.queries import Query

Row = tuple[Any, ...]
AnyStruct = TypeVar("AnyStruct", bound=Struct)
_Pick = Callable[[Sequence[Any]], Sequence[Any]]

_ASCII_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


class Retry(Exception):
    """Another transaction got in the way: run the operation again from its start."""


class Connection(ABC):
    """What the domain verbs need of a database."""

    signs: DamageSigns | None = None
    """Who is told if a statement finds damage."""

    @property
    def is_broken(self) -> bool:
        """Whether the database has gone away under this connection."""
        return False

    @property
    def is_out_of_touch(self) -> bool:
        """Whether others may have been unable to reach the database until just now."""
        return False

    @abstractmethod
    def all(self, query: Query, **params: Any) -> list[Row]:
        """Every row."""

    @abstractmethod
    def one(self, query: Query, **params: Any) -> Row | None:
        """The first row, or None."""

    @abstractmethod
    def columns(self, query: Query) -> tuple[str, ...]:
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
        """Undo it; harmless if the database has already done so."""

    @abstractmethod
    def close(self) -> None:
        """Close the database."""

    def wipe_deleted(self) -> None:  # noqa: B027 - a server's pages are its administrator's
        """Overwrite what this transaction deletes or replaces, if the database's pages are ours."""

    def run(self, query: Query, **params: Any) -> None:
        """Execute for the effect alone."""
        self.all(query, **params)

    def must(self, query: Query, **params: Any) -> Row:
        """The row of a statement that always gives one."""
        row = self.one(query, **params)
        if row is None:
            raise LookupError(f"{query.name} returned no row")
        return row

    def structs(self, kind: type[AnyStruct], query: Query, **params: Any) -> list[AnyStruct]:
        """Every row as a struct whose fields, or those of its parts, are the columns."""
        rows = self.all(query, **params)
        if not rows:
            return []
        layout = _lay_out(kind, self.columns(query))
        return [_build(layout, row) for row in rows]

    def struct(self, kind: type[AnyStruct], query: Query, **params: Any) -> AnyStruct | None:
        """The first row as a struct, or None."""
        row = self.one(query, **params)
        return None if row is None else cast("AnyStruct", _build(_lay_out(kind, self.columns(query)), row))

    def must_struct(self, kind: type[AnyStruct], query: Query, **params: Any) -> AnyStruct:
        """The row of a statement that always gives one, as a struct."""
        row = self.must(query, **params)
        return cast("AnyStruct", _build(_lay_out(kind, self.columns(query)), row))


class _Layout(NamedTuple):
    """The positions of a query's columns in a struct."""

    kind: type[Struct]
    own: tuple[str, ...]
    """The columns that are fields of the struct itself; all others belong to its parts."""
    pick_own: _Pick
    parts: list[tuple[str, _Pick]]
    json: list[tuple[int, str]]
    """The columns that the database keeps as JSON text."""


@cache
def _lay_out(kind: type[Struct], names: tuple[str, ...]) -> _Layout:
    parts = parts_of(kind)
    inner = {column for columns in parts.values() for column in columns}
    own = tuple(name for name in names if name not in inner)
    as_json = set(_json_columns(kind))
    return _Layout(
        kind=kind,
        own=own,
        pick_own=itemgetter(*map(names.index, own)) if parts else tuple,
        parts=[(name, itemgetter(*map(names.index, columns))) for name, columns in parts.items()],
        json=[(place, name) for place, name in enumerate(names) if name in as_json],
    )


def _build(layout: _Layout, row: Row) -> Any:
    columns = list(row)
    for place, name in layout.json:
        if isinstance(text := columns[place], str):
            columns[place] = _decode(layout.kind, name, text)
    values = dict(zip(layout.own, layout.pick_own(columns), strict=True))
    for name, pick in layout.parts:
        values[name] = pick(columns)
    return msgspec.convert(values, layout.kind, strict=False)


def _decode(kind: type[Struct], name: str, text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise DatabaseDamaged(
            f"the {name} of a stored {kind.__name__.lower()} is damaged: {error}",
            field=name,
            value=text,
        ) from error


def _json_columns(kind: type[Struct]) -> Iterator[str]:
    """The columns of a row that the database keeps as JSON text."""
    info = type_info(kind)
    assert isinstance(info, StructType)  # noqa: S101
    for field in info.fields:
        if field.name in parts_of(kind) and isinstance(field.type, StructType):
            yield from _json_columns(field.type.cls)
        elif _is_json(field.type):
            yield field.encode_name


def _is_json(kind: msgspec.inspect.Type) -> bool:
    if isinstance(kind, UnionType):
        return any(_is_json(part) for part in kind.types)
    return isinstance(kind, DictType | ListType | StructType)


def to_json(value: Any) -> str | None:
    """A value as the database keeps it; None stays NULL."""
    return None if value is None else msgspec.json.encode(value).decode()


def containing(word: str | None) -> str | None:
    """A LIKE pattern (escaped by `!`) for lower-case texts that contain a word; None matches any text.

    Only the letters A to Z have a lower case here, because SQLite knows no others.
    """
    if word is None:
        return None
    escaped = word.translate(_ASCII_LOWER).replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return f"%{escaped}%"
