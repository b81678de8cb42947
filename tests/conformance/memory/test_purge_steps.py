"""No step of a purge is large: rows are counted, not seconds, because a busy machine says nothing about seconds."""

from contextlib import suppress
from typing import Any

import pytest
from msgspec.structs import asdict
from tests.conformance import queue_worker
from tests.conformance.memory.purging import PURGE, ended, finish_purges
from tests.conformance.stored_text import everything
from tests.world import World

from ramet.protocol.memory.archives import PlanPurge, PurgeStep
from ramet.protocol.memory.purge_steps import purge_steps

ROWS_PER_COMMIT = 6
"""The commit, its content, a tombstone of each, its tags, and its share of what is noted once."""


def changed_by_each_step(world: World) -> list[int]:
    """How many rows each transaction changes, on SQLite, which counts them."""
    counts, running = [], purge_steps()
    request = next(running)
    with suppress(StopIteration):
        while True:
            before = changes(world)
            if isinstance(request, PlanPurge):
                reply = world.call(request.op.name, **asdict(request))
            else:
                reply = world.perform("user", request.op, request)
                counts.append(changes(world) - before)
            request = running.send(reply)
    return counts


def changes(world: World) -> int:
    database: Any = world.db
    return int(database.database.total_changes())


@pytest.mark.requirement("R399")
@pytest.mark.parametrize("world", ["sqlite"], indirect=True)
def test_every_step_of_a_long_session_changes_few_rows(world: World) -> None:
    attempt = ended(world, *(f"zebra {number}" for number in range(600)))
    before = changes(world)
    world.call("session.purge", session_id=attempt.session.id, **PURGE)
    assert changes(world) - before <= 50
    counts = changed_by_each_step(world)
    assert len(counts) >= 600 // 50
    assert max(counts) <= 50 * ROWS_PER_COMMIT
    assert "zebra" not in everything(world)


@pytest.mark.requirement("R399")
def test_only_replies_about_the_session_or_with_its_text_are_removed(world: World) -> None:
    attempt = ended(world, "zebra one")
    other = queue_worker.start(world, "host/2")
    for key, session, text in (("a", attempt, "zebra said again"), ("b", other, "giraffe said")):
        said = {"session_id": session.session.id, "role": "user", "content": text}
        world.call("db.messages.append", **said, idempotency_key=key)
    world.call("session.purge", session_id=attempt.session.id, **PURGE)
    finish_purges(world)
    left = {row[0] for row in world.sql("SELECT key FROM idempotency")}
    assert "b" in left
    assert "a" not in left
    assert "zebra" not in everything(world)


@pytest.mark.requirement("R399")
def test_a_content_that_is_said_again_between_plan_and_step_stays(world: World) -> None:
    attempt = ended(world, "shared words", "zebra")
    world.call("session.purge", session_id=attempt.session.id, **PURGE)
    running = purge_steps()
    plan = world.call("memory.purgePlan", **asdict(next(running)))
    other = queue_worker.start(world, "host/2")
    queue_worker.report(world, other, queue_worker.text("shared words"))
    step = running.send(plan)
    assert isinstance(step, PurgeStep)
    world.perform("user", step.op, step)
    finish_purges(world)
    assert "shared words" in [text for _, text in queue_worker.said_by(world, other.session.id)]
    assert "zebra" not in everything(world)


@pytest.mark.requirement("R399")
def test_many_sessions_are_marked_a_few_at_a_time(world: World) -> None:
    attempt = ended(world, "zebra")
    (top,) = world.sql(f"SELECT task_id, effort_id FROM sessions WHERE id = {attempt.session.id}")
    for number in range(25):
        world.sql(f"INSERT INTO branches (name, created_ms) VALUES ('below/{number}', 0)")
        world.sql(
            "INSERT INTO sessions (task_id, effort_id, parent_session_id, root_session_id, branch, created_at, "
            f"ended_at, outcome) VALUES ('{top[0]}', {top[1]}, {attempt.session.id}, {attempt.session.id}, "
            f"'below/{number}', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 'success')"
        )
    first = world.call("session.purge", session_id=attempt.session.id, **PURGE)
    assert (len(first.session_ids), first.left) == (20, 6)
    assert attempt.session.id not in first.session_ids
    second = world.call("session.purge", session_id=attempt.session.id, **PURGE)
    assert (len(second.session_ids), second.left) == (6, 0)
    finish_purges(world)
    assert "zebra" not in everything(world)
