"""Requests and replies about the daemon itself."""

from typing import Annotated

from msgspec import Meta, Struct

from ramet.errors import InvalidParams, RequestTooLarge
from ramet.protocol.fields import Name, Text
from ramet.protocol.operation import Operation, Request
from ramet.protocol.system.damage import WriteBan


class HelloReply(Struct, frozen=True, kw_only=True):
    """The daemon's version, its protocol version, its build, and the principal of the connection."""

    version: str
    protocol: int
    principal: str
    build: str = ""
    """The commit of its code, or a hash of it."""
    built_at: int = 0
    """When that was committed, as a Unix time; 0 if it is not known."""
    schema_version: int = 0
    """The schema version of the databases that it reads and writes."""


class Hello(Request[HelloReply], frozen=True, kw_only=True):
    """Identify the client, and get the daemon's version."""

    op = Operation("daemon.hello", host="daemon", ring="own")

    client: Text | None = None
    token: Name | None = None
    """The token of an agent's session. From then on the connection may do only what that session may do."""
    environment: dict[str, str] | None = None
    """The caller's environment, for agents that are started because this connection waits for them. Ignored on an
    agent's connection: its children get what it got itself. It is kept only in memory.
    """


class Pong(Struct, frozen=True, kw_only=True):
    """The daemon responds."""

    pong: bool = True


class Ping(Request[Pong], frozen=True, kw_only=True):
    """Check that the daemon responds."""

    op = Operation("daemon.ping", host="daemon", ring="own")


class PartReceived(Struct, frozen=True, kw_only=True):
    """A part of a request has arrived. With the last one, the request itself is answered next, by its own id."""

    received_bytes: int
    """The size of all parts so far."""


class SendPart(Request[PartReceived], frozen=True, kw_only=True):
    """Send a part of a request that is larger than `daemon.max_request_bytes`. The texts of all parts are joined, and
    the result is performed as if it had come as one line behind the last part.
    """

    op = Operation(
        "daemon.part", errors=(InvalidParams, RequestTooLarge), host="daemon", ring="own", audience="internal"
    )

    request: Name
    """Any name for the request, the same in all of its parts."""
    index: Annotated[int, Meta(ge=0, le=2**31)]
    """The number of the part, starting with 0."""
    text: str
    is_last: bool = False


class PauseRow(Struct, frozen=True, kw_only=True):
    """The pauses by one operation, or by a task of the daemon."""

    name: str
    count: int
    """How many were longer than 20 ms."""
    longest_ms: float
    processor_ms: float
    """The most processor time in one pause. Much less than the elapsed time means that the machine was busy."""


class PauseReport(Struct, frozen=True, kw_only=True):
    """How long everything else had to wait, because one thing held the event loop or the writer."""

    longest_ms: float = 0.0
    """The longest since the daemon started; 0 if none was longer than 5 ms."""
    recent_ms: float = 0.0
    """The longest in the last hour."""
    count: int = 0
    """How many were longer than 20 ms."""
    worst: list[PauseRow] = []
    """The ten operations with the longest pauses, the longest first."""


class ClockSkew(Struct, frozen=True, kw_only=True):
    """How far the clock of this machine is from the clock of the database server."""

    ahead_seconds: float
    """Positive if this machine's clock is ahead, negative if it is behind."""
    error_seconds: float
    """How wrong the measurement can be."""


class DaemonStatusReply(Struct, frozen=True, kw_only=True):
    """The daemon's socket, process, version, database and load."""

    socket: str
    pid: int
    version: str
    build: str = ""
    store: str
    schema_version: int
    uptime_seconds: float
    connections: int
    requests: int
    transactions: int
    resident_bytes: int
    loop_pauses: PauseReport = PauseReport()
    writer_pauses: PauseReport = PauseReport()
    write_ban: WriteBan | None = None
    """Why the database is read-only; null if it is not."""
    clock: ClockSkew | None = None
    """Only on PostgreSQL: a file is used by one machine."""


class DaemonStatus(Request[DaemonStatusReply], frozen=True, kw_only=True):
    """Show the daemon's socket, process, version, database and load."""

    op = Operation("daemon.status", host="daemon")


class Stopping(Struct, frozen=True, kw_only=True):
    """The daemon finishes the requests in progress, then stops."""

    stopping: bool = True


class StopDaemon(Request[Stopping], frozen=True, kw_only=True):
    """Finish the requests in progress, then stop the daemon."""

    op = Operation("daemon.stop", host="daemon")

    is_replaced: bool = False
    """Whether another daemon is started at once. Commands that run work then wait for that one, instead of ending."""


class Rotated(Struct, frozen=True, kw_only=True):
    """The tokens of running agents are no longer valid."""

    disconnected: int
    """How many connections of agents were closed."""


class RotateKey(Request[Rotated], frozen=True, kw_only=True):
    """Replace the key of the agents' tokens, so that no token that was issued before is valid."""

    op = Operation("daemon.rotate_key", host="daemon")
