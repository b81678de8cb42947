"""Lines that need one that did not succeed: they are skipped, and run when the run is resumed."""

from typing import Any

import pytest
from tests.conformance.queue_worker import NO_CHANGES
from tests.conformance.run_steps import attend, claim, do_all, do_next, get, line, record, start, states
from tests.world import World

from ramet.errors import InvalidParams, RunFinished

MODES = pytest.mark.parametrize("mode", ["sequential", "parallel"])
FAILED: dict[str, Any] = {"failure": "permanent", "reason": "no"}


def reasons(world: World, run: Any) -> dict[str, str | None]:
    return {each.key: each.reason for each in get(world, run).lines if each.state == "skipped"}


@pytest.mark.requirement("R376")
@MODES
def test_dependents_of_a_failed_line_are_skipped_and_the_others_run(world: World, mode: str) -> None:
    run = start(world, "1", line("2", "1"), line("3", "2"), line("1.1"), "4", mode=mode)
    assert do_next(world, run, "error", **FAILED) == "1"
    assert do_all(world, run) == ["4"]
    assert states(world, run) == {"1": "failed", "2": "skipped", "3": "skipped", "1.1": "skipped", "4": "completed"}
    assert reasons(world, run) == {"2": "1 failed", "3": "2 was skipped", "1.1": "1 failed"}
    assert get(world, run).state == "finished"
    ended = [each.data for each in world.call("events.list").items if each.kind == "effort.finished"]
    assert [each["line"] for each in ended if each.get("run") == run.id] == ["1.1", "2", "3"]


@pytest.mark.requirement("R376")
@MODES
def test_skipped_lines_run_on_resume_with_the_line_that_they_need(world: World, mode: str) -> None:
    run = start(world, "1", line("2", "1"), line("3", "2"), "4", mode=mode)
    do_next(world, run, "error", **FAILED)
    assert do_next(world, run, "error", **FAILED) == "4"
    attend(world, run)
    assert do_all(world, run) == ["1", "2", "3"]
    assert states(world, run) == {"1": "completed", "2": "completed", "3": "completed", "4": "failed"}


@pytest.mark.requirement("R376")
@MODES
def test_a_failed_line_that_fails_again_skips_its_dependents_again(world: World, mode: str) -> None:
    run = start(world, "1", line("2", "1"), mode=mode)
    for _ in range(2):
        assert do_next(world, run, "error", **FAILED) == "1"
        assert states(world, run) == {"1": "failed", "2": "skipped"}
        attend(world, run)
    assert do_all(world, run) == ["1", "2"]


@pytest.mark.requirement("R376")
@MODES
def test_a_run_may_keep_going_from_its_start_or_from_when_it_is_resumed(world: World, mode: str) -> None:
    run = start(world, "1", line("2", "1"), mode=mode, keep_going=True)
    do_next(world, run, "error", **FAILED)
    assert do_all(world, run) == ["2"]
    run = start(world, "1", line("2", "1"), line("3", "2"), mode=mode)
    do_next(world, run, "error", **FAILED)
    attend(world, run, keep_going=True)
    assert get(world, run).keep_going
    assert do_all(world, run) == ["2", "3"]
    assert states(world, run) == {"1": "failed", "2": "completed", "3": "completed"}


@pytest.mark.requirement("R376", "R359")
@MODES
def test_a_line_that_changed_nothing_skips_its_dependents_unless_it_is_accepted(world: World, mode: str) -> None:
    lines = (line("1", skill="implement"), line("2", "1"), line("3", "1", accept_no_change=True))
    run = start(world, *lines, mode=mode)
    do_next(world, run, changes=NO_CHANGES)
    assert do_all(world, run) == ["3"]
    assert states(world, run) == {"1": "no_change", "2": "skipped", "3": "completed"}
    assert reasons(world, run) == {"2": "1 changed no file"}
    accepted = start(world, line("1", skill="implement", accept_no_change=True), line("2", "1"), mode=mode)
    do_next(world, accepted, changes=NO_CHANGES)
    assert do_all(world, accepted) == ["2"]


@pytest.mark.requirement("R376", "R359")
@MODES
def test_a_resumed_run_tries_again_what_changed_nothing_or_accepts_it(world: World, mode: str) -> None:
    run = start(world, line("1", skill="implement"), line("2", "1"), line("3", skill="implement"), mode=mode)
    do_next(world, run, changes=NO_CHANGES)
    do_all(world, run, changes=NO_CHANGES)
    attend(world, run, retry_failed=True)
    assert do_next(world, run, changes=NO_CHANGES) == "1", "3 did not fail, and nothing waits for it"
    assert states(world, run) == {"1": "no_change", "2": "skipped", "3": "no_change"}
    attend(world, run, accept_no_change=True)
    assert do_all(world, run) == ["2"]
    with pytest.raises(RunFinished):
        attend(world, run, retry_failed=True)


@pytest.mark.requirement("R376")
def test_dependents_of_a_line_that_a_person_dropped_stay_skipped(world: World) -> None:
    run = record(world, "1", line("2", "1"), "3")
    world.call("work.drop", effort_id=run.lines[0].effort_id)
    assert reasons(world, run) == {"1": None, "2": "1 was dropped"}
    attend(world, run)
    assert do_all(world, run) == ["3"]
    with pytest.raises(RunFinished):
        attend(world, run, retry_failed=True)
    attend(world, run, keep_going=True)
    assert do_all(world, run) == ["2"]


def test_a_chain_cannot_keep_going(world: World) -> None:
    run = record(world, mode="chain", prompt="build a cart")
    with pytest.raises(InvalidParams, match="each step of a chain needs the one before it"):
        attend(world, run, keep_going=True)


@pytest.mark.requirement("R376")
def test_a_skipped_line_lets_no_later_line_of_a_sequential_run_overtake(world: World) -> None:
    run = start(world, "1", "2", "3", line("4", "1"), "5")
    do_next(world, run, "error", **FAILED)
    assert claim(world, run).run_line == "2"
    assert claim(world, run, "host/2").refused == "missing", "5 comes after 3"
    assert states(world, run)["4"] == "pending", "it is skipped when its turn comes"
