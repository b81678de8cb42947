"""Replies that several operations share."""

from typing import Generic, TypeVar

from msgspec import Struct

Item = TypeVar("Item")


class Page(Struct, Generic[Item], frozen=True, kw_only=True):
    """A page of a list. `next` is the cursor of the following page, or null on the last one."""

    items: list[Item]
    next: int | None = None


class Deleted(Struct, frozen=True, kw_only=True):
    """Whether something was deleted."""

    deleted: bool
