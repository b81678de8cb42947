"""An effort: one skill applied to a task. `queued → active → finished`, and when finished an outcome."""

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

from ramet.model.row_parts import Part

Lifecycle = Literal["queued", "active", "finished"]
Outcome = Literal["success", "no_change", "error", "timeout", "stuck", "cancelled", "budget", "dropped"]
NOT_FAILURES: frozenset[Outcome] = frozenset({"success", "no_change"})
"""The outcomes that are no failures. An effort has `no_change` if its skill changes code and it changed no file: that
may be right, but nobody should build on it unasked.
"""
Failure = Literal["transient", "permanent", "limit", "infrastructure", "timeout", "unknown"]
"""What kind of failure ended an attempt: whether another one may help, and whose fault it was. `limit` is any trouble
with the account: a usage limit, an expired login, a wrong key, an empty balance.
"""
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
    """A request to stop a running effort."""

    outcome: Outcome = "cancelled"
    reason: str | None = None
    requeues: bool = False
    """Whether the effort then waits for another attempt."""


class Changes(Struct, frozen=True, kw_only=True):
    """The changes of an effort in its worktree, as counted by git."""

    files: list[str]
    insertions: int
    deletions: int


class Claim(Part, frozen=True, kw_only=True, rename=lambda name: f"lease_{name}"):
    """The worker that has an effort. Each claim has a generation of its own."""

    owner: str | None
    generation: int

    def is_of(self, generation: int) -> bool:
        """Whether a worker has the effort, and under this generation."""
        return self.owner is not None and self.generation == generation


class Lease(Claim, frozen=True, kw_only=True):
    """A claim, and until when it holds."""

    expires_at: datetime | None


class Place(Part, frozen=True, kw_only=True):
    """Where an effort works, and what git says of that."""

    worktree: str | None
    git_branch: str | None
    git_base: str | None
    git_head: str | None
    git_host: str | None
    """The host whose clone has the branch; None if no other host shares the database."""
    workspace: str | None
    """The directory in which it works; None if that is the project, or its own worktree."""


class Base(Part, frozen=True, kw_only=True, rename=lambda name: f"base_{name}"):
    """Where an effort starts, from when it was added; all None if that is decided when it runs."""

    commit: str | None
    branch: str | None
    """The branch that was checked out or named; None if there was none."""
    changes: str | None
    """The commit of the uncommitted changes that were taken along, on top of `commit`."""


class Retry(Part, frozen=True, kw_only=True, rename={"of": "retry_of"}):
    """The attempts at an effort so far, and when and how the next one starts."""

    attempts: int
    of: int | None
    """The finished effort of which this one is a copy."""
    failure: Failure | None
    agent_failures: int
    host_failures: int
    """Failures of what runs the agent, which are not the agent's."""
    not_before: datetime | None
    """When the next attempt may begin."""
    avoid_host: str | None
    """The host that `not_before` is about: others may begin before; None if it is about all of them."""
    continues_session_id: int | None
    """The session whose context window the next attempt goes on with."""


class RunLine(Part, frozen=True, kw_only=True, rename={"key": "run_line", "order": "run_order", "agent": "run_agent"}):
    """The line of a run that an effort is; all None if it belongs to no run."""

    run_id: int | None
    key: str | None
    order: int | None
    agent: str | None
    """The driver that the line names itself; `Effort.driver` is the one that has, or had, the last attempt."""


class Spawn(Part, frozen=True, kw_only=True, rename={"by": "spawned_by"}):
    """The sessions that spawned an effort and that wait for it."""

    by: int | None
    """The session that spawned it."""
    awaited_by: int | None
    """The session that waits for it now: it runs in that session's slot, outside the queue."""


class Spent(Part, frozen=True, kw_only=True):
    """What an effort used, and what it changed with that."""

    usage: dict[str, Any] | None
    changes: Changes | None


class Effort(Struct, frozen=True, kw_only=True):
    """One row of `efforts`. `EffortRow` of the protocol has the same columns without parts."""

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
    stop_request: StopRequest | None
    accepts_no_change: bool
    """Whether `no_change` is good enough: of this effort for its dependents, and for it of those that it needs."""
    lease: Lease
    place: Place
    retry: Retry
    line: RunLine
    spawn: Spawn
    spent: Spent
    base: Base


class Check(Struct, frozen=True, kw_only=True):
    """One check of `db.effort.validate`."""

    name: str
    passed: bool
    detail: str
