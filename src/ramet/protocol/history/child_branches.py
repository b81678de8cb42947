"""Requests and replies about child branches: spawn, collapse and expand."""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from ramet.errors import (
    BranchExists,
    BranchNotFound,
    CommitNotFound,
    InvalidParams,
    ModelFailed,
    ModelMissing,
    NothingToExpand,
    SpawnError,
)
from ramet.protocol.fields import Content, Text
from ramet.protocol.history.commits import BranchName, CommitRow, Place, Tokens
from ramet.protocol.history.drafts import DraftInheritance
from ramet.protocol.history.inheritance import Filter, Inheritance
from ramet.protocol.operation import Change, Operation, Pages, Request
from ramet.protocol.pages import Cursor, Limit


class Report(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A child's report to its parent."""

    summary: Content
    decisions: list[Content] = []
    failed_approaches: list[Content] = []
    artifacts: list[Content] = []
    next_steps: list[Content] = []


class SpawnRow(Struct, frozen=True, kw_only=True):
    """A child branch and its origin."""

    spawn_id: int
    parent: str
    parent_commit: str | None
    child: str
    purpose: str
    inheritance_mode: Inheritance
    display_name: str | None
    created_at: datetime
    collapses: list[str] = []


class Spawn(Change[SpawnRow], frozen=True, kw_only=True):
    """Spawn a child branch that inherits all of its parent's history, one snapshot of it, a selection or nothing."""

    op = Operation("history.spawn", errors=(BranchNotFound, BranchExists, SpawnError))

    parent: BranchName
    child: BranchName
    purpose: Content
    inherit: Inheritance = "head_snapshot"
    filter: Filter | None = None
    max_tokens: Tokens | None = None
    display_name: Annotated[str, Meta(max_length=255)] | None = None

    def draft(self) -> DraftInheritance | None:
        if self.inherit not in ("head_snapshot", "selective"):
            return None
        return DraftInheritance(
            parent=self.parent, inherit=self.inherit, filter=self.filter, max_tokens=self.max_tokens
        )


class CollapseReply(Struct, frozen=True, kw_only=True):
    """A child's work as one commit in its parent's history, or as a draft for review if nothing was committed."""

    parent_commit_hash: str | None
    child: str
    summary_text: str
    summary_tokens: int
    source_tokens: int
    purpose: str


class Collapse(Change[CollapseReply], frozen=True, kw_only=True):
    """Fold a child branch's work into its parent as one commit that records its origin."""

    op = Operation("history.collapse", errors=(BranchNotFound, SpawnError, ModelMissing, ModelFailed))

    child: BranchName
    text: Content | None = None
    report: Report | None = None
    method: Literal["model"] | None = None
    target_tokens: Tokens | None = None
    instructions: Text | None = None
    auto_commit: bool = True

    def needs_model(self) -> bool:
        return self.method == "model" and self.text is None and self.report is None


class Expanded(Struct, frozen=True, kw_only=True):
    """The commits that a collapse or a compression replaced."""

    hash: str
    kind: Literal["collapse", "compression"]
    branch: str | None
    head: str | None
    commits: list[CommitRow]
    next: int | None = None
    """The cursor of the following commits, or null if no more follow."""


class Expand(Request[Expanded], frozen=True, kw_only=True):
    """Show the commits that a collapse or a compression replaced."""

    op = Operation(
        "history.expand",
        errors=(BranchNotFound, CommitNotFound, NothingToExpand),
        is_long=True,
        pages=Pages(items=("commits",)),
    )

    hash: Place
    limit: Limit | None = None
    """The most commits in one reply (default: all)."""
    cursor: Cursor | None = None


class SpawnTree(Struct, frozen=True, kw_only=True):
    """The parent, ancestors and children of a branch."""

    parent: SpawnRow | None
    ancestors: list[str]
    children: list[SpawnRow]
    next: int | None = None
    """The cursor of the following children, or null if no more follow."""


class Spawns(Request[SpawnTree], frozen=True, kw_only=True):
    """Show the parent, ancestors and children of a branch."""

    op = Operation(
        "history.spawns", errors=(BranchNotFound, InvalidParams), is_long=True, pages=Pages(items=("children",))
    )

    branch: BranchName
    limit: Limit | None = None
    """The most children in one reply (default: all)."""
    cursor: Cursor | None = None


class Latest(Struct, frozen=True, kw_only=True):
    """The newest root branch without an `end` boundary, and its last boundary."""

    branch: str | None
    hash: str | None
    boundary: dict[str, Any] | None


class ResumeLatest(Request[Latest], frozen=True, kw_only=True):
    """Find the newest root branch without an `end` boundary, to resume after a crash."""

    op = Operation("history.latest", is_long=True)

    prefix: Text | None = None
