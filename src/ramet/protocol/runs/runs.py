"""Requests and replies about runs, their lines and turns."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from ramet.errors import (
    ProjectNotFound,
    RunAttended,
    RunChanged,
    RunFinished,
    RunNotFound,
    TaskFileInvalid,
    UnknownSkill,
)
from ramet.model.runs.review import Finding
from ramet.model.runs.run import LineRow, Run, RunLimits, RunMode, RunState
from ramet.protocol.fields import Content, DriverName, Id, Name, Path, TimeoutSeconds
from ramet.protocol.operation import Change, Operation, Request
from ramet.protocol.replies import Page

LineKey = Annotated[str, Meta(pattern=r"^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$")]

TurnRole = Literal["user", "assistant", "system"]


class NewLine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of a task file, as a run takes it."""

    key: LineKey
    text: Annotated[Content, Meta(min_length=1)]
    skill: Name = "do"
    driver: DriverName | None = None
    model: Name | None = None
    depends_on: list[LineKey] = []
    timeout_seconds: TimeoutSeconds | None = None
    is_done: bool = False
    """Whether it was done before: it is on record, and not run."""


class FindingRow(Finding, frozen=True, kw_only=True):
    """What a review found, and whether the newest review still says so."""

    effort_id: int | None
    """The review that said it last."""
    round: int
    """In which round that was."""
    state: Literal["open", "gone"]


class RunReply(Run, frozen=True, kw_only=True):
    """A run, and what its lines are doing."""

    state: RunState
    counts: dict[str, int]
    """How many lines are in each state."""
    tokens: int
    cost_usd: float | None


class TurnRow(Struct, frozen=True, kw_only=True):
    """One turn of a run's conversation."""

    role: TurnRole
    content: str
    timestamp: str
    tokens: int | None = None
    metadata: dict[str, Any] = {}


class RunDetail(RunReply, frozen=True, kw_only=True):
    """A run with its lines, its conversation and, of a chain, what its reviews found.

    It has all that a checkpoint of seed 001 has, read anew from what is stored: `execution_id` is `id`, `plan_id` is
    `task_id`, `started_at` has its own name, `tasks` are `lines` with their `state`, `last_checkpoint` is `saved_at`,
    `interrupted` is a `state` of that name, `metadata` is the rest of the run, and `conversation` is `conversation`,
    empty where none was saved.
    """

    saved_at: str
    """When something of it was last saved, which happens with every turn and every change of a line."""
    lines: list[LineRow]
    conversation: list[TurnRow]
    findings: list[FindingRow]


class StartRun(Change[RunDetail], frozen=True, kw_only=True):
    """Record a run and queue its lines; a chain begins with its plan. Nothing runs until it is attended."""

    op = Operation("run.start", errors=(ProjectNotFound, UnknownSkill, TaskFileInvalid))

    task: Path
    """The task whose efforts the lines become; it is created where it is new."""
    lines: Annotated[list[NewLine], Meta(max_length=20_000)] = field(default_factory=list)
    """Of a task file. A chain has none."""
    prompt: Content | None = None
    """Of a chain: what to build."""
    mode: RunMode = "sequential"
    name: Name | None = None
    content_hash: Name | None = None
    limits: RunLimits | None = None
    stop_on_failure: bool = False
    save_conversation: bool = True
    driver: DriverName | None = None
    model: Name | None = None


class GetRun(Request[RunDetail], frozen=True, kw_only=True):
    """A run with its lines, its conversation and what its reviews found."""

    op = Operation("run.get", errors=(RunNotFound,))

    run_id: Id
    outputs: bool = False
    """Whether each line's whole output is wanted, and not only its beginning."""


class ListTurns(Request[Page[TurnRow]], frozen=True, kw_only=True):
    """A run's conversation, the oldest turn first; of one that saves none, nothing."""

    op = Operation("run.turns", errors=(RunNotFound,))

    run_id: Id


class ListRuns(Request[Page[RunReply]], frozen=True, kw_only=True):
    """The runs, the newest first; archived ones only where asked for."""

    op = Operation("run.list")

    all: bool = False
    """Archived ones too."""
    cursor: Id | None = None
    limit: Annotated[int, Meta(ge=1)] = 100


class AttendRun(Change[RunReply], frozen=True, kw_only=True):
    """Begin, resume or go on with a run: only what is attended is worked on."""

    op = Operation("run.attend", errors=(RunNotFound, RunAttended, RunChanged, RunFinished), audience="internal")

    run_id: Id
    attender: Name
    begins: bool = False
    """Whether this begins or resumes it; otherwise it goes on."""
    content_hash: Name | None = None
    """Of the file as it is now; a run whose file has changed is refused, unless `is_forced`."""
    is_forced: bool = False
    retry_failed: bool = False
    """Whether lines that failed are queued again. Those that a bound of the run kept from beginning are in any case."""
    limits: RunLimits | None = None
    """What the run may use from now on; a bound that is None stays as it is."""
    lease_seconds: Annotated[int, Meta(ge=1, le=86_400)] = 60


class LeaveRun(Change[RunReply], frozen=True, kw_only=True):
    """Attend a run no longer: what is not done is interrupted."""

    op = Operation("run.leave", errors=(RunNotFound,), audience="internal")

    run_id: Id
    attender: Name


class AddTurn(Change[RunReply], frozen=True, kw_only=True):
    """Add a turn to a run's conversation."""

    op = Operation("run.turn", errors=(RunNotFound,))

    run_id: Id
    line: LineKey | None = None
    role: TurnRole
    content: Content


class ArchiveRun(Change[RunReply], frozen=True, kw_only=True):
    """Hide a run from the list, or show it again."""

    op = Operation("run.archive", errors=(RunNotFound, RunAttended))

    run_id: Id
    archived: bool = True


class Cleaned(Struct, frozen=True, kw_only=True):
    """Which runs were deleted, or would be."""

    run_ids: list[int]


class CleanRuns(Change[Cleaned], frozen=True, kw_only=True):
    """Delete runs that have been archived or finished for a while."""

    op = Operation("run.clean")

    days: Annotated[int, Meta(ge=0, le=36_500)] = 7
    """Runs that have been archived or finished for longer than this are deleted, with their conversations and findings.
    Their lines stay, as finished efforts of their task."""
    dry_run: bool = False
