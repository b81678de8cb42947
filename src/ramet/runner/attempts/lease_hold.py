"""Holding an effort while this machine works on it and no keeper does: while its worktree is made, and while what came
of it is collected. A large repository may take longer for that than a lease lasts.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ramet.errors import LeaseLost, NotFound, RametError
from ramet.protocol.work.leases import RenewLease
from ramet.runner.context import RunnerContext

log = logging.getLogger(__name__)


@asynccontextmanager
async def hold(runner: RunnerContext, effort_id: int, generation: int) -> AsyncIterator[None]:
    """Renew the lease on an effort again and again. Who lost it is told so by whatever is recorded next."""
    renewing = asyncio.get_running_loop().create_task(
        _renew(runner, RenewLease(effort_id=effort_id, generation=generation))
    )
    try:
        yield
    finally:
        renewing.cancel()
        await asyncio.wait([renewing])


async def _renew(runner: RunnerContext, request: RenewLease) -> None:
    while True:
        await asyncio.sleep(runner.settings.work.lease_seconds / 3)
        try:
            await runner.ask(request)
        except (LeaseLost, NotFound):
            return
        except RametError as error:
            log.warning("a lease could not be renewed effort=%d error=%s", request.effort_id, error.code)
