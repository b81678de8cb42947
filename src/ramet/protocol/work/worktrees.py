"""Requests and replies about worktrees and reports on this machine."""

from typing import Literal

from msgspec import Struct, field

from ramet.errors import EffortNotFound, GitFailed, PathOutside, ProjectNotFound, ReportMissing, WorktreeError
from ramet.protocol.fields import Id, Path, ProjectRef
from ramet.protocol.operation import Change, Operation, Request
from ramet.protocol.replies import Page


class Synced(Struct, frozen=True, kw_only=True):
    """A report on disk, and whether it differed from the database."""

    effort_id: int
    report_file: str
    changed: bool
    characters: int


class SyncReport(Change[Synced], frozen=True, kw_only=True):
    """Update the database from a report that a person edited on disk."""

    op = Operation("report.sync", errors=(EffortNotFound, ReportMissing, PathOutside), host="machine")

    effort_id: Id


class WorktreeRow(Struct, frozen=True, kw_only=True):
    """A worktree that Ramet created, with its state in git and in the queue."""

    path: str
    project: str | None
    branch: str | None
    head: str | None
    effort_id: int | None
    state: Literal["in_use", "idle", "vanished", "locked", "foreign"]
    uncommitted_files: int
    unpushed_commits: int
    bytes: int | None
    project_id: int | None = None
    """The project that it was created for, if it is registered."""


class ListWorktrees(Request[Page[WorktreeRow]], frozen=True, kw_only=True):
    """List the worktrees that Ramet created on this machine, with their uncommitted and unpushed work."""

    op = Operation("worktree.list", errors=(ProjectNotFound, WorktreeError, GitFailed), host="machine")

    project: ProjectRef | None = None


class CleanedWorktree(Struct, frozen=True, kw_only=True):
    """Whether a worktree was removed, and why."""

    path: str
    removed: bool
    preserved_ref: str | None
    """The ref that keeps its uncommitted or unmerged work."""
    reason: str


class CleanWorktrees(Change[Page[CleanedWorktree]], frozen=True, kw_only=True):
    """Remove unused worktrees. Work that exists nowhere else is kept under a private ref."""

    op = Operation("worktree.clean", errors=(ProjectNotFound, WorktreeError, GitFailed), host="machine")

    project: ProjectRef | None = None
    paths: list[Path] | None = None
    """The worktrees to remove (default: all whose efforts have finished)."""
    discard: list[Path] = field(default_factory=list)
    """Worktrees whose uncommitted or unpushed work may be lost. Otherwise that work is kept under a private ref."""
    dry_run: bool = False


class TidiedRef(Struct, frozen=True, kw_only=True):
    """A branch or private ref that Ramet left in a repository, and whether it was deleted."""

    ref: str
    commit: str
    project: str
    removed: bool
    """Whether it was deleted, or a dry run would delete it."""
    reason: str


class TidyRefs(Change[Page[TidiedRef]], frozen=True, kw_only=True):
    """Delete the branches and private refs that Ramet left in repositories, if another ref has all of their commits."""

    op = Operation("worktree.tidy", errors=(ProjectNotFound, WorktreeError, GitFailed), host="machine")

    project: ProjectRef | None = None
    dry_run: bool = False
