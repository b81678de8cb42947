"""Who waits for which child: awaited ones are outside the queue, and none of them waits for ever."""

import pytest
from tests.conformance import queue_worker
from tests.conformance.family import as_agent, begin, bound, effort, parent, result, session, spawn
from tests.world import World

from ramet.errors import InvalidParams


def expect(world: World, above: object, *children: object, is_expected: bool = True) -> list[int]:
    ids = [child.child_session_id for child in children]  # type: ignore[attr-defined]
    return list(as_agent(world, above, "spawn.expect", session_ids=ids, is_expected=is_expected).effort_ids)


def status(world: World, above: object) -> str | None:
    (member,) = [each for each in world.call("fleet.status").items if each.session_id == above.session.id]  # type: ignore[attr-defined]
    return str(member.status)


@pytest.mark.requirement("R108", "R114")
def test_an_awaited_child_is_outside_the_queue_and_claimed_by_its_name(world: World) -> None:
    above = parent(world)
    child = spawn(world, above, wait=True)
    assert world.call("work.next") is None
    assert queue_worker.claim(world, "host/2").refused == "missing"
    assert queue_worker.claim(world, "host/1.1", effort_id=child.effort_id).id == child.effort_id


@pytest.mark.requirement("R143")
def test_a_detached_child_goes_through_the_queue(world: World) -> None:
    child = spawn(world, parent(world))
    assert world.call("work.next").id == child.effort_id
    assert queue_worker.claim(world, "host/2").id == child.effort_id


@pytest.mark.requirement("R143")
def test_a_detached_child_is_awaited_later_and_let_go_again(world: World) -> None:
    above = parent(world)
    child = spawn(world, above)
    assert expect(world, above, child) == [child.effort_id]
    assert world.call("work.next") is None
    assert expect(world, above, child, is_expected=False) == [child.effort_id]
    assert world.call("work.next").id == child.effort_id
    assert world.events()[-1] == "effort.queued", "workers hear of it"


def test_expecting_twice_changes_nothing_and_what_is_over_is_not_awaited(world: World) -> None:
    above = parent(world)
    child, done = spawn(world, above), spawn(world, above)
    queue_worker.run(world, effort(world, done))
    assert expect(world, above, child, done) == [child.effort_id]
    before = world.dump()
    assert expect(world, above, child, done) == [child.effort_id]
    assert world.dump() == before


def test_a_parent_does_not_wait_for_a_childs_children_in_the_childs_place(world: World) -> None:
    above = parent(world)
    child = spawn(world, above, wait=True)
    grandchild = spawn(world, child, wait=True)
    expect(world, above, grandchild)
    assert effort(world, grandchild).awaited_by == child.child_session_id
    expect(world, above, grandchild, is_expected=False)
    assert effort(world, grandchild).awaited_by == child.child_session_id


@pytest.mark.requirement("R291")
def test_who_waits_for_a_child_is_waiting_and_neither_silent_nor_stuck(world: World) -> None:
    above = parent(world)
    child = spawn(world, above, wait=True)
    attempt = begin(world, child)
    world.clock.advance(50)
    assert status(world, above) == "waiting_child"
    queue_worker.complete(world, attempt)
    assert status(world, above) == "starting"


@pytest.mark.requirement("R133", "R291")
def test_a_child_that_was_not_begun_is_never_called_stale(world: World) -> None:
    above = world.session()
    child = spawn(world, above.id, wait=True)
    world.clock.advance(10_000)
    stale = [each.id for each in world.call("fleet.stale").items]
    assert stale == []
    world.call("spawn.cancel", session_id=child.child_session_id)
    assert [each.id for each in world.call("fleet.stale").items] == [above.id]


@pytest.mark.requirement("R138")
def test_a_keeper_that_has_nothing_to_say_hears_whether_anything_below_is_alive(world: World) -> None:
    above = parent(world)
    child = spawn(world, above, wait=True)
    assert not queue_worker.report(world, above).is_child_alive
    below = begin(world, child)
    grandchild = begin(world, spawn(world, child, wait=True), "host/3")
    world.clock.advance(600)
    assert not queue_worker.report(world, above).is_child_alive
    queue_worker.report(world, grandchild, queue_worker.text("I live"), instance=f"keeper{grandchild.effort.id:04d}")
    assert queue_worker.report(world, above).is_child_alive
    assert queue_worker.report(world, below, instance=f"keeper{below.effort.id:04d}").is_child_alive
    world.clock.advance(600)
    assert not queue_worker.report(world, above).is_child_alive


@pytest.mark.requirement("R133")
def test_an_awaited_child_that_never_began_is_dropped_with_its_parent(world: World) -> None:
    above = parent(world)
    child, detached = spawn(world, above, wait=True), spawn(world, above)
    queue_worker.complete(world, above)
    ended = result(world, child)
    assert (ended.outcome, ended.notes) == ("dropped", "its parent ended before it started")
    assert session(world, child).outcome == "dropped"
    assert result(world, detached).status == "queued"


@pytest.mark.requirement("R133")
def test_a_parent_that_tries_again_does_not_leave_children_that_nobody_runs(world: World) -> None:
    above = parent(world)
    never, tried = spawn(world, above, wait=True), spawn(world, above, wait=True)
    queue_worker.complete(world, begin(world, tried), "error", failure="transient")
    queue_worker.complete(world, above, "error", failure="transient")
    world.clock.advance(3600)
    assert result(world, never).outcome == "dropped"
    assert effort(world, tried).awaited_by is None
    queue_worker.claim(world, "host/8")
    assert queue_worker.claim(world, "host/9").id in (tried.effort_id, above.effort.id)


@pytest.mark.requirement("R133")
def test_a_vanished_parents_children_come_to_an_end(world: World) -> None:
    above = parent(world)
    child = spawn(world, above, wait=True)
    queue_worker.expire(world, above.effort.id)
    queue_worker.claim(world, "host/9", effort_id=999)
    assert result(world, child).outcome == "dropped"


@pytest.mark.requirement("R133", "R224")
def test_finishing_a_parent_by_hand_drops_an_awaited_child_that_never_started(world: World) -> None:
    above = world.session()
    child = spawn(world, above.id, wait=True)
    tried = spawn(world, above.id, wait=True)
    queue_worker.complete(world, begin(world, tried), "error", failure="transient")
    world.call("db.effort.finish", effort_id=above.effort_id)
    ended = result(world, child)
    assert (ended.outcome, ended.notes) == ("dropped", "its parent ended before it started")
    assert effort(world, tried).awaited_by is None, "the queue runs it from now on"


@pytest.mark.requirement("R133", "R143")
def test_a_child_whose_waiting_parent_was_ended_by_hand_is_found_and_dropped(world: World) -> None:
    above = world.session()
    child = spawn(world, above.id, wait=True)
    assert world.call("spawn.tend").dropped == []
    world.call("db.session.finish", session_id=above.id)
    assert world.call("spawn.tend").dropped == [child.effort_id]
    assert result(world, child).outcome == "dropped"
    before = world.dump()
    assert world.call("spawn.tend").dropped == []
    assert world.dump() == before


@pytest.mark.requirement("R133")
def test_an_awaited_child_of_whose_waiter_nothing_is_known_goes_to_the_queue_after_a_while(world: World) -> None:
    bound(world, orphan_seconds=60)
    by_hand, at_work = world.session(), parent(world)
    left, kept = spawn(world, by_hand.id, wait=True), spawn(world, at_work, wait=True)
    assert world.call("spawn.tend").released == []
    world.clock.advance(61)
    assert world.call("spawn.tend").released == [left.effort_id]
    assert effort(world, kept).awaited_by == at_work.session.id


def test_a_daemon_that_starts_has_nobody_waiting_on_its_host(world: World) -> None:
    here, elsewhere = parent(world, "host/1"), parent(world, "hosts/1", instance="keeper77")
    mine, theirs = spawn(world, here, wait=True), spawn(world, elsewhere, wait=True)
    assert world.call("spawn.stranded", is_starting=True, host="host").effort_ids == [mine.effort_id]
    assert world.call("spawn.tend", is_starting=True, host="host").released == [mine.effort_id]
    assert world.call("spawn.stranded", is_starting=True, host="host").effort_ids == []
    assert effort(world, theirs).awaited_by == elsewhere.session.id
    assert world.call("spawn.tend", is_starting=True).released == [theirs.effort_id]


def test_nobody_waits_for_itself(world: World) -> None:
    child = spawn(world, parent(world))
    with pytest.raises(InvalidParams):
        expect(world, child, child)
    assert effort(world, child).awaited_by is None
