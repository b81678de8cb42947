"""A real server on a real socket in a thread of its own, with a stand-in for the database side.

The stand-in answers at once, or holds what it is given until the test lets it go; so a test decides the order in
which a database would finish.
"""

import asyncio
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ramet.clock import SystemClock
from ramet.config.environment import Environment
from ramet.config.places import find_places
from ramet.config.settings import DaemonSettings, Settings
from ramet.daemon.composition import (
    build_calling_sessions,
    build_context,
    build_hook_service,
    build_machine,
    new_event_loop,
)
from ramet.daemon.executors.executor import OWN, Asker, Done
from ramet.daemon.executors.machine_threads import MachineThreads
from ramet.daemon.executors.preparation_process import PreparationProcess
from ramet.daemon.executors.requester import Requester
from ramet.daemon.server import Identity, Parts, Server
from ramet.daemon.stalls import LoopMeter, Pauses
from ramet.daemon.wire.answers import find_answers
from ramet.daemon.wire.socket_file import open_socket
from ramet.daemon.wire.tokens import Tokens
from ramet.daemon.work_calls import WorkCalls
from ramet.engine import Engine, Ready
from ramet.faults import Faults
from ramet.model.event import Event
from ramet.model.redaction import Redactor
from ramet.protocol.operation import Request
from ramet.protocol.operations import Operation
from ramet.protocol.replies import Page
from ramet.protocol.system.events import ListEvents
from ramet.runner.attempts.crew import Crew
from ramet.runner.attempts.slot_loans import SlotLoans
from ramet.runner.landing.landing_queue import LandingQueue

PATIENCE_SECONDS = 20

Result = TypeVar("Result")


class Held(NamedTuple):
    """A request that the database has been given and has not answered."""

    name: str
    request: Any
    done: Done


class Database:
    """The executor's part: echoes what it is asked, and has a log of events."""

    def __init__(self, *, keeps_order: bool = True, holds: bool = False) -> None:
        self.keeps_order = keeps_order
        self.transactions = 0
        self.pauses = Pauses("writer")
        self.holds = holds
        self.held: list[Held] = []
        self.started = 0
        self.events: list[Event] = []
        self.principals: list[str] = []
        """Who asked, for each request."""
        self.askers: list[Asker] = []
        """Who waits, for each read."""
        self.stopped: list[Hashable] = []
        """The clients whose reads were to be stopped."""
        self.answer: Callable[[Any], Any] = echo
        self._changed = threading.Condition()

    def submit(self, operation: Operation, request: Request[Any], principal: str, done: Done) -> None:
        assert operation.changes
        self.principals.append(principal)
        self._take(operation, request.call.request if isinstance(request, Ready) else request, done)

    def read(self, operation: Operation, request: Request[Any], principal: str, done: Done, asker: Asker = OWN) -> None:
        assert not operation.changes
        self.askers.append(asker)
        self.principals.append(principal)
        if isinstance(request, ListEvents):
            return done(self._page(request))
        return self._take(operation, request, done)

    def stop_reads(self, client: Hashable) -> None:
        self.stopped.append(client)

    def interrupt_reads(self) -> None:
        pass

    def last_event(self, done: Done) -> None:
        done(len(self.events))

    def pending(self) -> int:
        return len(self.held)

    def close(self) -> None:
        pass

    def add_events(self, count: int) -> None:
        """Append events with the ids that follow."""
        first = len(self.events) + 1
        self.events.extend(make_event(number) for number in range(first, first + count))

    def wait_started(self, count: int) -> None:
        """Wait until so many requests have reached the database."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.started >= count, PATIENCE_SECONDS)

    def _take(self, operation: Operation, request: Request[Any], done: Done) -> None:
        with self._changed:
            self.started += 1
            self._changed.notify_all()
        if self.holds:
            self.held.append(Held(operation.name, request, done))
        else:
            done(self.answer(request))

    def _page(self, request: ListEvents) -> Page[Event]:
        items = self.events[request.after : request.after + request.limit]
        is_last = not items or items[-1].id == len(self.events)
        return Page(items=items, next=None if is_last else items[-1].id)


KEY = b"k" * 32
"""What the tokens of the servers here are made with."""


def echo(request: Any) -> Any:
    return {"echo": request}


def make_event(number: int) -> Event:
    return Event(
        id=number,
        kind="task.added",
        at=datetime(2026, 11, 15, tzinfo=UTC),
        project_id=1,
        task_id=f"/p/{number}",
        effort_id=None,
        session_id=None,
        agent_id=None,
        dedupe_key=None,
        data=None,
    )


class Client:
    """A client's end: bytes out, lines in, every wait bounded."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(PATIENCE_SECONDS)
        try:
            self.socket.connect(str(path))
        except OSError:
            self.socket.close()
            raise
        self._file = self.socket.makefile("rb")

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def ask(self, method: str, request_id: Any = 1, /, **params: Any) -> None:
        self.send(line(method, request_id, **params))

    def receive(self) -> Any:
        """The next line; None at the end of the stream."""
        received = self._file.readline()
        return json.loads(received) if received else None

    def call(self, method: str, request_id: Any = 1, /, **params: Any) -> Any:
        self.ask(method, request_id, **params)
        return self.receive()

    def close(self) -> None:
        self._file.close()
        self.socket.close()


def line(method: str, request_id: Any = 1, /, **params: Any) -> bytes:
    """One request line."""
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}).encode() + b"\n"


class RunningServer:
    """A server in its thread."""

    def __init__(self, path: Path, database: Database, settings: DaemonSettings, owner_uid: int) -> None:
        self.path = path
        self.agents_path = path.with_name("agents.sock")
        self.disk: Callable[[Request[Any]], Any] = echo
        """What answers with the disk at hand."""
        self.database = database
        self.loop = new_event_loop()
        self.meter = LoopMeter.install(self.loop)
        self.ended: Future[None] = Future()
        self._clients: list[Client] = []
        self._listening = threading.Event()
        identity = Identity(socket=str(path), store="nowhere", schema_version=3, owner_uid=owner_uid)
        self._thread = threading.Thread(target=self._run, args=(settings, identity), daemon=True)
        self._thread.start()
        assert self._listening.wait(PATIENCE_SECONDS)

    def connect(self, *, is_agent: bool = False) -> Client:
        client = Client(self.agents_path if is_agent else self.path)
        self._clients.append(client)
        return client

    def in_loop(self, action: Callable[[], Result]) -> Result:
        """Run it on the server's thread and return its result."""
        result: Future[Result] = Future()
        self.loop.call_soon_threadsafe(lambda: result.set_result(action()))
        return result.result(PATIENCE_SECONDS)

    def release(self, count: int = 1, reply: Any = "done") -> list[str]:
        """Let the database answer the oldest of what it holds; the names of what it answered."""
        return self.in_loop(lambda: [self._release_one(reply) for _ in range(count)])

    def commit_events(self, count: int) -> None:
        def commit() -> None:
            self.database.add_events(count)
            self.server.committed("work")

        self.in_loop(commit)

    def wait_connections(self, count: int) -> None:
        """Wait until the server has so many connections."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.in_loop(lambda: len(self.server._connections)) != count:
            assert time.monotonic() < deadline, f"there are not {count} connections"

    def use(self, part: object) -> None:
        """Let another part answer its requests from now on."""
        self.in_loop(lambda: self.server._answers.update(find_answers(part)))

    def stop(self) -> None:
        """Ask it to go, and return when it has heard."""
        self.in_loop(self.server.stop)

    def close(self) -> None:
        for client in self._clients:
            client.close()
        with suppress(RuntimeError):  # its loop may be closed already
            self.loop.call_soon_threadsafe(self.server.stop)
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive()

    def _release_one(self, reply: Any) -> str:
        held = self.database.held.pop(0)
        held.done(reply)
        return held.name

    def _run(self, settings: DaemonSettings, identity: Identity) -> None:
        with asyncio.Runner(loop_factory=lambda: self.loop) as runner:
            runner.run(self._live(settings, identity))
        self.ended.set_result(None)

    async def _live(self, settings: DaemonSettings, identity: Identity) -> None:
        self.server = Server(self.database, settings, identity, self.loop, Redactor(), self._build_parts())
        await self.server.listen(*(open_socket(path, os.getuid()) for path in (self.path, self.agents_path)))
        self._listening.set()
        await self.server.stopping()
        await self.server.drain()

    def _build_parts(self) -> Parts:
        """What a daemon has, on this database; a test decides what the disk says."""
        requester = Requester(self.database, self.loop, self.meter)
        settings = Settings()
        environ = {"HOME": str(self.path.parent), "RAMET_HOME": str(self.path.parent)}
        places = find_places(environ, settings)
        machine, _ = build_machine(requester, settings, places, environ, SystemClock(), self.loop)
        tokens = Tokens(KEY, str(self.path))
        context = build_context(requester, machine, tokens, Faults(), environ)
        crew = Crew(context)
        work_calls = WorkCalls(crew, SlotLoans(context, crew), requester, self.loop, LandingQueue(context, self.loop))
        hook_service, _ = build_hook_service(requester, machine, self.loop)
        disk = lambda request: self.disk(request)  # noqa: E731, PLW0108 - tests set it later
        threads = MachineThreads(disk, lambda *_: ({}, None), requester.ask_from_thread, self.loop, self.meter)
        calling_sessions = build_calling_sessions(requester, machine, self.loop)
        preparation = PreparationProcess(_engine())
        preparation.attach(self.loop)
        return Parts(work_calls, threads, tokens, hook_service, calling_sessions, preparation.open_large, self.meter)


@cache
def _engine() -> Engine:
    """What prepares large requests."""
    return Engine.configured(Settings(), Environment(), {})


@contextmanager
def running_server(
    path: Path,
    database: Database | None = None,
    settings: DaemonSettings | None = None,
    owner_uid: int | None = None,
) -> Iterator[RunningServer]:
    """A server for the time of a test."""
    server = RunningServer(
        path,
        database or Database(),
        settings or DaemonSettings(drain_seconds=1),
        os.getuid() if owner_uid is None else owner_uid,
    )
    try:
        yield server
    finally:
        server.close()
