"""What is on its way to one client: lines, and long replies in pieces, never one inside the other.

While a long reply is written, lines wait behind it and no other request of this client is started. So the daemon holds
little of what a client does not read; and a client that reads nothing for a while is disconnected.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from ramet.daemon.readers.reader_connection import StreamedReply

log = logging.getLogger(__name__)

_WRITE_BYTES = 64 * 1024
"""Lines beyond this do not wait for the end of the event loop's turn."""
_UNREAD_SECONDS = 60.0
"""How long a client may leave a reply unread without reading any of it."""


class _Stream(NamedTuple):
    around: tuple[bytes, bytes]
    reply: StreamedReply
    ended: Callable[[], None]


class Output:
    """The output of a connection."""

    def __init__(
        self, transport: asyncio.Transport, flush_soon: Callable[[], None], can_write_again: Callable[[], None]
    ) -> None:
        """`flush_soon` sees to it that `flush` is called at the end of this turn of the event loop."""
        self._transport = transport
        self._flush_soon = flush_soon
        self._can_write_again = can_write_again
        self._unsent: list[bytes] = []
        self._unsent_bytes = 0
        self._stream: _Stream | None = None
        self._streams: deque[_Stream] = deque()
        """Long replies that wait for the one before."""
        self._is_paused = False
        self._written = 0
        self._unread_timer: asyncio.TimerHandle | None = None

    @property
    def can_write(self) -> bool:
        """Whether the client reads what it is sent, and no long reply is on its way."""
        return not self._is_paused and self._stream is None

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits to be written here."""
        return not self._unsent and self._stream is None and not self._streams

    def send(self, line: bytes) -> None:
        """Send a line, together with what else this turn of the event loop has to say."""
        if not self._unsent:
            self._flush_soon()
        self._unsent.append(line)
        self._unsent_bytes += len(line)
        if self._unsent_bytes > _WRITE_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write the lines that wait, unless a long reply has to be complete first."""
        if self._unsent and self._stream is None:
            self._unsent.append(b"")
            self._write(b"\n".join(self._unsent))
            self._unsent.clear()
            self._unsent_bytes = 0

    def stream(self, around: tuple[bytes, bytes], reply: StreamedReply, ended: Callable[[], None]) -> None:
        """Write a long reply between two pieces of a line; `ended` is called when it has been written."""
        self._streams.append(_Stream(around, reply, ended))
        self._begin_stream()

    def pause(self) -> None:
        """The client does not read."""
        self._is_paused = True
        if self._stream is not None:
            self._stream.reply.pause()
        self._watch(self._read_bytes())

    def resume(self) -> None:
        """The client has read what it was sent."""
        self._is_paused = False
        self._stop_watching()
        if self._stream is not None:
            self._stream.reply.resume()
        else:
            self._can_write_again()

    def close(self) -> None:
        """The client is gone."""
        self._stop_watching()
        self._unsent.clear()
        streams = [*self._streams, *([self._stream] if self._stream else [])]
        self._streams.clear()
        self._stream = None
        for stream in streams:
            stream.reply.abandon()
            stream.ended()  # the call counts as answered: nobody waits for it any more

    def _begin_stream(self) -> None:
        if self._stream is None and self._streams:
            self.flush()
            self._stream = stream = self._streams.popleft()
            self._write(stream.around[0])
            stream.reply.open(self._write_piece, self._end_stream)

    def _write_piece(self, piece: bytes) -> None:
        self._write(piece)
        if self._is_paused and self._stream is not None:
            self._stream.reply.pause()

    def _end_stream(self, is_whole: bool) -> None:
        stream, self._stream = self._stream, None
        if stream is None:
            return
        if not is_whole:
            log.warning("a reader ended in the middle of its reply, its client is disconnected")
            self._streams.appendleft(stream)  # whose call is never answered
            self._transport.abort()
            return
        self._write(stream.around[1] + b"\n")
        stream.ended()
        self._begin_stream()
        self.flush()
        if self.can_write:
            self._can_write_again()

    def _write(self, data: bytes) -> None:
        self._written += len(data)
        self._transport.write(data)

    # A client that does not read.

    def _read_bytes(self) -> int:
        """How much of what was written has left the daemon."""
        return self._written - self._transport.get_write_buffer_size()

    def _watch(self, read_before: int) -> None:
        self._stop_watching()
        loop = asyncio.get_running_loop()
        self._unread_timer = loop.call_later(_UNREAD_SECONDS, self._check_unread, read_before)

    def _check_unread(self, read_before: int) -> None:
        read_now = self._read_bytes()
        if read_now > read_before:
            self._watch(read_now)
            return
        log.warning("a client has not read its replies for %d seconds, and is disconnected", _UNREAD_SECONDS)
        self._transport.abort()

    def _stop_watching(self) -> None:
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None
