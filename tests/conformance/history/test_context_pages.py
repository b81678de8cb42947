"""The pages of compile and diff: of one state of the branch, whatever happens between them."""

from typing import Any

import pytest
from tests.conformance.history.story import (
    answer_tool,
    call_tool,
    collect,
    compiled,
    forget,
    fork,
    head,
    put,
    say,
)
from tests.world import World

from ramet.errors import CommitNotFound, InvalidParams


def rest(world: World, page: Any, **params: Any) -> list[str]:
    """The texts of a page and of all that follow it."""
    found = [str(message["content"]) for message in page.messages]
    while page.next is not None:
        page = compiled(world, cursor=page.next, **params)
        found += [str(message["content"]) for message in page.messages]
    return found


def test_pages_are_of_the_commit_that_was_the_head_at_first(world: World) -> None:
    said = say(world, *"abcdefg")
    page = compiled(world, limit=3)
    say(world, "h")
    world.call("history.edit", branch="main", target=said[5], text="F")
    world.call("history.reset", branch="main", to=said[0])
    assert rest(world, page, limit=3) == list("abcdefg")
    assert page.head == said[-1]
    assert rest(world, compiled(world, limit=3), limit=3) == ["a"]


def test_a_page_has_the_tokens_of_all_and_the_last_one_the_hash(world: World) -> None:
    put(world, "instruction", text="be brief")
    said = say(world, *"abcde")
    world.call("history.edit", branch="main", target=said[0], text="a longer text than before")
    whole = compiled(world, format="anthropic")
    forget(world)
    first = compiled(world, format="anthropic", limit=1)
    assert (first.tokens, first.prefix_hash, first.system) == (whole.tokens, whole.prefix_hash, "be brief")
    first = compiled(world, limit=4)
    last = compiled(world, limit=4, cursor=first.next)
    assert (first.tokens, last.tokens, first.prefix_hash) == (whole.tokens, whole.tokens, "")
    assert last.prefix_hash == compiled(world).prefix_hash


def test_calls_that_are_open_at_the_end_of_a_page_are_answered_on_the_next(world: World) -> None:
    say(world, "begin")
    for number in range(3):
        call_tool(world, f"c{number}")
    for number in range(3):
        answer_tool(world, f"c{number}", f"result {number}")
    whole = compiled(world).messages
    page = compiled(world, limit=3)
    assert page.messages == whole[:3]
    assert compiled(world, limit=9, cursor=page.next).messages == whole[3:]


@pytest.mark.parametrize("part", [{"max_tokens": 1000}, {"window": {"first": 3, "last": 3}}])
def test_a_page_of_chosen_messages_is_refused_after_an_annotation(world: World, part: dict[str, Any]) -> None:
    said = say(world, *"abcdef")
    page = compiled(world, limit=2, **part)
    assert rest(world, page, limit=2, **part) == list("abcdef")
    say(world, "g")
    assert rest(world, page, limit=2, **part) == list("abcdef")
    world.call("history.annotate", hash=said[0], priority="skip")
    with pytest.raises(InvalidParams, match="annotated since") as refused:
        compiled(world, limit=2, cursor=page.next, **part)
    assert (refused.value.field, refused.value.value) == ("cursor", page.next)
    assert "without the cursor" in str(refused.value.fix)
    assert rest(world, compiled(world, limit=2, **part), limit=2, **part)[0] == "b"


def test_an_annotation_between_pages_of_all_messages_moves_no_others(world: World) -> None:
    said = say(world, *"abcdef")
    page = compiled(world, limit=2)
    world.call("history.annotate", hash=said[0], priority="skip")
    assert rest(world, page, limit=2) == list("abcdef")


def test_a_cursor_without_a_limit_gives_all_that_is_left(world: World) -> None:
    say(world, *"abcd")
    page = compiled(world, limit=1)
    assert [message["content"] for message in compiled(world, cursor=page.next).messages] == ["b", "c", "d"]


@pytest.mark.parametrize(
    "cursor", ["7", "x:1:0", "-:1:0", "00:1:0", f"{'0' * 64}:-1:0", f"{'0' * 64}:1", f"{'0' * 64}:1:{'9' * 11}", "ü"]
)
def test_what_is_no_cursor_is_refused_and_the_fix_is_named(world: World, cursor: str) -> None:
    say(world, "a")
    for method, params in (("history.compile", {"branch": "main"}), ("history.diff", {"a": "main", "b": "main"})):
        with pytest.raises(InvalidParams) as refused:
            world.call(method, cursor=cursor, **params)
        assert (refused.value.field, refused.value.value) == ("cursor", cursor)
        assert "leave the cursor out" in str(refused.value.fix)


def test_a_cursor_of_a_commit_that_is_gone_is_refused(world: World) -> None:
    say(world, "a")
    fork(world, "side")
    say(world, "b", "c", branch="side")
    page = compiled(world, "side", limit=1)
    world.call("history.reset", branch="side", to=head(world))
    collect(world)
    with pytest.raises(CommitNotFound):
        compiled(world, "side", limit=1, cursor=page.next)


def test_a_place_behind_the_end_has_no_messages(world: World) -> None:
    say(world, "a", "b")
    for place in ("3:0", "9999999999:0", "1:9999999999"):
        page = compiled(world, limit=2, cursor=f"{head(world)}:{place}")
        assert (page.messages, page.next) == ([], None)


@pytest.mark.parametrize("limit", [0, -1, 2**31])
def test_a_limit_out_of_range_is_refused(world: World, limit: int) -> None:
    say(world, "a")
    with pytest.raises(InvalidParams) as refused:
        compiled(world, limit=limit)
    assert refused.value.field == "limit"


def test_since_cannot_be_paged(world: World) -> None:
    (said,) = say(world, "a")
    with pytest.raises(InvalidParams) as refused:
        compiled(world, since=said, limit=1)
    assert (refused.value.field, refused.value.value) == ("since", said)


def test_the_pages_of_a_diff_together_are_the_diff(world: World) -> None:
    say(world, *"abcdef")
    fork(world, "side")
    say(world, "g", "h")
    say(world, "i", branch="side")
    both = {"a": "main", "b": "side"}
    whole = world.call("history.diff", **both)
    assert whole.shared == 4
    assert (len(whole.only_a), len(whole.only_b), whole.next) == (2, 1, None)
    page = world.call("history.diff", **both, limit=4)
    assert (page.only_a, page.only_b) == (whole.only_a, whole.only_b)
    lines = page.text.split("\n")
    say(world, "more")
    while page.next is not None:
        page = world.call("history.diff", **both, limit=4, cursor=page.next)
        assert (page.only_a, page.only_b) == ([], [])
        lines += page.text.split("\n")
    assert "\n".join(lines) == whole.text
