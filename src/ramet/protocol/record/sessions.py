"""Requests and replies about sessions."""

from typing import Annotated, Any

from msgspec import Meta

from ramet.errors import (
    AgentBusy,
    EffortFinished,
    EffortHeld,
    EffortNotFound,
    Forbidden,
    ProjectNotFound,
    SessionEnded,
    SessionNotFound,
    TaskNotFound,
    WrongTask,
)
from ramet.model.record.effort import Outcome
from ramet.model.record.session import Session
from ramet.protocol.fields import Id, Name, Path, ProjectRef, SessionId
from ramet.protocol.operation import Change, Operation, Pages, Request
from ramet.protocol.pages import Limit
from ramet.protocol.replies import Page


class SessionReply(Session, frozen=True, kw_only=True):
    """A session. `already` is true if the request changed nothing."""

    already: bool = False


class StartSession(Change[SessionReply], frozen=True, kw_only=True):
    """Start a session on an effort, and end the agent's previous session."""

    op = Operation(
        "db.session.start",
        errors=(
            TaskNotFound,
            EffortNotFound,
            SessionNotFound,
            EffortFinished,
            WrongTask,
            EffortHeld,
            AgentBusy,
            SessionEnded,
        ),
    )

    task_id: Path
    effort_id: Id
    pid: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None
    prev_session_id: SessionId | None = None
    parent_session_id: SessionId | None = None
    agent_id: Name | None = None
    driver: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")] | None = None
    native_id: Name | None = None


class FinishSession(Change[SessionReply], frozen=True, kw_only=True):
    """End a session, with a handoff for the next one. Ending it again changes nothing."""

    op = Operation("db.session.finish", errors=(SessionNotFound,))

    session_id: SessionId
    dehydration_payload: dict[str, Any] | None = None
    outcome: Outcome = "success"


class BindEffort(Change[SessionReply], frozen=True, kw_only=True):
    """Move a session to another effort of its task."""

    op = Operation(
        "db.session.bindEffort",
        errors=(SessionNotFound, SessionEnded, EffortNotFound, EffortFinished, WrongTask, EffortHeld, AgentBusy),
    )

    session_id: SessionId
    effort_id: Id


class Heartbeat(Change[SessionReply], frozen=True, kw_only=True):
    """Record a heartbeat of a session: count one tool call and store the time."""

    op = Operation("db.session.heartbeat", errors=(SessionNotFound, SessionEnded))

    session_id: SessionId


class UpdateContextUsage(Change[SessionReply], frozen=True, kw_only=True):
    """Record how full a session's context window is, from 0 to 1."""

    op = Operation("db.session.updateContextUsage", errors=(SessionNotFound, SessionEnded))

    session_id: SessionId
    usage: Annotated[float, Meta(ge=0.0, le=1.0)]


class UpdateLoadedFiles(Change[SessionReply], frozen=True, kw_only=True):
    """Record which files a session has in its context."""

    op = Operation("db.session.updateLoadedFiles", errors=(SessionNotFound, SessionEnded))

    session_id: SessionId
    files: Annotated[list[Path], Meta(max_length=100_000)]


class GetSession(Request[Session], frozen=True, kw_only=True):
    """Show a session by its id, or by its driver and native id."""

    op = Operation("db.session.get", errors=(SessionNotFound,), ring="chain")

    session_id: SessionId


class ListedSession(Session, frozen=True, kw_only=True):
    """A session in a list."""

    project_id: int
    """The project of its task."""


class FindSessions(Request[Page[ListedSession]], frozen=True, kw_only=True):
    """Find sessions by task, effort, agent or project, newest first."""

    op = Operation("db.session.find", errors=(ProjectNotFound, Forbidden), ring="chain", is_long=True, pages=Pages())

    task_id: Path | None = None
    effort_id: Id | None = None
    agent_id: Name | None = None
    open: bool | None = None
    project: ProjectRef | None = None
    archived: bool = False
    """Whether to list archived sessions too."""
    cursor: Id | None = None
    limit: Limit | None = None
    """The most sessions in one reply (default: `limits.page_max`)."""
