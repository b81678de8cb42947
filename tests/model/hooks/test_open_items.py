"""What an agent has not ticked off, from the tools with which it keeps its list."""

from typing import Any

import pytest

from ramet.model.hooks.open_items import ListCall, find_open


def test_the_last_whole_list_counts() -> None:
    first = {"todos": [{"content": "a", "status": "pending"}]}
    last = {"todos": [{"content": "b", "status": "completed"}, {"content": "c", "status": "in_progress"}]}
    assert find_open([ListCall("TodoWrite", first), ListCall("TodoWrite", last)]) == ["c"]


def test_a_plan_is_such_a_list() -> None:
    plan = {"plan": [{"step": "look", "status": "completed"}, {"step": "mend", "status": "pending"}]}
    assert find_open([ListCall("update_plan", plan)]) == ["mend"]


def create(subject: str, number: int) -> ListCall:
    return ListCall("TaskCreate", {"subject": subject}, f"Task #{number} created successfully: {subject}")


def update(number: int, status: str, **said: str) -> ListCall:
    return ListCall("TaskUpdate", {"taskId": str(number), "status": status, **said})


def test_tasks_come_and_go_one_at_a_time() -> None:
    calls = [
        *(create("a", 1), create("b", 2), create("c", 3)),
        *(update(1, "completed"), update(2, "in_progress", subject="b, but better"), update(9, "deleted")),
    ]
    assert find_open(calls) == ["b, but better", "c"]


def test_a_task_goes_by_the_number_that_it_was_given_however_many_were_before_it() -> None:
    assert find_open([create("y", 41), create("z", 42), update(1, "completed"), update(41, "completed")]) == ["z"]


@pytest.mark.parametrize("answer", [None, "", "the list is full"])
def test_a_task_that_was_not_created_is_not_open(answer: str | None) -> None:
    assert find_open([ListCall("TaskCreate", {"subject": "a"}, answer), create("b", 1)]) == ["b"]


@pytest.mark.parametrize(
    "given", [None, [], "x", {"todos": "x"}, {"todos": [1, None]}, {"todos": [{"content": 3}]}, {"plan": {}}]
)
def test_what_cannot_be_read_is_left_out(given: Any) -> None:
    assert find_open([ListCall(tool, given, "") for tool in ("TodoWrite", "update_plan", "TaskUpdate")]) == []
