"""Requests and replies about the git branches that a run's lines left."""

from msgspec import Struct

from ramet.errors import GitFailed, RunNotFound, WorktreeError
from ramet.protocol.fields import Id
from ramet.protocol.operation import Operation, Request


class BranchConflict(Struct, frozen=True, kw_only=True):
    """Two branches of a run that change the same lines, and in which files."""

    lines: list[str]
    branches: list[str]
    files: list[str]


class LineBranch(Struct, frozen=True, kw_only=True):
    """What a line of a run left in git."""

    line: str
    effort_id: int
    branch: str
    base: str | None
    head: str | None
    files: list[str]
    """What it changed."""
    is_merged: bool
    """Whether what the project's checkout is on has all of it."""
    contained_in: str | None
    """A branch of another line that has all of it, and that was not merged either."""


class RunBranches(Struct, frozen=True, kw_only=True):
    """What the lines of a run left in git, and what of it conflicts and is not merged yet."""

    branches: list[LineBranch]
    conflicts: list[BranchConflict]
    note: str | None = None
    """Why the conflicts are not known, where they are not."""


class ListRunBranches(Request[RunBranches], frozen=True, kw_only=True):
    """What each line of a run left in git, and which branches conflict with each other."""

    op = Operation("run.branches", errors=(RunNotFound, WorktreeError, GitFailed), host="machine")

    run_id: Id
