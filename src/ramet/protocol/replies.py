"""Replies that several operations share."""

from typing import Generic, TypeVar

from msgspec import Struct

Item = TypeVar("Item")


class Page(Struct, Generic[Item], frozen=True, kw_only=True):
    """A part of a list; `next` is what to ask for to get the part behind it."""

    items: list[Item]
    next: int | None = None


class Deleted(Struct, frozen=True, kw_only=True):
    """Whether there was something to delete."""

    deleted: bool
