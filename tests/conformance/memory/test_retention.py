"""Retention purges what is older than its owner keeps it, a day after a notice, and leaves alone what is in use."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import asdict
from tests.conformance import queue_worker, run_steps
from tests.conformance.memory import archive_steps
from tests.conformance.stored_text import everything
from tests.world import World

from ramet.config.settings import RetentionSettings
from ramet.daemon.executors.content_retention import ContentRetention
from ramet.protocol.memory.archives import PlanPurge

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


class Killed(BaseException):
    """What ends a daemon at once."""


def retention(world: World, settings: RetentionSettings, die_at: int | None = None) -> ContentRetention:
    """What the daemon runs, on the requests of a world; it may be killed at one of them."""
    asked = 0

    async def ask(request: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked == die_at:
            raise Killed
        if isinstance(request, PlanPurge):
            return world.call(request.op.name, **asdict(request))
        return world.perform("user", request.op, request)

    return ContentRetention(ask, settings)


def look(each: ContentRetention) -> None:
    asyncio.run(each.look())


@pytest.mark.requirement("R399", "R307")
def test_the_daemon_purges_sessions_and_runs_by_rule_wherever_it_is_killed(world: World) -> None:
    ended(world, "host/1")
    run = run_steps.start(world, run_steps.line("1", text="hunt the zebra"))
    run_steps.do_all(world, run, output_content="zebra hunted")
    run_steps.leave(world, run)
    queue_worker.start(world, "host/3")
    world.clock.advance(100 * DAY)
    settings = RetentionSettings(sessions_days=30, runs_days=60)
    look(retention(world, settings))
    look(retention(world, settings))
    assert len(world.call("fleet.notices").items) == 1
    assert "zebra" in everything(world)
    world.clock.advance(DAY + 60)
    before, die_at = archive_steps.hashes(world), 0
    while True:
        die_at += 1
        try:
            look(retention(world, settings, die_at))
        except Killed:
            assert die_at < 200
            continue
        break
    assert die_at > 5
    text = everything(world)
    assert "zebra" not in text
    assert "said by host/1" not in text
    assert world.sql("SELECT * FROM purges") == []
    assert archive_steps.hashes(world) == before
    assert archive_steps.findings(world) == []
    assert run_steps.get(world, run).name == "[purged]"
    graves, events = world.sql("SELECT * FROM tombstones"), world.events()
    look(retention(world, settings))
    assert (world.sql("SELECT * FROM tombstones"), world.events()) == (graves, events)
    assert len(world.call("fleet.notices").items) == 1


@pytest.mark.requirement("R399")
def test_two_daemons_that_share_a_database_purge_once(world: World) -> None:
    ended(world, "host/1")
    world.clock.advance(31 * DAY)
    settings = RetentionSettings(sessions_days=30)
    look(retention(world, settings))
    world.clock.advance(DAY + 60)

    async def both() -> None:
        await asyncio.gather(retention(world, settings).look(), retention(world, settings).look())

    asyncio.run(both())
    assert len(world.call("fleet.notices").items) == 1
    assert world.events().count("session.purged") == 2  # when it was marked, and when its contents were removed
    assert world.sql("SELECT * FROM purges") == []
    assert archive_steps.findings(world) == []
