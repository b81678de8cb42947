"""Encoding up to a limit: the same bytes as without one, or an error."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct, field

from ramet.daemon.readers.json_limit import encode_within
from ramet.errors import ReplyTooLarge
from ramet.protocol.wire.frames import encode

MOST = 100_000


class Reply(Struct, frozen=True, kw_only=True):
    items: list[Any]
    others: list[Any]
    renamed: int = field(name="from", default=1)
    next: str | None = None


VALUES = st.none() | st.integers(-5, 5) | st.text(max_size=3) | st.dictionaries(st.text(max_size=2), st.integers())


@given(st.lists(VALUES, max_size=4), st.sampled_from([0, 1, 300]), st.lists(VALUES, max_size=4), st.none() | st.text())
def test_a_reply_is_encoded_as_without_a_limit(
    items: list[Any], times: int, others: list[Any], following: str | None
) -> None:
    reply = Reply(items=items * times, others=others, next=following)
    assert encode_within(reply, 10**9) == encode(reply)


@pytest.mark.parametrize("reply", [[1, 2], {"a": list(range(1000))}, "text", None])
def test_a_reply_that_is_no_struct_is_encoded_at_once(reply: Any) -> None:
    assert encode_within(reply, MOST) == encode(reply)


@pytest.mark.parametrize("difference", [0, 1])
def test_the_limit_is_exact(difference: int) -> None:
    reply = Reply(items=list(range(1000)), others=[])
    size = len(encode(reply))
    if difference:
        with pytest.raises(ReplyTooLarge):
            encode_within(reply, size - difference)
    else:
        assert len(encode_within(reply, size)) == size


def test_nothing_is_encoded_beyond_the_limit() -> None:
    class Unencodable:
        pass

    def items() -> Iterator[Any]:
        yield from ("x" * 1000 for _ in range(200))
        yield Unencodable()

    with pytest.raises(ReplyTooLarge) as refused:
        encode_within(Reply(items=[*items(), *range(1000)], others=[]), MOST)
    assert refused.value.field == "limit"
