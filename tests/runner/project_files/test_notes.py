"""A note is in its log once for each time that somebody asked for it, and never more often."""

from pathlib import Path
from typing import Any

import pytest
from tests.runner.desk import Desk


def append(desk: Desk, session_id: int, text: str, **params: Any) -> Path:
    return Path(desk.call("commands.log.append", session_id=session_id, text=text, **params).path)


@pytest.fixture
def session_id(desk: Desk) -> int:
    opened = desk.call("commands.effort.start", task_id=desk.task, skill="implement")
    return int(opened.session.id)


@pytest.mark.requirement("R249")
def test_two_notes_of_one_second_are_both_there_though_they_say_the_same(desk: Desk, session_id: int) -> None:
    keys = ("one", "two", "two", None, None)
    (log,) = {append(desk, session_id, "same", idempotency_key=key) for key in keys}
    assert log.read_text().count("## [2026-01-05T08:00:00Z]\n\nsame\n") == 4


def test_a_note_that_an_earlier_one_begins_with_is_there_too(desk: Desk, session_id: int) -> None:
    append(desk, session_id, "foo\nbar", idempotency_key="one")
    log = append(desk, session_id, "foo", idempotency_key="two")
    assert log.read_text().count("foo") == 2


def test_a_note_whose_request_was_cut_off_before_the_log_is_written_when_it_is_repeated(
    desk: Desk, session_id: int
) -> None:
    desk.world.call("hooks.logged", session_id=session_id, text="found it", idempotency_key="one")
    (log,) = {append(desk, session_id, "found it", idempotency_key="one") for _ in range(2)}
    assert log.read_text().count("found it") == 1
