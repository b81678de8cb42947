"""A call: one request of a connection on its way to its reply; and a batch: several that are answered together."""

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UnsetType

from ramet.daemon.executors.executor import Asker
from ramet.daemon.readers.failures import explain
from ramet.engine import Ready
from ramet.errors import RametError
from ramet.model.redaction import Redactor
from ramet.protocol.operation import Request
from ramet.protocol.operations import Operation
from ramet.protocol.wire import frames
from ramet.protocol.wire.frames import RequestId

if TYPE_CHECKING:
    from ramet.daemon.wire.connection import Connection


_BATCH_BYTES = 8 * 1024 * 1024
"""How much the replies of a batch may have together: they are held until the last is there."""


class Batch:
    """The replies of a batch, sent as one array when the last of its calls is answered."""

    __slots__ = ("_lines", "_open", "room_bytes")

    def __init__(self, size: int) -> None:
        self._open = size
        self._lines: list[bytes] = []
        self.room_bytes = _BATCH_BYTES
        """How much more it may have."""

    def add(self, line: bytes | None) -> bytes | None:
        """Count one call as answered; return the array if it was the last and there is anything to say."""
        self._open -= 1
        if line is not None:
            self._lines.append(line)
            self.room_bytes -= len(line)
        if self._open or not self._lines:
            return None
        return b"[" + b",".join(self._lines) + b"]"


class Call:
    """A request, and where its answer goes."""

    __slots__ = ("batch", "connection", "id", "operation", "prepared", "request", "size", "started")

    def __init__(
        self,
        connection: "Connection",
        request_id: RequestId | UnsetType,
        operation: Operation,
        request: Request[Any],
        batch: Batch | None,
        prepared: Ready | None = None,
    ) -> None:
        self.connection = connection
        self.id = request_id
        self.operation = operation
        self.request = request
        self.batch = batch
        self.prepared = prepared
        """The change, prepared elsewhere because it is large."""
        self.size = 0
        """How many bytes it holds of what all requests together may hold; 0 if it is short."""
        self.started = 0.0

    @property
    def asker(self) -> Asker:
        """Who waits for the reply, and how it can be taken."""
        if self.batch is None and not isinstance(self.id, UnsetType):
            return self.connection.asker
        return self.connection.asker._replace(takes_pieces=False, most_bytes=_BATCH_BYTES)

    def done(self, reply: Any) -> None:
        """Answer it, once: with the reply, or with the error that it came to."""
        try:
            self.connection.answered(self, reply)
        except Exception as error:  # noqa: BLE001 - one connection's trouble keeps nobody else from an answer
            unforeseen(error)
            self.connection.abort()


def encode_answer(request_id: RequestId | UnsetType, reply: Any, redactor: Redactor) -> bytes | None:
    """The line that answers, or None for a notification. An unforeseen error is logged, not shown."""
    if isinstance(reply, Exception) and not isinstance(reply, RametError):
        reply = unforeseen(reply)
    if isinstance(request_id, UnsetType):
        return None
    try:
        if isinstance(reply, RametError):
            return frames.encode_error(request_id, reply, redactor)
        return frames.encode_reply(request_id, reply)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        return frames.encode_error(request_id, unforeseen(error), redactor)


def unforeseen(error: Exception) -> RametError:
    """The reply to a request that failed because of a bug: the details go to the log."""
    return explain(error, "internal error")
