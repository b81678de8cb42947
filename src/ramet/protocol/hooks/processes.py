"""Requests and replies about the processes of agents that people started."""

from msgspec import Struct

from ramet.errors import SessionNotFound
from ramet.protocol.fields import Id, Name
from ramet.protocol.hooks.hooks import Pid
from ramet.protocol.hooks.moments import HookNoted
from ramet.protocol.operation import Change, Operation, Request


class OpenProcess(Struct, frozen=True, kw_only=True):
    """A process in which a session is open."""

    session_id: int
    pid: int
    started: float


class OpenProcesses(Struct, frozen=True, kw_only=True):
    """The processes of sessions that people started."""

    items: list[OpenProcess]


class ListProcesses(Request[OpenProcesses], frozen=True, kw_only=True):
    """List the processes on a machine that have an open session which a person started."""

    op = Operation("hooks.processes", audience="internal")

    host: Name | None = None


class Vanish(Change[HookNoted], frozen=True, kw_only=True):
    """End a session whose process is gone, even if its program did not report an end."""

    op = Operation("hooks.vanished", errors=(SessionNotFound,), audience="internal")

    session_id: Id
    pid: Pid
    started: float
    """The start of the process, in seconds since 1970. If the session is now open in another process, nothing
    happens.
    """
