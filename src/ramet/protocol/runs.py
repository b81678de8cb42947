"""The requests and replies of runs."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from ramet.model.runs.review import Finding
from ramet.model.runs.run import (
    LineState,
    Run,
    RunLimits,
    RunMode,
    RunState,
)
from ramet.protocol.requests import Change, Content, Id, Name, Path, Request
from ramet.protocol.work import Completed, DriverName, Generation, TimeoutSeconds

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


class StartRun(Change, frozen=True, kw_only=True):
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


class GetRun(Request, frozen=True, kw_only=True):
    run_id: Id
    outputs: bool = False
    """Whether each line's whole output is wanted, and not only its beginning."""


class ListTurns(Request, frozen=True, kw_only=True):
    run_id: Id


class ListBranches(Request, frozen=True, kw_only=True):
    run_id: Id


class ListRuns(Request, frozen=True, kw_only=True):
    all: bool = False
    """Archived ones too."""
    cursor: Id | None = None
    limit: Annotated[int, Meta(ge=1)] = 100


class AttendRun(Change, frozen=True, kw_only=True):
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


class LeaveRun(Change, frozen=True, kw_only=True):
    run_id: Id
    attender: Name


class AddTurn(Change, frozen=True, kw_only=True):
    run_id: Id
    line: LineKey | None = None
    role: TurnRole
    content: Content


class ArchiveRun(Change, frozen=True, kw_only=True):
    run_id: Id
    archived: bool = True


class CleanRuns(Change, frozen=True, kw_only=True):
    days: Annotated[int, Meta(ge=0, le=36_500)] = 7
    """Runs that have been archived or finished for longer than this are deleted, with their conversations and findings.
    Their lines stay, as finished efforts of their task."""
    dry_run: bool = False


class ListParked(Request, frozen=True, kw_only=True):
    pass


class ReleaseDriver(Change, frozen=True, kw_only=True):
    driver: DriverName
    """The driver, or the profile of one, that may be used again."""


class AdmitDriver(Change, frozen=True, kw_only=True):
    effort_id: Id
    generation: Generation
    driver: DriverName
    """The driver, or the profile of one, that is to run the effort."""


class RunReply(Run, frozen=True, kw_only=True):
    """A run, and what its lines are doing."""

    state: RunState
    counts: dict[str, int]
    """How many lines are in each state."""
    tokens: int
    cost_usd: float | None


class LineRow(Struct, frozen=True, kw_only=True):
    """One line of a run."""

    key: str
    effort_id: int
    text: str
    skill: str
    state: LineState
    outcome: str | None
    reason: str | None
    driver: str | None
    depends_on: list[str]
    git_branch: str | None
    git_head: str | None
    worktree: str | None
    attempts: int
    started_at: str | None
    finished_at: str | None
    tokens: int
    cost_usd: float | None
    output: str | None
    """Its first 2,000 characters, unless more was asked for."""


class TurnRow(Struct, frozen=True, kw_only=True):
    """One turn of a run's conversation."""

    role: TurnRole
    content: str
    timestamp: str
    tokens: int | None = None
    metadata: dict[str, Any] = {}


class FindingRow(Finding, frozen=True, kw_only=True):
    """What a review found, and whether the newest review still says so."""

    effort_id: int | None
    """The review that said it last."""
    round: int
    """In which round that was."""
    state: Literal["open", "gone"]


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


class BranchConflict(Struct, frozen=True, kw_only=True):
    """Two branches of a run that change the same lines, and in which files."""

    lines: list[str]
    branches: list[str]
    files: list[str]


class RunBranches(Struct, frozen=True, kw_only=True):
    """What the lines of a run left in git, and what of it conflicts and is not merged yet."""

    branches: list[LineBranch]
    conflicts: list[BranchConflict]
    note: str | None = None
    """Why the conflicts are not known, where they are not."""


class Cleaned(Struct, frozen=True, kw_only=True):
    """Which runs were deleted, or would be."""

    run_ids: list[int]


class ParkedDriver(Struct, frozen=True, kw_only=True):
    """A driver that is not used for a while: its account is at a limit, or it failed again and again."""

    driver: str
    until: str
    reason: str
    failures: int


class Released(Struct, frozen=True, kw_only=True):
    """A driver that may be used again."""

    driver: str
    effort_ids: list[int]
    """What waited for it, and may begin now."""
    already: bool = False
    """It was not parked."""


class Admission(Struct, frozen=True, kw_only=True):
    """Whether an attempt may begin."""

    is_admitted: bool
    requeued: Completed | None = None
    """The effort, back in the queue until its driver may be used again."""
