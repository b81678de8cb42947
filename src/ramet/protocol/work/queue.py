"""Requests and replies about the queue."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct, field

from ramet.errors import (
    EffortFinished,
    EffortHeld,
    EffortNotFound,
    GitFailed,
    NotFinished,
    ProjectNotFound,
    SkillFileInvalid,
    UnknownSkill,
    UnmeasurableBound,
    WorktreeError,
)
from ramet.model.record.effort import Lifecycle
from ramet.model.record.skill import WITHOUT_FILE
from ramet.protocol.fields import Content, DriverName, Id, Name, Path, ProjectRef, Text, TimeoutSeconds
from ramet.protocol.operation import Change, Operation, Pages, Request
from ramet.protocol.pages import Limit
from ramet.protocol.record.budgets import Cost, TokenLimit
from ramet.protocol.record.efforts import EffortReply
from ramet.protocol.record.projects import Here
from ramet.protocol.record.starting_points import StartAt
from ramet.protocol.replies import Page


class WorkReply(EffortReply, frozen=True, kw_only=True):
    """An effort of the queue, and what it waits for."""

    blocked: bool = False
    blocked_by: int | None = None
    blocked_status: str | None = None
    project_id: int | None = None
    """The project of its task."""


class AddedWork(WorkReply, frozen=True, kw_only=True):
    """An effort that was queued."""

    registered: str | None = None
    """The path of the repository that was registered as a project for it."""
    uncommitted: list[str] = field(default_factory=list)
    """Files with uncommitted changes that the effort does not see."""
    base_note: str | None = None
    """What the user should know about its base."""


class AddWork(Change[AddedWork], frozen=True, kw_only=True):
    """Queue an effort. Its task is created if it does not exist; with `here` instead of a task, the prompt gets its own
    task in the nearest project.
    """

    op = Operation(
        "work.add",
        errors=(
            *(EffortNotFound, ProjectNotFound, UnknownSkill, SkillFileInvalid, WorktreeError, GitFailed),
            UnmeasurableBound,
        ),
    )

    prompt: Annotated[Content, Meta(min_length=1)]
    skill: Name = "implement"
    task: Path | None = None
    here: Here | None = None
    based_on: Id | None = None
    depends_on: list[Id] = field(default_factory=list)
    driver: DriverName | None = None
    model: Name | None = None
    priority: Annotated[int, Meta(ge=-1_000_000, le=1_000_000)] = 0
    timeout_seconds: TimeoutSeconds | None = None
    start: StartAt | None = None
    """Where it starts. An effort that continues another one starts where that one ended."""
    accept_no_change: bool = False
    """Whether `no_change` is good enough: of this effort for its dependents, and of the efforts that it needs."""
    max_tokens: TokenLimit | None = None
    """Stop the agent with the outcome `budget` when the effort has used as many tokens, its children included."""
    max_cost_usd: Cost | None = None
    """The same for its cost, which may be estimated."""
    is_exact: bool = False
    """Whether the agent gets this prompt and nothing else: no reports, and with the skill `do` no instructions."""

    def skill_names(self) -> frozenset[str]:
        return frozenset({self.skill}) - WITHOUT_FILE

    def reads_first(self) -> bool:
        return True


class GetWork(Request[WorkReply], frozen=True, kw_only=True):
    """Show an effort of the queue, and what it waits for."""

    op = Operation("work.get", errors=(EffortNotFound,), ring="chain")

    effort_id: Id


class ListWork(Request[Page[WorkReply]], frozen=True, kw_only=True):
    """List the efforts of the queue, newest first."""

    op = Operation("work.list", errors=(ProjectNotFound,), pages=Pages())

    state: Lifecycle | None = None
    task: Path | None = None
    run: Id | None = None
    project: ProjectRef | None = None
    """List only the efforts of this project (default: all)."""
    cursor: Id | None = None
    limit: Limit = 100


class ListLost(Request[Page[WorkReply]], frozen=True, kw_only=True):
    """List the efforts that failures of hosts have ended and that were not retried, newest first. Lines of runs are
    not among them: a run is resumed.
    """

    op = Operation("work.lost", errors=(ProjectNotFound,), pages=Pages(), is_long=True)

    since: datetime
    """List only those that ended at this time or later."""
    project: ProjectRef | None = None
    """List only the efforts of this project (default: all)."""
    cursor: Id | None = None
    limit: Limit = 100


class NextWork(Request[EffortReply | None], frozen=True, kw_only=True):
    """Show the effort that would be claimed next, without claiming it."""

    op = Operation("work.next", errors=(ProjectNotFound,))

    worker: Name | None = None
    project: ProjectRef | None = None
    run: Id | None = None
    host: Name | None = None
    held: list[Id] | None = None
    """Projects to leave out: their budgets are used up."""


class Blocked(Struct, frozen=True, kw_only=True):
    """Whether an effort has to wait, for which effort, and that effort's status."""

    blocked: bool
    by: int | None = None
    status: str | None = None


class WorkBlocked(Request[Blocked], frozen=True, kw_only=True):
    """Show whether an effort has to wait, for which effort, and that effort's status."""

    op = Operation("work.blocked", errors=(EffortNotFound,))

    effort_id: Id


class RetryWork(Change[WorkReply], frozen=True, kw_only=True):
    """Queue a fresh copy of a finished effort. Efforts that wait for it then wait for the copy."""

    op = Operation("work.retry", errors=(EffortNotFound, NotFinished))

    effort_id: Id


class ResumeWork(Change[WorkReply], frozen=True, kw_only=True):
    """Queue a finished effort again: the same effort and context window, one more attempt. An effort that succeeded can
    be resumed only if calls were refused to its agent.
    """

    op = Operation("work.resume", errors=(EffortNotFound, NotFinished, EffortFinished))

    effort_id: Id
    reason: Text | None = None
    """What has changed since, for the agent that continues."""


class DropWork(Change[EffortReply], frozen=True, kw_only=True):
    """Remove an effort from the queue permanently."""

    op = Operation("work.drop", errors=(EffortNotFound, EffortHeld, EffortFinished))

    effort_id: Id


class SetOutput(Change[EffortReply], frozen=True, kw_only=True):
    """Replace the text of an effort's output."""

    op = Operation("work.output", errors=(EffortNotFound,), audience="internal")

    effort_id: Id
    output_content: Content
    report_file: Path | None = None
