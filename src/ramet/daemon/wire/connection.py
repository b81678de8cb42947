"""One connection: bytes in, replies out, its requests taking effect in the order in which they came.

Work is pulled, never piled up. A line is decoded only when the one before has been started, and none while the client
leaves its replies unread. What cannot be started stays in the kernel's buffers, because reading is paused. So a
connection always holds a bounded amount, regardless of the client.

There is no task and no future per request: a call carries the callback that answers it, and the replies of one
turn of the event loop leave in one write.
"""

import asyncio
import select
from collections import deque
from typing import Any, Protocol, cast

from msgspec import Raw, UnsetType

from ramet.daemon.stalls import Stopwatch
from ramet.daemon.wire.byte_lines import Lines
from ramet.daemon.wire.calls import (
    Batch,
    Call,
    encode_answer,
    unforeseen,
)
from ramet.daemon.wire.socket_file import peer_pid
from ramet.errors import InvalidRequest, RametError, RequestTooLarge
from ramet.model.principal import USER
from ramet.model.redaction import Redactor
from ramet.protocol.wire import frames

_MAX_OPEN = 128
"""How many calls of one connection may be under way at once."""

_MAX_BATCH = 1000
"""How many requests a batch may hold: its replies are held together until the last is there."""

_WRITE_BYTES = 64 * 1024
"""Replies beyond this do not wait for the end of the event loop's turn."""


class Service(Protocol):
    """What a connection needs of its server."""

    keeps_order: bool
    max_request_bytes: int
    redactor: Redactor
    meter: Stopwatch

    def admit(self, connection: "Connection", transport: asyncio.Transport) -> bool:
        """Whether the peer may stay; if so, the connection is the server's to keep."""

    def run(self, call: Call) -> None:
        """Start a call; `call.done` answers it."""

    def flush_soon(self, connection: "Connection") -> None:
        """Call `flush` at the end of this turn of the event loop."""

    def finished(self, call: Call) -> None:
        """The call has its answer."""

    def can_write_again(self) -> None:
        """Some client has read what it was sent."""

    def deserted(self, connection: "Connection") -> None:
        """The client is gone; what it asked for is not answered yet."""

    def left(self, connection: "Connection") -> None:
        """The connection is gone."""


class Connection(asyncio.Protocol):
    """A client's end of the socket."""

    _transport: asyncio.Transport

    def __init__(self, service: Service, *, is_for_agents: bool = False) -> None:
        self._service = service
        self.is_for_agents = is_for_agents
        """Whether it came in by the agents' socket: it speaks for nobody before it has shown a token."""
        self.environment: dict[str, str] = {}
        """The environment of a person's client, if it said so; of an agent's none."""
        self._lines = Lines(service.max_request_bytes)
        self._calls: deque[Call] = deque()
        """Decoded from the line that is being worked on, and not started."""
        self._open_changes = 0
        self._open_long_changes = 0
        self._open_reads = 0
        self._is_reading_first = False
        self._unsent: list[bytes] = []
        self._unsent_bytes = 0
        self._is_advancing = False
        self._is_reading = True
        self._is_ending = False
        self.is_open = False
        self.principal: str | None = None if is_for_agents else USER
        """Who it speaks for; None without a valid token, when it may do nothing."""
        self.can_write = True
        """Whether the client reads what it is sent."""

    @property
    def peer_pid(self) -> int | None:
        """The process of the client, if it is known."""
        return peer_pid(self._transport.get_extra_info("socket"))

    # What the event loop tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.is_open = self._service.admit(self, self._transport)
        if not self.is_open:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._service.meter.begin()
        self._lines.feed(data)
        self._advance()
        self._service.meter.end("receive")

    def eof_received(self) -> bool:
        """The client has nothing more to ask; it still gets what it asked for, if it is there to get it."""
        if self._is_deserted():
            self._service.deserted(self)
        self.end()
        return True

    def pause_writing(self) -> None:
        self.can_write = False

    def resume_writing(self) -> None:
        self._service.meter.begin()
        self.can_write = True
        self._service.can_write_again()
        self._advance()
        self._service.meter.end("receive")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self.is_open = False
        self._lines.clear()
        self._calls.clear()
        self._unsent.clear()
        self._service.left(self)

    # What the server tells.

    def end(self) -> None:
        """Close as soon as everything that was asked is answered."""
        self._is_ending = True
        self._settle()

    def abort(self) -> None:
        """Close now."""
        self._transport.abort()

    def answered(self, call: Call, reply: Any) -> None:
        """Send the answer to a call that was started, and continue."""
        if call.operation.changes:
            self._open_changes -= 1
            self._open_long_changes -= call.operation.is_long
        else:
            self._open_reads -= 1
        self._answer(call.id, call.batch, reply)
        self._service.finished(call)
        self._advance()

    def send(self, line: bytes) -> None:
        """Send a line, together with what else this turn of the event loop has to say."""
        if not self.is_open:
            return
        if not self._unsent:
            self._service.flush_soon(self)
        self._unsent.append(line)
        self._unsent_bytes += len(line)
        if self._unsent_bytes > _WRITE_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        if self._unsent:
            self._unsent.append(b"")
            self._transport.write(b"\n".join(self._unsent))
            self._unsent.clear()
            self._unsent_bytes = 0

    # Requests, in order.

    def _advance(self) -> None:
        """Start what may be started."""
        if self._is_advancing:
            return  # an answer that came at once: the loop below goes on by itself
        self._is_advancing = True
        try:
            while self.can_write and (self._calls or self._lines):
                if not self._calls:
                    self._open_line(self._lines.take())
                elif self._may_start(self._calls[0]):
                    self._start(self._calls.popleft())
                else:
                    break
        finally:
            self._is_advancing = False
        self._settle()

    def _may_start(self, call: Call) -> bool:
        """Changes may follow changes if the database keeps their order, and reads may follow reads; everything else
        waits.

        A change for which a model is asked first, or files are read, runs alone: it reads before it is submitted. A
        short change waits for long ones, because it would be written first.
        """
        open_calls = self._open_changes + self._open_reads
        if not open_calls:
            return True
        if not self._service.keeps_order or open_calls >= _MAX_OPEN:
            return False
        if self._is_reading_first or _reads_first(call):
            return False
        if self._open_long_changes and not call.operation.is_long:
            return False
        return not (self._open_reads if call.operation.changes else self._open_changes)

    def _start(self, call: Call) -> None:
        self._is_reading_first = _reads_first(call)
        if call.operation.changes:
            self._open_changes += 1
            self._open_long_changes += call.operation.is_long
        else:
            self._open_reads += 1
        self._service.run(call)

    def _settle(self) -> None:
        """Read on only when nothing waits; close when nothing is left to answer."""
        if not self.is_open or self._transport.is_closing():
            return
        is_waiting = bool(self._calls or self._lines)
        if self._is_ending:
            if not (is_waiting or self._open_changes or self._open_reads):
                self.flush()
                self._transport.close()
        elif is_waiting and self._is_reading:
            self._is_reading = False
            self._transport.pause_reading()
        elif not is_waiting and not self._is_reading:
            self._is_reading = True
            self._transport.resume_reading()

    def _is_deserted(self) -> bool:
        """Whether the client has closed its end, and not only said its last word."""
        poll = select.poll()
        poll.register(self._transport.get_extra_info("socket").fileno(), 0)
        return any(event & select.POLLHUP for _, event in poll.poll(0))

    # Decoding and answering.

    def _open_line(self, line: bytes | None) -> None:
        if line is None:
            limit = self._service.max_request_bytes
            too_large = RequestTooLarge(f"the request is larger than {limit} bytes", field="request")
            return self._answer(None, None, too_large)
        try:
            documents = frames.split_line(line)
        except RametError as error:
            return self._answer(None, None, error)
        if documents is None:
            return self._open_request(line, None)
        return self._open_batch(documents)

    def _open_batch(self, documents: list[Raw]) -> None:
        if not 0 < len(documents) <= _MAX_BATCH:
            message = f"a batch has 1 to {_MAX_BATCH} requests, not {len(documents)}"
            return self._answer(None, None, InvalidRequest(message))
        batch = Batch(len(documents))
        for document in documents:
            self._open_request(document, batch)
        return None

    def _open_request(self, document: bytes | Raw, batch: Batch | None) -> None:
        try:
            frame = frames.decode_frame(document)
        except RametError as error:
            return self._answer(frames.salvage_id(document), batch, error)
        try:
            operation = frames.find_operation(frame.method)
            request = frames.decode_params(operation, frame.params)
        except RametError as error:
            return self._answer(frame.id, batch, error)
        except Exception as error:  # noqa: BLE001 - whatever a client sends, its connection lives on
            return self._answer(frame.id, batch, unforeseen(error))
        self._calls.append(Call(self, frame.id, operation, request, batch))
        return None

    def _answer(self, request_id: frames.RequestId | UnsetType, batch: Batch | None, reply: Any) -> None:
        line = encode_answer(request_id, reply, self._service.redactor)
        if batch is not None:
            line = batch.add(line)
        if line is not None:
            self.send(line)


def _reads_first(call: Call) -> bool:
    return call.request.needs_model() or call.request.reads_first()
