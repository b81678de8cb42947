"""Pages: a list that can be long is given in parts.

A request asks for one page with `limit`, the most items of the page, and `cursor`, the place where it starts. The reply
has the items and `next`: the cursor of the page after it, or null on the last page. An operation that gives pages says
so where it is declared, and `Pages` has the other names that some operations use for these fields:

    class ListEvents(Request[Page[Event]], frozen=True, kw_only=True):
        op = Operation("events.list", pages=Pages(cursor="after"))

- A page may be shorter than its `limit`, because every list has a maximum. Only `next` says whether it is the last one.
- A request without `limit` gets the operation's default. If that is None, the reply is whole, unless it is too large
  for one: then the error is `ReplyTooLarge`.
- A cursor is a place, not a page number: an item that is there throughout is in exactly one page, whatever is added or
  removed between two pages.

`follow` asks for one page after the other. It never has more than one page in memory; `join` has all of them.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from ramet.errors import ReplyTooLarge
from ramet.protocol.operation import Ask, AsyncAsk, Operation, Pages, R, Request
from ramet.protocol.replies import Page

__all__ = ["Cursor", "Limit", "Pages", "Place", "cut", "follow", "follow_async", "follow_places", "join", "whole"]

Limit = Annotated[int, Meta(ge=1, le=2**31 - 1)]
"""The most items that a page may have."""

Cursor = Annotated[int, Meta(ge=0, le=2**63 - 1)]
"""A place in a list that is ordered by a number. Lists in another order have a text instead."""

Item = TypeVar("Item")


class Place(Struct, frozen=True):
    """A page to ask for."""

    limit: int
    cursor: int | str | None

    def after(self, reply: Any) -> "Place | None":
        """The page after the one that a reply is; None after the last one."""
        return None if reply.next is None else replace(self, cursor=reply.next)

    def smaller(self) -> "Place | None":
        """The same place with half as many items; None if it has only one."""
        return None if self.limit == 1 else replace(self, limit=self.limit // 2)

    def fields(self, pages: Pages) -> dict[str, Any]:
        """Its fields in a request."""
        place = {} if self.cursor is None else {pages.cursor: self.cursor}
        return {"limit": self.limit, **place}


def follow(ask: Ask, request: Request[R]) -> Iterator[R]:
    """The pages from the request's own place to the end. Its `limit` is the size of a page (default: `Pages.size`).

    If a page is too large for a reply, it is asked for again with half as many items.
    """
    pages = paged(request.op)
    return follow_places(lambda place: ask(replace(request, **place.fields(pages))), _first(request))


def follow_places(read: Callable[[Place], R], first: Place) -> Iterator[R]:
    """The same for a caller that asks in another way than with a request."""
    place: Place | None = first
    while place is not None:
        try:
            reply = read(place)
        except ReplyTooLarge:
            place = place.smaller()
            if place is None:
                raise
            continue
        yield reply
        place = place.after(reply)


async def follow_async(ask: AsyncAsk, request: Request[R]) -> AsyncIterator[R]:
    """The same on an event loop."""
    pages = paged(request.op)
    place: Place | None = _first(request)
    while place is not None:
        try:
            reply = await ask(replace(request, **place.fields(pages)))
        except ReplyTooLarge:
            place = place.smaller()
            if place is None:
                raise
            continue
        yield reply
        place = place.after(reply)


def whole(ask: Ask, request: Request[R]) -> R:
    """All pages as one reply."""
    return join(request.op, follow(ask, request))


def join(operation: Operation, replies: Iterable[R]) -> R:
    """One reply with the items of all pages.

    Its other fields are those of the last page, which is the newest. If a field is null there, it is the first page's.
    """
    names = paged(operation).items
    items: dict[str, list[Any]] = {name: [] for name in names}
    first: Any = None
    last: Any = None
    for last in replies:
        first = first or last
        for name in names:
            items[name].extend(getattr(last, name))
    if first is last:
        return last  # type: ignore[no-any-return]
    facts = {field: getattr(first, field) if value is None else value for field, value in asdict(last).items()}
    return type(last)(**{**facts, **items, "next": None})  # type: ignore[no-any-return]


def cut(found: Sequence[Item], limit: int, cursor_of: Callable[[Item], int]) -> Page[Item]:
    """A page of what was found with one item more than `limit`. Its `next` is the cursor of its last item."""
    items = list(found[:limit])
    return Page(items=items, next=cursor_of(items[-1]) if len(found) > limit else None)


def paged(operation: Operation) -> Pages:
    """How an operation gives its pages."""
    if operation.pages is None:
        raise TypeError(f"{operation.name} has no pages")
    return operation.pages


def _first(request: Request[Any]) -> Place:
    pages = paged(request.op)
    return Place(getattr(request, "limit", None) or pages.size, getattr(request, pages.cursor))
