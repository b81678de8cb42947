"""Requests and replies about handoffs from one session to the next."""

from msgspec import Struct

from ramet.errors import AgentBusy, EffortFinished, EffortHeld, Forbidden, InvalidParams, SessionNotFound, WrongTask
from ramet.model.record.session import Session
from ramet.protocol.fields import Content, DriverName, Name, Path, SessionId
from ramet.protocol.hooks.hooks import Pid
from ramet.protocol.hooks.moments import SessionContext
from ramet.protocol.operation import Change, Operation, R


class HandedOff(Struct, frozen=True, kw_only=True):
    """A session that ended with a handoff, and its boundary commit."""

    session: Session
    commit: str | None
    """None if the session had already ended without a handoff."""
    already: bool = False


class HandOff(Change[HandedOff], frozen=True, kw_only=True):
    """End a session with a handoff: a boundary commit whose fields the next session gets."""

    op = Operation("db.session.handoff", errors=(SessionNotFound, Forbidden), ring="own")

    session_id: SessionId
    summary: Content
    decisions: list[Content] = []
    failed_approaches: list[Content] = []
    next_steps: list[Content] = []
    required_files: list[Path] = []
    """The files that the next session reads first (default: the files that this session had loaded)."""
    uncommitted: list[Path] = []


class NextWindow(Change[R], frozen=True, kw_only=True):
    """A session that continues another one: the given one, or else the agent's last, or else the task's last."""

    session_id: SessionId | None = None
    agent_id: Name | None = None
    task_id: Path | None = None
    driver: DriverName | None = None
    native_id: Name | None = None
    """The vendor's id of the session. If it is already open, it moves to the effort and leaves its own light effort."""
    pid: Pid | None = None


class ContinueSession(NextWindow[SessionContext], frozen=True, kw_only=True):
    """Start the next session of an effort, in the same phase and with the previous session's handoff. The previous
    session is the given one, or else the agent's last, or else the task's last.
    """

    op = Operation(
        "db.session.continue", errors=(SessionNotFound, EffortFinished, EffortHeld, AgentBusy, WrongTask, InvalidParams)
    )

    uncommitted: list[Path] = []
    light: bool = False
    """Whether to continue with a light effort if the effort has finished. Sessions on light efforts always do."""
    apart: bool = False
    """Whether the previous session, if it is open and its effort is light, keeps its effort and its agent. The new one
    then has a light effort of its own, and no agent until one is started for it.
    """
