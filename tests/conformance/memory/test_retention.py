"""Retention purges what is older than its owner keeps it, a day after a notice, and leaves alone what is in use."""

import pytest
from tests.conformance import queue_worker
from tests.world import World

DAY = 86_400


def ended(world: World, worker: str) -> int:
    attempt = queue_worker.start(world, worker)
    queue_worker.report(world, attempt, queue_worker.text(f"said by {worker}"))
    queue_worker.complete(world, attempt)
    return int(attempt.session.id)


@pytest.mark.requirement("R399", "R307")
def test_old_sessions_are_purged_a_day_after_a_notice_and_archived_or_open_ones_never(world: World) -> None:
    old, kept = ended(world, "host/1"), ended(world, "host/2")
    world.call("session.archive", session_id=kept)
    queue_worker.start(world, "host/3")
    world.clock.advance(31 * DAY)
    young = ended(world, "host/4")
    assert world.call("memory.retain", sessions_days=30).announced
    (notice,) = world.call("fleet.notices").items
    assert "Tomorrow" in notice.text
    world.clock.advance(DAY - 60)
    assert world.call("memory.retain", sessions_days=30).purged == []
    world.clock.advance(120)
    assert world.call("memory.retain", sessions_days=30).purged == [old]
    again = world.call("memory.retain", sessions_days=30)
    assert (again.purged, again.announced) == ([], False)
    purged = world.sql("SELECT id FROM sessions WHERE purged_at IS NOT NULL")
    assert [row[0] for row in purged] == [old]
    assert young not in [row[0] for row in purged]


@pytest.mark.requirement("R399")
def test_nothing_is_purged_unless_the_owner_says_so(world: World) -> None:
    ended(world, "host/1")
    world.clock.advance(10_000 * DAY)
    reply = world.call("memory.retain")
    assert (reply.purged, reply.purged_runs, reply.announced) == ([], [], False)
