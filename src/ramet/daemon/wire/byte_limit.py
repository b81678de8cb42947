"""Requests that are not answered yet, over all connections: how many bytes the daemon holds of them, and who gives way.

A request that has arrived only in part can stay so for ever, on as many connections as a client opens. So the parts of
all connections together have a limit, and each of them has an age. While half of the limit is in use, only the oldest
unfinished request is read on, and the others wait in the kernel's buffers. If one makes no progress meanwhile, or if
the limit is reached all the same, the oldest one is refused and its connection closed.

A large request that has arrived is started only if there is room for it beside those that are being worked on.
"""

import asyncio
from collections import deque
from typing import Protocol

from ramet.errors import RametError, TooMuchInput

_TICK_SECONDS = 0.5
_LEAST_PROGRESS_BYTES = 64 * 1024
"""What a client sends of a large request between two ticks if it sends at all, while others wait for it."""


class Sender(Protocol):
    """A connection, as far as what it sends is concerned."""

    @property
    def is_read(self) -> bool:
        """Whether it is read now."""

    def hold_back(self, by: "Intake", *, is_held_back: bool) -> None:
        """Read no more of it for the moment, or read on."""

    def refuse(self, error: RametError) -> None:
        """Send the error, and close."""

    def go_on(self) -> None:
        """There may be room for the request that waits."""


class _Unfinished:
    """What one connection has sent of a request so far."""

    __slots__ = ("before", "is_held_back", "seconds", "size")

    def __init__(self) -> None:
        self.size = 0
        self.before = 0
        """Its size at the tick before."""
        self.seconds = 0.0
        """For how long it has been read."""
        self.is_held_back = False


class Intake:
    """The requests of all connections that are unfinished or being worked on. Used on the event loop's thread."""

    def __init__(self, max_bytes: int, max_seconds: float, key: str, loop: asyncio.AbstractEventLoop) -> None:
        """`key` is the setting that says `max_bytes`."""
        self._max_bytes = max_bytes
        self._max_seconds = max_seconds
        self._key = key
        self._loop = loop
        self._unfinished: dict[Sender, _Unfinished] = {}
        """In the order of their first bytes."""
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: deque[Sender] = deque()
        self.unfinished_bytes = 0
        self.open_bytes = 0
        """The size of the large requests that are being worked on."""

    # Unfinished requests.

    def hold(self, sender: Sender, size: int) -> None:
        """A connection has so many bytes of an unfinished request now; 0 if of none."""
        found = self._unfinished.get(sender)
        if not size:
            if found is not None:
                self._forget(sender)
            return
        if found is None:
            found = self._unfinished[sender] = _Unfinished()
            self._watch()
        self.unfinished_bytes += size - found.size
        found.size = size
        if self.unfinished_bytes > self._max_bytes and len(self._unfinished) > 1:
            self._refuse_oldest(sender)
        elif self._is_full and next(iter(self._unfinished)) is not sender:
            self._hold_back(sender, found, is_held_back=True)

    @property
    def _is_full(self) -> bool:
        return self.unfinished_bytes > self._max_bytes // 2

    def _forget(self, sender: Sender) -> None:
        found = self._unfinished.pop(sender)
        self.unfinished_bytes -= found.size
        self._hold_back(sender, found, is_held_back=False)
        self._read_on()

    def _hold_back(self, sender: Sender, found: _Unfinished, *, is_held_back: bool) -> None:
        if found.is_held_back != is_held_back:
            found.is_held_back = is_held_back
            found.before = 0  # its progress counts from when it is read again
            sender.hold_back(self, is_held_back=is_held_back)

    def _read_on(self) -> None:
        """Read all of them if there is room, or else the oldest."""
        for sender, found in tuple(self._unfinished.items()):
            self._hold_back(sender, found, is_held_back=False)
            if self._is_full:
                break

    def _refuse_oldest(self, newest: Sender) -> None:
        for sender in tuple(self._unfinished):
            if self.unfinished_bytes <= self._max_bytes:
                break
            if sender is not newest:
                self._refuse(sender, f"unfinished requests take more than {self._max_bytes} bytes")

    def _refuse(self, sender: Sender, why: str) -> None:
        self._forget(sender)
        fix = f"send the whole request at once; `ramet config {self._key}` shows the limit"
        sender.refuse(TooMuchInput(f"the request was not finished: {why}", field="request", fix=fix))

    def _watch(self) -> None:
        if self._timer is None:
            self._timer = self._loop.call_later(_TICK_SECONDS, self._tick)

    def _tick(self) -> None:
        self._timer = None
        for sender, found in tuple(self._unfinished.items()):
            if found.is_held_back or sender not in self._unfinished:
                continue
            if sender.is_read:  # otherwise it waits for us, and not we for it
                found.seconds += _TICK_SECONDS
            progress, found.before = found.size - found.before, found.size
            if found.seconds >= self._max_seconds:
                self._refuse(sender, f"it took longer than {self._max_seconds:g} seconds")
            elif self._is_full and progress < _LEAST_PROGRESS_BYTES:
                self._refuse(sender, "others wait for the room that it takes")
        if self._unfinished:
            self._watch()

    # Large requests that have arrived.

    def start(self, sender: Sender, size: int) -> bool:
        """Count a large request as being worked on. False if there is no room: `go_on` is called when there is."""
        if self.open_bytes and (self._waiting or self.open_bytes + size > self._max_bytes // 2):
            if sender not in self._waiting:
                self._waiting.append(sender)
            return False
        self.open_bytes += size
        return True

    def finish(self, size: int) -> None:
        """A large request is answered."""
        self.open_bytes -= size
        waiting, self._waiting = self._waiting, deque()
        for sender in waiting:
            sender.go_on()

    def leave(self, sender: Sender) -> None:
        """The connection is gone."""
        if sender in self._unfinished:
            self._forget(sender)
        if sender in self._waiting:
            self._waiting.remove(sender)
