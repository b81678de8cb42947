"""The readers of a daemon: which process answers which read, and what happens if it takes long or does not answer.

Everything here runs on the event loop's thread. `lanes` decides what runs next, `reader_connection` talks to a process.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Hashable
from typing import Any

import msgspec
from msgspec import Raw

from ramet.config.settings import DaemonSettings
from ramet.daemon.readers.call import Asker, Done
from ramet.daemon.readers.failures import defect, find_known
from ramet.daemon.readers.fork_server import ForkServer
from ramet.daemon.readers.lanes import Lanes
from ramet.daemon.readers.messages import Header, Order, encode_order
from ramet.daemon.readers.partial_files import remove_partial
from ramet.daemon.readers.reader_connection import ReaderConnection, StreamedReply
from ramet.errors import (
    ConnectionsExhausted,
    DaemonStopping,
    DatabaseDamaged,
    RametError,
    ReadInterrupted,
    ReadTimeout,
    ReplyTooLarge,
)
from ramet.protocol.history.branches import CheckHistory
from ramet.protocol.memory.archives import Export
from ramet.protocol.operation import Request
from ramet.protocol.system.backups import BackUpDaily
from ramet.protocol.system.database import BackUpDatabase, CheckDatabase

log = logging.getLogger(__name__)

_SHORT_SECONDS = 0.5
"""A read that takes longer counts as slow."""
_LOOK_SECONDS = 5.0
"""How often it is looked whether the client of a slow read is still there."""
_FAST_PLACES = 2
_SLOW_PLACES = 2
"""For clients: a slow read never keeps both of the processors that a small machine has from a short one."""
_OWN_FAST_PLACES = 2
_OWN_SLOW_PLACES = 1
"""For the daemon's own requests, some of which hooks wait for."""
_MOST_SENDING = 2
"""How many clients may be taking long replies at once, before those that stall are disconnected."""
_MOST_UNSENT = 4
_MOST_UNSENT_BYTES = 32 * 1024 * 1024
"""How many long replies may wait in their readers; beyond this no other read of a client is started."""
_STALLED_SECONDS = 2.0
"""How long a client may then leave a long reply unread."""
_START_SECONDS = 30.0
"""How long a reader may take to start, on a machine that is very busy."""
_MOST_TRIES = 3
_IDLE_SECONDS = 20.0
"""How long a reader waits for more to do."""
_KEPT_SECONDS = 600.0
"""How long the last reader of its kind waits, if it is small: it knows the contexts that it compiled."""
_KEPT_BYTES = 24 * 1024 * 1024
_MOST_PLACES = 16
_END_SECONDS = 5.0

_KNOWN_TO_BE_SLOW = (BackUpDatabase, BackUpDaily, CheckDatabase, CheckHistory, Export)

Freshen = Callable[[Callable[[], None]], None]
"""Calls its argument on the event loop's thread once the search index has what was written before."""


class _Read:
    """A read on its way to its reply."""

    __slots__ = ("asker", "done", "is_over", "link", "principal", "request", "timers", "tries")

    def __init__(self, request: Request[Any], principal: str, done: Done, asker: Asker) -> None:
        self.request = request
        self.principal = principal
        self.done = done
        self.asker = asker
        self.link: ReaderConnection | None = None
        self.timers: list[asyncio.TimerHandle] = []
        self.tries = 0
        self.is_over = False

    def rest(self) -> None:
        """Stop its clocks."""
        for timer in self.timers:
            timer.cancel()
        self.timers.clear()


class ReaderPool:
    """Starts readers when there is something to read, gives them reads, and ends them."""

    def __init__(self, fork_server: ForkServer, settings: DaemonSettings, loop: asyncio.AbstractEventLoop) -> None:
        self._fork_server = fork_server
        self._settings = settings
        self._loop = loop
        self._own: Lanes[_Read] = Lanes(_OWN_FAST_PLACES, _OWN_SLOW_PLACES)
        self._clients: Lanes[_Read] = Lanes(_FAST_PLACES, _SLOW_PLACES)
        self._reads: dict[_Read, None] = {}
        """Those that have no reply, in the order in which they came."""
        self._running: dict[ReaderConnection, _Read] = {}
        self._sending: dict[ReaderConnection, tuple[_Read, StreamedReply]] = {}
        """Readers whose reply is being taken."""
        self._idle: dict[ReaderConnection, asyncio.TimerHandle] = {}
        """Readers with nothing to do, the one that was used last at the end."""
        self._places: dict[ReaderConnection, deque[Hashable]] = {}
        """What each reader has read: it may still know something about it."""
        self._cut: dict[ReaderConnection, _Read] = {}
        self._stall_timer: asyncio.TimerHandle | None = None
        self._is_stopping = False
        self.freshen: Freshen | None = None
        self.on_no_connection: Callable[[], None] = lambda: None
        """Called if the server had no connection left for a reader."""
        self.on_damaged_index: Callable[[], None] = lambda: None
        self.on_damaged_database: Callable[[DatabaseDamaged], None] = lambda _: None

    @property
    def pending(self) -> int:
        """How many reads have not been answered."""
        return len(self._reads)

    def read(self, request: Request[Any], principal: str, done: Done, asker: Asker, *, freshens: bool) -> None:
        """Have it answered in a process. `freshens`: it reads the search index, and finds what was written before."""
        if self._is_stopping:
            done(DaemonStopping())
            return
        read = _Read(request, principal, done, asker)
        self._reads[read] = None
        if freshens and self.freshen is not None:
            self.freshen(lambda: self._queue(read))
        else:
            self._queue(read)

    def stop_reads(self, client: Hashable) -> None:
        """A client is gone: nobody waits for its replies."""
        for read in [each for each in self._reads if each.asker.client is client]:
            self._withdraw(read, ReadInterrupted())

    def interrupt(self) -> None:
        """The daemon stops: interrupt what clients asked for. Replies that are being sent go on, and so do reads of the
        daemon's threads, which may be settling an attempt.
        """
        reads = [each for each in self._reads if each.asker.is_gone is not None]
        for read in sorted(reads, key=lambda each: each.link is not None):  # first those that would start now
            self._withdraw(read, DaemonStopping())

    def close(self) -> None:
        """End all readers, and wait until their processes are gone."""
        self._is_stopping = True
        for read in tuple(self._reads):
            self._withdraw(read, DaemonStopping())
        links = (*self._running, *self._sending, *self._idle, *self._cut)
        for link in links:
            link.kill()
        for link in links:
            link.wait(_END_SECONDS)
        self._fork_server.stop()

    # What links tell.

    def ready(self, link: ReaderConnection) -> None:
        read = self._running.get(link)
        if read is not None:
            link.send(encode_order(Order(read.request, read.principal)))
            return
        self._stop_sending(link)
        self._idle[link] = self._loop.call_later(_IDLE_SECONDS, self._retire, link)
        self._advance()

    def answered(self, link: ReaderConnection, header: Header, body: bytes | StreamedReply) -> None:
        read = self._running.pop(link)
        read.link = None
        if header.is_index_damaged:
            self.on_damaged_index()
        if header.is_database_damaged:
            self.on_damaged_database(_find_damage(read.request, header, body))
        if isinstance(body, StreamedReply):
            self._sending[link] = (read, body)
            self._lanes(read).leave(read)
            self._cut_stalled()
            self._pass_on(read, body)
        else:
            reply = _decode(read.request, header, body)
            if isinstance(reply, ConnectionsExhausted):
                self.on_no_connection()
            self._finish(read, reply)

    def lost(self, link: ReaderConnection) -> None:
        self._stop_sending(link)
        if (timer := self._idle.pop(link, None)) is not None:
            timer.cancel()
        self._places.pop(link, None)
        read = self._running.pop(link, None)
        if read is None:
            self._advance()
            return
        read.link = None
        read.rest()
        log.warning("a reader ended in the middle of a read method=%s tries=%d", read.request.op.name, read.tries)
        if read.tries < _MOST_TRIES and not self._is_stopping:
            self._start(read)
        else:
            self._finish(read, ReadInterrupted())

    def gone(self, link: ReaderConnection) -> None:
        read = self._cut.pop(link, None)
        if read is not None:
            remove_partial(read.request)

    # The way of a read.

    def _lanes(self, read: _Read) -> "Lanes[_Read]":
        return self._own if read.asker.client is None else self._clients

    def _queue(self, read: _Read) -> None:
        if not read.is_over:
            client = (
                read if read.asker.client is None else read.asker.client
            )  # the daemon's own do not wait for each other
            self._lanes(read).add(read, client, is_slow=isinstance(read.request, _KNOWN_TO_BE_SLOW))
            self._advance()

    def _advance(self) -> None:
        """Stop what has to make room, and start what has a place."""
        if self._is_stopping:
            return
        for lanes in (self._own, self._clients):
            while (read := lanes.take_back()) is not None:
                self._detach(read)
            while self._has_room(lanes) and (read := lanes.take()) is not None:
                self._start(read)

    def _has_room(self, lanes: "Lanes[_Read]") -> bool:
        """Whether not too much waits to be taken by clients. `_cut_stalled` sees to it that this is so in a moment."""
        if lanes is self._own or len(self._sending) <= _MOST_SENDING:
            return True
        unsent_bytes = sum(body.size for _, body in self._sending.values())
        return len(self._sending) < _MOST_UNSENT and unsent_bytes < _MOST_UNSENT_BYTES

    def _start(self, read: _Read) -> None:
        read.tries += 1
        link = self._choose(read)
        if link is not None:
            self._idle.pop(link).cancel()
            link.send(encode_order(Order(read.request, read.principal)))
        else:
            try:
                link = self._open_link(read)
            except OSError as error:
                log.warning("no reader could be started error=%s", error)
                self._finish(read, find_known(error) or ReadInterrupted("no process could be started for the read"))
                return
        self._running[link] = read
        read.link = link
        self._places[link].append(_place(read.request))
        read.timers.append(self._loop.call_later(_SHORT_SECONDS, self._note_slow, read))
        read.timers.append(self._loop.call_later(self._settings.read_timeout_seconds, self._time_out, read))

    def _choose(self, read: _Read) -> ReaderConnection | None:
        """A reader that has nothing to do: one that knows the place, or the one that was used last."""
        is_own, place = read.asker.client is None, _place(read.request)
        links = [link for link in self._idle if link.is_own is is_own]
        knowing = [link for link in links if place in self._places[link]]
        return next(reversed(knowing or links), None)

    def _open_link(self, read: _Read) -> ReaderConnection:
        is_own = read.asker.client is None
        link = ReaderConnection(self._fork_server.start_reader(is_own=is_own), self, self._loop, is_own=is_own)
        self._places[link] = deque(maxlen=_MOST_PLACES)
        read.timers.append(self._loop.call_later(_START_SECONDS, self._give_up, link))
        return link

    def _give_up(self, link: ReaderConnection) -> None:
        if link.pid is None:
            log.warning("a reader did not start in %d seconds", _START_SECONDS)
            self._fork_server.stop()
            link.kill()

    def _note_slow(self, read: _Read) -> None:
        self._lanes(read).has_taken_long(read)
        self._look(read)
        self._advance()

    def _look(self, read: _Read) -> None:
        """Stop a slow read whose client is gone."""
        is_gone = read.asker.is_gone
        if is_gone is not None and is_gone():
            self._withdraw(read, ReadInterrupted())
        elif not read.is_over:
            read.timers.append(self._loop.call_later(_LOOK_SECONDS, self._look, read))

    def _time_out(self, read: _Read) -> None:
        seconds = self._settings.read_timeout_seconds
        self._withdraw(read, ReadTimeout(f"the read took longer than {seconds} seconds", value=read.request.op.name))

    def _pass_on(self, read: _Read, body: StreamedReply) -> None:
        most_bytes = read.asker.most_bytes
        if read.asker.takes_pieces:
            self._finish(read, body)
        elif most_bytes is not None and body.size > most_bytes:
            body.abandon()
            self._finish(read, ReplyTooLarge(f"the reply has {body.size} bytes", fix=_ONE_BY_ONE))
        else:
            pieces: list[bytes] = []
            body.open(pieces.append, lambda whole: self._finish(read, _join(pieces) if whole else ReadInterrupted()))

    def _withdraw(self, read: _Read, error: RametError) -> None:
        """Stop it, wherever it is."""
        self._detach(read)
        self._finish(read, error)

    def _detach(self, read: _Read) -> None:
        """End the process that works on it."""
        link, read.link = read.link, None
        read.rest()
        if link is not None:
            self._running.pop(link, None)
            self._cut[link] = read
            link.kill()

    def _finish(self, read: _Read, reply: Any) -> None:
        if read.is_over:
            return
        read.is_over = True
        read.rest()
        self._reads.pop(read, None)
        if not isinstance(reply, StreamedReply):
            self._lanes(read).remove(read)
        try:
            read.done(reply)
        except Exception:
            log.exception("a reply could not be given method=%s", read.request.op.name)
        self._advance()

    def _stop_sending(self, link: ReaderConnection) -> None:
        sent = self._sending.pop(link, None)
        if sent is not None:
            self._lanes(sent[0]).remove(sent[0])

    def _cut_stalled(self) -> None:
        """If many clients are taking long replies, disconnect those that have not read for a while."""
        latest = self._loop.time() - _STALLED_SECONDS
        for _, body in tuple(self._sending.values())[: -_MOST_SENDING or None]:
            if body.stalled_since is not None and body.stalled_since < latest:
                log.warning("a client that leaves a long reply unread makes room for others")
                body.cut()
        if len(self._sending) > _MOST_SENDING and self._stall_timer is None:
            self._stall_timer = self._loop.call_later(_STALLED_SECONDS, self._look_for_stalled)

    def _look_for_stalled(self) -> None:
        self._stall_timer = None
        self._cut_stalled()

    def _retire(self, link: ReaderConnection) -> None:
        """End a reader that has nothing to do. The last one of its kind stays longer, if it is small."""
        newest = next(reversed([each for each in self._idle if each.is_own is link.is_own]))
        if link is newest and link.grown_bytes <= _KEPT_BYTES:
            self._idle[link] = self._loop.call_later(_KEPT_SECONDS, link.end)
        else:
            link.end()


_ONE_BY_ONE = "send the request alone, not in a batch; ask with `limit` and `cursor` if the operation has them"


def _decode(request: Request[Any], header: Header, body: bytes) -> Any:
    if header.kind == "reply":
        return Raw(body)
    if header.kind == "error":
        return RametError.from_wire(msgspec.json.decode(body))
    log.error("a read failed method=%s %s", request.op.name, body.decode(errors="replace"))
    return defect(request.op.name, body.decode(errors="replace").partition(":")[0])


def _find_damage(request: Request[Any], header: Header, body: bytes | StreamedReply) -> DatabaseDamaged:
    """The sign that a reader has seen, as far as its answer says it."""
    if header.kind == "error" and isinstance(body, bytes | bytearray):
        error = RametError.from_wire(msgspec.json.decode(body))
        if isinstance(error, DatabaseDamaged):
            return error
    return DatabaseDamaged(f"damage was found while {request.op.name} was answered")


def _join(pieces: list[bytes]) -> Raw:
    return Raw(b"".join(pieces))


def _place(request: Request[Any]) -> Hashable:
    """What a read is about: the next one about the same meets the same reader, if that has nothing to do."""
    names = ("branch", "session_id", "project", "project_id")
    found = (getattr(request, name, None) for name in names)
    return next((value for value in found if value is not None), request.op.name)
