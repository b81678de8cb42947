"""What a former daemon left: keepers that still hold their agents, keepers that died, and claims that came to nothing.

It is looked at before anybody may claim: an agent whose keeper lives keeps its lease, however long nobody was there
to renew it.
"""

import asyncio
import logging

from msgspec import Struct

from ramet.errors import LeaseLost, NotFound
from ramet.model.record.effort import Effort
from ramet.model.record.session import Session
from ramet.protocol.keeping import KeeperRecord
from ramet.protocol.requests import FindSessions
from ramet.protocol.work import CompleteWork, ListWork, RenewLease
from ramet.runner.processes import keepers
from ramet.runner.runner_context import Workshop

log = logging.getLogger(__name__)


class Left(Struct, frozen=True, kw_only=True):
    """An attempt that has a session and no outcome."""

    slot: str
    effort_id: int
    generation: int
    session_id: int
    instance: str
    record: KeeperRecord | None
    """None where the keeper never came to write one."""


async def look(shop: Workshop) -> list[Left]:
    """Every attempt that somebody has to look after."""
    records = {record.instance: record for record in await asyncio.to_thread(_records, shop)}
    left = [found for record in records.values() if (found := await _from_record(shop, record)) is not None]
    shop.faults.reach("during_adoption")
    known = {found.effort_id for found in left}
    for effort in await _ours(shop):
        if effort.id not in known:
            found = await _without_record(shop, effort)
            if found is not None:
                left.append(found)
    return left


def _records(shop: Workshop) -> list[KeeperRecord]:
    return keepers.list_records(shop.places.keepers)


async def keep_leases(shop: Workshop) -> None:
    """Renew the lease of every agent whose keeper lives: it may have been asleep, with the whole machine."""
    for record in await asyncio.to_thread(_records, shop):
        await _keep_lease(shop, record)


async def _keep_lease(shop: Workshop, record: KeeperRecord) -> None:
    if not keepers.is_alive(record):
        return
    try:
        await shop.ask(RenewLease(effort_id=record.effort_id, generation=record.generation))
    except (LeaseLost, NotFound) as error:
        log.warning("a keeper lost its lease effort=%d error=%s", record.effort_id, error.code)


async def _from_record(shop: Workshop, record: KeeperRecord) -> Left | None:
    await _keep_lease(shop, record)
    session = await _session(shop, record.effort_id, record.instance)
    if session is None:
        await asyncio.to_thread(keepers.remove, shop.places.keepers, record.instance)
        return None
    return Left(
        slot=session.agent_id or "",
        effort_id=record.effort_id,
        generation=record.generation,
        session_id=session.id,
        instance=record.instance,
        record=record,
    )


async def _without_record(shop: Workshop, effort: Effort) -> Left | None:
    """An effort that was claimed here, and whose keeper left nothing: it never began, or it ended unrecorded."""
    session = await _session(shop, effort.id, None)
    if session is None or session.instance is None or session.generation != effort.lease_generation:
        await shop.ask(
            CompleteWork(
                effort_id=effort.id,
                generation=effort.lease_generation,
                outcome="error",
                failure="infrastructure",
                reason="the daemon ended before the attempt began",
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


async def _ours(shop: Workshop) -> list[Effort]:
    """The active efforts that this daemon's slots hold."""
    found: list[Effort] = []
    cursor = None
    while True:
        page = await shop.ask(ListWork(state="active", cursor=cursor, limit=shop.settings.limits.page_max))
        found += [effort for effort in page.items if shop.is_ours(effort.lease_owner)]
        if page.next is None:
            return found
        cursor = page.next


async def _session(shop: Workshop, effort_id: int, instance: str | None) -> Session | None:
    """The effort's session that a keeper held: the one named, or the newest."""
    page = await shop.ask(FindSessions(effort_id=effort_id))
    items: list[Session] = page.items
    return next((session for session in items if instance in (None, session.instance)), None)
