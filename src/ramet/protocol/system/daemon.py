"""Requests and replies about the daemon itself."""

from msgspec import Struct

from ramet.protocol.fields import Name, Text
from ramet.protocol.operation import Operation, Request


class HelloReply(Struct, frozen=True, kw_only=True):
    """Who answers."""

    version: str
    protocol: int
    principal: str


class Hello(Request[HelloReply], frozen=True, kw_only=True):
    """Say who calls, and learn who answers."""

    op = Operation("daemon.hello", host="daemon", scope="session")

    client: Text | None = None
    token: Name | None = None
    """The token of an agent's session: the connection may from then on do only what that session may."""


class Pong(Struct, frozen=True, kw_only=True):
    """The daemon is there."""

    pong: bool = True


class Ping(Request[Pong], frozen=True, kw_only=True):
    """Whether the daemon answers."""

    op = Operation("daemon.ping", host="daemon", scope="session")


class DaemonStatusReply(Struct, frozen=True, kw_only=True):
    """What the daemon says about itself."""

    socket: str
    pid: int
    version: str
    store: str
    schema_version: int
    uptime_seconds: float
    connections: int
    requests: int
    transactions: int
    resident_bytes: int


class DaemonStatus(Request[DaemonStatusReply], frozen=True, kw_only=True):
    """The daemon's socket, process, version, database and load."""

    op = Operation("daemon.status", host="daemon")


class Stopping(Struct, frozen=True, kw_only=True):
    """The daemon finishes what it has and goes."""

    stopping: bool = True


class StopDaemon(Request[Stopping], frozen=True, kw_only=True):
    """Finish what is under way and stop."""

    op = Operation("daemon.stop", host="daemon")
