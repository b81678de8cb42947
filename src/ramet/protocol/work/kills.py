"""Requests and replies about stopping agents."""

from msgspec import field

from ramet.errors import EffortFinished, EffortNotFound, Forbidden, NothingRuns, SessionNotFound
from ramet.protocol.fields import Id, SessionId, Text
from ramet.protocol.operation import Change, Operation
from ramet.protocol.record.efforts import EffortReply


class Killed(EffortReply, frozen=True, kw_only=True):
    """The effort that ends. `is_running` is true if its agent has to be stopped first."""

    is_running: bool
    also: list[int] = field(default_factory=list)
    """The running efforts of its descendants, which are asked to stop too."""


class Kill(Change[Killed], frozen=True, kw_only=True):
    """Stop a running effort with every process that it started, or cancel a queued effort."""

    op = Operation("fleet.kill", errors=(EffortNotFound, SessionNotFound, EffortFinished, NothingRuns))

    effort_id: Id | None = None
    session_id: SessionId | None = None
    children: bool = True
    """Whether to stop everything that it spawned too."""
    reason: Text | None = None
    requeues: bool = False
    """Whether to put it back into the queue for another attempt, instead of cancelling it."""


class CancelSpawn(Change[Killed], frozen=True, kw_only=True):
    """Stop a running session and its descendants."""

    op = Operation("spawn.cancel", errors=(SessionNotFound, Forbidden, NothingRuns, EffortFinished), ring="own")

    session_id: SessionId
    children: bool = True
    """Whether to stop its descendants too."""
    reason: Text | None = None
