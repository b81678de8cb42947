"""Requests and replies about compactions and the resume contract."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from ramet.errors import (
    AgentBusy,
    EffortHeld,
    Forbidden,
    InvalidParams,
    NothingToUndo,
    ProjectNotFound,
    SessionNotFound,
)
from ramet.model.record.session import Session
from ramet.protocol.fields import Path, SessionId
from ramet.protocol.operation import Change, Operation, Pages, Request
from ramet.protocol.pages import Cursor, Limit
from ramet.protocol.record.efforts import EffortReply


class Compaction(Struct, frozen=True, kw_only=True):
    """A compaction, and the commit that holds the session's exact context before it."""

    number: int
    commit: str
    tokens: int
    at: datetime


class Compactions(Struct, frozen=True, kw_only=True):
    """A session's compactions, newest first."""

    items: list[Compaction]
    next: int | None = None
    """The cursor of the following page, or null on the last one."""


class ListCompactions(Request[Compactions], frozen=True, kw_only=True):
    """List a session's compactions, each with the commit that holds the exact context before it."""

    op = Operation(
        "db.session.compactions", errors=(SessionNotFound, Forbidden), ring="own", is_long=True, pages=Pages()
    )

    session_id: SessionId
    limit: Limit | None = None
    cursor: Cursor | None = None


class Contract(Struct, frozen=True, kw_only=True):
    """The resume contract of a session."""

    session_id: int
    text: str
    tokens: int


class ShowContract(Request[Contract], frozen=True, kw_only=True):
    """Show a session's resume contract: the text that its agent would get after a compaction."""

    op = Operation("db.session.contract", errors=(SessionNotFound, Forbidden), ring="own")

    session_id: SessionId
    uncommitted: list[Path] = []


class Undone(Struct, frozen=True, kw_only=True):
    """The context before a compaction, and the session or effort that continues from it."""

    compaction: Compaction
    prompt: str
    """The exact context before the compaction, as the prompt of the next session."""
    tokens: int
    driver: str | None
    directory: str
    """The project's directory, in which the work continues."""
    session: Session | None = None
    """The new session. It waits for an agent that is started with its id in `RAMET_SESSION`."""
    effort: EffortReply | None = None
    """The effort that was queued instead, if Ramet runs the agent."""
    images: list[str] = []
    """The files of the images in the context; the prompt names them, too."""


class UndoCompaction(Change[Undone], frozen=True, kw_only=True):
    """Undo a compaction: the exact context before it becomes the prompt of a new session."""

    op = Operation(
        "commands.session.undo",
        errors=(SessionNotFound, NothingToUndo, ProjectNotFound, EffortHeld, AgentBusy, InvalidParams),
        host="machine",
    )

    session_id: SessionId
    number: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None
    """The number of the compaction (default: the last one)."""
    only_show: bool = False
    """Whether to return only the prompt, and start nothing."""
