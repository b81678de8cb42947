"""Requests under way: several on one connection, so that the daemon always has the next one.

The daemon writes the changes of a connection in the order in which they were sent. One thread encodes, sends and reads.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple, Protocol

import msgspec

from ramet.client.connection import Connection
from ramet.errors import DaemonError, RametError
from ramet.protocol.memory.imports import AddedPieces, AddPieces
from ramet.protocol.operation import Ask, Request
from ramet.protocol.wire.exchange import decode_line, find_id

_UNDER_WAY = 3
"""How many requests the daemon has at once: it writes one, prepares another, and has received a third."""


class Reply(Protocol):
    """A reply that comes later."""

    def result(self) -> AddedPieces:
        """Wait for it. A refusal is raised."""


class Sender(Protocol):
    """Sends pieces, in order."""

    def send(self, request: AddPieces) -> Reply:
        """Send a request behind the others, without waiting for its reply."""

    def close(self) -> None:
        """Send nothing more."""


class OneByOne:
    """Sends a request when the one before it is answered."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._thread = ThreadPoolExecutor(1, "import")
        self._lost: Exception | None = None

    def send(self, request: AddPieces) -> "Future[AddedPieces]":
        """Ask on the thread."""
        return self._thread.submit(self._send, request)

    def _send(self, request: AddPieces) -> AddedPieces:
        """After anything but a refusal nothing more is sent, as over a connection that is lost."""
        if self._lost is not None:
            raise self._lost
        try:
            return self._ask(request)
        except RametError:
            raise
        except Exception as error:
            self._lost = error
            raise

    def close(self) -> None:
        """Forget what has not been sent."""
        self._thread.shutdown(cancel_futures=True)


class _Sent(NamedTuple):
    """A request that is under way."""

    answered: "Future[AddedPieces]"
    size: int


class Pipeline:
    """Sends requests before those in front of them are answered. Nothing else may use the connection until `close`."""

    def __init__(self, connection: Connection, encode: Callable[[AddPieces], Request[AddedPieces]]) -> None:
        """`encode` gives each request as it is to be sent."""
        self._connection = connection
        self._encode = encode
        self._thread = ThreadPoolExecutor(1, "import")
        self._open: dict[int, _Sent] = {}
        """The requests that were sent and not answered, by their ids."""
        self._is_closed = False

    def send(self, request: AddPieces) -> "_Waiting":
        """Queue a request for the thread."""
        answered: Future[AddedPieces] = Future()
        self._thread.submit(self._send, request, answered)
        return _Waiting(self, answered)

    def close(self) -> None:
        """Take the replies that are under way, so that the connection can be used again, and send nothing more."""
        self._is_closed = True
        self._thread.submit(self._receive, 0)
        self._thread.shutdown()

    def wait(self, answered: "Future[AddedPieces]") -> AddedPieces:
        """The reply to a request."""
        if not answered.done():
            self._thread.submit(self._receive_until, answered)
        return answered.result()

    # On the thread.

    def _send(self, request: AddPieces, answered: "Future[AddedPieces]") -> None:
        if self._is_closed:
            answered.cancel()
            return
        try:
            params = msgspec.json.encode(self._encode(request))
            self._open[self._connection.send_raw(request.op.name, params)] = _Sent(answered, len(params))
        except Exception as error:  # noqa: BLE001 - it is raised to whoever waits for the reply
            answered.set_exception(error)
        self._receive(_UNDER_WAY - 1)

    def _receive_until(self, answered: "Future[AddedPieces]") -> None:
        while self._open and not answered.done():
            self._receive(len(self._open) - 1)

    def _receive(self, left: int) -> None:
        """Read replies until only so many are missing. If the connection is lost, none of them will come."""
        while len(self._open) > left:
            try:
                line = self._connection.read_raw()
                self._settle(self._take(find_id(line)).answered, line)
            except Exception as error:  # noqa: BLE001 - as above
                for sent in self._open.values():
                    sent.answered.set_exception(error)
                self._open.clear()

    def _take(self, request_id: int | None) -> "_Sent":
        """The request of a reply. One that is too large to be read is answered without its id."""
        if request_id is None:
            request_id = max(self._open, key=lambda each: self._open[each].size)
        if request_id not in self._open:
            raise DaemonError("the daemon replied to a request that was not sent")
        return self._open.pop(request_id)

    def _settle(self, answered: "Future[AddedPieces]", line: bytes) -> None:
        try:
            answered.set_result(decode_line(AddPieces, line))
        except Exception as error:  # noqa: BLE001 - as above
            answered.set_exception(error)


class _Waiting:
    """A reply of a pipeline."""

    def __init__(self, pipeline: Pipeline, answered: "Future[AddedPieces]") -> None:
        self._pipeline = pipeline
        self._answered = answered

    def result(self) -> AddedPieces:
        """Wait for it."""
        return self._pipeline.wait(self._answered)
