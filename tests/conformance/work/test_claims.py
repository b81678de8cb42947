"""Claims: one worker has an effort, under a lease with a generation of its own, and everybody else is told why not."""

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.queue_worker import (
    add,
    begin,
    claim,
    complete,
    expire,
    report,
    run,
    said_by,
    start,
    text,
)
from tests.world import World, open_world

from ramet.errors import EffortNotFound, LeaseLost, ProjectNotFound
from ramet.model.instant import to_datetime


def test_a_claim_gives_the_row_and_a_generation_and_the_effort_is_active(world: World) -> None:
    effort = add(world)
    claimed = claim(world, "host/1")
    assert (claimed.id, claimed.generation, claimed.lease_generation) == (effort.id, 1, 1)
    assert (claimed.lifecycle, claimed.attempts, claimed.lease_owner) == ("active", 1, "host/1")
    assert claimed.artifact_prefix == "1_DO"
    event = world.call("events.list", kind="effort.claimed").items[0]
    assert event.data == {"worker": "host/1", "generation": 1, "attempt": 1}


@pytest.mark.requirement("R180")
def test_a_lease_lasts_as_long_as_it_was_asked_for_and_is_renewed(world: World) -> None:
    add(world)
    claimed = claim(world, lease_seconds=100)
    renewed = world.call("work.renew", effort_id=claimed.id, generation=1, lease_seconds=500)
    assert timedelta(seconds=399) <= renewed.expires_at - claimed.lease_expires_at <= timedelta(seconds=430)
    assert (renewed.effort_id, renewed.generation, renewed.stop) == (claimed.id, 1, None)
    if world.is_sqlite:
        assert claimed.lease_expires_at == to_datetime(world.clock.now_ms()) + timedelta(seconds=100)


def test_each_refusal_says_why(world: World) -> None:
    first, other = add(world), add(world)
    waiting, by_hand = add(world, depends_on=[first.id]), world.effort()
    claim(world, "host/1", effort_id=first.id)

    def refused(worker: str, effort_id: int | None = None) -> tuple[str, str]:
        answer = claim(world, worker, effort_id=effort_id)
        return answer.refused, answer.detail

    assert refused("host/2", 99) == ("missing", "there is no effort 99")
    assert refused("host/2", first.id) == ("lost", f"host/1 holds effort {first.id}")
    assert refused("host/1", other.id) == ("busy", f"host/1 holds effort {first.id}")
    assert refused("host/2", waiting.id) == ("blocked", f"effort {first.id} is active")
    assert refused("host/2", by_hand.id)[0] == "not_queued"
    run(world, other)
    assert refused("host/2", other.id) == ("not_queued", f"effort {other.id} finished with success")
    assert refused("host/2") == ("missing", "no effort is ready")


def test_a_refused_claim_changes_nothing(world: World) -> None:
    effort = add(world)
    claim(world, "host/1", effort_id=effort.id)
    before = world.dump()
    for worker, effort_id in (("host/2", effort.id), ("host/1", None), ("host/2", None), ("host/2", 99)):
        assert claim(world, worker, effort_id=effort_id).refused
    assert world.dump() == before


def test_a_worker_whose_agent_holds_an_effort_by_hand_is_busy(world: World) -> None:
    session = world.session(agent_id="ada")
    add(world)
    assert claim(world, "ada").detail == f"ada holds effort {session.effort_id}"


@pytest.mark.parametrize(
    ("params", "fits"),
    [
        ({"drivers": ["shell"]}, True),
        ({"drivers": ["claude"]}, False),
        ({"project": "/shop"}, True),
        ({"project": "/mill"}, False),
        ({"drivers": ["claude", "shell"], "project": "/shop"}, True),
    ],
)
def test_a_claim_is_bounded_by_driver_and_project(world: World, params: Any, fits: bool) -> None:
    effort = add(world, driver="shell")
    world.call("db.project.upsert", path="/mill")
    assert (getattr(claim(world, "a", **params), "id", None) == effort.id) is fits
    if fits:
        complete(world, world.call("work.get", effort_id=effort.id), "error")
        world.call("work.resume", effort_id=effort.id)
    named = claim(world, "b", effort_id=effort.id, **params)
    assert getattr(named, "id", None) == effort.id if fits else named.refused == "blocked"


def test_an_effort_that_names_no_driver_is_for_every_worker(world: World) -> None:
    effort = add(world)
    assert claim(world, drivers=["claude"]).id == effort.id
    with pytest.raises(ProjectNotFound):
        claim(world, "host/2", project=99)


def test_a_worker_claims_only_the_skills_of_its_agent(world: World) -> None:
    other, plan = add(world, priority=5), add(world, skill="plan")
    world.call("db.agents.register", id="planner", claims=["plan"])
    assert claim(world, "planner", effort_id=other.id).refused == "blocked"
    assert claim(world, "planner").id == plan.id


@pytest.mark.requirement("R180")
def test_a_lease_that_ran_out_is_taken_over_and_the_old_holder_has_lost_it(world: World) -> None:
    attempt = start(world, "host/1")
    report(world, attempt, text("half of it"))
    expire(world, attempt.effort.id)
    taken = claim(world, "host/2")
    assert (taken.id, taken.generation, taken.attempts, taken.host_failures) == (attempt.effort.id, 2, 2, 1)
    assert (taken.lease_owner, taken.failure) == ("host/2", "infrastructure")
    session = world.call("db.session.get", session_id=attempt.session.id)
    assert (session.outcome, session.notes) == ("error", "the lease of host/1 expired")
    assert world.call("db.agents.get", id="host/1").effort_id is None
    with pytest.raises(LeaseLost):
        world.call("work.renew", effort_id=taken.id, generation=1)
    assert claim(world, "host/3").refused == "missing"


def test_a_lease_past_its_time_that_nobody_took_over_goes_on(world: World) -> None:
    effort = add(world)
    claim(world)
    expire(world, effort.id)
    assert world.call("work.renew", effort_id=effort.id, generation=1).generation == 1
    assert claim(world, "host/2").refused == "missing"
    expire(world, effort.id)
    assert complete(world, world.call("work.get", effort_id=effort.id)).outcome == "success"


def test_a_worker_that_was_away_may_claim_again_what_it_lost(world: World) -> None:
    effort = add(world)
    claim(world, "host/1")
    expire(world, effort.id)
    assert (claim(world, "host/1").generation, claim(world, "host/1").refused) == (2, "busy")


def test_an_effort_whose_workers_keep_vanishing_is_given_up_with_one_notice(world: World) -> None:
    effort = add(world)
    for number in range(6):
        assert claim(world, f"host/{number}").id == effort.id
        expire(world, effort.id)
    assert claim(world, "host/9").refused == "missing"
    done = world.call("work.get", effort_id=effort.id)
    assert (done.outcome, done.failure, done.host_failures) == ("error", "infrastructure", 6)
    assert [notice.kind for notice in world.call("fleet.notices").items] == ["gave_up"]


def test_a_lease_that_ran_out_while_somebody_wanted_it_ended_ends_it(world: World) -> None:
    attempt = start(world)
    world.call("fleet.kill", effort_id=attempt.effort.id)
    expire(world, attempt.effort.id)
    assert claim(world, "host/2").refused == "missing"
    assert world.call("work.get", effort_id=attempt.effort.id).outcome == "cancelled"
    assert world.call("fleet.notices").items == []


@pytest.mark.requirement("R180")
def test_a_late_report_of_an_old_generation_is_written_down_and_changes_nothing(world: World) -> None:
    old = start(world, "host/1")
    expire(world, old.effort.id)
    begin(world, claim(world, "host/2"), instance="keeper02")
    before = world.dump()
    late = complete(world, old, "success", generation=1, output_content="too late", reason="slow")
    assert (late.ignored, late.requeued, late.lease_owner, late.outcome) == (True, False, "host/2", None)
    after = world.dump()
    assert {table for table in after if after[table] != before[table]} == {"events"}
    event = world.call("events.list", kind="effort.late_report").items[-1]
    assert event.data["output_content"] == "too late"
    assert (event.data["generation"], event.data["outcome"], event.data["reason"]) == (1, "success", "slow")


def test_what_an_agent_says_after_its_lease_is_gone_is_kept_and_renews_nothing(world: World) -> None:
    old = start(world, "host/1")
    expire(world, old.effort.id)
    taken = claim(world, "host/2")
    reply = report(world, old, text("still here"))
    assert (reply.seq, reply.is_current, reply.stop) == (1, False, None)
    assert said_by(world, old.session.id)[-1] == ("assistant", "still here")
    assert world.call("work.get", effort_id=taken.id).lease_expires_at == taken.lease_expires_at


@pytest.mark.parametrize("name", ["work.renew", "work.begin", "work.complete"])
def test_a_generation_that_never_was_is_refused(world: World, name: str) -> None:
    effort = add(world)
    more = {"outcome": "success"} if name == "work.complete" else {}
    if name == "work.begin":
        more = {"driver": "shell", "agent_id": "a", "instance": "keeper01", "prompt": "x"}
    for generation in (1, 2):
        if name == "work.complete":
            assert world.call(name, effort_id=effort.id, generation=generation, **more).ignored
        else:
            with pytest.raises(LeaseLost):
                world.call(name, effort_id=effort.id, generation=generation, **more)
        claim(world)
    with pytest.raises(EffortNotFound):
        world.call(name, effort_id=99, generation=1, **more)


def test_a_finished_effort_has_no_lease(world: World) -> None:
    attempt = start(world)
    done = complete(world, attempt)
    assert (done.lease_owner, done.lease_expires_at, done.lease_generation) == (None, None, 1)
    assert complete(world, attempt, generation=1).ignored
    with pytest.raises(LeaseLost, match="finished with success"):
        world.call("work.renew", effort_id=done.id, generation=1)
    assert world.call("db.check").passed


def test_the_check_finds_a_lease_that_nobody_should_have(world: World) -> None:
    add(world)
    world.sql("UPDATE efforts SET lease_owner = 'ghost'")
    assert [finding.detail for finding in world.call("db.check").findings] == [
        "effort 1 is queued, but ghost holds a lease on it"
    ]


@contextmanager
def several_daemons(count: int, folder: Path, url: str) -> Iterator[list[World]]:
    """Several machines that share one PostgreSQL."""
    with ExitStack() as stack:
        yield [stack.enter_context(open_world(folder / str(number), url)) for number in range(count)]


def at_once(worlds: list[World], work: Any) -> list[Any]:
    """The same on every machine, at the same moment."""
    barrier, found = threading.Barrier(len(worlds)), [None] * len(worlds)

    def one(number: int) -> None:
        barrier.wait(30)
        found[number] = work(worlds[number], number)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(len(worlds))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return found


@pytest.mark.requirement("R180")
def test_machines_that_claim_at_once_never_get_the_same_effort(tmp_path: Path, postgres_url: str) -> None:
    with several_daemons(4, tmp_path, postgres_url) as worlds:
        efforts = [add(worlds[0]).id for _ in range(24)]

        def drain(world: World, number: int) -> list[int]:
            mine: list[int] = []
            while not hasattr(claimed := claim(world, f"host{number}/{len(mine)}"), "refused"):
                mine.append(claimed.id)
            return mine

        claimed = at_once(worlds, drain)
    assert sorted(effort for own in claimed for effort in own) == efforts


@pytest.mark.requirement("R180")
def test_of_machines_that_take_over_one_lease_one_gets_it(tmp_path: Path, postgres_url: str) -> None:
    with several_daemons(4, tmp_path, postgres_url) as worlds:
        effort = add(worlds[0])
        claim(worlds[0], "gone")
        for generation in range(2, 5):
            expire(worlds[0], effort.id)
            found = at_once(worlds, lambda world, number, at=generation: claim(world, f"host{number}/{at}"))
            won = [each for each in found if not hasattr(each, "refused")]
            assert [each.generation for each in won] == [generation]
            assert {each.refused for each in found if hasattr(each, "refused")} == {"missing"}
        taken = worlds[0].call("events.list", kind="effort.requeued", limit=100).items
    assert len(taken) == 3


def test_a_kept_reply_of_a_claim_is_of_the_kind_that_it_was(world: World) -> None:
    add(world)
    for worker, key in (("host/1", "k1"), ("host/2", "k2")):
        first = claim(world, worker, idempotency_key=key)
        again = claim(world, worker, idempotency_key=key)
        assert (type(again), again) == (type(first), first)


def test_a_claim_survives_its_way_over_the_wire(world: World) -> None:
    from ramet.protocol.operation import decode_reply
    from ramet.protocol.wire.frames import encode
    from ramet.protocol.work.leases import ClaimWork
    from ramet.protocol.work.queue import NextWork

    add(world)
    for reply in (claim(world), claim(world, "host/2")):
        assert decode_reply(ClaimWork, encode(reply)) == reply
    effort = add(world)
    found = decode_reply(NextWork, encode(world.call("work.next")))
    assert found is not None
    assert found.id == effort.id
    assert decode_reply(NextWork, json.dumps(None).encode()) is None


def test_two_efforts_do_not_work_in_one_worktree(world: World) -> None:
    from ramet.errors import WorktreeBusy

    first = start(world, "host/1", worktree="/trees/e1")
    add(world)
    second = claim(world, "host/2")
    with pytest.raises(WorktreeBusy, match=f"effort {first.effort.id} "):
        begin(world, second, worktree="/trees/e1")
    complete(world, first)
    assert begin(world, second, worktree="/trees/e1").effort.worktree == "/trees/e1"
