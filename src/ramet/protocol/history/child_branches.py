"""Requests and replies about child branches: spawn, collapse and expand."""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from ramet.errors import (
    BranchExists,
    BranchNotFound,
    CommitNotFound,
    ModelFailed,
    ModelMissing,
    NothingToExpand,
    SpawnError,
)
from ramet.protocol.fields import Content, Text
from ramet.protocol.history.commits import BranchName, CommitRow, Place, Tokens
from ramet.protocol.history.contexts import Filter
from ramet.protocol.operation import Change, Operation, Request

Inheritance = Literal["none", "full_clone", "head_snapshot", "selective"]


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


class Expand(Request[Expanded], frozen=True, kw_only=True):
    """Show the commits that a collapse or a compression replaced."""

    op = Operation("history.expand", errors=(BranchNotFound, CommitNotFound, NothingToExpand), is_long=True)

    hash: Place


class SpawnTree(Struct, frozen=True, kw_only=True):
    """The parent, ancestors and children of a branch."""

    parent: SpawnRow | None
    ancestors: list[str]
    children: list[SpawnRow]


class Spawns(Request[SpawnTree], frozen=True, kw_only=True):
    """Show the parent, ancestors and children of a branch."""

    op = Operation("history.spawns", errors=(BranchNotFound,), is_long=True)

    branch: BranchName


class Latest(Struct, frozen=True, kw_only=True):
    """The newest root branch without an `end` boundary, and its last boundary."""

    branch: str | None
    hash: str | None
    boundary: dict[str, Any] | None


class ResumeLatest(Request[Latest], frozen=True, kw_only=True):
    """Find the newest root branch without an `end` boundary, to resume after a crash."""

    op = Operation("history.latest", is_long=True)

    prefix: Text | None = None
