"""Rows with parts: the flat columns of one table as nested values, and back.

A part's encoded field names are the names of its columns. So the store, which reads columns, and the protocol, which
shows flat rows, need no table of their own to go from one form to the other.
"""

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any

from msgspec import Struct
from msgspec.structs import fields


class Part(Struct, frozen=True, kw_only=True, array_like=True):
    """A value inside a row: its encoded fields, two or more, are columns of that row. A tuple of these converts to it:
    that costs less than a mapping.
    """


@cache
def parts_of(kind: type[Struct]) -> dict[str, tuple[str, ...]]:
    """The fields of a row that are parts of it, each with the names of its columns."""
    return {
        field.name: field.type.__struct_encode_fields__
        for field in fields(kind)
        if isinstance(field.type, type) and issubclass(field.type, Part)
    }


def flatten(row: Struct) -> dict[str, Any]:
    """All columns of a row by their names, those of its parts among them."""
    names, values = _columns(type(row))
    return dict(zip(names, values(row), strict=True))


@cache
def _columns(kind: type[Struct]) -> tuple[tuple[str, ...], Callable[[Struct], tuple[Any, ...]]]:
    """The columns of a row, and where their values are in it."""
    paths: dict[str, str] = {}
    for field in fields(kind):
        if field.name in parts_of(kind):
            paths |= {inner.encode_name: f"{field.name}.{inner.name}" for inner in fields(field.type)}
        else:
            paths[field.encode_name] = field.name
    return tuple(paths), attrgetter(*paths.values())
