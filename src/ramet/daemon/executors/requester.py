"""The daemon's own requests: what runs here asks for operations as a client would, without a connection.

`ask` is for the event loop, `ask_from_thread` for threads that do what takes long.
"""

import asyncio
import threading
from concurrent.futures import Future
from functools import partial
from typing import Any

from msgspec import Raw

from ramet.daemon.executors.executor import OWN, Asker, Done, Executor
from ramet.daemon.stalls import Stopwatch
from ramet.errors import DaemonStopping, RametError
from ramet.model.principal import RUNNER
from ramet.protocol.operation import R, Request, decode_reply


class Requester:
    """Requests to the executor, each named by its type."""

    def __init__(self, executor: Executor, loop: asyncio.AbstractEventLoop, meter: Stopwatch) -> None:
        self._executor = executor
        self._loop = loop
        self.meter = meter
        self._waiting: set[Future[Any]] = set()
        self._lock = threading.Lock()
        self._is_closed = False

    async def ask(self, request: Request[R], principal: str = RUNNER) -> R:
        """The reply; a refusal is raised."""
        answered: asyncio.Future[Any] = self._loop.create_future()
        self._start(request, principal, lambda reply: _answer(answered, reply))
        return _raised(request, await answered)

    def ask_from_thread(self, request: Request[R], principal: str = RUNNER) -> R:
        """The same for a thread that is not the event loop's. It waits."""
        answered: Future[Any] = Future()
        with self._lock:
            if self._is_closed:
                raise DaemonStopping
            self._waiting.add(answered)
        try:
            # Threads do long work for clients, so their reads take turns with the reads of clients.
            asker, done = Asker(client=answered), partial(_answer, answered)
            self._loop.call_soon_threadsafe(self._start_for_thread, request, principal, done, asker)
            return _raised(request, answered.result())
        finally:
            self._waiting.discard(answered)

    def close(self) -> None:
        """Let no thread wait for an answer that will not come."""
        with self._lock:
            self._is_closed = True
            for answered in tuple(self._waiting):
                _answer(answered, DaemonStopping())

    def _start_for_thread(self, request: Request[Any], principal: str, done: Done, asker: Asker) -> None:
        self.meter.begin()
        self._start(request, principal, done, asker)
        self.meter.end(request.op.name)

    def _start(self, request: Request[Any], principal: str, done: Done, asker: Asker = OWN) -> None:
        operation = request.op
        if operation.changes:
            self._executor.submit(operation, request, principal, done)
        else:
            self._executor.read(operation, request, principal, done, asker)


def _answer(answered: "Future[Any] | asyncio.Future[Any]", reply: Any) -> None:
    """Whoever waits may have been told already that the daemon stops, or may not wait any more."""
    if not answered.done():
        answered.set_result(reply)


def _raised(request: Request[R], reply: Any) -> R:
    """The reply, be it one that was kept for its idempotency key; a refusal is raised."""
    if isinstance(reply, RametError):
        raise reply
    if isinstance(reply, Raw):
        return decode_reply(type(request), reply)
    return reply  # type: ignore[no-any-return]
