"""One connection: bytes in, replies out, its requests taking effect in the order in which they came.

Work is pulled, never piled up. A line is decoded only when the one before has been started, and none while the client
leaves its replies unread. What cannot be started stays in the kernel's buffers, because reading is paused. So a
connection always holds a bounded amount, regardless of the client; and all of them together do (`byte_limit`).

A large line is decoded and prepared elsewhere (`line_preparation`), because it would hold up everybody else's requests.

There is no task and no future per request: a call carries the callback that answers it, and the replies of one
turn of the event loop leave in one write.
"""

import asyncio
import logging
import select
from collections import deque
from functools import partial
from typing import Any, Protocol, cast

from msgspec import Raw, UnsetType

from ramet.daemon.executors.line_preparation import MAX_BATCH, OpenedLine, OpenLarge, is_large
from ramet.daemon.readers.call import Asker
from ramet.daemon.readers.reader_connection import StreamedReply
from ramet.daemon.stalls import Stopwatch
from ramet.daemon.wire.byte_limit import Intake
from ramet.daemon.wire.byte_lines import Lines
from ramet.daemon.wire.calls import Batch, Call, encode_answer, unforeseen
from ramet.daemon.wire.output import Output
from ramet.daemon.wire.parts import Parts
from ramet.daemon.wire.socket_file import peer_pid
from ramet.errors import InvalidRequest, RametError, ReplyTooLarge, RequestTooLarge
from ramet.model.principal import USER
from ramet.model.redaction import Redactor
from ramet.protocol.hooks.hooks import RecordHook
from ramet.protocol.hooks.transcripts import AddEntries
from ramet.protocol.system.daemon import SendPart
from ramet.protocol.wire import frames

log = logging.getLogger(__name__)

_MAX_OPEN = 128
"""How many calls of one connection may be under way at once."""


class Service(Protocol):
    """What a connection needs of its server."""

    keeps_order: bool
    max_request_bytes: int
    max_reply_bytes: int
    max_parts_bytes: int
    intake: Intake
    parts_intake: Intake
    open_large: OpenLarge
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
        self.asker = Asker(self, takes_pieces=True, is_gone=self.is_deserted)
        """Who waits for its reads."""
        self._lines = Lines(service.max_request_bytes)
        self._parts = Parts(service.max_parts_bytes)
        self._unfinished_bytes = 0
        self._held_back_by: set[Intake] = set()
        self._is_opening = False
        """Whether a large line is being decoded elsewhere. Nothing overtakes it."""
        self._calls: deque[Call] = deque()
        """Decoded from the line that is being worked on, and not started."""
        self._open_changes = 0
        self._open_long_changes = 0
        self._open_reads = 0
        self._is_reading_first = False
        self._output: Output | None = None
        self._is_advancing = False
        self._is_reading = True
        self._is_ending = False
        self.is_open = False
        self.last_active = 0
        """The number of its last request, counted over all connections."""
        self.principal: str | None = None if is_for_agents else USER
        """Who it speaks for; None without a valid token, when it may do nothing."""

    @property
    def can_write(self) -> bool:
        """Whether the client reads what it is sent, and no long reply is on its way."""
        return self._output is not None and self._output.can_write

    @property
    def peer_pid(self) -> int | None:
        """The process of the client, if it is known."""
        return peer_pid(self._transport.get_extra_info("socket"))

    @property
    def is_idle(self) -> bool:
        """Whether it waits for nothing, and nothing of it is there."""
        is_waiting = self._calls or self._lines or self._is_opening or not self._is_all_sent
        return not (is_waiting or self._open_changes or self._open_reads or self._unfinished_bytes or self._parts.size)

    @property
    def _is_all_sent(self) -> bool:
        return self._output is None or self._output.is_empty

    # What the event loop tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.is_open = self._service.admit(self, self._transport)
        if self.is_open:
            self._output = Output(self._transport, lambda: self._service.flush_soon(self), self._sent_all)
        else:
            self._transport.close()

    def data_received(self, data: bytes) -> None:
        self._service.meter.begin()
        self._lines.feed(data)
        unfinished = self._lines.unfinished_bytes
        if unfinished != self._unfinished_bytes:
            self._unfinished_bytes = unfinished
            self._service.intake.hold(self, unfinished)
        self._advance()
        self._service.meter.end("receive")

    def eof_received(self) -> bool:
        """The client has nothing more to ask; it still gets what it asked for, if it is there to get it."""
        if self.is_deserted():
            self._service.deserted(self)
        self.end()
        return True

    def pause_writing(self) -> None:
        if self._output is not None:
            self._output.pause()

    def resume_writing(self) -> None:
        if self._output is not None:
            self._output.resume()

    def _sent_all(self) -> None:
        """The client can be written to again."""
        self._service.meter.begin()
        self._service.can_write_again()
        self._advance()
        self._service.meter.end("receive")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self.is_open = False
        self._lines.clear()
        size = sum(call.size for call in self._calls)
        self._calls.clear()
        if size:
            self._service.intake.finish(size)
        if self._output is not None:
            self._output.close()
        self._parts.clear()
        self._service.intake.leave(self)
        self._service.parts_intake.leave(self)
        self._service.left(self)

    # What the server tells.

    def end(self) -> None:
        """Close as soon as everything that was asked is answered."""
        self._is_ending = True
        self._settle()

    def abort(self) -> None:
        """Close now."""
        self._transport.abort()

    def refuse(self, error: RametError) -> None:
        """Send an error that answers no request, and close."""
        if not self.is_open:
            return
        self._lines.clear()
        self._parts.clear()
        self._answer(None, None, error)
        self.flush()
        self._transport.close()

    @property
    def is_read(self) -> bool:
        """Whether what the client sends is read now."""
        return self._is_reading

    def hold_back(self, by: Intake, *, is_held_back: bool) -> None:
        """Read no more for the moment, or read on."""
        (self._held_back_by.add if is_held_back else self._held_back_by.discard)(by)
        self._settle()

    def go_on(self) -> None:
        """There may be room for a large request."""
        self._advance()

    def add_part(self, part: SendPart) -> int:
        """Keep a part of a request; the last one makes it a line that is taken next. How much there is of it."""
        try:
            line = self._parts.add(part)
        finally:
            self._service.parts_intake.hold(self, self._parts.size)
        if line is None:
            return self._parts.size
        self._lines.put_first(line)
        return len(line)

    def answered(self, call: Call, reply: Any) -> None:
        """Send the answer to a call that was started, and continue."""
        if isinstance(reply, StreamedReply):
            self._stream(call, reply)
            return
        self._count_answer(call)
        self._answer(call.id, call.batch, reply)
        self._service.finished(call)
        self._advance()

    def _stream(self, call: Call, reply: StreamedReply) -> None:
        """Pass a long reply on in pieces; the call has its answer when the last one is written."""
        if not self.is_open or self._output is None or isinstance(call.id, UnsetType):
            reply.abandon()
            self._count_answer(call)
            return

        def ended() -> None:
            self._count_answer(call)
            self._service.finished(call)
            self._advance()

        self._output.stream(frames.reply_around(call.id), reply, ended)

    def _count_answer(self, call: Call) -> None:
        if call.operation.changes:
            self._open_changes -= 1
            self._open_long_changes -= call.operation.is_long
        else:
            self._open_reads -= 1
        if call.size:
            self._service.intake.finish(call.size)

    def send(self, line: bytes) -> None:
        """Send a line, together with what else this turn of the event loop has to say."""
        if self.is_open and self._output is not None:
            self._output.send(line)

    def flush(self) -> None:
        """Write what waits."""
        if self._output is not None:
            self._output.flush()

    # Requests, in order.

    def _advance(self) -> None:
        """Start what may be started."""
        if self._is_advancing:
            return  # an answer that came at once: the loop below goes on by itself
        self._is_advancing = True
        try:
            while self.can_write and (self._calls or self._lines) and not self._is_opening:
                if not self._calls:
                    if not self._open_next():
                        break
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

        A change for which a model is asked first, or files are read, runs alone: it reads before it is submitted. Short
        changes and long ones wait for each other, because they are written by turns.
        """
        open_calls = self._open_changes + self._open_reads
        if not open_calls:
            return True
        if not self._service.keeps_order or open_calls >= _MAX_OPEN:
            return False
        if self._is_reading_first or _reads_first(call):
            return False
        if self._open_changes and bool(self._open_long_changes) != call.operation.is_long:
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
        is_waiting = bool(self._calls or self._lines or self._is_opening)
        wants_more = not (is_waiting or self._held_back_by)
        if self._is_ending:
            if not (is_waiting or self._open_changes or self._open_reads):
                self.flush()
                self._transport.close()
        elif self._is_reading and not wants_more:
            self._is_reading = False
            self._transport.pause_reading()
        elif wants_more and not self._is_reading:
            self._is_reading = True
            self._transport.resume_reading()

    def is_deserted(self) -> bool:
        """Whether the client has closed its end, and not only said its last word."""
        if not self.is_open:
            return True
        poll = select.poll()
        poll.register(self._transport.get_extra_info("socket").fileno(), 0)
        return any(event & select.POLLHUP for _, event in poll.poll(0))

    # Decoding and answering.

    def _open_next(self) -> bool:
        """Decode the next line, a large one elsewhere. False if it is large and there is no room for it."""
        line = self._lines.take()
        if line is None or not is_large(line):
            self._open_line(line)
        elif self._service.intake.start(self, len(line)):
            self._is_opening = True
            self._service.open_large(line, partial(self._opened, len(line)))
        else:
            self._lines.put_first(line)
            return False
        return True

    def _open_line(self, line: bytes | None) -> None:
        if line is None:
            limit = self._service.max_request_bytes
            too_large = RequestTooLarge(f"the request is larger than {limit} bytes", field="request", value=limit)
            return self._answer(None, None, too_large)
        try:
            documents = frames.split_line(line)
        except RametError as error:
            return self._answer(None, None, error)
        if documents is None:
            return self._open_request(line, None)
        return self._open_batch(documents)

    def _opened(self, size: int, found: OpenedLine) -> None:
        """Take what was decoded elsewhere. The line's size is counted until its last request is answered."""
        self._is_opening = False
        batch = Batch(len(found.requests)) if found.is_batch and found.requests else None
        for each in found.requests if self.is_open else ():
            if each.error is None and each.request is not None:
                self._calls.append(Call(self, each.id, each.request.op, each.request, batch, each.prepared))
            else:
                if each.failure:
                    log.error("internal error\n%s", each.failure)
                self._answer(each.id, batch, each.error)
        if self._calls:
            self._calls[-1].size = size
        else:
            self._service.intake.finish(size)
        self._advance()

    def _open_batch(self, documents: list[Raw]) -> None:
        if not 0 < len(documents) <= MAX_BATCH:
            message = f"a batch has 1 to {MAX_BATCH} requests, not {len(documents)}"
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
        room = self._service.max_reply_bytes if batch is None else batch.room_bytes
        if line is not None and len(line) > room:
            line = encode_answer(request_id, _too_large(len(line), batch), self._service.redactor)
        if batch is not None:
            line = batch.add(line)
        if line is not None:
            self.send(line)


def _too_large(size: int, batch: Batch | None) -> ReplyTooLarge:
    if batch is None:
        return ReplyTooLarge(f"the reply has {size} bytes", field="limit")
    message = f"the reply has {size} bytes, for which its batch has no room"
    return ReplyTooLarge(message, fix="send the request alone, not in a batch")


def _reads_first(call: Call) -> bool:
    if call.operation in (RecordHook.op, AddEntries.op):
        return True  # they take another way to the writer than other changes, and would overtake them or be overtaken
    return call.request.needs_model() or call.request.reads_first() or call.request.draft() is not None
