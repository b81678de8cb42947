"""The server: accepts connections, starts their calls, answers what concerns the daemon itself, and drains.

Everything here runs on one thread, the event loop's. What takes time goes through the executor.
"""

import asyncio
import logging
import os
import socket
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from msgspec import Struct, field

from ramet.build import Build, own_build
from ramet.config.settings import DaemonSettings
from ramet.daemon.executors.executor import Executor
from ramet.daemon.executors.line_preparation import OpenLarge
from ramet.daemon.executors.machine_threads import MachineThreads
from ramet.daemon.hooks.calling_sessions import CallingSessions
from ramet.daemon.hooks.service import HookService
from ramet.daemon.stalls import LoopMeter, Stopwatch
from ramet.daemon.wire.answers import Later, answers, find_answers
from ramet.daemon.wire.byte_limit import Intake
from ramet.daemon.wire.calls import Call, unforeseen
from ramet.daemon.wire.connection import Connection
from ramet.daemon.wire.connections import Connections
from ramet.daemon.wire.loop_budget import LoopBudget
from ramet.daemon.wire.socket_file import BACKLOG, peer_uid
from ramet.daemon.wire.subscriptions import Subscriptions
from ramet.daemon.wire.tokens import Tokens
from ramet.daemon.work_calls import WorkCalls
from ramet.errors import DaemonStopping, DescriptorsExhausted, Forbidden, RametError, TooManyConnections
from ramet.model.principal import USER, asking_session, of_session
from ramet.model.redaction import Redactor
from ramet.protocol.operation import Change, Request
from ramet.protocol.record.sessions import GetSession
from ramet.protocol.system.daemon import (
    ClockSkew,
    DaemonStatus,
    DaemonStatusReply,
    Hello,
    HelloReply,
    PartReceived,
    Ping,
    Pong,
    Rotated,
    RotateKey,
    SendPart,
    StopDaemon,
    Stopping,
)
from ramet.protocol.system.damage import WriteBan
from ramet.protocol.system.events import Subscribed, SubscribeEvents
from ramet.protocol.wire.frames import encode_error, unknown_method
from ramet.store.database.store import Topic

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
    build: Build = field(default_factory=own_build)


class Parts(NamedTuple):
    """What answers beside the executor: who runs queued work, who reads this machine's disk, who knows agents by their
    tokens, who answers the hooks of agents that people started, who knows processes by the programs above them, and
    who decodes large requests, what times the event loop, what compares this machine's clock with the database's,
    and who knows why nothing is written any more.
    """

    work_calls: WorkCalls
    machine: MachineThreads
    tokens: Tokens
    hook_service: HookService
    calling_sessions: CallingSessions
    open_large: OpenLarge
    meter: LoopMeter
    clock_skew: Callable[[], ClockSkew | None] = lambda: None
    find_ban: Callable[[], WriteBan | None] = lambda: None


class Server:
    """Implements `ramet.daemon.wire.connection.Service` for every connection of one socket."""

    def __init__(
        self,
        executor: Executor,
        settings: DaemonSettings,
        identity: Identity,
        loop: asyncio.AbstractEventLoop,
        redactor: Redactor,
        parts: Parts,
    ) -> None:
        self._executor = executor
        self._settings = settings
        self._identity = identity
        self._loop = loop
        self._subscriptions = Subscriptions(executor, loop, parts.meter)
        self._budget = LoopBudget(loop, self._start, parts.meter)
        self._connections = Connections(settings.max_connections, self._subscriptions.has)
        self._unflushed: list[Connection] = []
        self._listeners: list[asyncio.Server] = []
        self._idle_timer: asyncio.TimerHandle | None = None
        self._stop_asked = asyncio.Event()
        self._is_empty = asyncio.Event()
        self._work_calls = parts.work_calls
        self._machine = parts.machine
        self._tokens = parts.tokens
        self._find_ban = parts.find_ban
        self._clock_skew = parts.clock_skew
        answering = (self, parts.work_calls, parts.hook_service, parts.calling_sessions)
        self._answers = {request: method for part in answering for request, method in find_answers(part).items()}
        self._started = loop.time()
        self._requests = 0
        self._heart = parts.meter
        self.meter: Stopwatch = parts.meter
        self.keeps_order = executor.keeps_order
        self.max_request_bytes = settings.max_request_bytes
        self.max_reply_bytes = settings.max_reply_bytes
        self.max_parts_bytes = settings.max_parts_bytes
        unfinished = max(settings.max_unfinished_bytes, 2 * settings.max_request_bytes)
        self.intake = Intake(unfinished, settings.max_unfinished_seconds, "daemon.max_unfinished_bytes", loop)
        self.parts_intake = Intake(
            2 * settings.max_parts_bytes, settings.max_unfinished_seconds, "daemon.max_parts_bytes", loop
        )
        self.open_large = parts.open_large
        self.redactor = redactor

    def count_requests(self) -> int:
        """How many requests have come in so far."""
        return self._requests

    async def listen(self, listener: socket.socket, agents_listener: socket.socket) -> None:
        """Start to accept the user's connections, and those of agents."""
        for sock, is_for_agents in ((listener, False), (agents_listener, True)):
            accept = partial(Connection, self, is_for_agents=is_for_agents)
            self._listeners.append(await self._loop.create_unix_server(accept, sock=sock, backlog=BACKLOG))
        self._watch_idleness()

    def committed(self, topic: Topic) -> None:
        """A transaction was committed, here or elsewhere: there are events to tell, and there may be work to do."""
        self._subscriptions.wake()
        if topic == "work":
            self._work_calls.look_again()

    def stop(self) -> None:
        """Ask the daemon to go."""
        self._stop_asked.set()

    async def stopping(self) -> None:
        """Return once the daemon was asked to stop."""
        await self._stop_asked.wait()

    async def drain(self) -> None:
        """Accept no connection, answer the running requests, and close every connection, in bounded time."""
        self._stop_asked.set()
        self._subscriptions.close()
        self._work_calls.close()
        for listener in self._listeners:
            listener.close()
        self._executor.interrupt_reads()
        for connection in self._connections:
            connection.end()
        try:
            async with asyncio.timeout(max(self._settings.drain_seconds, _FAREWELL_SECONDS)):
                while len(self._connections):
                    self._is_empty.clear()
                    await self._is_empty.wait()
        except TimeoutError:
            log.warning("drain cut short connections=%d", len(self._connections))
            for connection in self._connections:
                connection.abort()
        for pauses in (self.meter.pauses, self._executor.pauses):
            pauses.log_summary()

    # What connections need.

    def admit(self, connection: Connection, transport: asyncio.Transport) -> bool:
        if self._stop_asked.is_set():
            return False
        uid = peer_uid(transport.get_extra_info("socket"))
        if uid not in (None, self._identity.owner_uid):
            log.warning("peer refused uid=%s", uid)
            return False
        try:
            self._connections.admit(connection)
        except (TooManyConnections, DescriptorsExhausted) as error:
            transport.write(encode_error(None, error, self.redactor) + b"\n")
            return False
        connection.last_active = self._requests
        self._heart.start_beating()
        self._watch_idleness()
        return True

    def deserted(self, connection: Connection) -> None:
        self._executor.stop_reads(connection)
        self._work_calls.left(connection)

    def left(self, connection: Connection) -> None:
        self._connections.discard(connection)
        self._subscriptions.remove(connection)
        self._executor.stop_reads(connection)
        self._work_calls.left(connection)
        self._watch_idleness()
        if not len(self._connections):
            self._heart.stop_beating()
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
        call.connection.last_active = self._requests
        self._budget.take(call)

    def finished(self, call: Call) -> None:
        self.meter.lap(call.operation.name)
        seconds = self._loop.time() - call.started
        is_waiting = call.operation.host == "daemon" or getattr(call.request, "wait", False)
        if seconds > _SLOW_SECONDS and not is_waiting:
            log.warning("slow request method=%s ms=%d", call.operation.name, seconds * 1000)

    def _start(self, call: Call) -> None:
        try:
            self._dispatch(call)
        except Exception as error:  # noqa: BLE001 - whatever fails, the connection lives on
            call.done(unforeseen(error))
        self.meter.lap(call.operation.name)

    def _dispatch(self, call: Call) -> None:
        operation, principal = call.operation, call.connection.principal
        if self._stop_asked.is_set():
            call.done(DaemonStopping())
        elif call.connection.is_for_agents and not operation.is_for_agents:
            call.done(unknown_method(operation.name, is_for_agents=True))
        elif operation is Hello.op:
            self._answer(call)
        elif principal is None or (principal != USER and not operation.is_for_agents):
            call.done(_forbidden(call, principal))
        elif operation.host == "daemon":
            self._answer(call)
        elif operation.host == "machine":
            self._machine.run(operation, call.request, call.done, principal)
        elif operation.changes:
            self._change(call, call.request, principal)
        else:
            self._executor.read(operation, call.request, principal, call.done, call.asker)

    def _change(self, call: Call, request: Request[Any], principal: str) -> None:
        """Submit a change, once the files of the skills that it names and the place where it starts have been read."""
        follow = self._work_calls.followers.get(call.operation.request)
        done = partial(follow, call) if follow else call.done

        def submit(found: Any) -> None:
            if isinstance(found, RametError):
                call.done(found)
            else:
                self._executor.submit(call.operation, found, principal, done)

        if isinstance(request, Change) and request.reads_first():
            self._machine.discover(call.operation, request, submit, principal)
        else:
            submit(call.prepared or request)

    def _flush(self) -> None:
        self.meter.begin()
        unflushed, self._unflushed = self._unflushed, []
        for connection in unflushed:
            connection.flush()
        self.meter.end("send")

    def _watch_idleness(self) -> None:
        """Start to count when the last connection has gone; stop counting when there is one."""
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None
        if self._settings.idle_exit_seconds and not len(self._connections):
            self._idle_timer = self._loop.call_later(self._settings.idle_exit_seconds, self._leave)

    def _leave(self) -> None:
        """There has been no request for a while; but running work is looked after to its end."""
        if self._work_calls.is_idle:
            self.stop()
        else:
            self._watch_idleness()

    # What the daemon answers itself.

    def _answer(self, call: Call) -> None:
        try:
            reply = self._answers[type(call.request)](call, call.request)
        except RametError as error:
            reply = error
        if not isinstance(reply, Later):
            call.done(reply)

    @answers(Hello)
    def greet(self, call: Call, request: Hello) -> Later[HelloReply]:
        """Say who we are; with a token the connection is bound to a session, and no later greeting frees it."""
        connection = call.connection
        if request.token is not None:
            session_id = self._tokens.check(request.token)
            connection.principal = None if session_id is None else of_session(session_id)
        if connection.principal is None:
            raise Forbidden("this daemon did not issue the token", field="token")
        connection.environment = (request.environment or {}) if connection.principal == USER else {}
        build = self._identity.build
        reply = HelloReply(
            version=build.version,
            protocol=build.protocol,
            principal=connection.principal,
            build=build.revision,
            built_at=build.built_at,
            schema_version=build.schema_version,
        )
        own = asking_session(connection.principal)

        def say(found: Any) -> None:
            if isinstance(found, Exception):
                connection.principal = None
            call.done(found if isinstance(found, Exception) else reply)

        if own is None:
            call.done(reply)
        else:
            self._executor.read(GetSession.op, GetSession(session_id=own), connection.principal, say)
        return Later()

    @answers(RotateKey)
    def rotate_key(self, call: Call, request: RotateKey) -> Rotated:  # noqa: ARG002
        """Make another key, and let nobody stay who came in with the old one."""
        self._tokens.rotate()
        agents = [each for each in self._connections if each.is_for_agents or each.principal != USER]
        for connection in agents:
            connection.abort()
        return Rotated(disconnected=len(agents))

    @answers(Ping)
    def ping(self, call: Call, request: Ping) -> Pong:  # noqa: ARG002
        return Pong()

    @answers(SendPart)
    def add_part(self, call: Call, request: SendPart) -> PartReceived:
        return PartReceived(received_bytes=call.connection.add_part(request))

    @answers(DaemonStatus)
    def status(self, call: Call, request: DaemonStatus) -> DaemonStatusReply:  # noqa: ARG002
        import psutil  # noqa: PLC0415 - a few milliseconds that only this question costs

        return DaemonStatusReply(
            socket=self._identity.socket,
            pid=os.getpid(),
            version=self._identity.build.version,
            build=self._identity.build.revision,
            store=self._identity.store,
            schema_version=self._identity.schema_version,
            uptime_seconds=round(self._loop.time() - self._started, 3),
            connections=len(self._connections),
            requests=self._requests,
            transactions=self._executor.transactions,
            resident_bytes=psutil.Process().memory_info().rss,
            loop_pauses=self.meter.pauses.show(),
            writer_pauses=self._executor.pauses.show(),
            write_ban=self._find_ban(),
            clock=self._clock_skew(),
        )

    @answers(StopDaemon)
    def stop_on_request(self, call: Call, request: StopDaemon) -> Stopping:  # noqa: ARG002
        self._work_calls.is_replaced = request.is_replaced
        self._loop.call_soon(self.stop)  # after the reply is written
        return Stopping()

    @answers(SubscribeEvents)
    def subscribe(self, call: Call, request: SubscribeEvents) -> Later[Subscribed]:
        def begin(after: Any) -> None:
            call.done(after if isinstance(after, Exception) else Subscribed(after=after))
            if not isinstance(after, Exception) and call.connection.is_open:
                self._subscriptions.add(call.connection, after)

        if request.after is None:
            self._executor.last_event(begin)
        else:
            begin(request.after)
        return Later()


def _forbidden(call: Call, principal: str | None) -> Forbidden:
    if principal is None:
        fix = "greet with the token of your session, which is in RAMET_TOKEN"
        return Forbidden("this connection has no valid token", field="token", fix=fix)
    return Forbidden(f"{call.operation.name} is not available to agents", field="method", value=call.operation.name)
