"""Pages: a list that can be long is given in parts.

A request asks for one page with `limit`, the most items of the page, and `cursor`, the place where it starts. The reply
has the items and `next`: the cursor of the page after it, or null on the last page. An operation that gives pages says
so where it is declared, and `Pages` has the other names that some operations use for these fields:

    class ListEvents(Request[Page[Event]], frozen=True, kw_only=True):
        op = Operation("events.list", pages=Pages(cursor="after"))

- A page may be shorter than its `limit`, because every list has a maximum. Only `next` says whether it is the last one.
- A request without `limit` gets the operation's default. If that is None, the reply is whole, unless it is too large
  for one: then the error is `ReplyTooLarge`.
- A cursor is a place, not a page number: an item that is there throughout is in exactly one page, also if others are
  added or removed between two pages.

`follow` asks for one page after the other. It never has more than one page in memory; `join` has all of them.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from typing import Annotated, Any, TypeVar

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from ramet.errors import ReplyTooLarge
from ramet.protocol.operation import Ask, AsyncAsk, Operation, Pages, R, Request
from ramet.protocol.replies import Page

__all__ = [
    "Cursor",
    "Limit",
    "NumberedName",
    "Pages",
    "Place",
    "begin",
    "cut",
    "follow",
    "follow_async",
    "follow_places",
    "is_for_all",
    "join",
    "paged",
    "split",
    "take",
    "unite",
    "whole",
]

Limit = Annotated[int, Meta(ge=1, le=2**31 - 1)]
"""The most items that a page may have."""

Cursor = Annotated[int, Meta(ge=0, le=2**63 - 1)]
"""A place in a list that is ordered by a number. Lists in another order have a text instead."""

NumberedName = Annotated[str, Meta(pattern=r"^[0-9]{1,19}[.][^\x00]{1,4096}$")]
"""A place in a list that is ordered by a number and a name: `7.implement`."""

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Any)


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


def is_for_all(request: Request[Any]) -> bool:
    """Whether a request wants a whole list that comes in pages: it has no `limit` and no place to start from."""
    pages = request.op.pages
    if pages is None or (pages.unless is not None and getattr(request, pages.unless) is not None):
        return False
    return getattr(request, "limit", 1) is None and getattr(request, pages.cursor) is None


def whole(ask: Ask, request: Request[R]) -> R:
    """All pages as one reply."""
    return join(request.op, follow(ask, request))


def begin(ask: Ask, request: Request[R], number: int) -> R:
    """The first items of a list as one reply, over as many pages as they take. `next` is the place behind them."""
    name = paged(request.op).items[0]
    replies: list[Any] = []
    left, place = number, _first(request)
    while True:
        page = next(follow(ask, replace(request, **replace(place, limit=left).fields(paged(request.op)))))
        replies.append(page)
        left -= len(getattr(page, name))
        after = place.after(page)
        if after is None or left <= 0:
            return replace(join(request.op, replies), next=page.next)  # type: ignore[attr-defined, no-any-return]
        place = after


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


def take(
    found: Iterable[Item], key: Callable[[Item], Key], *, after: Key | None, limit: int | None
) -> tuple[list[Item], Key | None]:
    """A page of a list that was read whole, because its rows are few: at most `limit` items whose key is higher than
    `after`, in the order of their keys, and the last one's key if others follow.
    """
    # A database may order texts by the rules of a language, which differ from those of Python.
    left = sorted((item for item in found if after is None or key(item) > after), key=key)
    page = left if limit is None else left[:limit]
    return page, key(page[-1]) if len(page) < len(left) else None


def split(cursor: str | None) -> tuple[int, str] | None:
    """The number and the name of a cursor that has both."""
    if cursor is None:
        return None
    number, _, name = cursor.partition(".")
    return int(number), name


def unite(number: int, name: str) -> str:
    """The cursor of a number and a name."""
    return f"{number}.{name}"


def paged(operation: Operation) -> Pages:
    """How an operation gives its pages."""
    if operation.pages is None:
        raise TypeError(f"{operation.name} has no pages")
    return operation.pages


def _first(request: Request[Any]) -> Place:
    pages = paged(request.op)
    return Place(getattr(request, "limit", None) or pages.size, getattr(request, pages.cursor))
