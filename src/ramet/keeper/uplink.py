"""The line to the daemon: one question at a time, and nothing here ever waits.

The daemon may be away, slow or gone in the middle of an answer; then the question is asked again later. What is asked
can be asked twice.
"""

import selectors
import socket
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw, Struct

from ramet.client.stream import check_directory
from ramet.errors import RametError, SocketUnsafe

_FIRST_PAUSE_SECONDS = 0.25
_LONGEST_PAUSE_SECONDS = 2.0
_CHUNK_BYTES = 64 * 1024


class _Reply(Struct, frozen=True):
    """A JSON-RPC reply."""

    id: int | None = None
    result: Raw = Raw()
    error: dict[str, Any] | None = None


_replies = msgspec.json.Decoder(_Reply)


class Uplink:
    """A connection that is made when something is to be asked, and made again when it is lost."""

    def __init__(
        self,
        path: str,
        selector: selectors.BaseSelector,
        patience_seconds: float,
        hear: Callable[[Raw | RametError, float], None],
    ) -> None:
        self._path = path
        self._selector = selector
        self._patience_seconds = patience_seconds
        self._hear = hear
        self._socket: socket.socket | None = None
        self._sending = memoryview(b"")
        self._received = bytearray()
        self._id = 0
        self._late_at: float | None = None
        """When an answer that is under way is given up; None where none is."""
        self._pause_seconds = _FIRST_PAUSE_SECONDS
        self._retry_at = 0.0

    @property
    def free_at(self) -> float:
        """When something may be asked; infinity while an answer is under way."""
        return self._retry_at if self._late_at is None else float("inf")

    @property
    def late_at(self) -> float:
        """When to call `check`, whatever happens."""
        return float("inf") if self._late_at is None else self._late_at

    def ask(self, method: str, params: bytes, now: float) -> None:
        """Ask; what is answered is heard later. Where there is no daemon, it may be tried again at `free_at`."""
        try:
            self._connect()
        except (OSError, SocketUnsafe):
            self.lose(now)
            return
        self._id += 1
        line = b'{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}\n' % (self._id, method.encode(), params)
        self._sending = memoryview(line)
        self._late_at = now + self._patience_seconds
        self._watch()

    def check(self, now: float) -> None:
        """Give up an answer that is too late."""
        if now >= self.late_at:
            self.lose(now)

    def lose(self, now: float) -> None:
        """Close the connection, and ask nothing for a while that grows each time."""
        self.close()
        self._retry_at = now + self._pause_seconds
        self._pause_seconds = min(self._pause_seconds * 2, _LONGEST_PAUSE_SECONDS)

    def close(self) -> None:
        """End the connection. Twice does nothing."""
        if self._socket is not None:
            self._selector.unregister(self._socket)
            self._socket.close()
            self._socket = None
        self._received.clear()
        self._late_at = None

    def succeed(self) -> None:
        """What was asked has been done: the next pause is a short one again."""
        self._pause_seconds = _FIRST_PAUSE_SECONDS

    def ready(self, events: int, now: float) -> None:
        """The socket can take or has something."""
        try:
            if events & selectors.EVENT_WRITE:
                self._send()
            if events & selectors.EVENT_READ:
                self._receive(now)
        except BlockingIOError:
            return
        except OSError:
            self.lose(now)

    def _connect(self) -> None:
        if self._socket is not None:
            return
        check_directory(self._path.rpartition("/")[0])
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.setblocking(False)
        try:
            connection.connect(self._path)  # at once or not at all; a full queue of connections is an error here
        except OSError:
            connection.close()
            raise
        self._socket = connection
        self._selector.register(connection, selectors.EVENT_READ, self.ready)

    def _send(self) -> None:
        assert self._socket is not None  # noqa: S101
        self._sending = self._sending[self._socket.send(self._sending) :]
        if not self._sending:
            self._watch()

    def _watch(self) -> None:
        assert self._socket is not None  # noqa: S101
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._sending else 0)
        self._selector.modify(self._socket, wanted, self.ready)

    def _receive(self, now: float) -> None:
        assert self._socket is not None  # noqa: S101
        data = self._socket.recv(_CHUNK_BYTES)
        if not data:
            if self._late_at is None:
                self.close()  # nothing was asked; whether the daemon is away is found out by asking
            else:
                self.lose(now)
            return
        self._received += data
        while (end := self._received.find(b"\n")) >= 0:  # nothing is left of what a lost connection sent
            line = bytes(self._received[:end])
            del self._received[: end + 1]
            self._answer(line, now)

    def _answer(self, line: bytes, now: float) -> None:
        try:
            reply = _replies.decode(line)
        except msgspec.DecodeError:
            self.lose(now)
            return
        if reply.id not in (self._id, None) or self._late_at is None:
            return
        self._late_at = None
        self._hear(reply.result if reply.error is None else RametError.from_wire(reply.error), now)
