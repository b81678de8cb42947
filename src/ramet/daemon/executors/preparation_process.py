"""The preparation process: decodes and prepares large requests beside the daemon.

A thread would not do. While one redacts 8 MiB, other threads wait for the interpreter's lock for tens of milliseconds,
and for more than a second while it decodes very many small values. So the daemon passes a large line on as it came, and
gets its requests back, redacted, hashed and compressed.

The process is forked before the daemon has opened its database or started a thread. It answers in the order in which it
is asked. If it ends, the request that it had is answered with an error, and a thread does its work from then on.
"""

import asyncio
import gc
import logging
import os
import pickle
import resource
import signal
import socket
import struct
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, cast

from ramet.daemon.executors.line_preparation import OpenedLine, OpenedRequest, open_large
from ramet.daemon.memory import give_back_memory, keep_large_buffers_apart
from ramet.engine import Engine, Ready
from ramet.errors import RametError, RequestTooLarge
from ramet.keeper.kernel import dying_with_us
from ramet.protocol.operation import Change

log = logging.getLogger(__name__)

_LENGTH = struct.Struct("!Q")
_LINE, _CHANGE = b"l", b"c"
_PIECE_BYTES = 1024 * 1024
_MOST_BYTES = 1024 * 1024 * 1024
"""What the process may take beyond what it shares with the daemon: some thirty times the largest request."""

Job = bytes | Change[Any]
"""A line of a client, or a change that the daemon wants itself."""


class _Order(NamedTuple):
    job: Job
    done: Callable[[Any], None]


@contextmanager
def forked_preparation(engine: Engine) -> Iterator["PreparationProcess"]:
    """Start the process, and end it. No thread may run yet."""
    if sys.platform != "linux":
        yield PreparationProcess(engine)  # system libraries of macOS do not survive a fork: a thread does the work
        return
    die_with_us = dying_with_us()
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        try:
            if die_with_us is not None:
                die_with_us()
            run_preparation(theirs, engine)
        finally:
            os._exit(1)
    theirs.close()
    ours.setblocking(False)
    try:
        yield PreparationProcess(engine, ours)
    finally:
        ours.close()
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)  # it only computes
            os.waitpid(pid, 0)


def run_preparation(link: socket.socket, engine: Engine) -> NoReturn:
    """Answer what comes in, until the daemon is gone."""
    _leave_the_daemon(link.fileno())
    while (order := _receive(link)) is not None:
        try:
            reply: Any = prepare_job(_decode_job(order), engine)
        except MemoryError:
            reply = OpenedLine([OpenedRequest(error=RequestTooLarge("the request takes too much memory"))])
        del order
        body = pickle.dumps(reply, pickle.HIGHEST_PROTOCOL)
        del reply
        link.sendall(_LENGTH.pack(len(body)))
        link.sendall(body)
        is_large = len(body) > _PIECE_BYTES
        del body
        if is_large:
            give_back_memory()
    os._exit(0)


def prepare_job(job: Job, engine: Engine) -> OpenedLine | Ready | RametError:
    """A line's requests; or a change of the daemon's own, prepared."""
    if isinstance(job, bytes):
        return open_large(job, engine)
    try:
        return Ready(call=engine.prepare(job.op, job, ""))
    except RametError as error:
        return error
    except Exception as error:  # noqa: BLE001 - only this change fails
        return RametError(f"a change could not be prepared: {job.op.name}: {type(error).__name__}")


def _leave_the_daemon(link: int) -> None:
    """Keep nothing of the daemon open, and end with it."""
    with suppress(OSError):
        Path("/proc/self/comm").write_text("ramet prepare", encoding="ascii")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # of a terminal or a service: the daemon decides when to stop
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
    os.closerange(3, link)
    os.closerange(link + 1, 4096)
    logging.getLogger("ramet").handlers.clear()
    os.chdir("/")
    keep_large_buffers_apart()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + _MOST_BYTES, hard))
    gc.freeze()  # a collection would copy every page that is shared with the daemon


def _address_space() -> int:
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except OSError:
        return _MOST_BYTES


def _encode_job(job: Job) -> tuple[bytes, bytes]:
    """A header and a body. A line travels as it is: it may be large, and this is done on the event loop."""
    kind, body = (_LINE, job) if isinstance(job, bytes) else (_CHANGE, pickle.dumps(job, pickle.HIGHEST_PROTOCOL))
    return _LENGTH.pack(len(kind) + len(body)) + kind, body


def _decode_job(order: bytearray) -> Job:
    body = bytes(memoryview(order)[len(_LINE) :])
    if order.startswith(_LINE):
        return body
    return pickle.loads(body)  # type: ignore[no-any-return] # noqa: S301 - from the daemon, over its own socket


def _receive(link: socket.socket) -> bytearray | None:
    length = _receive_bytes(link, _LENGTH.size)
    return None if length is None else _receive_bytes(link, *_LENGTH.unpack(length))


def _receive_bytes(link: socket.socket, size: int) -> bytearray | None:
    received = bytearray()
    while len(received) < size:
        piece = link.recv(min(size - len(received), _PIECE_BYTES))
        if not piece:
            return None
        received += piece
    return received


class PreparationProcess(asyncio.Protocol):
    """The daemon's end. Used on the event loop's thread."""

    def __init__(self, engine: Engine, link: socket.socket | None = None) -> None:
        """Without a link to a process, a thread does the work."""
        self.engine = engine
        self._link = link
        self._loop: asyncio.AbstractEventLoop
        self._connecting: asyncio.Task[Any] | None = None
        self._transport: asyncio.WriteTransport | None = None
        self._orders: deque[_Order] = deque()
        self._received = bytearray()
        self._thread: ThreadPoolExecutor | None = None

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Answer on that event loop."""
        self._loop = loop
        if self._link is not None:
            self._connecting = loop.create_task(_connect(loop, self, self._link))

    def open_large(self, line: bytes, done: Callable[[OpenedLine], None]) -> None:
        """Decode a large line, and prepare what is in it."""
        self._pass_on(line, done)

    def prepare(self, request: Change[Any], done: Callable[[Ready | RametError], None]) -> None:
        """Prepare a change."""
        self._pass_on(request, done)

    def _pass_on(self, job: Job, done: Callable[[Any], None]) -> None:
        if self._connecting is None:
            self._do_here(job, done)
            return
        self._orders.append(_Order(job, done))
        if self._transport is not None:
            self._send(self._transport, job)

    def _send(self, transport: asyncio.WriteTransport, job: Job) -> None:
        for each in _encode_job(job):
            transport.write(each)

    def _do_here(self, job: Job, done: Callable[[Any], None]) -> None:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="preparation")
        future = self._thread.submit(prepare_job, job, self.engine)
        future.add_done_callback(lambda _: self._loop.call_soon_threadsafe(self._done_here, future, job, done))

    def _done_here(self, future: "Future[Any]", job: Job, done: Callable[[Any], None]) -> None:
        failure = future.exception()
        if failure is None:
            done(future.result())
        else:
            log.error("a request could not be prepared", exc_info=failure)
            done(_failed(job, RametError()))

    # What the event loop tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)
        for order in self._orders:
            self._send(self._transport, order.job)

    def data_received(self, data: bytes) -> None:
        self._received += data
        while len(self._received) >= _LENGTH.size:
            (size,) = _LENGTH.unpack_from(self._received)
            if len(self._received) < _LENGTH.size + size:
                break
            with memoryview(self._received) as view:
                reply = pickle.loads(view[_LENGTH.size : _LENGTH.size + size])  # noqa: S301 - from our own process
            rest = self._received[_LENGTH.size + size :]
            self._received = rest  # another buffer: this one may be large
            order = self._orders.popleft()
            is_refused = isinstance(reply, OpenedLine) and not isinstance(order.job, bytes)
            order.done(RequestTooLarge("the change takes too much memory") if is_refused else reply)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._transport = self._connecting = None
        if not self._orders:
            return
        log.warning("the preparation process ended orders=%d", len(self._orders))
        lost, *others = self._orders
        self._orders.clear()
        for order in others:
            self._do_here(order.job, order.done)
        error = RametError("the process that prepares large requests ended; the request was not performed")
        lost.done(_failed(lost.job, error))


def _failed(job: Job, error: RametError) -> OpenedLine | RametError:
    """What stands for the result of a job that failed."""
    return OpenedLine([OpenedRequest(error=error)]) if isinstance(job, bytes) else error


async def _connect(loop: asyncio.AbstractEventLoop, protocol: PreparationProcess, link: socket.socket) -> None:
    await loop.create_unix_connection(lambda: protocol, sock=link)
