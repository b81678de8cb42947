"""Following pages: one request after the other, joined in order, and smaller pages if a reply is too large."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from ramet.errors import ReplyTooLarge
from ramet.protocol.operation import Operation, Request
from ramet.protocol.pages import Limit, Pages, cut, follow, follow_async, whole
from ramet.protocol.replies import Page


class Numbers(Page[int], frozen=True, kw_only=True):
    """Numbers, with what only one of the pages has."""

    begun: str | None = None
    asked: int


class _Undeclared:
    """Keeps the operation of a test out of the table of operations, which has what the classes of requests declare."""

    __slots__ = ()

    op = Operation("numbers.list", pages=Pages(cursor="after", size=4))


class ListNumbers(_Undeclared, Request[Numbers], frozen=True, kw_only=True):
    """List the numbers up to ten."""

    limit: Limit | None = None
    after: int = 0


class Server:
    """Answers as the daemon does: a page of at most so many numbers; more are too large for a reply."""

    def __init__(self, most: int = 100) -> None:
        self.most = most
        self.asked: list[tuple[int | None, int]] = []

    def __call__(self, request: Request[Any]) -> Any:
        assert isinstance(request, ListNumbers)
        limit = request.limit or 100
        self.asked.append((request.limit, request.after))
        found = list(range(request.after + 1, 11))[: limit + 1]
        if min(limit, len(found)) > self.most:
            raise ReplyTooLarge(field="limit", value=request.limit)
        page = cut(found, limit, lambda number: number)
        begun = "at one" if request.after == 0 else None
        return Numbers(items=page.items, next=page.next, begun=begun, asked=len(self.asked))

    async def wait(self, request: Request[Any]) -> Any:
        return self(request)


def _list_async(server: Server) -> list[Numbers]:
    async def read() -> list[Numbers]:
        return [page async for page in follow_async(server.wait, ListNumbers())]

    return asyncio.run(read())


def test_the_pages_follow_each_other_until_one_has_no_next() -> None:
    server = Server()
    assert [page.items for page in follow(server, ListNumbers())] == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]]
    assert server.asked == [(4, 0), (4, 4), (4, 8)]


def test_a_request_with_a_limit_and_a_place_is_followed_from_there_in_pages_of_that_size() -> None:
    server = Server()
    assert [page.items for page in follow(server, ListNumbers(limit=2, after=7))] == [[8, 9], [10]]


def test_a_page_that_is_too_large_is_asked_for_again_with_half_as_many_items() -> None:
    server = Server(most=1)
    assert [page.items for page in follow(server, ListNumbers(after=7))] == [[8], [9], [10]]
    assert server.asked == [(4, 7), (2, 7), (1, 7), (1, 8), (1, 9)]


@pytest.mark.parametrize("read", [lambda server: list(follow(server, ListNumbers())), _list_async])
def test_one_item_that_is_too_large_is_an_error(read: Callable[[Server], Any]) -> None:
    server = Server(most=0)
    with pytest.raises(ReplyTooLarge):
        read(server)
    assert [limit for limit, _ in server.asked] == [4, 2, 1]


def test_an_event_loop_follows_the_same_pages() -> None:
    server = Server(most=2)
    assert [page.items for page in _list_async(server)] == [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]]


def test_all_pages_make_one_reply_with_the_newest_facts_and_those_that_only_the_first_page_has() -> None:
    assert whole(Server(), ListNumbers()) == Numbers(items=list(range(1, 11)), next=None, begun="at one", asked=3)


def test_a_single_page_is_the_reply_itself() -> None:
    assert whole(Server(), ListNumbers(after=8)) == Numbers(items=[9, 10], next=None, begun=None, asked=1)
