"""Waiting for several connections at once: each is read on a thread of its own, and all of it comes into one inbox."""

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ramet.errors import RametError, ReplyUnreadable
from ramet.model.event import Event
from ramet.protocol.operation import R, Request
from ramet.protocol.system.events import ListEvents
from ramet.protocol.wire.exchange import decode_line, encode_request

if TYPE_CHECKING:
    from ramet.client.connection import Connection


class Happened(NamedTuple):
    """An event."""

    event: Event


class Answered(NamedTuple):
    """The reply to what was asked."""

    reply: Any


class Failed(NamedTuple):
    """A connection that ended, or a request that was refused."""

    error: RametError


class Interrupted(NamedTuple):
    """Ctrl-C was pressed."""


Arrival = Happened | Answered | Failed | Interrupted


class Inbox:
    """What has arrived. The threads end with the process: there is nothing that they would have to put in order."""

    def __init__(self) -> None:
        self._arrived: SimpleQueue[Arrival] = SimpleQueue()

    def follow(self, connection: "Connection", after: int) -> None:
        """Take in the events behind `after`. When this returns, none can be missed."""
        events = connection.subscribe(after)

        def read() -> None:
            for event in events:
                self.put(Happened(_read_event(event)))

        self._start(read)

    def ask(self, connection: "Connection", request: Request[Any]) -> None:
        """Take in the reply, whenever it comes."""
        self._start(lambda: self.put(Answered(ask(connection, request))))

    def put(self, arrival: Arrival) -> None:
        """Also from a signal's handler."""
        self._arrived.put(arrival)

    def take(self, seconds: float) -> Arrival | None:
        """The next one, or None if nothing arrives in time."""
        try:
            return self._arrived.get(timeout=max(seconds, 0))
        except Empty:
            return None

    def _start(self, read: Callable[[], None]) -> None:
        def run() -> None:
            try:
                read()
            except RametError as error:
                self.put(Failed(error))

        threading.Thread(target=run, daemon=True).start()


def ask(connection: "Connection", request: Request[R]) -> R:
    """The reply on a connection that has not subscribed."""
    return decode_line(type(request), connection.call_raw(request.op.name, encode_request(request)))


def last_event(connection: "Connection") -> int:
    """The id of the newest event there is."""
    newest = ask(connection, ListEvents(newest=True, limit=1)).items
    return newest[0].id if newest else 0


def _read_event(document: dict[str, Any]) -> Event:
    try:
        return msgspec.convert(document, Event)
    except msgspec.ValidationError as error:
        raise ReplyUnreadable(f"an event from the daemon cannot be read: {error}") from error
