"""Following pages: one request after the other, joined in order, and smaller pages if a reply is too large."""

import asyncio
from collections.abc import Callable
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
import pytest
from msgspec import Struct
from tests.protocol.least_params import least_params
from tests.protocol.unpaged_lists import REASONS

from ramet.errors import InvalidParams, ReplyTooLarge
from ramet.protocol.operation import Operation, Request, reply_kinds
from ramet.protocol.operations import OPERATIONS
from ramet.protocol.pages import Limit, Pages, begin, cut, follow, follow_async, is_for_all, paged, whole
from ramet.protocol.replies import Page
from ramet.protocol.wire.frames import decode_params


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


def test_the_beginning_of_a_list_is_one_reply_over_as_many_pages_as_it_takes() -> None:
    server = Server(most=3)
    begun = begin(server, ListNumbers(after=1), 7)
    assert (begun.items, begun.next) == ([2, 3, 4, 5, 6, 7, 8], 8)
    assert begin(server, ListNumbers(), 100).next is None
    assert [limit for limit, _ in server.asked[:5]] == [7, 3, 4, 2, 2]


def test_only_a_request_without_limit_and_place_wants_the_whole_list() -> None:
    assert is_for_all(OPERATIONS["spawn.tree"].request(session_id=1))
    assert not is_for_all(OPERATIONS["spawn.tree"].request(session_id=1, limit=5))
    assert not is_for_all(OPERATIONS["spawn.tree"].request(session_id=1, cursor="1.2"))
    assert not is_for_all(OPERATIONS["history.log"].request(branch="main"))
    assert not is_for_all(OPERATIONS["db.agents.get"].request(id="a"))


def test_an_operation_without_pages_cannot_be_followed() -> None:
    with pytest.raises(TypeError, match=r"db\.agents\.get has no pages"):
        list(follow(Server(), OPERATIONS["db.agents.get"].request(id="a")))


PAGED = sorted(name for name, operation in OPERATIONS.items() if operation.pages is not None)


@pytest.mark.requirement("R343")
@pytest.mark.parametrize("name", PAGED)
def test_an_operation_with_pages_has_a_limit_a_cursor_and_a_next(name: str) -> None:
    operation = OPERATIONS[name]
    assert {"limit", paged(operation).cursor} <= set(operation.request.__struct_fields__)
    reply = get_origin(operation.reply) or operation.reply
    assert {"next", *paged(operation).items} <= set(reply.__struct_fields__)


@pytest.mark.requirement("R343")
@pytest.mark.parametrize("name", PAGED)
@pytest.mark.parametrize("limit", [b"0", b"-1", b"1.5", b'"ten"', b"9223372036854775808"])
def test_a_limit_that_is_no_number_of_items_is_refused_by_its_name(name: str, limit: bytes) -> None:
    with pytest.raises(InvalidParams) as refusal:
        decode_params(OPERATIONS[name], _with(name, b"limit", limit))
    assert refusal.value.field == "limit"
    assert refusal.value.fix


@pytest.mark.requirement("R343")
@pytest.mark.parametrize("name", PAGED)
@pytest.mark.parametrize("cursor", [b"-1", b"[1]", b"9223372036854775808", b'"\\u0000"'])
def test_a_cursor_that_no_page_gives_is_refused_by_its_name(name: str, cursor: bytes) -> None:
    field = paged(OPERATIONS[name]).cursor
    with pytest.raises(InvalidParams) as refusal:
        decode_params(OPERATIONS[name], _with(name, field.encode(), cursor))
    assert refusal.value.field == field
    assert refusal.value.fix


@pytest.mark.requirement("R343")
def test_every_list_in_a_reply_comes_in_pages_or_has_a_reason_why_it_is_short() -> None:
    with_lists = {
        name for name, each in OPERATIONS.items() if not each.changes and any(map(_has_list, reply_kinds(each.reply)))
    }
    assert with_lists - set(PAGED) - REASONS.keys() == set()
    assert REASONS.keys() - with_lists == set()


def _with(name: str, field: bytes, value: bytes) -> bytes:
    required = least_params(OPERATIONS[name])
    return msgspec.json.encode({**required, field.decode(): msgspec.Raw(value)})


def _has_list(reply: Any) -> bool:
    kind = get_origin(reply) or reply
    if not isinstance(kind, type) or not issubclass(kind, Struct):
        return False
    types = get_type_hints(kind).values()
    return any(get_origin(each) in (list, dict, tuple) for field in types for each in (field, *get_args(field)))
