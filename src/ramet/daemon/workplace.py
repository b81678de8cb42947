"""What the workplace answers, on threads: it runs git and looks at files, and the event loop may wait for neither.

The threads end with the process. A stopping daemon waits for their answers as long as it drains, and no longer; what
they ask for after that is refused (`Asking.close`).
"""

import asyncio
import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, NamedTuple

from ramet.daemon.executor import Done
from ramet.errors import RametError
from ramet.protocol.operations import Operation
from ramet.protocol.requests import Request

log = logging.getLogger(__name__)

_THREADS = 4

Answer = Callable[[Operation, Request], Any]


class _Item(NamedTuple):
    operation: Operation
    request: Request
    done: Done


class WorkplaceThreads:
    """Runs operations of the workplace, a few at once; what comes on top waits for its turn."""

    def __init__(self, answer: Answer, loop: asyncio.AbstractEventLoop) -> None:
        self._answer = answer
        self._loop = loop
        self._queue: SimpleQueue[_Item] = SimpleQueue()
        self._threads = 0
        self._waiting = 0

    def run(self, operation: Operation, request: Request, done: Done) -> None:
        """Have it answered; `done` is called on the event loop's thread."""
        self._waiting += 1
        self._queue.put(_Item(operation, request, done))
        if self._threads < min(self._waiting, _THREADS):
            self._threads += 1
            threading.Thread(target=self._work, name="workplace", daemon=True).start()

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
            return self._answer(item.operation, item.request)
        except RametError as error:
            return error
        except Exception:
            log.exception("the workplace failed method=%s", item.operation.name)
            return RametError()

    def _deliver(self, item: _Item, reply: Any) -> None:
        self._waiting -= 1
        item.done(reply)
