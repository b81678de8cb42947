"""What a former daemon left: keepers that still hold their agents, keepers that died, and claims that came to nothing.

It is settled before anything is claimed: an agent whose keeper lives keeps its lease, however long it was not renewed.
"""

import asyncio
import logging

from msgspec import Struct

from ramet.errors import LeaseLost, NotFound
from ramet.model.record.session import Session
from ramet.protocol.pages import follow_async
from ramet.protocol.record.efforts import EffortRow
from ramet.protocol.record.sessions import FindSessions
from ramet.protocol.work.hosts import NotStarted
from ramet.protocol.work.keepers import KeeperRecord
from ramet.protocol.work.leases import CompleteWork, RenewLease
from ramet.protocol.work.queue import ListWork
from ramet.runner.context import RunnerContext
from ramet.runner.processes import keepers

log = logging.getLogger(__name__)


class Left(Struct, frozen=True, kw_only=True):
    """An attempt that has a session and no outcome."""

    slot: str
    effort_id: int
    generation: int
    session_id: int
    instance: str
    record: KeeperRecord | None
    """None if the keeper never wrote one."""


async def look(runner: RunnerContext) -> list[Left]:
    """Every attempt that this daemon has to look after."""
    records = {record.instance: record for record in await asyncio.to_thread(_records, runner)}
    left = [found for record in records.values() if (found := await _from_record(runner, record)) is not None]
    runner.faults.reach("during_adoption")
    known = {found.effort_id for found in left}
    for effort in await _ours(runner):
        if effort.id not in known:
            found = await _without_record(runner, effort)
            if found is not None:
                left.append(found)
    return left


def _records(runner: RunnerContext) -> list[KeeperRecord]:
    return keepers.list_records(runner.places.keepers)


async def keep_leases(runner: RunnerContext) -> None:
    """Renew the lease of every agent whose keeper lives: it may have been asleep, with the whole machine."""
    for record in await asyncio.to_thread(_records, runner):
        await _keep_lease(runner, record)


async def _keep_lease(runner: RunnerContext, record: KeeperRecord) -> None:
    if not keepers.is_alive(record):
        return
    try:
        await runner.ask(RenewLease(effort_id=record.effort_id, generation=record.generation))
    except (LeaseLost, NotFound) as error:
        log.warning("a keeper lost its lease effort=%d error=%s", record.effort_id, error.code)


async def _from_record(runner: RunnerContext, record: KeeperRecord) -> Left | None:
    await _keep_lease(runner, record)
    session = await _session(runner, record.effort_id, record.instance)
    if session is None:
        await asyncio.to_thread(keepers.remove, runner.places.keepers, record.instance)
        return None
    return Left(
        slot=session.agent_id or "",
        effort_id=record.effort_id,
        generation=record.generation,
        session_id=session.id,
        instance=record.instance,
        record=record,
    )


async def _without_record(runner: RunnerContext, effort: EffortRow) -> Left | None:
    """An effort that was claimed here, and whose keeper left nothing: it never started, or it ended unrecorded."""
    session = await _session(runner, effort.id, None)
    if session is None or session.instance is None or session.generation != effort.lease_generation:
        await runner.ask(
            CompleteWork(
                effort_id=effort.id,
                generation=effort.lease_generation,
                outcome="error",
                failure="infrastructure",
                reason="the daemon ended before the attempt started",
                is_fresh=effort.continues_session_id is None,
                not_started=NotStarted(),
            )
        )
        return None
    return Left(
        slot=session.agent_id or "",
        effort_id=effort.id,
        generation=effort.lease_generation,
        session_id=session.id,
        instance=session.instance,
        record=None,
    )


async def _ours(runner: RunnerContext) -> list[EffortRow]:
    """The active efforts that this daemon's slots hold."""
    pages = follow_async(runner.ask, ListWork(state="active", limit=runner.settings.limits.page_max))
    return [effort async for page in pages for effort in page.items if runner.is_ours(effort.lease_owner)]


async def _session(runner: RunnerContext, effort_id: int, instance: str | None) -> Session | None:
    """The effort's session that a keeper held: the one named, or the newest."""
    page = await runner.ask(FindSessions(effort_id=effort_id))
    return next((session for session in page.items if instance in (None, session.instance)), None)
