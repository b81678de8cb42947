"""Changes for which something is read first, and a model is asked if one is needed. The answer makes the change.

A change that needs much of a history (`Request.draft`) is submitted with what a reader found.

A model takes seconds, and neither the event loop nor the writer may wait for it; so it is asked on threads that do
nothing else. They end with the process: a stopping daemon waits for their answers as long as it drains, and no longer.
"""

import asyncio
import logging
import threading
from queue import SimpleQueue
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw

from ramet.ai import Models
from ramet.clock import Clock
from ramet.daemon.executors.executor import Done, Executor
from ramet.daemon.stalls import Stopwatch
from ramet.engine import Engine, Ready
from ramet.engine.history.drafts import Drafted
from ramet.engine.history.model_answers import fill
from ramet.errors import RametError
from ramet.protocol.operation import Request, decode_reply
from ramet.protocol.operations import Operation
from ramet.protocol.system.ai import Question
from ramet.store import Store

log = logging.getLogger(__name__)

_THREADS = 8
"""How many models are asked at once; what comes on top waits for its turn."""


class _Item(NamedTuple):
    operation: Operation
    request: Request[Any]
    principal: str
    done: Done


class ModelExecutor:
    """An executor that asks a model first if a change needs one, and passes everything else to the one below it."""

    def __init__(
        self,
        executor: Executor,
        store: Store,
        engine: Engine,
        models: Models,
        *,
        clock: Clock,
        loop: asyncio.AbstractEventLoop,
        meter: Stopwatch,
    ) -> None:
        self._executor = executor
        self._store = store
        self._engine = engine
        self._models = models
        self._clock = clock
        self._loop = loop
        self._meter = meter
        self._queue: SimpleQueue[_Item] = SimpleQueue()
        self._threads = 0
        self._waiting = 0
        self.keeps_order = executor.keeps_order
        self.read = executor.read
        self.stop_reads = executor.stop_reads
        self.interrupt_reads = executor.interrupt_reads
        self.last_event = executor.last_event
        self.pauses = executor.pauses

    @property
    def transactions(self) -> int:
        """How many transactions have been committed."""
        return self._executor.transactions

    def submit(self, operation: Operation, request: Request[Any], principal: str, done: Done) -> None:
        """Run a change, after asking a model if it needs one."""
        draft = (request.call.request if isinstance(request, Ready) else request).draft()
        if draft is not None:
            return self._read_first(draft, _Item(operation, request, principal, done))
        if not request.needs_model():
            return self._executor.submit(operation, request, principal, done)
        self._waiting += 1
        self._queue.put(_Item(operation, request, principal, done))
        if self._threads < min(self._waiting, _THREADS):
            self._threads += 1
            threading.Thread(target=self._run, name="model", daemon=True).start()
        return None

    def _read_first(self, draft: Request[Any], item: _Item) -> None:
        self._waiting += 1

        def answered(found: Any) -> None:
            self._waiting -= 1
            if isinstance(found, RametError) and not isinstance(found, item.operation.errors):
                return item.done(found)
            # A refusal is left to the change itself: it may have been made before, with the same idempotency key.
            request = item.request
            if found is not None and not isinstance(found, RametError):
                try:
                    request = Drafted(asked=item.request, found=_decoded(draft, found))
                except msgspec.MsgspecError:
                    log.exception("a draft could not be read method=%s", draft.op.name)
            return self._executor.submit(item.operation, request, item.principal, item.done)

        self._executor.read(draft.op, draft, item.principal, answered)

    def pending(self) -> int:
        """How many requests have not been answered."""
        return self._waiting + self._executor.pending()

    def close(self) -> None:
        """Finish what is queued; what still waits for a model is left."""
        self._executor.close()

    def _run(self) -> None:
        while True:
            item = self._queue.get()
            outcome = self._assist(item)
            try:
                self._loop.call_soon_threadsafe(self._deliver, item, outcome)
            except RuntimeError:
                return  # the daemon has stopped waiting, and its loop is closed

    def _assist(self, item: _Item) -> Request[Any] | Raw | RametError:
        """The change to submit; or the reply, if there is one already, or the error."""
        try:
            question = self._question(item)
            return question if isinstance(question, Raw) else fill(item.request, self._models.answer(question))
        except RametError as error:
            return error
        except Exception:
            log.exception("a model request failed method=%s", item.operation.name)
            return RametError()

    def _question(self, item: _Item) -> Question | Raw:
        """From a snapshot that ends before the model is asked: an open one keeps the WAL from being copied back."""
        call = self._engine.prepare(item.operation, item.request, item.principal)
        db = self._store.connect_reader()
        try:
            db.begin_reading()
            return self._engine.question(db, call, self._clock.now_ms())
        finally:
            db.rollback()
            db.close()

    def _deliver(self, item: _Item, outcome: Any) -> None:
        self._meter.begin()
        self._waiting -= 1
        if isinstance(outcome, Request):
            self._executor.submit(item.operation, outcome, item.principal, item.done)
        else:
            item.done(outcome)
        self._meter.end(item.operation.name)


def _decoded(draft: Request[Any], found: Any) -> Any:
    return decode_reply(type(draft), found) if isinstance(found, Raw) else found
