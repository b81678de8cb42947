"""Requests and replies about worktrees and reports on this machine."""

from typing import Literal

from msgspec import Struct, field

from ramet.errors import EffortNotFound, GitFailed, PathOutside, ProjectNotFound, ReportMissing, WorktreeError
from ramet.protocol.fields import Id, Path, ProjectRef
from ramet.protocol.operation import Change, Operation, Request
from ramet.protocol.replies import Page


class Synced(Struct, frozen=True, kw_only=True):
    """What `report.sync` found on the disk."""

    effort_id: int
    report_file: str
    changed: bool
    characters: int


class SyncReport(Change[Synced], frozen=True, kw_only=True):
    """Take a report that a person edited on disk back into the database."""

    op = Operation("report.sync", errors=(EffortNotFound, ReportMissing, PathOutside), host="machine")

    effort_id: Id


class WorktreeRow(Struct, frozen=True, kw_only=True):
    """A worktree of ours, as git and the queue see it."""

    path: str
    project: str | None
    branch: str | None
    head: str | None
    effort_id: int | None
    state: Literal["in_use", "idle", "vanished", "locked", "foreign"]
    uncommitted_files: int
    unpushed_commits: int
    bytes: int | None


class ListWorktrees(Request[Page[WorktreeRow]], frozen=True, kw_only=True):
    """The worktrees that Ramet made on this machine, and what is in them that exists nowhere else."""

    op = Operation("worktree.list", errors=(ProjectNotFound, WorktreeError, GitFailed), host="machine")

    project: ProjectRef | None = None


class CleanedWorktree(Struct, frozen=True, kw_only=True):
    """What was done with one worktree."""

    path: str
    removed: bool
    preserved_ref: str | None
    """Where work that nobody had committed or merged was kept."""
    reason: str


class CleanWorktrees(Change[Page[CleanedWorktree]], frozen=True, kw_only=True):
    """Remove worktrees that nothing uses. Work that exists nowhere else is kept under a private ref."""

    op = Operation("worktree.clean", errors=(ProjectNotFound, WorktreeError, GitFailed), host="machine")

    project: ProjectRef | None = None
    paths: list[Path] | None = None
    """Only these; None means all whose effort has finished."""
    discard: list[Path] = field(default_factory=list)
    """Worktrees whose uncommitted or unpushed work may be lost. Without it that work is kept under a private ref."""
    dry_run: bool = False
