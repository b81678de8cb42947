"""The server: accepts connections, starts their calls, answers what concerns the daemon itself, and drains.

Everything here runs on one thread, the event loop's. What takes time goes through the executor.
"""

import asyncio
import logging
import os
import socket
from functools import partial
from typing import Any

from msgspec import Struct

from ramet.config.settings import DaemonSettings
from ramet.daemon.executors.executor import Executor
from ramet.daemon.executors.host_threads import WorkplaceThreads
from ramet.daemon.hooks.service import Hooking
from ramet.daemon.wire.calls import Call, unforeseen
from ramet.daemon.wire.connection import Connection
from ramet.daemon.wire.socket_file import peer_uid
from ramet.daemon.wire.subscriptions import Subscriptions
from ramet.daemon.wire.tokens import Tokens
from ramet.daemon.work_calls import Working
from ramet.errors import DaemonStopping, Forbidden
from ramet.model.principal import USER, asking_session, of_session
from ramet.model.redaction import Redactor
from ramet.protocol.frames import PROTOCOL_VERSION
from ramet.protocol.replies import DaemonStatusReply, HelloReply, Pong, Stopping, Subscribed
from ramet.protocol.requests import Hello, SubscribeEvents
from ramet.store.database.store import Topic
from ramet.version import __version__

log = logging.getLogger(__name__)

_SLOW_SECONDS = 1.0

_FAREWELL_SECONDS = 0.2
"""The shortest drain: time enough for replies that are already written to leave."""


class Identity(Struct, frozen=True, kw_only=True):
    """What the daemon says of itself that does not change while it runs."""

    socket: str
    store: str
    schema_version: int
    owner_uid: int


class Server:
    """Implements `ramet.daemon.wire.connection.Service` for every connection of one socket."""

    def __init__(
        self,
        executor: Executor,
        settings: DaemonSettings,
        identity: Identity,
        loop: asyncio.AbstractEventLoop,
        redactor: Redactor | None = None,
    ) -> None:
        self._executor = executor
        self._settings = settings
        self._identity = identity
        self._loop = loop
        self._subscriptions = Subscriptions(executor, loop)
        self._connections: set[Connection] = set()
        self._unflushed: list[Connection] = []
        self._listener: asyncio.Server | None = None
        self._idle_timer: asyncio.TimerHandle | None = None
        self._stop_asked = asyncio.Event()
        self._is_empty = asyncio.Event()
        self._working: Working | None = None
        self._workplace: WorkplaceThreads | None = None
        self._tokens: Tokens | None = None
        self._hooking: Hooking | None = None
        self._started = loop.time()
        self._requests = 0
        self.keeps_order = executor.keeps_order
        self.max_request_bytes = settings.max_request_bytes
        self.redactor = redactor or Redactor()

    async def listen(self, listener: socket.socket) -> None:
        """Begin to accept."""
        self._listener = await self._loop.create_unix_server(lambda: Connection(self), sock=listener)
        self._watch_idleness()

    def equip(
        self,
        *,
        working: Working | None = None,
        workplace: WorkplaceThreads | None = None,
        tokens: Tokens | None = None,
        hooking: Hooking | None = None,
    ) -> None:
        """Who does the work that is asked for, what answers with the disk at hand, how agents are known, and who hears
        those that others started.
        """
        self._working = working
        self._workplace = workplace
        self._tokens = tokens
        self._hooking = hooking

    def committed(self, topic: Topic) -> None:
        """A transaction was committed, here or elsewhere: there are events to tell, and there may be work to do."""
        self._subscriptions.wake()
        if topic == "work" and self._working is not None:
            self._working.look_again()

    def stop(self) -> None:
        """Ask the daemon to go."""
        self._stop_asked.set()

    async def stopping(self) -> None:
        """Return once somebody has asked the daemon to go."""
        await self._stop_asked.wait()

    async def drain(self) -> None:
        """Accept nobody, let what is under way be answered, and close every connection, in bounded time."""
        self._stop_asked.set()
        self._subscriptions.close()
        if self._working is not None:
            self._working.close()
        if self._listener is not None:
            self._listener.close()
        for connection in tuple(self._connections):
            connection.end()
        try:
            async with asyncio.timeout(max(self._settings.drain_seconds, _FAREWELL_SECONDS)):
                while self._connections:
                    self._is_empty.clear()
                    await self._is_empty.wait()
        except TimeoutError:
            log.warning("drain cut short connections=%d", len(self._connections))
            for connection in tuple(self._connections):
                connection.abort()

    # What connections need.

    def admit(self, connection: Connection, transport: asyncio.Transport) -> bool:
        if self._stop_asked.is_set():
            return False
        uid = peer_uid(transport.get_extra_info("socket"))
        if uid not in (None, self._identity.owner_uid):
            log.warning("peer refused uid=%s", uid)
            return False
        self._connections.add(connection)
        self._watch_idleness()
        return True

    def deserted(self, connection: Connection) -> None:
        if self._working is not None:
            self._working.left(connection)

    def left(self, connection: Connection) -> None:
        self._connections.discard(connection)
        self._subscriptions.remove(connection)
        if self._working is not None:
            self._working.left(connection)
        self._watch_idleness()
        if not self._connections:
            self._is_empty.set()

    def can_write_again(self) -> None:
        self._subscriptions.wake()

    def flush_soon(self, connection: Connection) -> None:
        if not self._unflushed:
            self._loop.call_soon(self._flush)
        self._unflushed.append(connection)

    def run(self, call: Call) -> None:
        self._requests += 1
        call.started = self._loop.time()
        try:
            self._dispatch(call)
        except Exception as error:  # noqa: BLE001 - whatever fails, the connection lives on
            call.done(unforeseen(error))

    def finished(self, call: Call) -> None:
        seconds = self._loop.time() - call.started
        is_waiting = call.operation.host == "daemon" or getattr(call.request, "wait", False)
        if seconds > _SLOW_SECONDS and not is_waiting:
            log.warning("slow request method=%s ms=%d", call.operation.name, seconds * 1000)

    def _dispatch(self, call: Call) -> None:
        operation, principal = call.operation, call.connection.principal
        if self._stop_asked.is_set():
            call.done(DaemonStopping())
        elif operation.name == "daemon.hello":
            self._greet(call)
        elif principal is None or (principal != USER and operation.scope == "user"):
            call.done(_forbidden(call, principal))
        elif operation.host == "daemon":
            self._answer(call)
        elif operation.host == "workplace" and self._workplace is not None:
            self._workplace.run(operation, call.request, call.done, asking_session(principal))
        elif operation.changes:
            follow = self._working and self._working.followers.get(operation.name)
            self._executor.submit(operation, call.request, principal, partial(follow, call) if follow else call.done)
        else:
            self._executor.read(operation, call.request, principal, call.done)

    def _greet(self, call: Call) -> None:
        """Say who we are; with a token the connection is bound to a session, and no later greeting frees it."""
        assert isinstance(call.request, Hello)  # noqa: S101
        token = call.request.token
        if token is not None:
            session_id = self._tokens.check(token) if self._tokens else None
            call.connection.principal = None if session_id is None else of_session(session_id)
        principal = call.connection.principal
        if principal is None:
            call.done(Forbidden("the token is not one of this daemon's", field="token"))
        else:
            call.done(HelloReply(version=__version__, protocol=PROTOCOL_VERSION, principal=principal))

    def _flush(self) -> None:
        unflushed, self._unflushed = self._unflushed, []
        for connection in unflushed:
            connection.flush()

    def _watch_idleness(self) -> None:
        """Start to count when the last connection has gone; stop counting when there is one."""
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None
        if self._settings.idle_exit_seconds and not self._connections:
            self._idle_timer = self._loop.call_later(self._settings.idle_exit_seconds, self._leave)

    def _leave(self) -> None:
        """Nobody has asked for anything for a while; but what runs is looked after to its end."""
        if self._working is None or self._working.is_idle:
            self.stop()
        else:
            self._watch_idleness()

    # What the daemon answers itself.

    def _answer(self, call: Call) -> None:
        match call.operation.name:
            case "daemon.ping":
                call.done(Pong())
            case "daemon.status":
                call.done(self._status())
            case "daemon.stop":
                call.done(Stopping())
                self.stop()
            case "events.subscribe":
                self._subscribe(call)
            case "work.run" if self._working is not None:
                self._working.run(call)
            case "work.stop" if self._working is not None:
                self._working.stop(call)
            case "spawn.wait" if self._working is not None:
                self._working.wait(call)
            case "hooks.event" if self._hooking is not None:
                self._hooking.run(call)
            case "hooks.timings" if self._hooking is not None:
                call.done(self._hooking.timings())
            case name:
                raise LookupError(name)

    def _status(self) -> DaemonStatusReply:
        import psutil  # noqa: PLC0415 - a few milliseconds that only this question costs

        return DaemonStatusReply(
            socket=self._identity.socket,
            pid=os.getpid(),
            version=__version__,
            store=self._identity.store,
            schema_version=self._identity.schema_version,
            uptime_seconds=round(self._loop.time() - self._started, 3),
            connections=len(self._connections),
            requests=self._requests,
            transactions=self._executor.transactions,
            resident_bytes=psutil.Process().memory_info().rss,
        )

    def _subscribe(self, call: Call) -> None:
        def begin(after: Any) -> None:
            if isinstance(after, Exception):
                return call.done(after)
            call.done(Subscribed(after=after))
            if call.connection.is_open:
                self._subscriptions.add(call.connection, after)
            return None

        assert isinstance(call.request, SubscribeEvents)  # noqa: S101
        if call.request.after is None:
            self._executor.last_event(begin)
        else:
            begin(call.request.after)


def _forbidden(call: Call, principal: str | None) -> Forbidden:
    if principal is None:
        return Forbidden("this connection gave a token that is nobody's", field="token", fix="connect again")
    return Forbidden(f"{call.operation.name} is not for agents", field="method", value=call.operation.name)
