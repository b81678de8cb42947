"""Efforts walk through every state that the model has, and only from one to the next that it allows."""

from collections.abc import Callable, Iterator
from typing import get_args

import pytest
from tests.conformance.effort_states import may_follow, see
from tests.conformance.family import as_agent, parent, spawn
from tests.conformance.hook_calls import hook, session, start
from tests.conformance.queue_worker import NO_CHANGES, add, begin, claim, complete, expire, run
from tests.world import World

from ramet.model.work.effort_state import State

Walk = Callable[[World], Iterator[State]]

RESET = "2026-01-05T10:00:00.000Z"
"""Two hours after the test begins."""


def walk_through_the_queue(world: World) -> Iterator[State]:
    """Blocked, then ready, claimed, failed, tried again, and at last succeeded."""
    needed = add(world)
    effort = add(world, depends_on=[needed.id])
    yield see(world, effort.id)
    run(world, needed)
    yield see(world, effort.id)
    claimed = claim(world, effort_id=effort.id)
    yield see(world, effort.id)
    complete(world, claimed, "error", failure="transient")
    yield see(world, effort.id)
    world.clock.advance(300)
    yield see(world, effort.id)
    claimed = claim(world, effort_id=effort.id)
    yield see(world, effort.id)
    complete(world, claimed)
    yield see(world, effort.id)


def walk_to_a_limit(world: World) -> Iterator[State]:
    """Parked, blocked while the effort that it needs is done again, parked again when that is done, and dropped."""
    needed = add(world)
    run(world, needed)
    effort = add(world, depends_on=[needed.id])
    yield see(world, effort.id)
    claimed = claim(world, effort_id=effort.id)
    yield see(world, effort.id)
    complete(world, claimed, "error", failure="limit", retry_at=RESET)
    yield see(world, effort.id)
    again = world.call("work.retry", effort_id=needed.id)
    yield see(world, effort.id)
    run(world, again)
    yield see(world, effort.id)
    world.call("work.drop", effort_id=effort.id)
    yield see(world, effort.id)


def walk_with_a_lost_worker(world: World) -> Iterator[State]:
    """A lease that ran out is renewed, stopped, runs out again and is given up; the effort is resumed."""
    effort = add(world)
    yield see(world, effort.id)
    attempt = begin(world, claim(world, effort_id=effort.id))
    yield see(world, effort.id)
    expire(world, effort.id)
    yield see(world, effort.id)
    world.call("work.renew", effort_id=effort.id, generation=attempt.effort.lease_generation)
    yield see(world, effort.id)
    world.call("fleet.kill", effort_id=effort.id)
    yield see(world, effort.id)
    expire(world, effort.id)
    yield see(world, effort.id)
    claim(world, "host/2")
    yield see(world, effort.id)
    world.call("work.resume", effort_id=effort.id)
    yield see(world, effort.id)


def walk_without_a_change(world: World) -> Iterator[State]:
    """An implementation that changes no file, is resumed, and succeeds."""
    effort = add(world, skill="implement")
    yield see(world, effort.id)
    run(world, effort, changes=NO_CHANGES)
    yield see(world, effort.id)
    world.call("work.resume", effort_id=effort.id)
    yield see(world, effort.id)
    run(world, effort, changes={"files": ["cart.py"], "insertions": 1, "deletions": 0})
    yield see(world, effort.id)


def walk_as_a_child(world: World) -> Iterator[State]:
    """A child that is awaited, left to the queue, awaited again, and run in the slot of its parent."""
    above = parent(world)
    child = spawn(world, above, wait=True)
    yield see(world, child.effort_id)
    for is_expected in (False, True):
        as_agent(world, above, "spawn.expect", session_ids=[child.child_session_id], is_expected=is_expected)
        yield see(world, child.effort_id)
    claimed = claim(world, "host/2", effort_id=child.effort_id)
    yield see(world, child.effort_id)
    complete(world, claimed)
    yield see(world, child.effort_id)


def walk_by_hand(world: World) -> Iterator[State]:
    """An effort that is there for a session ends with it, and goes on with it."""
    effort_id = session(world, start(world)).effort_id
    yield see(world, effort_id)
    hook(world, "session_end")
    yield see(world, effort_id)
    hook(world, "session_start", source="resume", pid=7)
    yield see(world, effort_id)


WALKS: dict[Walk, list[State]] = {
    walk_through_the_queue: ["blocked", "ready", "running", "parked", "ready", "running", "succeeded"],
    walk_to_a_limit: ["ready", "running", "parked", "blocked", "parked", "failed"],
    walk_with_a_lost_worker: ["ready", "running", "expired", "running", "stopping", "expired", "failed", "ready"],
    walk_without_a_change: ["ready", "unchanged", "ready", "succeeded"],
    walk_as_a_child: ["awaited", "ready", "awaited", "running", "succeeded"],
    walk_by_hand: ["manual", "succeeded", "manual"],
}


@pytest.mark.requirement("R192", "R199")
@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.__name__)
def test_an_effort_goes_from_state_to_state_as_the_table_allows(world: World, walk: Walk) -> None:
    seen = list(walk(world))
    assert seen == WALKS[walk]
    assert all(may_follow(before, state) for before, state in zip([None, *seen], seen, strict=False))


def test_the_walks_go_through_every_state() -> None:
    assert {state for states in WALKS.values() for state in states} == set(get_args(State))


def test_a_claim_gives_what_is_ready_and_by_its_name_what_is_awaited(world: World) -> None:
    above = parent(world)
    ready = add(world)
    others = [add(world, depends_on=[ready.id]).id, world.effort().id, above.effort.id]
    child = spawn(world, above, wait=True)
    refused = {see(world, each): claim(world, "host/9", effort_id=each).refused for each in others}
    assert refused == {"blocked": "blocked", "manual": "not_queued", "running": "lost"}
    assert (see(world, child.effort_id), world.call("work.next").id) == ("awaited", ready.id)
    assert claim(world, "host/9", effort_id=child.effort_id).id == child.effort_id
    assert (see(world, ready.id), claim(world, "host/8").id) == ("ready", ready.id)
