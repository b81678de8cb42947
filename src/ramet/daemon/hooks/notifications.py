"""Notifications: people are notified when a session that no other session spawned has ended.

They follow from the log of events, read afterwards: so nothing that runs knows of them, waits for them or fails with
them. They are delivered on a thread of their own, at most once each, and those that come faster than they can be
delivered are dropped.
"""

import asyncio
import logging
import queue
import threading
from collections.abc import Sequence

from ramet.daemon.hooks.channels import Channel
from ramet.errors import DaemonStopping
from ramet.model.event import Event
from ramet.model.record.notification import Notification, compose
from ramet.model.record.session import Session
from ramet.protocol.operation import AsyncAsk
from ramet.protocol.record.sessions import FindSessions, GetSession
from ramet.protocol.system.events import ListEvents
from ramet.protocol.work.queue import GetWork

log = logging.getLogger(__name__)

_INTERVAL_SECONDS = 1.0
_PAGE = 500
_MOST_WAITING = 100
_FAREWELL_SECONDS = 1.0
"""How long a notification in delivery may delay a daemon that stops."""


class Notifications:
    """Reads on in the log of events, and tells the channels."""

    def __init__(self, channels: Sequence[Channel], ask: AsyncAsk, worker: str) -> None:
        """`worker` is what this daemon's workers are named after: others who share the database tell of their own."""
        self._ask = ask
        self._workers = f"{worker}/"
        self._teller = Teller(channels)
        self._cursor = 0

    async def begin(self) -> None:
        """Remember the end of the log: later events cause notifications."""
        newest = await self._ask(ListEvents(newest=True, limit=1))
        self._cursor = newest.items[0].id if newest.items else 0

    async def follow(self) -> None:
        """Tell what happens, until it is cancelled."""
        while True:
            await asyncio.sleep(_INTERVAL_SECONDS)
            await self._read_on()

    async def close(self) -> None:
        """Tell what is left, if that does not take long."""
        await self._read_on()
        await asyncio.to_thread(self._teller.close)

    async def _read_on(self) -> None:
        try:
            while events := (await self._ask(ListEvents(after=self._cursor, limit=_PAGE))).items:
                self._cursor = events[-1].id
                for event in events:
                    await self._take(event)
        except DaemonStopping:
            pass
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody's work depends on it
            log.warning("events could not be read error=%s", type(error).__name__)

    async def _take(self, event: Event) -> None:
        """A worker's session is over when its effort is: an attempt that is followed by another one is no end."""
        if event.kind == "session.ended" and event.session_id is not None:
            session = await self._ask(GetSession(session_id=event.session_id))
            if session.instance is None:
                await self._tell(session, event)
        elif event.kind == "effort.finished" and event.effort_id is not None:
            found = await self._ask(FindSessions(effort_id=event.effort_id))
            if found.items and found.items[0].instance is not None and self._is_ours(found.items[0]):
                await self._tell(found.items[0], event)

    def _is_ours(self, session: Session) -> bool:
        return (session.agent_id or "").startswith(self._workers)

    async def _tell(self, session: Session, event: Event) -> None:
        if session.parent_session_id is not None or session.outcome is None:
            return
        effort = await self._ask(GetWork(effort_id=session.effort_id))
        is_worked = session.instance is not None
        notification = compose(
            skill=effort.skill,
            outcome=(effort.outcome if is_worked else None) or session.outcome,
            detail=(effort.reason if is_worked else session.notes) or effort.output_content or "",
            goal=effort.prompt or effort.task_id,
            at=event.at,
        )
        self._teller.put(notification)


class Teller:
    """A thread that tells the channels, one notification after the other."""

    def __init__(self, channels: Sequence[Channel]) -> None:
        self._channels = channels
        self._waiting: queue.Queue[Notification | None] = queue.Queue(_MOST_WAITING)
        self._thread = threading.Thread(target=self._run, name="teller", daemon=True)
        self._thread.start()

    def put(self, notification: Notification) -> None:
        """Tell it soon. Never waits."""
        try:
            self._waiting.put_nowait(notification)
        except queue.Full:
            log.warning("a notification was dropped: %d are waiting", _MOST_WAITING)

    def close(self) -> None:
        """Say no more, after a moment for what waits."""
        try:
            self._waiting.put(None, timeout=_FAREWELL_SECONDS)
        except queue.Full:
            return
        self._thread.join(_FAREWELL_SECONDS)

    def _run(self) -> None:
        while (notification := self._waiting.get()) is not None:
            for channel in self._channels:
                try:
                    channel.deliver(notification)
                except Exception as error:  # noqa: BLE001 - a channel may fail as it likes
                    log.warning("notification failed channel=%s error=%s", channel.name, type(error).__name__)
