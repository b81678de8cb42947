"""Attending a run: only an attended run is worked on, and a run that is no longer attended is interrupted.

The attender renews its hold again and again, so that a vanished daemon is known by its silence.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from ramet.errors import RametError, RunAttended, RunFinished, RunNotFound
from ramet.protocol.pages import follow_async
from ramet.protocol.runs.runs import AttendRun, LeaveRun, ListRuns, RunReply
from ramet.protocol.work.workers import RunWork
from ramet.runner.context import RunnerContext

log = logging.getLogger(__name__)


@asynccontextmanager
async def attend(runner: RunnerContext, request: RunWork, on_loss: Callable[[], None]) -> AsyncIterator[RunReply]:
    """Start or resume the requested run; leave it at the end. `on_loss` is called when another process attends it."""
    assert request.run is not None  # noqa: S101
    run = await runner.ask(
        AttendRun(
            run_id=request.run,
            attender=runner.name,
            begins=True,
            content_hash=request.content_hash,
            is_forced=request.is_forced,
            retry_failed=request.retry_failed,
            keep_going=request.keep_going,
            accept_no_change=request.accept_no_change,
            limits=request.limits,
            branch=request.branch,
            lease_seconds=runner.settings.work.lease_seconds,
        )
    )
    going_on = asyncio.get_running_loop().create_task(_go_on(runner, run.id, on_loss))
    try:
        yield run
    finally:
        going_on.cancel()
        await asyncio.wait([going_on])
        with suppress(RametError):  # where it cannot be said, silence says it
            await runner.ask(LeaveRun(run_id=run.id, attender=runner.name))


async def leave_all(runner: RunnerContext) -> None:
    """Leave the runs that a former daemon attended: it is gone, and nothing has to wait until its hold expires."""
    async for page in follow_async(runner.ask, ListRuns(all=True, limit=runner.settings.limits.page_max)):
        for run in page.items:
            if run.state == "running":
                await runner.ask(LeaveRun(run_id=run.id, attender=runner.name))


async def _go_on(runner: RunnerContext, run_id: int, on_loss: Callable[[], None]) -> None:
    """Renew the attendance until another process has it, or there is nothing to attend."""
    lease_seconds = runner.settings.work.lease_seconds
    while True:
        await asyncio.sleep(lease_seconds / 3)
        try:
            await runner.ask(AttendRun(run_id=run_id, attender=runner.name, lease_seconds=lease_seconds))
        except RunFinished:
            return
        except (RunAttended, RunNotFound) as error:
            log.warning("a run is no longer attended run=%d error=%s", run_id, error.code)
            on_loss()
            return
        except RametError as error:
            log.warning("a run could not be attended run=%d error=%s", run_id, error.code)
