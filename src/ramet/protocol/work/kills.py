"""Requests and replies about stopping agents."""

from msgspec import field

from ramet.errors import EffortFinished, EffortNotFound, Forbidden, NothingRuns, SessionNotFound
from ramet.protocol.fields import Id, SessionId, Text
from ramet.protocol.operation import Change, Operation
from ramet.protocol.record.efforts import EffortReply


class Killed(EffortReply, frozen=True, kw_only=True):
    """The effort that ends, and whether something has to be ended for it first."""

    is_running: bool
    also: list[int] = field(default_factory=list)
    """The efforts below it that run and are asked to end with it."""


class Kill(Change[Killed], frozen=True, kw_only=True):
    """End a running effort with everything that it started, or cancel a queued one."""

    op = Operation("fleet.kill", errors=(EffortNotFound, SessionNotFound, EffortFinished, NothingRuns))

    effort_id: Id | None = None
    session_id: SessionId | None = None
    children: bool = True
    """Whether all that it spawned is ended too."""
    reason: Text | None = None
    requeues: bool = False
    """Whether it goes back to the queue then, to be attempted again, instead of being cancelled."""


class CancelSpawn(Change[Killed], frozen=True, kw_only=True):
    """End a session that runs, and all below it."""

    op = Operation("spawn.cancel", errors=(SessionNotFound, Forbidden, NothingRuns, EffortFinished), scope="session")

    session_id: SessionId
    children: bool = True
    """Whether all below it are ended too."""
    reason: Text | None = None
