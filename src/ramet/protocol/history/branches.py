"""Requests and replies about branches, their moves and merges."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from ramet.errors import BranchExists, BranchInUse, BranchNotFound, CommitNotFound, NothingToUndo, NotInHistory
from ramet.protocol.fields import Content, Text
from ramet.protocol.history.commits import BranchName, Hash, Place
from ramet.protocol.operation import Change, Operation, Request
from ramet.protocol.replies import Page
from ramet.protocol.system.database import CheckReport

Strategy = Literal["ours", "theirs", "both"]


class BranchRow(Struct, frozen=True, kw_only=True):
    """A branch and where it stands."""

    name: str
    hash: str | None
    depth: int
    tokens: int
    created_at: datetime
    parent: str | None = None


class CreateBranch(Change[BranchRow], frozen=True, kw_only=True):
    """A new branch at a place, or an empty one. It copies nothing."""

    op = Operation("history.branch", errors=(BranchExists, BranchNotFound, CommitNotFound))

    name: BranchName
    from_: Place | None = field(name="from", default=None)


class ListBranches(Request[Page[BranchRow]], frozen=True, kw_only=True):
    """The branches whose names begin so, by name."""

    op = Operation("history.branches")

    prefix: Text | None = None


class DeleteBranch(Change[BranchRow], frozen=True, kw_only=True):
    """Let go of a branch's name. Its commits stay until nothing reaches them; `undo` brings it back."""

    op = Operation("history.delete", errors=(BranchNotFound, BranchInUse))

    branch: BranchName


class Reset(Change[BranchRow], frozen=True, kw_only=True):
    """Let a branch point at another place."""

    op = Operation("history.reset", errors=(BranchNotFound, CommitNotFound))

    branch: BranchName
    to: Place


class Undo(Change[BranchRow], frozen=True, kw_only=True):
    """Take back the last rewrites of a branch, exactly."""

    op = Operation("history.undo", errors=(BranchNotFound, NothingToUndo))

    branch: BranchName
    steps: Annotated[int, Meta(ge=1, le=1000)] = 1


class MoveRow(Struct, frozen=True, kw_only=True):
    """A move of a branch that was not a plain append."""

    id: int
    branch: str
    old: str | None
    new: str | None
    why: str
    at: datetime
    undone: bool


class ListMoves(Request[Page[MoveRow]], frozen=True, kw_only=True):
    """The rewrites of a branch, the newest first."""

    op = Operation("history.moves", errors=(BranchNotFound,))

    branch: BranchName
    limit: Annotated[int, Meta(ge=1, le=2**31 - 1)] = 100


class Conflict(Struct, frozen=True, kw_only=True):
    """Something that two histories say differently."""

    target: str
    kind: Literal["edit", "priority"]
    base: str | None
    ours: str
    theirs: str


class MergeReply(Struct, frozen=True, kw_only=True):
    """The commit that joins two histories, or what has to be decided first."""

    hash: str | None
    conflicts: list[Conflict]
    merged: int = 0


class Merge(Change[MergeReply], frozen=True, kw_only=True):
    """Join what was added elsewhere since the two parted; conflicts come back as data."""

    op = Operation("history.merge", errors=(BranchNotFound, CommitNotFound))

    into: BranchName
    from_: Place = field(name="from")
    strategy: Strategy | None = None
    resolutions: dict[str, Content] | None = None


class Collected(Struct, frozen=True, kw_only=True):
    """What nothing reached any more."""

    commits: int
    blobs: int
    segments: int


class CollectGarbage(Change[Collected], frozen=True, kw_only=True):
    """Delete what no branch, recent move, spawn or collapse reaches."""

    op = Operation("history.gc")

    retention_days: Annotated[int, Meta(ge=0, le=36_500)] = 7


class CheckHistory(Request[CheckReport], frozen=True, kw_only=True):
    """Verify every hash and every pointer of the history."""

    op = Operation("history.check", host="store")


class At(Request[BranchRow], frozen=True, kw_only=True):
    """Where a branch stood at a time, or whether it contains a commit."""

    op = Operation("history.at", errors=(BranchNotFound, CommitNotFound, NotInHistory))

    branch: BranchName
    time: datetime | None = None
    hash: Hash | None = None
