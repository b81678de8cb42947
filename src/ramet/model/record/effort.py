"""An effort: one skill applied to a task. `queued → active → finished`, and when finished an outcome."""

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

Lifecycle = Literal["queued", "active", "finished"]
Outcome = Literal["success", "error", "timeout", "stuck", "cancelled", "budget", "dropped"]
Failure = Literal["transient", "permanent", "limit", "infrastructure", "timeout", "unknown"]
"""What kind of failure ended an attempt: whether another one may help, and whose fault it was."""
Needs = Literal["success", "end"]
"""What of another effort one waits for: that it succeeds, or that it ends, however it does."""

TRANSITIONS: dict[Lifecycle, tuple[Lifecycle, ...]] = {
    "queued": ("active", "finished"),
    "active": ("queued", "finished"),
    "finished": ("queued", "active"),
}
"""From each state, the states that may follow. A queued effort may be dropped without ever being active; an attempt
that failed may be made again, and a finished effort resumed. One that is there only for a session that somebody started
by hand is active again with it.
"""


class StopRequest(Struct, frozen=True, kw_only=True):
    """Somebody wants a running effort to end."""

    outcome: Outcome = "cancelled"
    reason: str | None = None
    requeues: bool = False
    """Whether it waits for another attempt then."""


class Changes(Struct, frozen=True, kw_only=True):
    """What an effort changed in its worktree, as git counts it."""

    files: list[str]
    insertions: int
    deletions: int


class Effort(Struct, frozen=True, kw_only=True):
    """One row of `efforts`."""

    id: int
    task_id: str
    skill: str
    mode: str | None
    ordinal: int
    lifecycle: Lifecycle
    current_phase: str | None
    discovered_directives: list[str] | None
    discovered_directories: list[str] | None
    metadata: dict[str, Any] | None
    created_at: datetime
    finished_at: datetime | None
    outcome: Outcome | None
    reason: str | None
    prompt: str | None
    based_on: int | None
    depends_on: list[int] | None
    driver: str | None
    model: str | None
    priority: int
    timeout_seconds: int | None
    report_file: str | None
    output_content: str | None
    worktree: str | None
    git_branch: str | None
    git_base: str | None
    git_head: str | None
    attempts: int
    retry_of: int | None
    run_id: int | None
    run_line: str | None
    run_order: int | None
    run_agent: str | None
    """The driver that a line of a run names itself; `driver` is the one that has, or had, the last attempt."""
    lease_owner: str | None
    lease_generation: int
    lease_expires_at: datetime | None
    usage: dict[str, Any] | None
    failure: Failure | None
    not_before: datetime | None
    """When the next attempt may begin."""
    continues_session_id: int | None
    """The session whose context window the next attempt goes on with."""
    agent_failures: int
    host_failures: int
    """Failures of what runs the agent, which are not the agent's."""
    stop_request: StopRequest | None
    changes: Changes | None
    spawned_by: int | None
    """The session that spawned it."""
    awaited_by: int | None
    """The session that waits for it now: it runs in that session's slot, outside the queue."""
    workspace: str | None
    """The directory in which it works; None where that is the project, or its own worktree."""


class Check(Struct, frozen=True, kw_only=True):
    """One thing that `db.effort.validate` looked at."""

    name: str
    passed: bool
    detail: str
