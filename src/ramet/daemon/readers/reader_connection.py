"""The daemon's end of one reader: sends it orders, and takes its answers from the socket.

A short answer is taken whole. A long one is passed on in pieces, as fast as whoever asked takes them: the rest stays in
the reader, which waits meanwhile.
"""

import asyncio
import os
import select
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from ramet.daemon.readers.messages import HEADER_BYTES, Header, decode_header

_PIECE_BYTES = 128 * 1024
"""How much is taken from the socket at once: a fraction of a millisecond of the event loop's time."""
_WHOLE_BYTES = 64 * 1024
"""A longer answer is passed on in pieces."""


class StreamedReply:
    """A long reply that is still in its reader. Nothing more is taken of it before `open`."""

    def __init__(self, size: int, first: bytes, link: "ReaderConnection") -> None:
        self.size = size
        self._first = first
        self._link = link
        self._missing = size
        self._take: Callable[[bytes], None] | None = None
        self._ended: Callable[[bool], None] = _ignore
        self.stalled_since: float | None = None
        """When whoever takes the pieces stopped to take them."""

    def open(self, take: Callable[[bytes], None], ended: Callable[[bool], None]) -> None:
        """Begin: `take` gets each piece, `ended` whether all came. Both may be called before this returns."""
        self._take, self._ended = take, ended
        first, self._first = self._first, b""
        self._link.resume()
        if first:
            self._link.pass_on(first)

    def pause(self) -> None:
        """Whoever takes the pieces cannot take more."""
        self.stalled_since = self.stalled_since or self._link.time()
        self._link.pause()

    def resume(self) -> None:
        """The pieces can be taken again."""
        self.stalled_since = None
        self._link.resume()

    def abandon(self) -> None:
        """Nobody takes the rest."""
        self._take, self._ended = None, _ignore
        self._link.kill()

    def cut(self) -> None:
        """Give up on whoever takes the pieces: `ended` is called."""
        self._link.kill()

    def add(self, piece: bytes) -> bool:
        """Called by the link: whether this was the last piece."""
        self._missing -= len(piece)
        if self._take is not None:
            self._take(piece)
        return self._missing == 0

    def end(self) -> None:
        """Called by the link: no more pieces follow, because all came or because the reader is gone."""
        ended, self._ended = self._ended, _ignore
        ended(self._missing == 0)


def _ignore(_: bool) -> None:
    pass


class LinkOwner(Protocol):
    """Who is told what a reader says."""

    def ready(self, link: "ReaderConnection") -> None:
        """It waits for an order: it has started, or all of its last answer has been taken."""

    def answered(self, link: "ReaderConnection", header: Header, body: bytes | StreamedReply) -> None:
        """It has answered its order. `ready` or `lost` follows."""

    def lost(self, link: "ReaderConnection") -> None:
        """It can be given nothing more: it was killed, or it ended."""

    def gone(self, link: "ReaderConnection") -> None:
        """After `lost`: its process has ended, and does nothing any more."""


class ReaderConnection:
    """One reader. Everything is called on the event loop's thread."""

    def __init__(self, sock: socket.socket, owner: LinkOwner, loop: asyncio.AbstractEventLoop, *, is_own: bool) -> None:
        self.is_own = is_own
        """Whether it answers the daemon's own requests."""
        self.pid: int | None = None
        self.grown_bytes = 0
        self._socket = sock
        self._owner = owner
        self._loop = loop
        self._pidfd: int | None = None
        self._received = bytearray()
        self._unsent = b""
        self._stream: StreamedReply | None = None
        self._is_open = True
        self._is_reading = False
        self._is_ending = False
        self.resume()

    def time(self) -> float:
        """The event loop's time."""
        return self._loop.time()

    def send(self, order: bytes) -> None:
        """Give it something to do."""
        self._unsent = order
        self._write()

    def kill(self) -> None:
        """Stop it, in the middle of whatever it does."""
        if not self._is_open:
            return
        with suppress(ProcessLookupError):
            if self._pidfd is not None:
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            elif self.pid is not None:
                os.kill(self.pid, signal.SIGKILL)
        self._lose()

    def end(self) -> None:
        """Let it end. It has nothing to do, and sees the end of its socket."""
        if self._is_open:
            self._lose()

    def wait(self, seconds: float) -> None:
        """After `kill`, when the event loop waits for nothing any more: wait until the process has ended."""
        if self._pidfd is not None:
            poll = select.poll()
            poll.register(self._pidfd, select.POLLIN)
            poll.poll(seconds * 1000)
            self._see_gone()

    def pause(self) -> None:
        """Take nothing from the socket."""
        if self._is_reading:
            self._is_reading = False
            self._loop.remove_reader(self._socket)

    def resume(self) -> None:
        """Take what comes."""
        if not self._is_reading and self._is_open:
            self._is_reading = True
            self._loop.add_reader(self._socket, self._read)

    def pass_on(self, piece: bytes) -> None:
        """Give a piece of the answer to whoever takes it."""
        stream = self._stream
        if stream is not None and stream.add(piece):
            self._stream = None
            stream.end()
            self._settle()

    def _write(self) -> None:
        try:
            sent = self._socket.send(self._unsent)
        except BlockingIOError:
            sent = 0
        except OSError:
            sent = len(self._unsent)  # it is gone, which is noticed by reading
        self._unsent = self._unsent[sent:]
        if self._unsent:
            self._loop.add_writer(self._socket, self._write)
        else:
            self._loop.remove_writer(self._socket)

    def _read(self) -> None:
        try:
            data = self._socket.recv(_PIECE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._lose()
        elif self._stream is not None:
            self.pass_on(data)
        else:
            self._received += data
            self._parse()

    def _parse(self) -> None:
        if len(self._received) < HEADER_BYTES:
            return
        header = decode_header(self._received)
        body = bytes(memoryview(self._received)[HEADER_BYTES:])
        if header.size <= _WHOLE_BYTES and len(body) < header.size:
            return
        self._received.clear()
        if header.kind == "ready":
            self._open_process(header.grown_bytes)
            self._owner.ready(self)
            return
        self.grown_bytes, self._is_ending = header.grown_bytes, header.is_last
        if header.size <= _WHOLE_BYTES:
            self._owner.answered(self, header, body)
            self._settle()
        else:
            self.pause()
            self._stream = StreamedReply(header.size, body, self)
            self._owner.answered(self, header, self._stream)

    def _settle(self) -> None:
        """All of the answer has been taken."""
        if self._is_ending:
            self.end()
        elif self._is_open:
            self.resume()
            self._owner.ready(self)

    def _open_process(self, pid: int) -> None:
        self.pid = pid
        if hasattr(os, "pidfd_open"):
            with suppress(OSError):
                self._pidfd = os.pidfd_open(pid)

    def _lose(self) -> None:
        self._is_open = False
        self.pause()
        self._loop.remove_writer(self._socket)
        self._socket.close()
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.end()
        self._owner.lost(self)
        if self._pidfd is not None:
            self._loop.add_reader(self._pidfd, self._see_gone)
        else:
            self._loop.call_soon(self._owner.gone, self)

    def _see_gone(self) -> None:
        assert self._pidfd is not None  # noqa: S101
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        self._pidfd = None
        self._owner.gone(self)
