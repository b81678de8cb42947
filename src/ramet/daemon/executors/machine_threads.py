"""The machine's operations, on threads: they run git and read files, and the event loop may wait for neither. So do the
files of skills that a change names and the commit at which new work starts, which are read before it is submitted.

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
from ramet.daemon.stalls import Stopwatch
from ramet.engine.record.skills import Discovered, FoundSkills
from ramet.errors import Forbidden, RametError
from ramet.model.principal import USER, asking_session
from ramet.protocol.operation import Change, Request
from ramet.protocol.operations import Operation
from ramet.protocol.record.sessions import GetSession
from ramet.protocol.record.starting_points import StartingPoint
from ramet.protocol.work.attempts import WorkPrompt
from ramet.protocol.work.queue import GetWork

log = logging.getLogger(__name__)

_THREADS = 4

Answer = Callable[[Request[Any]], Any]
Examine = Callable[[Request[Any], int | None], tuple[FoundSkills, StartingPoint | None]]
AskFor = Callable[[Request[Any], str], Any]


class _Item(NamedTuple):
    operation: Operation
    request: Request[Any]
    done: Done
    principal: str
    is_change: bool = False
    """Whether only what it needs of the disk is read here, and another answers it."""


class MachineThreads:
    """Runs operations of the machine, a few at once; what comes on top waits for its turn."""

    def __init__(
        self, answer: Answer, examine: Examine, ask: AskFor, loop: asyncio.AbstractEventLoop, meter: Stopwatch
    ) -> None:
        """`ask` asks the engine in the name of whoever asks here."""
        self._answer = answer
        self._examine = examine
        self._ask = ask
        self._loop = loop
        self._meter = meter
        self._queue: SimpleQueue[_Item] = SimpleQueue()
        self._threads = 0
        self._waiting = 0

    def run(self, operation: Operation, request: Request[Any], done: Done, principal: str = USER) -> None:
        """Have it answered; `done` is called on the event loop's thread."""
        self._put(_Item(operation, request, done, principal))

    def discover(self, operation: Operation, request: Change[Any], done: Done, principal: str) -> None:
        """Read the skills that a change names, and where its work starts; `done` gets what to submit, or an error."""
        self._put(_Item(operation, request, done, principal, is_change=True))

    def _put(self, item: _Item) -> None:
        self._waiting += 1
        self._queue.put(item)
        if self._threads < min(self._waiting, _THREADS):
            self._threads += 1
            threading.Thread(target=self._work, name="machine", daemon=True).start()

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
            if item.is_change and isinstance(item.request, Change):
                found, start = self._examine(item.request, asking_session(item.principal))
                return Discovered(asked=item.request, found=found, start=start)
            return self._answer(self._admit(item))
        except RametError as error:
            return error
        except Exception:
            log.exception("an operation failed method=%s", item.operation.name)
            return RametError()

    def _admit(self, item: _Item) -> Request[Any]:
        """The request, if whoever asks may ask for this. An agent asks for itself; or, to read, about an effort that
        the engine lets it read.
        """
        own = asking_session(item.principal)
        if own is None:
            return item.request
        if isinstance(item.request, WorkPrompt):
            self._ask(GetWork(effort_id=item.request.effort_id), item.principal)
            return item.request
        self._ask(GetSession(session_id=own), item.principal)
        for field, allowed in (("session_id", (None, own)), ("effort_id", (None,))):
            value = getattr(item.request, field, None)
            if value not in allowed:
                raise Forbidden(f"session {own} can only access itself", field=field, value=value)
        return replace(item.request, session_id=own)

    def _deliver(self, item: _Item, reply: Any) -> None:
        self._meter.begin()
        self._waiting -= 1
        item.done(reply)
        self._meter.end(item.operation.name)
