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
from ramet.protocol.operation import Change, Operation, Request
from ramet.protocol.record.efforts import EffortReply


class Compaction(Struct, frozen=True, kw_only=True):
    """The place of a session's history that held its exact context before a compaction."""

    number: int
    commit: str
    tokens: int
    at: datetime


class Compactions(Struct, frozen=True, kw_only=True):
    """A session's compactions, the newest first."""

    items: list[Compaction]


class ListCompactions(Request[Compactions], frozen=True, kw_only=True):
    """The places of a session's history that hold its exact context before each compaction."""

    op = Operation("db.session.compactions", errors=(SessionNotFound, Forbidden), scope="session")

    session_id: SessionId


class Contract(Struct, frozen=True, kw_only=True):
    """The resume contract of a session."""

    session_id: int
    text: str
    tokens: int


class ShowContract(Request[Contract], frozen=True, kw_only=True):
    """The resume contract: what a session would be told after a compaction.

    What a session would be told after a compaction.
    """

    op = Operation("db.session.contract", errors=(SessionNotFound, Forbidden), scope="session")

    session_id: SessionId
    uncommitted: list[Path] = []


class Undone(Struct, frozen=True, kw_only=True):
    """What a compaction dropped, and who goes on with it."""

    compaction: Compaction
    prompt: str
    """The exact context before the compaction, as what the next session is told."""
    tokens: int
    driver: str | None
    directory: str
    """Where the project is, in which it goes on."""
    session: Session | None = None
    """The session that goes on, and waits for its agent to be started with it as `RAMET_SESSION`."""
    effort: EffortReply | None = None
    """What was queued instead, of an agent that Ramet runs."""


class UndoCompaction(Change[Undone], frozen=True, kw_only=True):
    """Go on from before a compaction: the exact context of then becomes the prompt of another session.

    Go on from what a session's context was before it was compacted.
    """

    op = Operation(
        "commands.session.undo",
        errors=(SessionNotFound, NothingToUndo, ProjectNotFound, EffortHeld, AgentBusy, InvalidParams),
        host="machine",
    )

    session_id: SessionId
    number: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None
    """Which compaction. Default: the last one."""
    only_show: bool = False
    """Whether only the prompt is wanted, and nothing is to begin."""
