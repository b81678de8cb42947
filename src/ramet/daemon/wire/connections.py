"""The open connections: how many there may be, and which one makes room for another.

A hook connects anew each time, so it must get in even if programs have left connections open. If there are too many,
the one that has asked for nothing for the longest time is closed. Agents, by their own socket, get at most half.
"""

import logging
import resource
import sys
from collections.abc import Callable, Iterator

from ramet.daemon.wire.connection import Connection
from ramet.errors import DescriptorsExhausted, TooManyConnections

log = logging.getLogger(__name__)

_SHARE = 100
"""Of so many connections, one is closed if there are too many."""
_OTHER_FILES = 512
"""Files beside the connections: the database, pipes of agents, what threads read."""


class Connections:
    """The open connections."""

    def __init__(self, max_connections: int, is_busy: Callable[[Connection], bool]) -> None:
        """`is_busy`: whether a connection that has asked for nothing waits for something else, such as events."""
        self._max = min(max_connections, room_for_connections())
        self._is_short_of_files = self._max < max_connections
        self._is_busy = is_busy
        self._all: dict[Connection, None] = {}
        """In the order in which they came."""
        self._agents = 0

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Connection]:
        return iter(tuple(self._all))

    def admit(self, connection: Connection) -> None:
        """Add a connection. If there are too many, an idle one is closed, or the new one is refused."""
        agents_max = self._max // 2
        if connection.is_for_agents and self._agents >= agents_max:
            self._make_room([each for each in self._all if each.is_for_agents], agents_max)
        elif len(self._all) >= self._max:
            self._make_room(list(self._all), self._max)
        self._all[connection] = None
        self._agents += connection.is_for_agents

    def discard(self, connection: Connection) -> None:
        """The connection is gone."""
        if connection in self._all:
            del self._all[connection]
            self._agents -= connection.is_for_agents

    def _make_room(self, candidates: list[Connection], limit: int) -> None:
        idle = [each for each in candidates if each.is_idle and not self._is_busy(each)]
        if not idle:
            log.warning("connection refused connections=%d", len(self._all))
            if self._is_short_of_files:
                raise DescriptorsExhausted(
                    f"the daemon has {limit} connections, and its limit of open files leaves room for no more"
                )
            raise TooManyConnections(
                f"the daemon has {limit} connections, and none is idle", field="daemon.max_connections", value=limit
            )
        # Some more than one: finding them takes as long as answering many requests.
        for longest in sorted(idle, key=lambda each: each.last_active)[: 1 + limit // _SHARE]:
            self.discard(longest)
            longest.refuse(
                TooManyConnections(
                    f"the connection was idle, and the daemon has more than {limit}",
                    field="daemon.max_connections",
                    value=limit,
                    fix="connect again",
                )
            )


def room_for_connections() -> int:
    """How many connections the limit of open files leaves room for. The rest is for the work that they ask for: a
    daemon without a descriptor could neither refuse a connection with a word nor start a reader.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft - min(_OTHER_FILES, soft // 2)


def allow_files(max_connections: int) -> None:
    """Let this process open as many files as its connections need, if the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = max_connections + _OTHER_FILES
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
