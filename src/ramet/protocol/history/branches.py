"""Requests and replies about branches, their moves and merges."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from ramet.errors import BranchExists, BranchInUse, BranchNotFound, CommitNotFound, NothingToUndo, NotInHistory
from ramet.protocol.fields import Content, Text
from ramet.protocol.history.commits import BranchName, Hash, Place
from ramet.protocol.operation import Change, Operation, Pages, Request
from ramet.protocol.pages import Cursor, Limit
from ramet.protocol.replies import Page
from ramet.protocol.system.database import CheckReport

Strategy = Literal["ours", "theirs", "both"]


class BranchRow(Struct, frozen=True, kw_only=True):
    """A branch and its head."""

    name: str
    hash: str | None
    depth: int
    tokens: int
    created_at: datetime
    parent: str | None = None


class CreateBranch(Change[BranchRow], frozen=True, kw_only=True):
    """Create a branch at a commit, or an empty branch. No commit is copied."""

    op = Operation("history.branch", errors=(BranchExists, BranchNotFound, CommitNotFound))

    name: BranchName
    from_: Place | None = field(name="from", default=None)


class ListBranches(Request[Page[BranchRow]], frozen=True, kw_only=True):
    """List the branches whose names start with a prefix, by name (default: all). An agent gets those it can read."""

    op = Operation("history.branches", ring="chain", is_long=True, pages=Pages())

    prefix: Text | None = None
    limit: Limit | None = None
    """The most branches in one reply (default: `limits.page_max`)."""
    cursor: BranchName | None = None


class DeleteBranch(Change[BranchRow], frozen=True, kw_only=True):
    """Delete a branch. Its commits stay as long as something reaches them, and `history.undo` restores the branch."""

    op = Operation("history.delete", errors=(BranchNotFound, BranchInUse))

    branch: BranchName


class Reset(Change[BranchRow], frozen=True, kw_only=True):
    """Move a branch to another commit."""

    op = Operation("history.reset", errors=(BranchNotFound, CommitNotFound))

    branch: BranchName
    to: Place


class Undo(Change[BranchRow], frozen=True, kw_only=True):
    """Undo the last rewrites of a branch exactly (default: 1)."""

    op = Operation("history.undo", errors=(BranchNotFound, NothingToUndo))

    branch: BranchName
    steps: Annotated[int, Meta(ge=1, le=1000)] = 1


class MoveRow(Struct, frozen=True, kw_only=True):
    """A change of a branch that is not an append."""

    id: int
    branch: str
    old: str | None
    new: str | None
    why: str
    at: datetime
    undone: bool


class ListMoves(Request[Page[MoveRow]], frozen=True, kw_only=True):
    """List the rewrites of a branch, newest first."""

    op = Operation("history.moves", errors=(BranchNotFound,), pages=Pages())

    branch: BranchName
    limit: Limit = 100
    cursor: Cursor | None = None


class Conflict(Struct, frozen=True, kw_only=True):
    """A commit that two branches edited or prioritized differently."""

    target: str
    kind: Literal["edit", "priority"]
    base: str | None
    ours: str
    theirs: str


class MergeReply(Struct, frozen=True, kw_only=True):
    """The commit that joins two branches, or the conflicts to resolve first."""

    hash: str | None
    conflicts: list[Conflict]
    merged: int = 0


class Merge(Change[MergeReply], frozen=True, kw_only=True):
    """Merge another branch's new commits into a branch. Conflicts are returned as data."""

    op = Operation("history.merge", errors=(BranchNotFound, CommitNotFound))

    into: BranchName
    from_: Place = field(name="from")
    strategy: Strategy | None = None
    resolutions: dict[str, Content] | None = None


class CheckHistory(Request[CheckReport], frozen=True, kw_only=True):
    """Verify every hash and every pointer in the history."""

    op = Operation("history.check", host="store", is_long=True)


class At(Request[BranchRow], frozen=True, kw_only=True):
    """Show a branch as it was at a time, or at one of its commits."""

    op = Operation("history.at", errors=(BranchNotFound, CommitNotFound, NotInHistory), is_long=True)

    branch: BranchName
    time: datetime | None = None
    hash: Hash | None = None
