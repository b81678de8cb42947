"""Which read runs next, so that short ones are answered while long ones run. Knows no process and no clock.

Nobody knows beforehand how long a read takes. So each starts in the fast lane. One that takes long moves to the slow
lane, if that has room. Otherwise it runs on until another read needs its place; then it is stopped, and starts again
when the slow lane has room, once. In each lane the clients take turns.
"""

from collections import OrderedDict, deque
from collections.abc import Hashable
from typing import Generic, TypeVar

Read = TypeVar("Read", bound=Hashable)


class Turns(Generic[Read]):
    """Reads that wait: each client's in their order, and the clients in turns."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[Hashable, deque[Read]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, read: Read, client: Hashable) -> None:
        """Let it wait behind the others of its client."""
        self._waiting.setdefault(client, deque()).append(read)

    def take(self) -> Read:
        """The next one."""
        client, reads = self._waiting.popitem(last=False)
        read = reads.popleft()
        if reads:
            self._waiting[client] = reads
        return read

    def remove(self, read: Read, client: Hashable) -> bool:
        """Let it wait no more; False if it does not wait here."""
        reads = self._waiting.get(client, deque())
        if read not in reads:
            return False
        reads.remove(read)
        if not reads:
            del self._waiting[client]
        return True


class Lanes(Generic[Read]):
    """The fast lane and the slow lane, each with a number of places."""

    def __init__(self, fast: int, slow: int) -> None:
        self._fast_places = fast
        self._slow_places = slow
        self._clients: dict[Read, Hashable] = {}
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
        if self._fast_turns and len(self._fast) < self._fast_places:
            read = self._fast_turns.take()
            self._fast[read] = False
            return read
        if self._slow_turns and len(self._slow) < self._slow_places:
            read = self._slow_turns.take()
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
        if not self._fast_turns or len(self._fast) < self._fast_places:
            return None
        read = next((each for each, is_long in self._fast.items() if is_long), None)
        if read is not None:
            del self._fast[read]
            self._slow_turns.add(read, self._clients[read])
        return read

    def remove(self, read: Read) -> None:
        """The read has its answer, or needs none, wherever it is."""
        client = self._clients.pop(read, None)
        if read in self._slow:
            self._slow.discard(read)
            self._make_room()
        elif self._fast.pop(read, None) is None and not self._fast_turns.remove(read, client):
            self._slow_turns.remove(read, client)

    def _make_room(self) -> None:
        """Move reads that have taken long to the slow lane, unless others have been waiting there."""
        for read in [each for each, is_long in self._fast.items() if is_long]:
            if self._slow_turns or len(self._slow) >= self._slow_places:
                return
            del self._fast[read]
            self._slow.add(read)
