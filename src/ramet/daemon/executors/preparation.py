"""Preparing changes before the writer gets them, so that no hook waits until a large text is redacted and compressed.

What comes in a large line is prepared already (`preparation_process`). One thread prepares long operations in the order
in which they were submitted, so they also reach the writer in that order.
"""

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import Any, NamedTuple

from ramet.daemon.executors.executor import Done
from ramet.daemon.executors.preparation_process import PreparationProcess
from ramet.daemon.readers.failures import explain
from ramet.engine import Call, Ready
from ramet.errors import RametError
from ramet.protocol.hooks.transcripts import AddEntries
from ramet.protocol.operation import Request
from ramet.protocol.operations import Operation


class _Item(NamedTuple):
    operation: Operation
    request: Request[Any]
    principal: str
    done: Done


class Preparation:
    """Prepares changes, and passes them to the writer: short ones at once, long ones from a thread of their own."""

    def __init__(
        self,
        elsewhere: PreparationProcess,
        put: Callable[[Call, Done], None],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        """`put` queues what is prepared. It is called on both threads."""
        self._engine = elsewhere.engine
        self._elsewhere = elsewhere
        self._put = put
        self._loop = loop
        self._queue: SimpleQueue[_Item | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self.pending = 0
        """How many changes were passed on and not answered."""

    def submit(self, operation: Operation, request: Request[Any], principal: str, done: Done) -> None:
        """Prepare a change and queue it; `done` is called on the event loop's thread."""

        def answered(reply: Any) -> None:
            self.pending -= 1
            done(reply)

        self.pending += 1
        item = _Item(operation, request, principal, answered)
        if isinstance(request, AddEntries):
            # A piece of a transcript: its reader waits for the reply, so the order of its pieces is kept.
            self._elsewhere.prepare(request, partial(self._prepared, item))
            return
        if not operation.is_long:
            self._prepare(item, answered)
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="preparation")
            self._thread.start()
        self._queue.put(item)

    def close(self) -> None:
        """Pass on what was submitted."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()

    def _prepared(self, item: _Item, ready: Ready | RametError) -> None:
        if isinstance(ready, Ready):
            self._prepare(item._replace(request=ready), item.done)
        else:
            item.done(ready)

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            self._prepare(item, partial(self._refuse, item))

    def _refuse(self, item: _Item, error: RametError) -> None:
        self._loop.call_soon_threadsafe(item.done, error)

    def _prepare(self, item: _Item, refuse: Done) -> None:
        try:
            call = self._engine.prepare(item.operation, item.request, item.principal)
        except Exception as error:  # noqa: BLE001 - whatever fails, the next change is prepared
            refuse(explain(error, item.operation.name))
        else:
            self._put(call, item.done)
