"""The requests and replies of the queue, and of what a worker and its keepers tell about the work."""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from ramet.model.record.effort import (
    Changes,
    Effort,
    Failure,
    Lifecycle,
    Outcome,
    StopRequest,
)
from ramet.model.record.session import Session
from ramet.model.runs.run import RunLimits
from ramet.model.work.stream import StreamEvent
from ramet.protocol.replies import EffortReply
from ramet.protocol.requests import Change, Content, Id, Name, Path, ProjectRef, Request, SessionId, Text

Refusal = Literal["missing", "not_queued", "blocked", "lost", "busy"]
"""Why a claim was refused. missing: there is no such effort, or none is ready; not_queued: it is finished, or was never
in the queue; blocked: it waits for another, for a time, or for a worker that may take it; lost: somebody else holds it;
busy: the worker holds another.
"""
DriverName = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]
Instance = Annotated[str, Meta(pattern=r"^[a-z0-9]{8,64}$")]
LeaseSeconds = Annotated[int, Meta(ge=1, le=86_400)]
TimeoutSeconds = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Generation = Annotated[int, Meta(ge=1, le=2**31 - 1)]


# The queue.


class AddWork(Change, frozen=True, kw_only=True):
    prompt: Annotated[Content, Meta(min_length=1)]
    skill: Name = "implement"
    task: Path | None = None
    based_on: Id | None = None
    depends_on: list[Id] = field(default_factory=list)
    driver: DriverName | None = None
    model: Name | None = None
    priority: Annotated[int, Meta(ge=-1_000_000, le=1_000_000)] = 0
    timeout_seconds: TimeoutSeconds | None = None


class GetWork(Request, frozen=True, kw_only=True):
    effort_id: Id


class ListWork(Request, frozen=True, kw_only=True):
    state: Lifecycle | None = None
    task: Path | None = None
    run: Id | None = None
    cursor: Id | None = None
    limit: Annotated[int, Meta(ge=1)] = 100


class NextWork(Request, frozen=True, kw_only=True):
    worker: Name | None = None
    project: ProjectRef | None = None
    run: Id | None = None
    host: Name | None = None


class WorkBlocked(Request, frozen=True, kw_only=True):
    effort_id: Id


class ClaimWork(Change, frozen=True, kw_only=True):
    worker: Name
    effort_id: Id | None = None
    drivers: list[DriverName] | None = None
    """Only efforts that name one of these, or none."""
    project: ProjectRef | None = None
    run: Id | None = None
    """Only lines of this run; without one only efforts that belong to none."""
    host: Name | None = None
    """Only efforts of projects that are on this host, or that nobody has said of where they are."""
    lease_seconds: LeaseSeconds | None = None


class RenewLease(Change, frozen=True, kw_only=True):
    effort_id: Id
    generation: Generation
    lease_seconds: LeaseSeconds | None = None


class CompleteWork(Change, frozen=True, kw_only=True):
    effort_id: Id
    generation: Generation
    outcome: Outcome
    output_content: Content | None = None
    report_file: Path | None = None
    reason: Content | None = None
    usage: dict[str, int | float] | None = None
    """What was used, where no session has reported it."""
    failure: Failure | None = None
    """The kind of failure; some kinds are followed by another attempt, within the bounds of `work.*`."""
    retry_at: datetime | None = None
    """Not before this, where it is known when another attempt can succeed."""
    is_fresh: bool = False
    """Whether the next attempt begins anew: nothing was said in this context window that is worth going on with."""
    git_head: Name | None = None
    git_branch: Name | None = None
    changes: Changes | None = None
    metadata: dict[str, Any] | None = None
    """More about it, which joins what the effort's metadata says already."""


class RetryWork(Change, frozen=True, kw_only=True):
    effort_id: Id


class ResumeWork(Change, frozen=True, kw_only=True):
    effort_id: Id


class DropWork(Change, frozen=True, kw_only=True):
    effort_id: Id


class WorkChain(Request, frozen=True, kw_only=True):
    effort_id: Id
    host: Name | None = None
    """Whose path of the project is meant."""


class SetOutput(Change, frozen=True, kw_only=True):
    effort_id: Id
    output_content: Content
    report_file: Path | None = None


class WorkPrompt(Request, frozen=True, kw_only=True):
    effort_id: Id


# What a worker and its keepers tell.


class BeginAttempt(Change, frozen=True, kw_only=True):
    effort_id: Id
    generation: Generation
    driver: DriverName
    profile: DriverName | None = None
    """The driver's profile, where it is run under another name."""
    agent_id: Name
    instance: Instance
    """The keeper that will hold the agent."""
    prompt: Content
    model: Name | None = None
    native_id: Name | None = None
    """The vendor's id, where we choose it or go on with it."""
    continues: bool = False
    """Whether the attempt goes on with the session that the effort names."""
    is_cut: bool = False
    """Whether the prompt was shortened to fit `work.prompt_max_tokens`."""
    timeout_seconds: TimeoutSeconds | None = None
    """How long the attempt may take; a child of its session has to fit into what is left of it."""
    worktree: Path | None = None
    git_branch: Name | None = None
    git_base: Name | None = None


class ReportStream(Change, frozen=True, kw_only=True):
    session_id: Id
    instance: Instance
    seq: Annotated[int, Meta(ge=1)]
    """The number of the first event. Those that were reported before are skipped; where one before it is missing,
    nothing is written, and the reply says from where to go on.
    """
    events: list[StreamEvent]


class Kill(Change, frozen=True, kw_only=True):
    effort_id: Id | None = None
    session_id: SessionId | None = None
    children: bool = True
    """Whether all that it spawned is ended too."""
    reason: Text | None = None
    requeues: bool = False
    """Whether it goes back to the queue then, to be attempted again, instead of being cancelled."""


class ListNotices(Request, frozen=True, kw_only=True):
    all: bool = False
    """Those that were dismissed too."""


class DismissNotice(Change, frozen=True, kw_only=True):
    notice_id: Id | None = None
    """None dismisses all."""


# What is answered beside the database: on this machine's disk, by its daemon.


class ListDrivers(Request, frozen=True, kw_only=True):
    versions: bool = True
    """Whether each program is asked for its version, which takes a moment."""
    directory: Path | None = None
    """Where the caller is: its project file, environment and flags count then, not the daemon's."""
    environment: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)


class SyncReport(Change, frozen=True, kw_only=True):
    effort_id: Id


class ListWorktrees(Request, frozen=True, kw_only=True):
    project: ProjectRef | None = None


class CleanWorktrees(Change, frozen=True, kw_only=True):
    project: ProjectRef | None = None
    paths: list[Path] | None = None
    """Only these; None means all whose effort has finished."""
    discard: list[Path] = field(default_factory=list)
    """Worktrees whose uncommitted or unpushed work may be lost. Without it that work is kept under a private ref."""
    dry_run: bool = False


class RunWork(Request, frozen=True, kw_only=True):
    workers: Annotated[int, Meta(ge=1, le=1000)] = 1
    once: bool = False
    """Answer when nothing is left to run, instead of waiting for more."""
    effort_ids: list[Id] | None = None
    run: Id | None = None
    """Attend this run, and work on its lines."""
    is_forced: bool = False
    content_hash: Name | None = None
    retry_failed: bool = False
    limits: RunLimits | None = None
    """What the run may use from now on; a bound that is None stays as it is."""
    shift: Name | None = None
    """What `work.stop` may call this work; whoever asks for it chooses."""
    project: ProjectRef | None = None
    driver: DriverName | None = None
    """For efforts that name none."""
    environment: dict[str, str] = field(default_factory=dict)
    """The caller's environment, of which agents see what `work.environment` allows. It is kept in memory alone."""
    settings: dict[str, str] = field(default_factory=dict)
    """Configuration keys that the caller set by flag."""


class StopWork(Request, frozen=True, kw_only=True):
    """Without a name, everything that the daemon works on."""

    run: Id | None = None
    """Only the work on this run."""
    shift: Name | None = None
    """Only the work of this name."""


# The replies.


class WorkReply(EffortReply, frozen=True, kw_only=True):
    """An effort of the queue, and what it waits for."""

    blocked: bool = False
    blocked_by: int | None = None
    blocked_status: str | None = None


class Blocked(Struct, frozen=True, kw_only=True):
    """Whether an effort has to wait, for which one, and what that one is doing."""

    blocked: bool
    by: int | None = None
    status: str | None = None


class Claimed(EffortReply, frozen=True, kw_only=True):
    """The effort that the worker now holds, under the lease's generation."""

    generation: int


class Refused(Struct, frozen=True, kw_only=True):
    """Why a worker got no effort."""

    refused: Refusal
    detail: str


class Lease(Struct, frozen=True, kw_only=True):
    """A lease that goes on, and whether its holder is asked to stop."""

    effort_id: int
    generation: int
    expires_at: datetime
    stop: StopRequest | None = None


class Completed(EffortReply, frozen=True, kw_only=True):
    """The effort after a report of its outcome."""

    ignored: bool = False
    """The lease was gone: the report was written down and changed nothing."""
    requeued: bool = False
    """Another attempt will be made."""


class Chain(Struct, frozen=True, kw_only=True):
    """An effort's ancestors by `based_on`, the nearest first, after the effort itself; what else the task has."""

    project_path: str
    efforts: list[Effort]
    missing: list[int]
    """What the chain names and nobody has any more."""
    earlier: list[Effort]
    """Other finished efforts of the task, which left a report."""


class Prompt(Struct, frozen=True, kw_only=True):
    """Exactly what the agent is given."""

    prompt: str
    instruction: str
    """The effort's own part of it; all that `shell` runs."""
    context: str
    """What stands around it; what `shell` gets on its standard input."""
    report_file: str | None
    cut: bool
    """Whether something had to be shortened to fit `work.prompt_max_tokens`."""


class Attempt(Struct, frozen=True, kw_only=True):
    """An attempt that may begin: its session, and the effort as it is now."""

    session: Session
    effort: EffortReply


class Reported(Struct, frozen=True, kw_only=True):
    """What has been written so far, and what the keeper should know."""

    seq: int
    """The number of the last event that is on disk."""
    is_current: bool
    """Whether the reporter's lease is still the effort's; one whose lease is gone ends its agent."""
    is_renewed: bool
    """Whether the whole lease is left again. A report without events always renews it, others when it is low."""
    stop: StopRequest | None = None
    is_child_alive: bool = False
    """Whether a session below this one has given a sign of life: its parent is not silent, but waits."""


class Killed(EffortReply, frozen=True, kw_only=True):
    """The effort that ends, and whether something has to be ended for it first."""

    is_running: bool
    also: list[int] = field(default_factory=list)
    """The efforts below it that run and are asked to end with it."""


class Synced(Struct, frozen=True, kw_only=True):
    """What `report.sync` found on the disk."""

    effort_id: int
    report_file: str
    changed: bool
    characters: int


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


class CleanedWorktree(Struct, frozen=True, kw_only=True):
    """What was done with one worktree."""

    path: str
    removed: bool
    preserved_ref: str | None
    """Where work that nobody had committed or merged was kept."""
    reason: str


class WorkDone(Struct, frozen=True, kw_only=True):
    """What the workers did."""

    finished: dict[str, int]
    """How many efforts came to each outcome."""
    why: Literal["idle", "stopped", "daemon_stopping"]
