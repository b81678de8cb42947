"""Requests and replies about handoffs from one context window to the next."""

from msgspec import Struct

from ramet.errors import AgentBusy, EffortFinished, EffortHeld, Forbidden, InvalidParams, SessionNotFound, WrongTask
from ramet.model.record.session import Session
from ramet.protocol.fields import Content, DriverName, Name, Path, SessionId
from ramet.protocol.hooks.hooks import Pid
from ramet.protocol.hooks.moments import SessionContext
from ramet.protocol.operation import Change, Operation, R


class HandedOff(Struct, frozen=True, kw_only=True):
    """A session that ended with a hand-off, and its boundary commit."""

    session: Session
    commit: str | None
    """None where it had ended before, without a hand-off."""
    already: bool = False


class HandOff(Change[HandedOff], frozen=True, kw_only=True):
    """End a context window with a boundary commit, whose fields the next one is given.

    End a context window and leave what the next one needs.
    """

    op = Operation("db.session.handoff", errors=(SessionNotFound, Forbidden), scope="session")

    session_id: SessionId
    summary: Content
    decisions: list[Content] = []
    failed_approaches: list[Content] = []
    next_steps: list[Content] = []
    required_files: list[Path] = []
    """What the next one should read first. Default: what this one had loaded."""
    uncommitted: list[Path] = []


class NextWindow(Change[R], frozen=True, kw_only=True):
    """A context window that goes on where another ended: the one named, else the agent's last, else the task's."""

    session_id: SessionId | None = None
    agent_id: Name | None = None
    task_id: Path | None = None
    driver: DriverName | None = None
    native_id: Name | None = None
    """A window that is open already turns to the effort, and leaves a light one of its own."""
    pid: Pid | None = None


class ContinueSession(NextWindow[SessionContext], frozen=True, kw_only=True):
    """Begin the next context window of an effort at the same phase, with what the one before left.

    Begin the next context window where one ended: the one named, else the agent's last, else the task's.
    """

    op = Operation(
        "db.session.continue", errors=(SessionNotFound, EffortFinished, EffortHeld, AgentBusy, WrongTask, InvalidParams)
    )

    uncommitted: list[Path] = []
    light: bool = False
    """Where the effort is over, go on with a light one. What is on a light effort does so anyway."""
