"""Requests and replies about the git branches of a run's lines."""

from msgspec import Struct

from ramet.errors import GitFailed, RunNotFound, WorktreeError
from ramet.protocol.fields import Id
from ramet.protocol.operation import Operation, Request


class BranchConflict(Struct, frozen=True, kw_only=True):
    """Two branches of a run that change the same lines of a file, and those files."""

    lines: list[str]
    branches: list[str]
    files: list[str]


class LineBranch(Struct, frozen=True, kw_only=True):
    """The git branch of one line of a run."""

    line: str
    effort_id: int
    branch: str
    base: str | None
    head: str | None
    files: list[str]
    """The files that the branch changed."""
    is_merged: bool
    """Whether the commit that the project has checked out contains all of it."""
    is_here: bool = True
    """Whether this machine's clone has its commits. Only then is it known whether it is merged, and what conflicts."""
    host: str | None = None
    """The host that made it, if several share the database."""
    contained_in: str | None
    """A branch of another line that contains all of it and is not merged either."""


class RunBranches(Struct, frozen=True, kw_only=True):
    """The git branches of a run's lines, and the conflicts among those that are not merged."""

    branches: list[LineBranch]
    conflicts: list[BranchConflict]
    note: str | None = None
    """Why the conflicts are unknown, if they are."""


class ListRunBranches(Request[RunBranches], frozen=True, kw_only=True):
    """List the git branch of each line of a run, and the branches that conflict with each other."""

    op = Operation("run.branches", errors=(RunNotFound, WorktreeError, GitFailed), host="machine")

    run_id: Id
