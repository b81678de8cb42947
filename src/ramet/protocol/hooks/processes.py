"""Requests and replies about the processes of agents that people started."""

from msgspec import Struct

from ramet.errors import Forbidden, SessionNotFound
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


class CallingSession(Struct, frozen=True, kw_only=True):
    """The session of the program that started the calling process."""

    session_id: int


class FindCallingSession(Request[CallingSession], frozen=True, kw_only=True):
    """Find the open session of the program that started the calling process, directly or through others. The kernel
    says which process calls, so no process can name the session of another program.
    """

    op = Operation("hooks.caller", errors=(SessionNotFound, Forbidden), host="daemon", audience="internal")

    native_id: Name | None = None
    """The program's own id of the session, to choose if several are open in the program."""
