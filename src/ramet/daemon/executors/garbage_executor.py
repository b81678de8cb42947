"""`history.gc` in steps: an executor that finds garbage beside the writer and deletes it in many short transactions.

The steps are requests like any other, so others are answered between them. If the daemon stops, the next collection
finds what is left.
"""

import asyncio
import logging
from typing import Any

from ramet.daemon.executors.executor import Done, Executor
from ramet.daemon.executors.requester import Requester
from ramet.daemon.stalls import LoopMeter
from ramet.engine import Ready
from ramet.engine.history.garbage import CollectedInSteps
from ramet.errors import DaemonStopping, RametError
from ramet.protocol.history.garbage import Collected, CollectGarbage, GarbageStep
from ramet.protocol.history.garbage_steps import garbage_steps
from ramet.protocol.operation import Request
from ramet.protocol.operations import Operation

log = logging.getLogger(__name__)


class GarbageExecutor:
    """An executor that takes the steps of a collection, and passes everything else to the one below it."""

    def __init__(self, executor: Executor, meter: LoopMeter) -> None:
        self._executor = executor
        self._requester = Requester(executor, meter.loop, meter)
        self._loop = meter.loop
        self._running: set[asyncio.Task[None]] = set()
        self.keeps_order = executor.keeps_order
        self.read = executor.read
        self.stop_reads = executor.stop_reads
        self.interrupt_reads = executor.interrupt_reads
        self.pauses = executor.pauses
        self.last_event = executor.last_event

    @property
    def transactions(self) -> int:
        """How many transactions have been committed."""
        return self._executor.transactions

    def submit(self, operation: Operation, request: Request[Any], principal: str, done: Done) -> None:
        """Run a change; a collection in steps."""
        if isinstance(request, Ready) and isinstance(request.call.request, CollectGarbage):
            request = request.call.request
        if not isinstance(request, CollectGarbage):
            return self._executor.submit(operation, request, principal, done)
        task = self._loop.create_task(self._collect(request, principal, done))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return None

    def pending(self) -> int:
        """How many requests have not been answered."""
        return len(self._running) + self._executor.pending()

    def close(self) -> None:
        """Finish what is queued; a collection ends after its step."""
        for task in self._running:
            task.cancel()
        self._executor.close()

    async def _collect(self, request: CollectGarbage, principal: str, done: Done) -> None:
        try:
            deleted = await self._take_steps(request.retention_days, principal)
        except asyncio.CancelledError:
            done(DaemonStopping())
            raise
        except RametError as error:
            done(error)
        except Exception:
            log.exception("garbage could not be collected")
            done(RametError())
        else:
            # Last: with it the reply is kept for its idempotency key.
            finished = CollectedInSteps(asked=request, deleted=deleted)
            self._executor.submit(request.op, finished, principal, done)

    async def _take_steps(self, retention_days: int, principal: str) -> Collected:
        running = garbage_steps(retention_days)
        request = next(running)
        while not (isinstance(request, GarbageStep) and request.total is not None):
            request = running.send(await self._requester.ask(request, principal))
        return request.total
