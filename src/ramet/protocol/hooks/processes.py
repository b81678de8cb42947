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
    """The processes of the sessions that people started themselves."""

    items: list[OpenProcess]


class ListProcesses(Request[OpenProcesses], frozen=True, kw_only=True):
    """The processes of a machine in which sessions are open that people started themselves.

    In which processes of a machine sessions are open that people started themselves.
    """

    op = Operation("hooks.processes", audience="internal")

    host: Name | None = None


class Vanish(Change[HookNoted], frozen=True, kw_only=True):
    """The process of a session is gone: the session is over, whether or not its program said so.

    A program has ended without telling: its process is not there any more.
    """

    op = Operation("hooks.vanished", errors=(SessionNotFound,), audience="internal")

    session_id: Id
    pid: Pid
    started: float
    """Where the session is open in another process by now, nothing happens."""
