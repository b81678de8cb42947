"""Open items: what is left on an agent's list when it goes on, however long the list was."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.conformance.hook_calls import (
    entry,
    hook,
    ingest,
    start,
)
from tests.world import World


def call(tool: str, key: str, answer: str | None = None, **given: Any) -> Iterator[dict[str, Any]]:
    """A call of one of the tools, and what it answered."""
    yield entry(f"c{key}", json.dumps(given), kind="tool_call", tool=tool, call_id=key)
    yield entry(f"r{key}", answer or "Updated", kind="tool_result", role="tool", call_id=key)


def create(number: int) -> Iterator[dict[str, Any]]:
    subject = f"item {number}"
    answer = f"Task #{number} created successfully: {subject}"
    return call("TaskCreate", f"n{number}", answer, subject=subject, description="")


def complete(number: int) -> Iterator[dict[str, Any]]:
    return call("TaskUpdate", f"u{number}", taskId=str(number), status="completed")


def told(world: World) -> list[str]:
    """The items that an agent is told of when it goes on."""
    context = hook(world, "session_start", source="resume").answer.context
    _, _, items = context.partition("## Open items\n")
    return [line.removeprefix("- ") for line in items.split("\n\n")[0].splitlines() if line.startswith("- ")]


@pytest.mark.requirement("R243")
def test_no_item_of_a_long_list_is_open_that_was_ticked_off(world: World) -> None:
    above = start(world)
    for number in range(1, 301):
        ingest(world, above, *create(number), *complete(number), offset=number)
    assert told(world) == []


@pytest.mark.requirement("R243")
def test_the_items_of_a_long_list_that_are_left_go_by_their_own_numbers(world: World) -> None:
    above = start(world)
    for number in range(1, 401):
        ingest(world, above, *create(number), offset=number)
    ingest(world, above, *(line for number in range(1, 399) for line in complete(number)), offset=999)
    assert told(world) == ["item 399", "item 400"]


@pytest.mark.requirement("R243")
def test_several_items_that_are_created_at_once_are_told_apart(world: World) -> None:
    above = start(world)
    (one, first), (other, second) = (tuple(create(number)) for number in (1, 2))
    ingest(world, above, one, other, second, first, *complete(1))
    assert told(world) == ["item 2"]
