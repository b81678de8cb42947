"""Hosts that fail before an agent starts: the effort waits for another host, and a host that goes on failing parks."""

from typing import Any

import msgspec
import pytest
from tests.conformance.queue_worker import add, begin, claim, complete
from tests.world import World

from ramet.errors import InvalidParams

pytestmark = pytest.mark.requirement("R462")

NORTH = "north"
FULL = "the worktree e1 could not be created: No space left on device"


def fail(world: World, host: str | None = NORTH, claimed: Any = None, **facts: Any) -> Any:
    """An attempt that fails on a host before its agent begins; a new effort's, unless one is claimed already."""
    if claimed is None:
        effort = add(world, task="/shop/tasks/host")
        claimed = claim(world, f"{host}/{effort.id}", effort_id=effort.id)
    return complete(world, claimed, "error", failure="infrastructure", reason=FULL, not_started={"host": host, **facts})


def hosts(world: World) -> list[tuple[str, str, int]]:
    return [(row.name, row.state, row.failures) for row in world.call("hosts.list").items]


def told(world: World) -> list[str]:
    return [notice.text for notice in world.call("fleet.notices").items]


def happened(world: World) -> list[str]:
    return [kind for kind in world.events() if kind.startswith("host.")]


def pass_on(world: World, seconds: float = 1) -> None:
    world.clock.advance(seconds)


def test_a_failing_host_uses_up_no_attempt_however_often_it_fails(world: World) -> None:
    effort = add(world)
    for _ in range(20):
        done = fail(world, claimed=claim(world, "north/1", effort_id=effort.id))
        assert (done.requeued, done.lifecycle, done.outcome) == (True, "queued", None)
        assert (done.attempts, done.agent_failures, done.host_failures) == (0, 0, 0)
        assert (done.reason, done.avoid_host) == (FULL, NORTH)
        pass_on(world, 3600)


def test_the_effort_waits_for_another_host_and_for_the_failing_one_only_after_a_pause(world: World) -> None:
    done = fail(world)
    assert claim(world, "north/1", host=NORTH).refused == "missing"
    assert claim(world, "north/1", host=NORTH, effort_id=done.id).refused == "blocked"
    assert claim(world, "alone/1").refused == "missing", "one that names no host may be the same"
    assert world.call("work.next", host="south").id == done.id
    taken = claim(world, "south/1", host="south")
    assert (taken.id, taken.attempts) == (done.id, 1)
    limited = complete(world, taken, "error", failure="limit", retry_at="2026-01-05T20:00:00Z")
    assert limited.avoid_host is None
    assert claim(world, "east/1", host="east").refused == "missing", "a limit is every host's"


def test_the_failing_host_may_have_it_again_after_the_pause(world: World) -> None:
    done = fail(world)
    pass_on(world, 5)
    assert claim(world, "north/1", host=NORTH).id == done.id


def test_a_host_that_fails_three_times_in_a_row_is_parked_with_one_notice(world: World) -> None:
    for count in (1, 2):
        fail(world)
        pass_on(world)
        assert hosts(world) == [(NORTH, "counting", count)]
    fail(world)
    assert hosts(world) == [(NORTH, "parked", 3)]
    (text,) = told(world)
    assert text.startswith(f"north claims no efforts: {FULL}; it tries again")
    assert text.endswith("`ramet resume --host north`")
    for _ in range(5):  # in vain
        pass_on(world, 700)
        assert hosts(world)[0][1] == "probing"
        fail(world)
        assert hosts(world)[0][1] == "parked"
    assert len(told(world)) == 1
    assert set(happened(world)) == {"host.parked"}


def test_each_probe_in_vain_doubles_the_time_to_the_next_up_to_ten_minutes(world: World) -> None:
    pauses = []
    for _ in range(10):
        fail(world)
        (row,) = world.call("hosts.list").items
        if row.parked_until is not None:
            pauses.append(round(row.parked_until.timestamp() - world.clock.now_ms() / 1000))
        pass_on(world, 700)
    assert pauses == [30, 60, 120, 240, 480, 600, 600, 600]


def test_attempts_that_were_under_way_when_one_failed_count_as_that_one(world: World) -> None:
    pass_on(world, 60)
    for _ in range(9):
        pass_on(world, 0.01)
        assert fail(world, seconds=5).requeued
    assert hosts(world) == [(NORTH, "counting", 1)]
    pass_on(world)
    fail(world, seconds=0.5)
    assert hosts(world) == [(NORTH, "counting", 2)]


def test_a_host_works_again_and_what_failed_there_starts_at_once(world: World) -> None:
    failed = []
    for _ in range(3):
        failed.append(fail(world).id)
        pass_on(world)
    assert claim(world, "north/1", host=NORTH).refused == "missing"
    resumed = world.call("hosts.works", name=NORTH)
    assert (resumed.effort_ids, resumed.already) == (failed, False)
    assert hosts(world) == []
    assert claim(world, "north/1", host=NORTH).id == failed[0]
    assert happened(world) == ["host.parked", "host.resumed"]
    assert world.call("hosts.works", name=NORTH).already


def test_an_effort_that_fails_again_and_again_while_others_start_there_ends(world: World) -> None:
    effort = add(world)
    for number in range(6):
        done = fail(world, claimed=claim(world, "north/1", effort_id=effort.id))
        assert (done.lifecycle, done.host_failures) == ("queued", number)
        world.call("hosts.works", name=NORTH)  # the agent of another effort has started
        pass_on(world)
    done = fail(world, claimed=claim(world, "north/1", effort_id=effort.id))
    assert (done.outcome, done.failure, done.host_failures) == ("error", "infrastructure", 6)


def test_a_host_that_a_person_resumed_in_vain_costs_no_effort_anything(world: World) -> None:
    effort = add(world)
    for _ in range(8):
        for _ in range(3):
            done = fail(world, claimed=claim(world, "north/1", effort_id=effort.id))
            assert (done.lifecycle, done.host_failures) == ("queued", 0)
            pass_on(world, 600)
        world.call("hosts.resume", name=NORTH)


def test_an_effort_ends_if_its_only_host_starts_nothing_for_a_week(world: World) -> None:
    effort, probes = add(world), 0
    done: Any = None
    while done is None or done.requeued:
        done = fail(world, claimed=claim(world, "north/1", effort_id=effort.id))
        probes += 1
        assert done.host_failures == 0 or probes > 7 * 12
        pass_on(world, 7200)
    assert (done.outcome, done.failure, done.host_failures) == ("error", "infrastructure", 6)


def test_a_person_resumes_a_host_and_its_failures_start_from_zero(world: World) -> None:
    for _ in range(3):
        fail(world)
        pass_on(world)
    assert not world.call("hosts.resume", name=NORTH).already
    fail(world)
    assert hosts(world) == [(NORTH, "counting", 1)]
    event = next(each for each in world.call("events.list", limit=100).items if each.kind == "host.resumed")
    assert (event.data["host"], event.data["by"]) == (NORTH, "person")
    assert world.call("hosts.resume", name="nowhere").already


def test_a_host_without_room_is_parked_until_it_has_some(world: World) -> None:
    row = world.call("hosts.park", name=NORTH, reason="12 MB are free")
    assert (row.state, row.failures, row.parked_until) == ("parked", 0, None)
    pass_on(world, 86_400)
    assert hosts(world) == [(NORTH, "parked", 0)]
    world.call("hosts.park", name=NORTH, reason="11 MB are free")
    assert len(told(world)) == 1
    world.call("hosts.works", name=NORTH)
    assert hosts(world) == []


def test_what_fails_on_every_host_alike_is_tried_a_few_times_and_parks_none(world: World) -> None:
    effort = add(world)
    for number in range(5):
        done = fail(world, claimed=claim(world, "north/1", effort_id=effort.id), is_hosts=False)
        assert (done.host_failures, done.lifecycle, done.avoid_host) == (number + 1, "queued", NORTH)
        pass_on(world, 3600)
    done = fail(world, claimed=claim(world, "north/1", effort_id=effort.id), is_hosts=False)
    assert (done.outcome, done.failure, done.avoid_host) == ("error", "infrastructure", None)
    assert hosts(world) == []


def test_a_failure_of_nobody_counts_for_no_host(world: World) -> None:
    assert fail(world, host=None).attempts == 0
    assert hosts(world) == []


def test_an_effort_that_is_being_stopped_does_not_come_back(world: World) -> None:
    effort = add(world)
    claimed = claim(world, "north/1", effort_id=effort.id)
    world.call("fleet.kill", effort_id=effort.id)
    assert fail(world, claimed=claimed).lifecycle == "finished"


def test_an_attempt_on_record_ends_its_session_and_goes_on_where_it_would_have(world: World) -> None:
    effort = add(world)
    begun = begin(world, claim(world, "north/1", effort_id=effort.id), native_id="window-1")
    done = fail(world, claimed=begun, is_hosts=True)
    assert (done.attempts, done.lifecycle) == (0, "queued")
    assert world.call("db.session.get", session_id=begun.session.id).ended_at is not None


@pytest.mark.parametrize("name", ["", "n" * 2000, "nor\x00th"])
def test_a_name_that_is_none_is_refused(world: World, name: str) -> None:
    with pytest.raises((InvalidParams, msgspec.ValidationError)):
        world.call("hosts.resume", name=name)
