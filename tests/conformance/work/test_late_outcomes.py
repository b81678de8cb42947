"""What comes late is not lost: a success under a lost lease counts until another attempt has begun, and after an outage
the holders of leases come before those who would take them over.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.conformance.queue_worker import add, begin, claim, complete, expire, start
from tests.conftest import PostgresWorlds
from tests.world import World

from ramet.errors import LeaseLost
from ramet.store.work import outages


def lose(world: World, attempt: Any) -> Any:
    """Another host claims the effort of an attempt; what it got."""
    expire(world, attempt.effort.id)
    other = add(world, task="/shop/tasks/other")
    assert claim(world, "host/9", effort_id=other.id).generation == 1  # which puts the lost effort back
    return claim(world, "host/2", effort_id=attempt.effort.id)


@pytest.mark.requirement("R466")
def test_a_late_success_counts_if_nobody_has_begun_again_and_the_next_worker_is_refused(world: World) -> None:
    attempt = start(world)
    claimed = lose(world, attempt)
    late = complete(world, attempt, "success", output_content="all of it")
    assert (late.ignored, late.lifecycle, late.outcome, late.output_content) == (
        False,
        "finished",
        "success",
        "all of it",
    )
    assert late.lease_owner is None
    with pytest.raises(LeaseLost, match="finished with success"):
        begin(world, claimed)
    assert complete(world, claimed, "error", failure="infrastructure").ignored
    assert world.events().count("effort.finished") == 1
    assert world.call("db.session.get", session_id=attempt.session.id).outcome == "success"
    assert [each.data["accepted"] for each in world.call("events.list", kind="effort.late_report").items] == [
        True,
        False,
    ]


@pytest.mark.requirement("R466")
def test_a_late_success_counts_while_the_effort_waits_for_its_next_attempt(world: World) -> None:
    attempt = start(world)
    expire(world, attempt.effort.id)
    claim(world, "host/9", effort_id=add(world, task="/shop/tasks/other").id)
    assert world.call("work.get", effort_id=attempt.effort.id).lifecycle == "queued"
    assert complete(world, attempt, "success").outcome == "success"
    assert world.call("work.next", worker="host/3") is None


@pytest.mark.requirement("R466")
def test_a_late_success_changes_nothing_once_another_attempt_has_begun(world: World) -> None:
    attempt = start(world)
    claimed = lose(world, attempt)
    begin(world, claimed, instance="keeper09")
    assert complete(world, attempt, "success").ignored
    assert complete(world, claimed, "success", output_content="the second").output_content == "the second"


@pytest.mark.requirement("R466")
@pytest.mark.parametrize("outcome", ["error", "no_change", "cancelled"])
def test_only_a_success_counts_late(world: World, outcome: str) -> None:
    attempt = start(world)
    claimed = lose(world, attempt)
    assert complete(world, attempt, outcome).ignored
    assert complete(world, attempt, "success", generation=claimed.generation + 1).ignored
    begin(world, claimed)


@pytest.fixture
def shared(postgres_worlds: PostgresWorlds) -> Iterator[World]:
    world = postgres_worlds.next()
    yield world
    world.empty()


AN_HOUR = 3600


def end_lease(world: World, effort_id: int, seconds_ago: int) -> None:
    ago = f"now() AT TIME ZONE 'UTC' - INTERVAL '{seconds_ago} seconds'"
    text = f"""to_char({ago}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"""
    world.sql(f"UPDATE efforts SET lease_expires_at = {text} WHERE id = :id", id=effort_id)


def note_outage(world: World, began_seconds_ago: int, ended_seconds_ago: int) -> None:
    now_ms = int(world.sql("SELECT extract(epoch FROM now()) * 1000")[0][0])
    outages.record(world.db, now_ms - began_seconds_ago * 1000, now_ms - ended_seconds_ago * 1000, "north.1")


@pytest.mark.requirement("R466")
def test_for_one_lease_after_an_outage_what_ran_out_in_it_is_left_to_its_holder(shared: World) -> None:
    attempt = start(shared)
    end_lease(shared, attempt.effort.id, seconds_ago=20)
    note_outage(shared, began_seconds_ago=30, ended_seconds_ago=5)
    assert shared.call("work.next", worker="host/2") is None
    assert claim(shared, "host/2", lease_seconds=AN_HOUR).refused == "missing"
    done = complete(shared, attempt, "success")
    assert (done.ignored, done.outcome, done.attempts) == (False, "success", 1)


@pytest.mark.requirement("R466")
def test_a_dead_holder_is_replaced_one_lease_after_an_outage_and_at_once_if_it_was_dead_before(shared: World) -> None:
    started = shared.sql("SELECT extract(epoch FROM now() - pg_postmaster_start_time())")[0][0]
    lease_seconds = max(1, int(started) - 1)  # the server itself was started longer ago than that
    before, during = start(shared), start(shared, "host/5")
    end_lease(shared, before.effort.id, seconds_ago=50)
    note_outage(shared, began_seconds_ago=40, ended_seconds_ago=0)
    end_lease(shared, during.effort.id, seconds_ago=20)
    assert claim(shared, "host/2", lease_seconds=lease_seconds).id == before.effort.id
    shared.sql("UPDATE events SET dedupe_key = 'database.returned/2001' WHERE kind = 'database.returned'")
    assert claim(shared, "host/3", lease_seconds=lease_seconds).id == during.effort.id
