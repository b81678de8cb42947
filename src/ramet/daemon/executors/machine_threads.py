"""The machine's operations, on threads: they run git and read files, and the event loop may wait for neither.

The threads end with the process. A stopping daemon waits for their answers as long as it drains, and no longer; their
later requests are refused (`Requester.close`).
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, NamedTuple

from msgspec.structs import replace

from ramet.daemon.executors.executor import Done
from ramet.errors import Forbidden, RametError
from ramet.protocol.operation import Request
from ramet.protocol.operations import Operation

log = logging.getLogger(__name__)

_THREADS = 4

Answer = Callable[[Request[Any]], Any]


class _Item(NamedTuple):
    operation: Operation
    request: Request[Any]
    done: Done


class MachineThreads:
    """Runs operations of the machine, a few at once; what comes on top waits for its turn."""

    def __init__(self, answer: Answer, loop: asyncio.AbstractEventLoop) -> None:
        self._answer = answer
        self._loop = loop
        self._queue: SimpleQueue[_Item] = SimpleQueue()
        self._threads = 0
        self._waiting = 0

    def run(self, operation: Operation, request: Request[Any], done: Done, asker: int | None = None) -> None:
        """Have it answered; `done` is called on the event loop's thread. What an agent asks for is about its own
        session, which is the `asker`.
        """
        if asker is not None:
            try:
                request = _about(request, asker)
            except Forbidden as error:
                return done(error)
        self._waiting += 1
        self._queue.put(_Item(operation, request, done))
        if self._threads < min(self._waiting, _THREADS):
            self._threads += 1
            threading.Thread(target=self._work, name="machine", daemon=True).start()
        return None

    def _work(self) -> None:
        while True:
            item = self._queue.get()
            reply = self._perform(item)
            try:
                self._loop.call_soon_threadsafe(self._deliver, item, reply)
            except RuntimeError:
                return  # the daemon has stopped waiting, and its loop is closed

    def _perform(self, item: _Item) -> Any:
        try:
            return self._answer(item.request)
        except RametError as error:
            return error
        except Exception:
            log.exception("an operation failed method=%s", item.operation.name)
            return RametError()

    def _deliver(self, item: _Item, reply: Any) -> None:
        self._waiting -= 1
        item.done(reply)


def _about(request: Request[Any], asker: int) -> Request[Any]:
    """The request for the session of the calling agent; a request for another session is refused."""
    for field, own in (("session_id", asker), ("effort_id", None)):
        if getattr(request, field) not in (None, own):
            raise Forbidden(f"session {asker} can only access itself", field=field, value=getattr(request, field))
    return replace(request, session_id=asker)
