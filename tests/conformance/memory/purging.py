"""What tests of purges have in common: a session that ended, and the steps that remove its texts."""

from contextlib import suppress
from typing import Any

from tests.conformance import queue_worker, spending
from tests.world import World

from ramet.protocol.memory.archives import PlanPurge
from ramet.protocol.memory.purge_steps import purge_steps

PURGE = {"purged_by": "ada", "reason": "no longer needed"}


def finish_purges(world: World, most: int = 10_000) -> int:
    """The steps that a command or the daemon takes; how many these were."""
    running = purge_steps()
    request, taken = next(running), 0
    with suppress(StopIteration):
        while taken < most:
            taken += 1
            if isinstance(request, PlanPurge):
                reply = world.call(
                    request.op.name, is_last=request.is_last, branch=request.branch, after_event=request.after_event
                )
            else:
                reply = world.perform("user", request.op, request)
            request = running.send(reply)
    return taken


def ended(world: World, *said: str, worker: str = "host/1", result: str = "zebra", **params: Any) -> Any:
    """A session that said something and ended."""
    attempt = queue_worker.start(world, worker, **params)
    queue_worker.report(world, attempt, *(queue_worker.text(each) for each in said))
    spending.use(world, attempt, 70, cost_usd=0.5)
    queue_worker.complete(world, attempt, output_content=f"the {result} report", reason=f"the {result}")
    return attempt
