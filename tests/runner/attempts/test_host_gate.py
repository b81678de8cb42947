"""Whether a host claims: as long as its disks have room, and not while it is parked."""

import asyncio
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, patch

import pytest
from tests.conformance.queue_worker import add, claim, complete
from tests.world import World

from ramet.config.settings import Settings, WorkSettings
from ramet.errors import DatabaseUnreachable
from ramet.runner.attempts.host_gate import DiskRoom, HostGate

pytestmark = pytest.mark.requirement("R462")

ALL = 1_000_000_000
"""More megabytes than a disk has."""


class HangingFolder:
    """A folder on a disk that does not answer until it is let."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.asked = 0
        self.answers = threading.Event()

    def __fspath__(self) -> str:
        self.asked += 1
        self.answers.wait(60)
        return str(self._path)


def make_gate(world: World, folder: Path, min_free_mb: int = 0) -> HostGate:
    async def ask(request: Any) -> Any:
        return world.perform("user", request.op, request)

    settings = Settings(work=WorkSettings(host="north", min_free_mb=min_free_mb))
    places = SimpleNamespace(home=folder, worktrees=folder)
    runner: Any = SimpleNamespace(ask=ask, settings=settings, places=places, host_name="north")
    return HostGate(runner)


def fail(world: World, gate: HostGate) -> None:
    effort = add(world)
    claimed = claim(world, f"north/{effort.id}", effort_id=effort.id)
    complete(world, claimed, "error", failure="infrastructure", reason="full", not_started={"host": "north"})
    gate.doubt()
    world.clock.advance(1)


def states(world: World) -> list[str]:
    return [row.state for row in world.call("hosts.list").items]


def test_a_parked_host_claims_nothing_and_then_one_effort_at_a_time(world: World, tmp_path: Path) -> None:
    async def run() -> None:
        gate = make_gate(world, tmp_path)
        for _ in range(3):
            assert await gate.admits("north/1")
            fail(world, gate)
        assert not await gate.admits("north/1")
        assert gate.closed_by is not None
        world.clock.advance(60)
        assert await gate.admits("north/1")
        assert not await gate.admits("north/2"), "one slot tries for all"
        gate.leave("north/1")  # it claimed nothing
        assert await gate.admits("north/2")
        await gate.note_works()
        assert states(world) == []
        assert await gate.admits("north/1")

    asyncio.run(run())


def test_a_host_that_works_is_resumed_later_if_the_database_was_away_when_it_was_said(
    world: World, tmp_path: Path
) -> None:
    async def run() -> None:
        gate = make_gate(world, tmp_path)
        for _ in range(3):
            fail(world, gate)
        away = AsyncMock(side_effect=DatabaseUnreachable("away"))
        with patch.object(gate._runner, "ask", away), pytest.raises(DatabaseUnreachable):
            await gate.note_works()
        assert gate.is_doubted
        assert not await gate.admits("north/1"), "it is still parked"
        await gate.note_works()
        assert states(world) == []

    asyncio.run(run())


def test_a_daemon_that_starts_again_knows_that_its_host_is_parked(world: World, tmp_path: Path) -> None:
    async def run() -> None:
        for _ in range(3):
            fail(world, make_gate(world, tmp_path))
        gate = make_gate(world, tmp_path)
        assert not await gate.admits("north/1")
        world.call("hosts.resume", name="north")
        assert await gate.admits("north/1")

    asyncio.run(run())


def test_a_host_without_room_is_parked_and_resumed_when_it_has_some(world: World, tmp_path: Path) -> None:
    async def run() -> None:
        full = make_gate(world, tmp_path, ALL)
        assert not await full.admits("north/1")
        (row,) = world.call("hosts.list").items
        assert (row.state, row.parked_until) == ("parked", None)
        assert f"MB are free on the disk of {tmp_path}, less than work.min_free_mb" in row.reason
        world.call("hosts.resume", name="north")
        assert not await full.admits("north/1"), "there is still no room"
        assert states(world) == ["parked"]
        assert await make_gate(world, tmp_path, 1).admits("north/1"), "the next daemon finds room"
        assert states(world) == []

    asyncio.run(run())


def test_a_disk_that_hangs_delays_a_claim_and_does_not_stop_it(tmp_path: Path) -> None:
    async def run() -> None:
        hanging: Any = HangingFolder(tmp_path)
        room = DiskRoom([hanging], ALL)
        for _ in range(3):
            assert await room.find_lack() is None
        assert hanging.asked == 1, "no second thread hangs with the first"
        hanging.answers.set()
        async with asyncio.timeout(60):
            while await room.find_lack() is None:  # noqa: ASYNC110 - the answer comes from a thread
                await asyncio.sleep(0.01)

    asyncio.run(run())


def test_a_folder_that_does_not_exist_lacks_nothing(tmp_path: Path) -> None:
    assert asyncio.run(DiskRoom([tmp_path / "nowhere"], ALL).find_lack()) is None
