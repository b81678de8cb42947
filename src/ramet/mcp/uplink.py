"""The way to the daemon, for one session.

Each request has a connection of its own, on a thread: so several can wait at once, and one that is cancelled ends its
connection, by which the daemon knows that nobody waits any more. The daemon may go away and come back; it is waited
for. It is never started from here: it would be a part of the agent, and end with it.
"""

import time
from collections.abc import Callable
from typing import Any

import anyio
from anyio import to_thread

from ramet.client.connection import Connection
from ramet.errors import DaemonStopping, DaemonUnreachable, Forbidden

_PAUSE_SECONDS = 0.2
_PATIENCE_SECONDS = 60
"""How long a daemon may be away."""
_MARGIN_SECONDS = 5
"""How much longer than it was asked to the daemon may take."""
_MOST_AT_ONCE = 1000


class Uplink:
    """Asks the daemon in the name of one session: the one whose token it has; or, in a program that a person started,
    and that has all the rights of that person anyway, the one that the program says it is.
    """

    def __init__(self, socket: str | None, token: str | None, session: str | None = None) -> None:
        self._socket = socket
        self._token = token
        self._session = session
        self._threads = anyio.CapacityLimiter(_MOST_AT_ONCE)

    async def ask(self, method: str, params: dict[str, Any], seconds: float) -> Any:
        """The reply. It is asked again where the daemon goes away meanwhile: a change needs its idempotency key."""
        return await self._repeat(method, lambda _left: params, seconds)

    def name(self, field: str) -> dict[str, str]:
        """The parameter that says whose request it is; none where a token does."""
        return {} if self._token or not self._session else {field: self._session}

    async def wait(self, session_ids: list[int], seconds: float) -> list[dict[str, Any]]:
        """What came of sessions: when all have ended, or when the time is over."""

        def ask_for(left: float) -> dict[str, Any]:
            return {"session_ids": session_ids, "timeout_seconds": max(1, int(left))}

        results: list[dict[str, Any]] = (await self._repeat("spawn.wait", ask_for, seconds))["results"]
        return results

    async def _repeat(self, method: str, params: Callable[[float], dict[str, Any]], seconds: float) -> Any:
        deadline = time.monotonic() + seconds
        away_since: float | None = None
        while True:
            left = max(deadline - time.monotonic(), 0)
            call = _Call(*self._credentials(), method, params(left), left + _MARGIN_SECONDS)
            try:
                return await self._perform(call)
            except (DaemonUnreachable, DaemonStopping):
                now = time.monotonic()
                away_since = now if away_since is None or call.is_answered else away_since
                if now + _PAUSE_SECONDS > min(deadline, away_since + _PATIENCE_SECONDS):
                    raise
            await anyio.sleep(_PAUSE_SECONDS)

    async def _perform(self, call: "_Call") -> Any:
        try:
            return await to_thread.run_sync(call.run, abandon_on_cancel=True, limiter=self._threads)
        except anyio.get_cancelled_exc_class():
            call.abort()
            raise

    def _credentials(self) -> tuple[str, str | None]:
        if self._socket and (self._token or self._session):
            return self._socket, self._token
        raise Forbidden(
            "nobody knows whose tools these are: that say only agents that Ramet runs, and Claude Code with our hooks",
            fix="let Ramet run the agent (`ramet add`, then `ramet work`); or start Claude Code after `ramet init`",
        )


class _Call:
    """One request on a connection of its own, which another thread may end."""

    def __init__(
        self, socket: str, token: str | None, method: str, params: dict[str, Any], timeout_seconds: float
    ) -> None:
        self._socket = socket
        self._hello = {"client": "ramet mcp", **({"token": token} if token else {})}
        self._method = method
        self._params = params
        self._timeout_seconds = timeout_seconds
        self._connection: Connection | None = None
        self.is_answered = False
        """Whether the daemon was there at all."""

    def run(self) -> Any:
        with Connection(self._socket, self._timeout_seconds) as connection:
            self._connection = connection
            connection.call("daemon.hello", self._hello)
            self.is_answered = True
            return connection.call(self._method, self._params)

    def abort(self) -> None:
        if self._connection is not None:
            self._connection.abort()
