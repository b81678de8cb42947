"""Drivers that are left alone for a while: their account is at a limit, or they fail for good again and again."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.conformance.queue_worker import (
    add,
    begin,
    claim,
    complete,
)
from tests.world import World

from ramet.errors import LeaseLost

RESET = "2026-01-05T10:00:00.000Z"
"""Two hours after the test begins."""


class Worker:
    """Makes attempts one after the other, each at an effort of its own, with the same driver."""

    def __init__(self, world: World, driver: str = "claude", profile: str | None = None) -> None:
        self.world, self.driver, self.profile = world, driver, profile
        self.number = 0

    def claim(self) -> Any:
        self.number += 1
        effort = add(self.world, task=f"/shop/tasks/{self.driver}-{self.number}")
        return claim(self.world, f"host/{effort.id}", effort_id=effort.id)

    def begin(self, claimed: Any) -> Any:
        profile = {"profile": self.profile} if self.profile else {}
        return begin(self.world, claimed, driver=self.driver, instance=f"keeper{claimed.id:04}", **profile)

    def try_once(self, outcome: str = "error", **params: Any) -> Any:
        return complete(self.world, self.begin(self.claim()), outcome, **params)

    def fail(self) -> Any:
        return self.try_once(failure="permanent", is_fresh=True, reason="not logged in")

    def admit(self, claimed: Any, driver: str = "claude") -> Any:
        return self.world.call(
            "drivers.admit", effort_id=claimed.id, generation=claimed.generation, driver=self.profile or driver
        )


@pytest.fixture
def worker(world: World) -> Worker:
    return Worker(world)


def parked(world: World) -> list[tuple[str, int]]:
    """Which drivers are parked, and for how many seconds from now."""
    now = datetime.fromtimestamp(world.clock.now_ms() / 1000).astimezone()
    rows = world.call("drivers.parked").items
    return [(row.driver, round((datetime.fromisoformat(row.until) - now).total_seconds())) for row in rows]


def told(world: World) -> list[str]:
    return [notice.text for notice in reversed(world.call("fleet.notices", all=True).items) if notice.kind == "parked"]


def kinds(world: World) -> list[str]:
    return [kind for kind in world.events() if kind.startswith("driver.")]


@pytest.mark.requirement("R301")
def test_a_limit_parks_its_driver_until_it_ends_and_says_so_once(world: World, worker: Worker) -> None:
    for _ in range(3):
        done = worker.try_once(failure="limit", retry_at=RESET)
        assert (done.requeued, done.agent_failures) == (True, 0)
    (row,) = world.call("drivers.parked").items
    assert (row.driver, row.until, row.failures) == ("claude", RESET, 0)
    (notice,) = told(world)
    assert notice.startswith("claude cannot use its account: it has reached a usage limit; ")
    assert notice.endswith(f"its efforts wait until {RESET}, or until `ramet drivers release claude`")
    assert [notice.kind for notice in world.call("fleet.notices").items] == ["parked"]
    assert kinds(world) == ["driver.parked"]
    world.clock.advance(7200)
    assert parked(world) == []


@pytest.mark.requirement("R301")
def test_an_effort_whose_driver_is_parked_waits_and_nothing_is_counted(world: World, worker: Worker) -> None:
    worker.try_once(failure="limit", retry_at=RESET)
    claimed = worker.claim()
    admission = worker.admit(claimed)
    effort = admission.requeued
    assert (admission.is_admitted, effort.lifecycle, effort.lease_owner) == (False, "queued", None)
    assert (effort.attempts, effort.agent_failures, effort.host_failures) == (0, 0, 0)
    assert effort.not_before == datetime.fromisoformat(RESET)
    assert RESET in effort.reason
    last = world.call("events.list", newest=True, limit=1).items[0]
    assert (last.kind, last.data["not_before"]) == ("effort.requeued", RESET)
    assert RESET in last.data["reason"]
    world.clock.advance(7200)
    again = claim(world, "host/1")
    assert worker.admit(again).is_admitted
    assert len(told(world)) == 1


def test_a_limit_without_an_end_parks_for_the_pause_of_the_effort(world: World, worker: Worker) -> None:
    done = worker.try_once(failure="limit")
    (row,) = world.call("drivers.parked").items
    assert datetime.fromisoformat(row.until) == done.not_before
    worker.try_once(failure="limit", retry_at=RESET)
    assert [row.until for row in world.call("drivers.parked").items] == [RESET]
    assert len(told(world)) == 1


def test_a_sibling_that_succeeds_during_a_limit_does_not_end_it(world: World, worker: Worker) -> None:
    sibling = worker.begin(worker.claim())
    worker.try_once(failure="limit", retry_at=RESET)
    assert complete(world, sibling).outcome == "success"
    assert parked(world) == [("claude", 7200)]
    world.clock.advance(7200)
    worker.try_once("success")
    assert kinds(world) == ["driver.parked", "driver.released"]


@pytest.mark.requirement("R301")
def test_three_failures_for_good_in_a_row_park_a_driver(world: World, worker: Worker) -> None:
    for number in range(3):
        assert parked(world) == []
        assert worker.fail().outcome == "error", number
    assert parked(world) == [("claude", 120)]
    assert len(told(world)) == 1
    assert "failed 3 times in a row: not logged in" in told(world)[0]
    assert not worker.admit(worker.claim()).is_admitted


@pytest.mark.requirement("R301")
def test_after_its_time_one_attempt_is_let_through_and_the_others_wait_for_it(world: World, worker: Worker) -> None:
    for _ in range(3):
        worker.fail()
    world.clock.advance(121)
    first, second = worker.claim(), worker.claim()
    assert worker.admit(first).is_admitted
    assert not worker.admit(second).is_admitted
    complete(world, worker.begin(first))
    assert worker.admit(worker.claim()).is_admitted
    assert parked(world) == []
    assert kinds(world) == ["driver.parked", "driver.released", "driver.released"]


@pytest.mark.requirement("R301")
def test_each_attempt_that_fails_after_its_time_parks_it_for_twice_as_long_up_to_an_hour(
    world: World, worker: Worker
) -> None:
    for _ in range(3):
        worker.fail()
    seconds = []
    for _ in range(7):
        ((_, left),) = parked(world)
        seconds.append(left)
        world.clock.advance(left + 1)
        claimed = worker.claim()
        assert worker.admit(claimed).is_admitted
        world.clock.advance(1)
        complete(world, worker.begin(claimed), "error", failure="permanent", is_fresh=True)
    assert seconds == [120, 240, 480, 960, 1920, 3600, 3600]
    assert len(told(world)) == 8


def test_an_attempt_that_is_never_heard_of_again_is_followed_by_another(world: World, worker: Worker) -> None:
    for _ in range(3):
        worker.fail()
    world.clock.advance(121)
    assert worker.admit(worker.claim()).is_admitted
    world.clock.advance(121)
    assert worker.admit(worker.claim()).is_admitted


def test_attempts_that_began_before_say_nothing_new_when_they_fail_or_succeed(world: World, worker: Worker) -> None:
    siblings = [worker.begin(worker.claim()) for _ in range(4)]
    world.clock.advance(5)
    for _ in range(3):
        worker.fail()
    for sibling in siblings[:3]:
        complete(world, sibling, "error", failure="permanent", is_fresh=True)
    complete(world, siblings[3])
    assert parked(world) == [("claude", 120)]


@pytest.mark.parametrize(
    ("outcome", "facts"),
    [
        ("success", {}),
        ("error", {"failure": "permanent"}),
        ("error", {"failure": "transient", "is_fresh": True}),
        ("error", {"failure": "infrastructure", "is_fresh": True}),
        ("timeout", {"failure": "timeout", "is_fresh": True}),
    ],
)
def test_only_failures_for_good_before_a_word_was_said_count(
    world: World, worker: Worker, outcome: str, facts: dict[str, Any]
) -> None:
    for _ in range(6):
        worker.try_once(outcome, **facts)
    assert parked(world) == []
    assert world.dump()["parked"] == []


def test_a_success_in_between_begins_the_count_anew(world: World, worker: Worker) -> None:
    for outcome in ("error", "error", "success", "error", "error"):
        worker.try_once(outcome, failure="permanent", is_fresh=True)
    assert parked(world) == []
    assert kinds(world) == []


@pytest.mark.parametrize("driver", ["shell", "command"])
def test_programs_of_ones_own_are_never_parked(world: World, driver: str) -> None:
    mine = Worker(world, driver)
    for _ in range(4):
        mine.fail()
    mine.try_once(failure="limit", retry_at=RESET)
    assert parked(world) == []
    assert [notice.kind for notice in world.call("fleet.notices").items if notice.kind == "limit"] == ["limit"]


def test_a_profile_is_parked_by_its_own_name(world: World) -> None:
    Worker(world, profile="claude-team").try_once(failure="limit", retry_at=RESET)
    other = Worker(world, "codex")
    assert other.admit(other.claim(), "claude").is_admitted
    assert [driver for driver, _ in parked(world)] == ["claude-team"]


def test_a_driver_that_is_released_is_used_at_once_and_what_waited_for_it_begins(world: World, worker: Worker) -> None:
    limited = worker.try_once(failure="limit", retry_at=RESET)
    put_back = worker.admit(worker.claim()).requeued
    other = Worker(world, "codex")
    elsewhere = other.try_once(failure="limit", retry_at="2026-01-05T11:00:00.000Z")
    released = world.call("drivers.release", driver="claude")
    assert (released.already, released.effort_ids) == (False, [limited.id, put_back.id])
    assert [driver for driver, _ in parked(world)] == ["codex"]
    assert kinds(world)[-1] == "driver.released"
    assert [claim(world, f"host/{number}").id for number in range(2)] == released.effort_ids
    assert claim(world, "host/9").refused == "missing"
    assert world.call("work.get", effort_id=elsewhere.id).not_before is not None


def test_a_driver_that_is_released_has_its_failures_counted_anew(world: World, worker: Worker) -> None:
    for _ in range(3):
        worker.fail()
    assert not world.call("drivers.release", driver="claude").already
    assert worker.admit(worker.claim()).is_admitted
    worker.fail()
    assert parked(world) == []
    assert not world.call("drivers.release", driver="claude").already, "a failure was counted"
    assert world.call("drivers.release", driver="claude").already
    for number in range(3):
        assert parked(world) == [], number
        worker.fail()
    assert [driver for driver, _ in parked(world)] == ["claude"]


@pytest.mark.requirement("R364")
def test_a_driver_that_is_tried_once_more_can_be_released(world: World, worker: Worker) -> None:
    for _ in range(3):
        worker.fail()
    world.clock.advance(121)
    assert worker.admit(worker.claim()).is_admitted
    assert not worker.admit(worker.claim()).is_admitted, "one attempt is tried"
    assert not world.call("drivers.release", driver="claude").already
    assert parked(world) == []
    assert worker.admit(worker.claim()).is_admitted


@pytest.mark.requirement("R364")
def test_an_expired_login_parks_the_driver_and_burns_no_effort(world: World, worker: Worker) -> None:
    failed = [worker.try_once(failure="limit", reason="OAuth token has expired") for _ in range(5)]
    assert {(done.lifecycle, done.requeued, done.agent_failures) for done in failed} == {("queued", True, 0)}
    (notice,) = told(world)
    assert "claude cannot use its account: OAuth token has expired" in notice
    put_back = worker.admit(worker.claim()).requeued
    assert put_back.reason.startswith("claude is parked until ")
    released = world.call("drivers.release", driver="claude")
    assert put_back.id in released.effort_ids
    assert parked(world) == []


@pytest.mark.requirement("R364")
def test_a_failure_of_the_task_itself_never_parks_its_driver(world: World, worker: Worker) -> None:
    for _ in range(5):
        done = worker.try_once(failure="permanent", is_fresh=True, has_begun=True, reason="Prompt is too long")
        assert done.outcome == "error"
    assert parked(world) == []
    assert told(world) == []


@pytest.mark.requirement("R364")
def test_a_limit_without_an_end_is_told_once_however_often_it_is_met(world: World, worker: Worker) -> None:
    pauses = []
    for _ in range(6):
        done = worker.try_once(failure="limit")
        pauses.append(done.not_before.timestamp() - world.clock.now_ms() / 1000)
        world.clock.advance(4000)
    assert len(told(world)) == 1
    assert all(150 <= pause <= 3600 for pause in pauses)
    worker.try_once("success")
    worker.try_once(failure="limit")
    assert len(told(world)) == 2, "another limit"


def test_who_lost_the_lease_is_not_admitted(world: World, worker: Worker) -> None:
    claimed = worker.claim()
    complete(world, claimed)
    with pytest.raises(LeaseLost):
        worker.admit(claimed)


def test_a_reset_that_has_passed_already_parks_nothing(world: World, worker: Worker) -> None:
    past = (datetime.fromisoformat(RESET) - timedelta(days=1)).isoformat()
    worker.try_once(failure="limit", retry_at=past)
    assert parked(world) == []
