"""Subscriptions: events told in the order of their ids, none lost and none twice.

A subscriber is a cursor into the log, never a queue: when something was committed, each one reads on from its
cursor, a page at a time, and only while its client reads. So a slow one costs nothing but its own delay, and one
that begins a million events back is served like any other. Those that are equally far share the reading.
"""

import asyncio
import logging
from collections import defaultdict
from functools import partial
from typing import Any

from ramet.daemon.executors.executor import Executor
from ramet.daemon.stalls import Stopwatch
from ramet.daemon.wire.connection import Connection
from ramet.model.event import Event
from ramet.model.principal import USER
from ramet.protocol.replies import Page
from ramet.protocol.system.events import ListEvents, SubscribeEvents
from ramet.protocol.wire.frames import encode_notification

log = logging.getLogger(__name__)

_METHOD = "events.event"
_PAGE = 200
_INTERVAL_SECONDS = 1.0
"""On PostgreSQL other daemons commit too, and an event may become readable after its commit."""


class _Subscriber:
    """A connection, and the id of the last event that it was told."""

    __slots__ = ("connection", "cursor", "is_behind", "is_reading")

    def __init__(self, connection: Connection, after: int) -> None:
        self.connection = connection
        self.cursor = after
        self.is_reading = False
        self.is_behind = False
        """Whether something was committed since the page that it is reading was asked for."""


class Subscriptions:
    """Everybody who is told of events; a connection at most once."""

    def __init__(self, executor: Executor, loop: asyncio.AbstractEventLoop, meter: Stopwatch) -> None:
        self._executor = executor
        self._loop = loop
        self._meter = meter
        self._subscribers: dict[Connection, _Subscriber] = {}
        self._is_due = False
        self._timer: asyncio.TimerHandle | None = None

    def add(self, connection: Connection, after: int) -> None:
        """Tell the connection every event after that id. One that subscribes again goes on from there instead."""
        self._subscribers[connection] = _Subscriber(connection, after)
        if self._timer is None:
            self._timer = self._loop.call_later(_INTERVAL_SECONDS, self._tick)
        self.wake()

    def has(self, connection: Connection) -> bool:
        """Whether the connection is told events."""
        return connection in self._subscribers

    def remove(self, connection: Connection) -> None:
        """The connection is gone."""
        self._subscribers.pop(connection, None)

    def wake(self) -> None:
        """Something was committed, or somebody can be written to again."""
        if self._subscribers and not self._is_due:
            self._is_due = True
            self._loop.call_soon(self._read_on)

    def close(self) -> None:
        """Tell nobody anything any more."""
        self._subscribers.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _tick(self) -> None:
        self._timer = self._loop.call_later(_INTERVAL_SECONDS, self._tick) if self._subscribers else None
        self.wake()

    def _read_on(self) -> None:
        """Ask for the next page of everybody who is not already waiting for one, once for each cursor."""
        self._meter.begin()
        self._is_due = False
        groups: defaultdict[int, list[_Subscriber]] = defaultdict(list)
        for subscriber in self._subscribers.values():
            if subscriber.is_reading:
                subscriber.is_behind = True
            elif subscriber.connection.can_write:
                groups[subscriber.cursor].append(subscriber)
        for cursor, group in groups.items():
            for subscriber in group:
                subscriber.is_reading = True
                subscriber.is_behind = False
            page = ListEvents(after=cursor, limit=_PAGE)
            self._executor.read(page.op, page, USER, partial(self._tell, group))
            self._meter.lap(SubscribeEvents.op.name)
        self._meter.end(SubscribeEvents.op.name)

    def _tell(self, group: list[_Subscriber], reply: Any) -> None:
        for subscriber in group:
            subscriber.is_reading = False
        if isinstance(reply, Exception):
            log.warning("events could not be read, trying again error=%s", type(reply).__name__)
            return
        page: Page[Event] = reply
        lines = [encode_notification(_METHOD, event) for event in page.items]
        for subscriber in group:
            self._tell_one(subscriber, page, lines)

    def _tell_one(self, subscriber: _Subscriber, page: Page[Event], lines: list[bytes]) -> None:
        if self._subscribers.get(subscriber.connection) is not subscriber:
            return  # gone, or subscribed anew, while the page was read
        for line in lines:
            subscriber.connection.send(line)
        if page.items:
            subscriber.cursor = page.items[-1].id
        if page.next is not None or subscriber.is_behind:
            self.wake()
