"""Requests and replies about unreachable commits and contents: what there is, and the steps that delete it."""

from typing import Annotated

from msgspec import Meta, Struct

from ramet.protocol.operation import Change, Operation, Request

RetentionDays = Annotated[int, Meta(ge=0, le=36_500)]
_Number = Annotated[int, Meta(ge=0)]
_Ids = Annotated[list[Annotated[int, Meta(ge=1)]], Meta(max_length=1000)]


class Collected(Struct, frozen=True, kw_only=True):
    """How many unreachable commits, blobs and segments were deleted."""

    commits: int
    blobs: int
    segments: int


class CollectGarbage(Change[Collected], frozen=True, kw_only=True):
    """Delete the commits and contents that no branch, recent move, spawn or collapse reaches."""

    op = Operation("history.gc")

    retention_days: RetentionDays = 7


class Seen(Struct, frozen=True, kw_only=True):
    """How far a plan has read: a step looks only at what came later."""

    commit: _Number
    """The newest commit that is not to be deleted; every later one is new or garbage."""
    hash: str
    """Its hash. If it is gone, numbers may have been used again, and the plan is worth nothing."""
    move: _Number
    message: _Number
    since_ms: int
    """Moves from before this instant keep nothing."""


class GarbagePlan(Struct, frozen=True, kw_only=True):
    """What nothing reached when the plan was made. Commits and segments come with the newest first."""

    seen: Seen
    move_ids: list[int]
    commit_ids: list[int]
    segment_ids: list[int]
    blob_ids: list[int]
    image_hashes: list[str]
    is_whole: bool
    """Whether this is everything; otherwise another plan follows."""

    @property
    def rows(self) -> int:
        """How many rows it deletes."""
        numbered = (self.move_ids, self.commit_ids, self.segment_ids, self.blob_ids)
        return sum(map(len, numbered)) + len(self.image_hashes)


class PlanGarbage(Request[GarbagePlan], frozen=True, kw_only=True):
    """List what nothing reaches. It only reads."""

    op = Operation("history.gcPlan", audience="internal", is_long=True)

    retention_days: RetentionDays = 7


class GarbageStepReply(Struct, frozen=True, kw_only=True):
    """What a step did."""

    done: int
    """How many of the given rows it dealt with, from the first on."""
    deleted: Collected
    is_stale: bool = False
    """Whether so much has changed since the plan that nothing was deleted and another plan is needed."""


class GarbageStep(Change[GarbageStepReply], frozen=True, kw_only=True):
    """Delete a few rows of a plan that nothing reaches even now. Each step deletes rows of one kind."""

    op = Operation("history.gcStep", audience="internal", is_long=True)

    seen: Seen
    move_ids: _Ids = []
    commit_ids: _Ids = []
    segment_ids: _Ids = []
    blob_ids: _Ids = []
    image_hashes: Annotated[list[str], Meta(max_length=100)] = []
    total: Collected | None = None
    """What all steps have deleted, with the last of them."""
