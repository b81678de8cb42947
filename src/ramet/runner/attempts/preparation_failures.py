"""Why an attempt failed before its agent started, and what follows from that.

Such a failure is the host's: its disk, git, a lock, a process that could not start. The effort goes back to the queue
as if it had not been claimed, and the host parks itself if that goes on. The exceptions are the two lists below. An
error that is on neither list is the host's, so one that nobody thought of loses no work.
"""

from typing import Literal

from ramet.errors import (
    BadRequest,
    CommitMissing,
    ConfigError,
    Conflict,
    DriverMissing,
    FolderMissing,
    MergeConflict,
    NoStart,
    NotFound,
    RametError,
    SandboxUnavailable,
    SetupFailed,
    StoreError,
    WorktreeRefused,
)
from ramet.model.record.effort import Failure

Blame = Literal["effort", "unfit", "host", "nobody"]
"""effort: it would fail again, on every host; unfit: another host, or the same one later, may do better; host: this
host fails; nobody: the database did, or the daemon ended.
"""

PERMANENT: dict[type[RametError], str] = {
    BadRequest: "it asks for what does not exist or is not allowed: a driver, a skill, a folder outside of its project",
    NotFound: "the record of what it needs is gone: its project, a session, an effort that it is based on",
    ConfigError: "a configuration file has to be corrected first",
    WorktreeRefused: "a person has to change the repository first: it has no commit, or the worktree is locked",
    MergeConflict: "a person has to merge the branches that it starts from",
    NoStart: "an effort that it depends on left nothing to start from",
}
"""Failures that end the effort, each with the reason. A subclass counts as its class."""

UNFIT: dict[type[RametError], str] = {
    DriverMissing: "another host may have the program",
    SandboxUnavailable: "another host may be able to make the sandbox",
    CommitMissing: "another host made the commit and has it",
    FolderMissing: "the project or its folder may be on another host's disk, or on one that is mounted later",
    SetupFailed: "the set-up command is the project's: it fails on each host alike, unless a network was away",
    Conflict: "another effort or a person holds what it needs, for now",
}
"""Failures that are retried up to `work.host_retries` times, first on another host. They do not blame the host."""

_SAME_AGAIN = (DriverMissing, SandboxUnavailable, CommitMissing)
"""Those of the latter that cannot end well if there is no other host."""


def blame(error: Exception, *, is_alone: bool) -> Blame:
    """Whose failure it is; `is_alone` if no other host shares the database."""
    if isinstance(error, tuple(PERMANENT)) or (is_alone and isinstance(error, _SAME_AGAIN)):
        return "effort"
    if isinstance(error, tuple(UNFIT)):
        return "unfit"
    return "nobody" if isinstance(error, StoreError) else "host"


def failure_of(whose: Blame) -> Failure:
    """The kind of failure that is recorded."""
    return "permanent" if whose == "effort" else "infrastructure"
