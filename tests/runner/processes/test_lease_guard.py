"""The second guard: a daemon ends agents whose keepers do not renew their leases."""

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from tests.keeper.held import Held, make_spec
from tests.keeper.scripted_daemon import wait_for

from ramet.clock import steady_seconds
from ramet.protocol.work.keepers import RECORD_FILE
from ramet.runner.processes import keepers, process_identity
from ramet.runner.processes.lease_guard import LeaseGuard

LEASE_SECONDS = 20


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Held]:
    """A keeper that is stopped, and has no timer of its own."""
    held = Held(tmp_path, make_spec(tmp_path, tmp_path / "s", "trap '' INT TERM; setsid sleep 600 & sleep 600"))
    held.whole_record()
    wait_for(lambda: len(held.marked()) == 3)
    os.kill(held.pid, signal.SIGSTOP)
    yield held
    held.close()


def guard_until(held: Held, renewed_at: float, *, is_renewed: bool = False) -> None:
    """Guard the lease of a keeper for a second, at least."""

    async def guard() -> None:
        guard = LeaseGuard(held.folder, LEASE_SECONDS, is_fenced=True)
        guard.watch(held.spec.instance, renewed_at)
        if is_renewed:
            guard.renewed(held.spec.instance, steady_seconds())
        following = asyncio.get_running_loop().create_task(guard.follow())
        await asyncio.sleep(1)
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)

    asyncio.run(guard())


@pytest.mark.requirement("R468")
def test_the_daemon_ends_an_agent_whose_keeper_hangs_and_all_that_it_started(held: Held) -> None:
    guard_until(held, steady_seconds() - LEASE_SECONDS)
    wait_for(lambda: not held.marked())
    assert held.wait() == -signal.SIGKILL


@pytest.mark.requirement("R468")
def test_it_ends_the_agent_also_if_the_machines_clock_was_set(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    booted_at = process_identity._boot_time()
    monkeypatch.setattr(process_identity, "_boot_time", lambda: booted_at + 3600)
    guard_until(held, steady_seconds() - LEASE_SECONDS)
    wait_for(lambda: not held.marked())
    assert held.wait() == -signal.SIGKILL


@pytest.mark.requirement("R468")
def test_a_lease_that_is_renewed_keeps_its_agent(held: Held) -> None:
    guard_until(held, steady_seconds() - LEASE_SECONDS, is_renewed=True)
    assert len(held.marked()) == 3


@pytest.mark.requirement("R468")
def test_a_process_that_only_has_the_number_of_an_agent_is_left_alone(held: Held) -> None:
    record = held.whole_record()
    assert record.agent_started_at is not None
    stale = replace(record, agent_started_at=record.agent_started_at - 3600)
    keepers.replace_file(held.folder / held.spec.instance / RECORD_FILE, msgspec.json.encode(stale))
    guard_until(held, steady_seconds() - LEASE_SECONDS)
    assert len(held.marked()) == 3
