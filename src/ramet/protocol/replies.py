"""Replies that several operations share."""

from typing import Generic, TypeVar

from msgspec import Struct

Item = TypeVar("Item")


class Page(Struct, Generic[Item], frozen=True, kw_only=True):
    """A page of a list. `next` is the cursor of the following page, or null on the last one: a number, or a text if
    the list is not ordered by a number.
    """

    items: list[Item]
    next: int | str | None = None


class Deleted(Struct, frozen=True, kw_only=True):
    """Whether something was deleted."""

    deleted: bool
