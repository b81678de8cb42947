"""Which read runs next, so that short ones are answered while long ones run. Knows no process and no clock.

Nobody knows beforehand how long a read takes. So each starts in the fast lane. One that takes long moves to the slow
lane, if that has room. Otherwise it runs on until another read needs its place; then it is stopped, and starts again
when the slow lane has room, once. In each lane the clients take turns, and each has one read at a time.
"""

from collections import deque
from collections.abc import Container, Hashable
from typing import Generic, TypeVar

Read = TypeVar("Read", bound=Hashable)


class Turns(Generic[Read]):
    """Reads that wait: each client's in their order, and the clients in turns."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, deque[Read]] = {}

    def add(self, read: Read, client: Hashable) -> None:
        """Let it wait behind the others of its client."""
        self._waiting.setdefault(client, deque()).append(read)

    def next_client(self, busy: Container[Hashable]) -> Hashable | None:
        """Whose turn it is, of those that are not busy; None if it is nobody's."""
        return next((client for client in self._waiting if client not in busy), None)

    def take(self, client: Hashable) -> Read:
        """The next read of a client, whose turn comes again after all others."""
        reads = self._waiting.pop(client)
        read = reads.popleft()
        if reads:
            self._waiting[client] = reads
        return read

    def remove(self, read: Read, client: Hashable) -> None:
        """Let it wait no more, if it waits here."""
        reads = self._waiting.get(client, deque())
        if read in reads:
            reads.remove(read)
            if not reads:
                del self._waiting[client]


class Lanes(Generic[Read]):
    """The fast lane and the slow lane, each with a number of places."""

    def __init__(self, fast: int, slow: int) -> None:
        self._fast_places = fast
        self._slow_places = slow
        self._clients: dict[Read, Hashable] = {}
        self._busy: dict[Hashable, Read] = {}
        """The read of each client that has been started."""
        self._fast_turns: Turns[Read] = Turns()
        self._slow_turns: Turns[Read] = Turns()
        self._fast: dict[Read, bool] = {}
        """Those that run in the fast lane, in the order of their start, and whether they have taken long."""
        self._slow: set[Read] = set()

    def __len__(self) -> int:
        return len(self._clients)

    def add(self, read: Read, client: Hashable, *, is_slow: bool = False) -> None:
        """A new read. `is_slow`: it is known to take long."""
        self._clients[read] = client
        (self._slow_turns if is_slow else self._fast_turns).add(read, client)

    def take(self) -> Read | None:
        """A read that has a place now, and is to be started; None if there is none."""
        client = self._fast_turns.next_client(self._busy)
        if client is not None and len(self._fast) < self._fast_places:
            read = self._busy[client] = self._fast_turns.take(client)
            self._fast[read] = False
            return read
        client = self._slow_turns.next_client(self._busy)
        if client is not None and len(self._slow) < self._slow_places:
            read = self._busy[client] = self._slow_turns.take(client)
            self._slow.add(read)
            return read
        return None

    def has_taken_long(self, read: Read) -> None:
        """A read that runs in the fast lane is no short one."""
        if read in self._fast:
            self._fast[read] = True
            self._make_room()

    def take_back(self) -> Read | None:
        """A read that is to be stopped because another one needs its place: it waits again. None if there is none."""
        if len(self._fast) < self._fast_places or self._fast_turns.next_client(self._busy) is None:
            return None
        read = next((each for each, is_long in self._fast.items() if is_long), None)
        if read is not None:
            client = self._clients[read]
            del self._fast[read], self._busy[client]
            self._slow_turns.add(read, client)
        return read

    def leave(self, read: Read) -> None:
        """A read needs its place no more, because only its reply is still to be taken. Its client stays busy."""
        self._fast.pop(read, None)
        if read in self._slow:
            self._slow.discard(read)
            self._make_room()

    def remove(self, read: Read) -> None:
        """The read has its answer, or needs none, wherever it is."""
        if read not in self._clients:
            return
        self.leave(read)
        client = self._clients.pop(read)
        if self._busy.get(client) == read:
            del self._busy[client]
        else:
            self._fast_turns.remove(read, client)
            self._slow_turns.remove(read, client)

    def _make_room(self) -> None:
        """Move reads that have taken long to the slow lane, unless others have been waiting there."""
        for read in [each for each, is_long in self._fast.items() if is_long]:
            if len(self._slow) >= self._slow_places or self._slow_turns.next_client(self._busy) is not None:
                return
            del self._fast[read]
            self._slow.add(read)
