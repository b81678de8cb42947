"""Ending what runs: what waits is cancelled at once, what runs is asked to stop."""

import pytest
from tests.conformance import family
from tests.conformance.queue_worker import (
    add,
    begin,
    claim,
    complete,
    end,
    expire,
    report,
    start,
    text,
)
from tests.world import World

from ramet.errors import EffortFinished, EffortNotFound, InvalidParams, LeaseLost, NothingRuns, SessionNotFound


def test_a_queued_effort_is_cancelled_at_once(world: World) -> None:
    effort = add(world)
    killed = world.call("fleet.kill", effort_id=effort.id, reason="not needed")
    assert (killed.outcome, killed.reason, killed.is_running) == ("cancelled", "not needed", False)
    assert world.events()[-1] == "effort.finished"


def test_a_running_effort_is_asked_to_stop_and_its_keeper_and_worker_hear_of_it(world: World) -> None:
    attempt = start(world)
    killed = world.call("fleet.kill", effort_id=attempt.effort.id, reason="enough")
    assert (killed.lifecycle, killed.is_running, killed.already) == ("active", True, False)
    stop = report(world, attempt).stop
    assert (stop.outcome, stop.reason) == ("cancelled", "enough")
    assert world.call("work.renew", effort_id=killed.id, generation=1).stop == stop == killed.stop_request
    assert world.events()[-1] == "effort.stop_requested"


def test_asking_twice_asks_once(world: World) -> None:
    attempt = start(world)
    world.call("fleet.kill", effort_id=attempt.effort.id, reason="first")
    again = world.call("fleet.kill", session_id=attempt.session.id, reason="second")
    assert (again.already, again.stop_request.reason) == (True, "first")
    assert world.events().count("effort.stop_requested") == 1


def test_what_was_claimed_and_has_no_agent_yet_is_finished_at_once(world: World) -> None:
    add(world)
    claimed = claim(world)
    killed = world.call("fleet.kill", effort_id=claimed.id)
    assert (killed.outcome, killed.is_running, killed.lease_owner) == ("cancelled", False, None)
    with pytest.raises(LeaseLost):
        begin(world, claimed)
    assert complete(world, claimed).ignored
    assert world.call("work.get", effort_id=claimed.id).outcome == "cancelled"


def test_what_has_ended_and_is_not_settled_yet_keeps_its_outcome(world: World) -> None:
    attempt = start(world)
    report(world, attempt, end())
    assert world.call("fleet.kill", session_id=attempt.session.id).is_running
    done = complete(world, attempt, output_content="all of it")
    assert (done.outcome, done.output_content) == ("success", "all of it")


def test_what_is_put_back_waits_for_another_attempt_in_the_same_context_window(world: World) -> None:
    attempt = start(world, native_id="n")
    killed = world.call("fleet.kill", effort_id=attempt.effort.id, reason="later", requeues=True)
    assert (killed.is_running, killed.stop_request.requeues) == (True, True)
    report(world, attempt, text("half of it"), end("cancelled", reason="later"))
    done = complete(world, attempt, "cancelled", reason="later")
    assert (done.requeued, done.lifecycle, done.outcome, done.reason) == (True, "queued", None, "later")
    assert (done.not_before, done.agent_failures, done.stop_request) == (None, 0, None)
    assert world.call("fleet.notices").items == []
    assert claim(world, effort_id=done.id).continues_session_id == attempt.session.id


def test_what_succeeded_before_it_could_be_put_back_is_done(world: World) -> None:
    attempt = start(world)
    world.call("fleet.kill", effort_id=attempt.effort.id, requeues=True)
    assert complete(world, attempt).outcome == "success"


def test_what_is_put_back_and_has_no_agent_yet_waits_as_if_nobody_had_claimed_it(world: World) -> None:
    add(world)
    claimed = claim(world)
    killed = world.call("fleet.kill", effort_id=claimed.id, requeues=True)
    assert (killed.lifecycle, killed.attempts, killed.lease_owner, killed.is_running) == ("queued", 0, None, False)
    assert world.events()[-1] == "effort.requeued"
    with pytest.raises(LeaseLost):
        begin(world, claimed)
    assert world.call("fleet.kill", effort_id=claimed.id, requeues=True).already
    assert world.call("work.get", effort_id=claimed.id).lifecycle == "queued"


def test_what_was_to_be_put_back_by_a_worker_that_vanished_is_taken_over(world: World) -> None:
    attempt = start(world)
    world.call("fleet.kill", effort_id=attempt.effort.id, requeues=True)
    expire(world, attempt.effort.id)
    assert world.call("work.next").id == attempt.effort.id
    assert claim(world, "other/1").id == attempt.effort.id


def test_what_was_started_by_hand_is_not_ours_to_end(world: World) -> None:
    session = world.session(agent_id="ada")
    for named in ({"session_id": session.id}, {"effort_id": session.effort_id}):
        with pytest.raises(NothingRuns):
            world.call("fleet.kill", **named)


def test_what_is_over_or_not_there_is_not_ended(world: World) -> None:
    done = complete(world, start(world))
    with pytest.raises(EffortFinished):
        world.call("fleet.kill", effort_id=done.id)
    with pytest.raises(EffortNotFound):
        world.call("fleet.kill", effort_id=99)
    with pytest.raises(SessionNotFound):
        world.call("fleet.kill", session_id=99)
    for both in ({}, {"effort_id": 1, "session_id": 1}):
        with pytest.raises(InvalidParams):
            world.call("fleet.kill", **both)


@pytest.mark.requirement("R139")
def test_ending_a_parent_ends_all_below_it(world: World) -> None:
    above = start(world)
    running, waiting = family.spawn(world, above, wait=True), family.spawn(world, above, wait=True)
    grandchild = family.spawn(world, running)
    attempt = family.begin(world, running)
    killed = world.call("fleet.kill", effort_id=above.effort.id, reason="enough")
    assert (killed.is_running, killed.also) == (True, [running.effort_id])
    assert report(world, attempt, instance=f"keeper{running.effort_id:04d}").stop.reason == "enough"
    for child in (waiting, grandchild):
        assert family.result(world, child).outcome == "cancelled"
    again = world.call("fleet.kill", effort_id=above.effort.id)
    assert (again.already, again.also) == (True, [running.effort_id])


@pytest.mark.requirement("R139")
def test_a_parent_may_be_ended_without_its_children(world: World) -> None:
    above = start(world)
    child = family.spawn(world, above)
    killed = world.call("fleet.kill", effort_id=above.effort.id, children=False)
    assert killed.also == []
    complete(world, above, "cancelled")
    assert family.result(world, child).status == "queued"


@pytest.mark.requirement("R139")
def test_an_agent_cancels_a_child_and_all_below_it(world: World) -> None:
    above = start(world)
    child, other = family.spawn(world, above), family.spawn(world, above)
    grandchild = family.spawn(world, child)
    family.as_agent(world, above, "spawn.cancel", session_id=child.child_session_id, reason="not needed")
    assert [family.result(world, each).outcome for each in (child, grandchild, other)] == [
        "cancelled",
        "cancelled",
        None,
    ]
    assert family.result(world, child).notes == "not needed"
    with pytest.raises(EffortFinished):
        family.as_agent(world, above, "spawn.cancel", session_id=child.child_session_id)
