"""The way to the daemon, for one session.

Each request has a connection of its own, on a thread: so several can wait at once, and one that is cancelled ends its
connection, which shows the daemon that no one waits any more. If the daemon stops, requests wait until it is back.
It is never started from here: it would be a part of the agent, and end with it.
"""

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Generic

import anyio
from anyio import to_thread

from ramet.client.connection import Connection
from ramet.errors import DaemonStopping, DaemonUnreachable, Forbidden, SessionNotFound
from ramet.model.redaction import Redactor
from ramet.model.redaction.structs import StructRedactor
from ramet.model.spawn.child import SpawnResult
from ramet.protocol.hooks.processes import FindCallingSession
from ramet.protocol.operation import R, Request
from ramet.protocol.spawn.children import AwaitChildren
from ramet.protocol.system.daemon import Hello
from ramet.protocol.wire.exchange import decode_line, encode_request

_PAUSE_SECONDS = 0.2
_PATIENCE_SECONDS = 60
"""How long a daemon may be away."""
_MARGIN_SECONDS = 5
"""How much longer than it was asked to the daemon may take."""
_MOST_AT_ONCE = 1000
_FIX = "let Ramet run the agent (`ramet add`, then `ramet work`), or run `ramet init` and restart the agent"


class Uplink:
    """Asks the daemon in the name of one session: the one whose token it has; or, in a program that a person started,
    and that has all the rights of that person anyway, the one that the program says it is.
    """

    def __init__(
        self,
        socket: str | None,
        token: str | None,
        session: str | None = None,
        redaction: tuple[StructRedactor, Redactor] | None = None,
        environment: Mapping[str, str] = MappingProxyType({}),
        *,
        is_found_by_process: bool = False,
    ) -> None:
        """`redaction` are the patterns of the project, which the daemon does not know. The environment is for children
        of a program that a person started; children of other agents get what their parent got. `is_found_by_process`:
        whether the daemon is asked which program has started us.
        """
        self._hello = Hello(client="ramet mcp", token=token or None, environment=None if token else dict(environment))
        self._redaction = redaction
        self._socket = socket
        self._token = token
        self._session: int | str | None = session
        self._is_found_by_process = is_found_by_process
        self._threads = anyio.CapacityLimiter(_MOST_AT_ONCE)

    @property
    def session(self) -> int | str | None:
        """Whose requests these are; None if a token says so."""
        return None if self._token else self._session

    async def find_session(self, native_id: str | None, seconds: float) -> None:
        """Find out whose tools these are, if only the process says so: at each call, because the program may have
        opened another session since. `native_id` is the program's own id of the session, if it tells that.
        """
        if self._is_found_by_process and self._socket:
            call = _Call(self._socket, self._hello, FindCallingSession(native_id=native_id), seconds)
            try:
                self._session = (await self._perform(call)).session_id
            except (SessionNotFound, DaemonUnreachable) as error:
                raise Forbidden(f"the session of these tools is not known: {error.message}", fix=_FIX) from error

    async def ask(self, request: Request[R], seconds: float) -> R:
        """The reply. It is asked again if the daemon goes away meanwhile: a change needs its idempotency key."""
        if self._redaction is not None:
            structs, redactor = self._redaction
            request = structs.redact(request, redactor)
        return await self._repeat(lambda _left: request, seconds)

    async def wait(self, session_ids: list[int], seconds: float) -> list[SpawnResult]:
        """What came of sessions: when all have ended, or when the time is over."""

        def ask_for(left: float) -> AwaitChildren:
            return AwaitChildren(session_ids=session_ids, timeout_seconds=max(1, int(left)))

        return (await self._repeat(ask_for, seconds)).results

    async def _repeat(self, ask_for: Callable[[float], Request[R]], seconds: float) -> R:
        deadline = time.monotonic() + seconds
        away_since: float | None = None
        while True:
            left = max(deadline - time.monotonic(), 0)
            call = _Call(self._find_socket(), self._hello, ask_for(left), left + _MARGIN_SECONDS)
            try:
                return await self._perform(call)
            except (DaemonUnreachable, DaemonStopping):
                now = time.monotonic()
                away_since = now if away_since is None or call.is_answered else away_since
                if now + _PAUSE_SECONDS > min(deadline, away_since + _PATIENCE_SECONDS):
                    raise
            await anyio.sleep(_PAUSE_SECONDS)

    async def _perform(self, call: "_Call[R]") -> R:
        try:
            return await to_thread.run_sync(call.run, abandon_on_cancel=True, limiter=self._threads)
        except anyio.get_cancelled_exc_class():
            call.abort()
            raise

    def _find_socket(self) -> str:
        if self._socket and (self._token or self._session):
            return self._socket
        raise Forbidden(
            "the session of these tools is not known: the program was started neither by Ramet nor with its hooks",
            fix=_FIX,
        )


class _Call(Generic[R]):
    """One request on a connection of its own, which another thread may end."""

    def __init__(self, socket: str, hello: Hello, request: Request[R], timeout_seconds: float) -> None:
        self._socket = socket
        self._hello = hello
        self._request = request
        self._timeout_seconds = timeout_seconds
        self._connection: Connection | None = None
        self.is_answered = False
        """Whether the daemon was there at all."""

    def run(self) -> R:
        with Connection(self._socket, self._timeout_seconds) as connection:
            self._connection = connection
            _ask(connection, self._hello)
            self.is_answered = True
            return _ask(connection, self._request)

    def abort(self) -> None:
        if self._connection is not None:
            self._connection.abort()


def _ask(connection: Connection, request: Request[R]) -> R:
    return decode_line(type(request), connection.call_raw(request.op.name, encode_request(request)))
