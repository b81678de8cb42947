"""Requests and replies about the code that efforts changed."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ramet.errors import EffortNotFound, GitFailed, RunNotFound, WorktreeError
from ramet.protocol.fields import Id
from ramet.protocol.operation import Operation, Request

FileStatus = Literal["added", "modified", "deleted", "renamed", "copied", "retyped", "unmerged"]


class ChangedFile(Struct, frozen=True, kw_only=True):
    """A file that differs. In a name that is not UTF-8, each byte that cannot be read is an escape."""

    path: str
    status: FileStatus
    former_path: str | None = None
    """Its name before, if it was renamed or copied."""
    insertions: int | None
    """Null for a binary file."""
    deletions: int | None


class BranchDiff(Struct, frozen=True, kw_only=True):
    """What one branch changes, with the efforts that worked on it."""

    efforts: list[int]
    branch: str | None
    base: str | None
    """The commit at which its work started."""
    head: str | None
    """The commit that is compared with it; null if the worktree's files are."""
    worktree: str | None = None
    """The worktree whose files are compared, uncommitted changes included, because its work is not finished."""
    files: list[ChangedFile] = []
    is_list_cut: bool = False
    """Whether more files have changed than `files` has."""
    insertions: int = 0
    deletions: int = 0
    patch: str | None = None
    """The change as git prints it; null if it was not asked for."""
    is_patch_cut: bool = False
    """Whether the patch was longer than `max_bytes`."""
    note: str | None = None
    """Why nothing can be compared, and what to do."""


class WorkDiff(Struct, frozen=True, kw_only=True):
    """The change of an effort or a run, branch by branch."""

    effort_id: int | None
    run_id: int | None
    branches: list[BranchDiff]


class DiffWork(Request[WorkDiff], frozen=True, kw_only=True):
    """Show the code that an effort or a run has changed. Of unfinished work, uncommitted changes are part of it."""

    op = Operation("work.diff", errors=(EffortNotFound, RunNotFound, WorktreeError, GitFailed), host="machine")

    effort_id: Id | None = None
    run_id: Id | None = None
    """Give either this or `effort_id`. A chain is a run."""
    has_patch: bool = True
    """Whether the reply has patches, and not only the files."""
    max_bytes: Annotated[int, Meta(ge=1, le=32 * 1024 * 1024)] = 4 * 1024 * 1024
    """The size of all patches together, at most."""
