"""What an agent has not ticked off, from the tools with which it keeps its list."""

from typing import Any

import pytest

from ramet.model.open_items import find_open


def test_the_last_whole_list_counts() -> None:
    first = {"todos": [{"content": "a", "status": "pending"}]}
    last = {"todos": [{"content": "b", "status": "completed"}, {"content": "c", "status": "in_progress"}]}
    assert find_open([("TodoWrite", first), ("TodoWrite", last)]) == ["c"]


def test_a_plan_is_such_a_list() -> None:
    plan = {"plan": [{"step": "look", "status": "completed"}, {"step": "mend", "status": "pending"}]}
    assert find_open([("update_plan", plan)]) == ["mend"]


def test_tasks_come_and_go_one_at_a_time() -> None:
    calls: list[tuple[str, Any]] = [
        ("TaskCreate", {"subject": "a"}),
        ("TaskCreate", {"subject": "b"}),
        ("TaskCreate", {"subject": "c"}),
        ("TaskUpdate", {"taskId": "1", "status": "completed"}),
        ("TaskUpdate", {"taskId": "2", "status": "in_progress", "subject": "b, but better"}),
        ("TaskUpdate", {"taskId": "9", "status": "deleted"}),
    ]
    assert find_open(calls) == ["b, but better", "c"]


@pytest.mark.parametrize(
    "given", [None, [], "x", {"todos": "x"}, {"todos": [1, None]}, {"todos": [{"content": 3}]}, {"plan": {}}]
)
def test_what_cannot_be_read_is_left_out(given: Any) -> None:
    assert find_open([(tool, given) for tool in ("TodoWrite", "update_plan", "TaskUpdate")]) == []
