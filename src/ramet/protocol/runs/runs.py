"""Requests and replies about runs, their lines and turns."""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from ramet.errors import (
    BranchInUse,
    BranchNotFound,
    CommitNotFound,
    GitFailed,
    ProjectNotFound,
    RunAttended,
    RunChanged,
    RunFinished,
    RunNotFound,
    SkillFileInvalid,
    TaskFileInvalid,
    UnknownSkill,
    UnmeasurableBound,
    WorktreeError,
)
from ramet.model.record.skill import WITHOUT_FILE
from ramet.model.runs.review import Finding
from ramet.model.runs.run import CHAIN_SKILLS, LineRow, Run, RunLimits, RunMode, RunState
from ramet.protocol.fields import Content, DriverName, Id, Name, Path, ProjectRef, TimeoutSeconds
from ramet.protocol.history.commits import BranchName
from ramet.protocol.operation import Change, Operation, Pages, Request
from ramet.protocol.pages import Limit
from ramet.protocol.record.starting_points import StartAt
from ramet.protocol.replies import Page

LineKey = Annotated[str, Meta(pattern=r"^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$")]

TurnRole = Literal["user", "assistant", "system"]


class NewLine(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of a task file, for a new run."""

    key: LineKey
    text: Annotated[Content, Meta(min_length=1)]
    skill: Name = "do"
    driver: DriverName | None = None
    model: Name | None = None
    depends_on: list[LineKey] = []
    timeout_seconds: TimeoutSeconds | None = None
    is_done: bool = False
    """Whether the line is already done: it is recorded, and not run."""
    accept_no_change: bool = False
    """Whether `no_change` is good enough: of this line for its dependents, and of the lines that it needs."""


class FindingRow(Finding, frozen=True, kw_only=True):
    """A finding of a review, and whether the newest review still reports it."""

    effort_id: int | None
    """The last review that reported it."""
    round: int
    """The round of that review."""
    state: Literal["open", "gone"]


class RunReply(Run, frozen=True, kw_only=True):
    """A run and the states of its lines."""

    state: RunState
    counts: dict[str, int]
    """The number of lines in each state."""
    tokens: int
    cost_usd: float | None
    is_cost_estimated: bool = False
    """Whether a part of the cost is estimated from the price table."""


TurnCursor = Annotated[str, Meta(pattern=r"^[0-9]{1,19}[.][0-9a-f]{0,64}$")]
"""A place in a run: how many lines or turns come before it, and the head of the conversation that they were read from,
which later turns and rewrites do not change.
"""


TURN_PAGE = Pages(size=10_000)
"""Every page of a conversation compiles all of it, so that its pages are longer than others."""

RUN_PAGE = Pages(items=("lines", "conversation"), size=10_000)


class TurnRow(Struct, frozen=True, kw_only=True):
    """One turn of a run's conversation."""

    role: TurnRole
    content: str
    timestamp: str
    tokens: int | None = None
    metadata: dict[str, Any] = {}


class RunDetail(RunReply, frozen=True, kw_only=True):
    """A run with its lines, its conversation and, for a chain, its reviews' findings.

    It contains every field of a checkpoint of seed 001, read from the database: `execution_id` is `id`, `plan_id` is
    `task_id`, `started_at` keeps its name, `tasks` are `lines` with their `state`, `last_checkpoint` is `saved_at`,
    `interrupted` is a value of `state`, `metadata` is the rest of the run, and `conversation` is `conversation`,
    which is empty if none was saved.
    """

    saved_at: str
    """When the run was last saved: at every turn and every change of a line."""
    lines: list[LineRow]
    conversation: list[TurnRow]
    findings: list[FindingRow]
    next: str | None = None
    """The cursor of the following lines and turns, or null if no more follow."""


class StartedRun(RunDetail, frozen=True, kw_only=True):
    """A run that was recorded."""

    uncommitted: list[str] = []
    """Files with uncommitted changes that its lines do not see."""
    base_note: str | None = None
    """What the user should know about its base."""


class StartRun(Change[StartedRun], frozen=True, kw_only=True):
    """Record a run and queue its lines; a chain starts with its plan. Nothing runs until `work.run` attends the run."""

    op = Operation(
        "run.start",
        errors=(
            *(ProjectNotFound, UnknownSkill, SkillFileInvalid, TaskFileInvalid, WorktreeError, GitFailed),
            UnmeasurableBound,
        ),
    )

    task: Path
    """The task that the lines' efforts belong to. It is created if it does not exist."""
    lines: Annotated[list[NewLine], Meta(max_length=20_000)] = field(default_factory=list)
    """The lines of a task file. A chain has none."""
    prompt: Content | None = None
    """Chain only: what to build."""
    mode: RunMode = "sequential"
    name: Name | None = None
    content_hash: Name | None = None
    limits: RunLimits | None = None
    stop_on_failure: bool = False
    keep_going: bool = False
    """Whether a line starts even if one that it depends on did not succeed (default: it is skipped)."""
    accept_no_change: bool = False
    """Whether lines that end with `no_change` satisfy their dependents."""
    save_conversation: bool = True
    driver: DriverName | None = None
    model: Name | None = None
    start: StartAt | None = None
    """Where the lines start that depend on no other line."""

    def skill_names(self) -> frozenset[str]:
        named = CHAIN_SKILLS if self.mode == "chain" else frozenset(line.skill for line in self.lines)
        return named - WITHOUT_FILE

    def reads_first(self) -> bool:
        return True


class GetRun(Request[RunDetail], frozen=True, kw_only=True):
    """Show a run with its lines, its conversation and its reviews' findings."""

    op = Operation("run.get", errors=(RunNotFound, CommitNotFound), is_long=True, pages=RUN_PAGE)

    run_id: Id
    outputs: bool = False
    """Whether to return each line's whole output (default: its first 2,000 characters)."""
    limit: Limit | None = None
    """The most lines, and the most turns, in one reply (default: all)."""
    cursor: TurnCursor | None = None
    """The `next` of the page before."""


class ListTurns(Request[Page[TurnRow]], frozen=True, kw_only=True):
    """List a run's conversation, oldest turn first. It is empty if the run saves none."""

    op = Operation("run.turns", errors=(RunNotFound, CommitNotFound), is_long=True, pages=TURN_PAGE)

    run_id: Id
    limit: Limit | None = None
    """The most turns in one reply (default: all)."""
    cursor: TurnCursor | None = None
    """The `next` of the page before."""


class ToldTurn(Struct, frozen=True):
    """A turn in the prompt of a line."""

    role: TurnRole
    content: str


class LineContext(Struct, frozen=True, kw_only=True):
    """What the prompt of a line contains of its run."""

    mode: RunMode
    started_at: datetime
    """When the run was last started or resumed."""
    is_saved: bool
    """Whether the run saves its conversation."""
    turns: list[ToldTurn] = []
    """The turns that fit into the window, oldest first."""
    is_cut: bool = False
    """Whether turns were left out or shortened."""


class RunContext(Request[LineContext], frozen=True, kw_only=True):
    """Compile the part of a run's conversation that goes into the prompt of a line, without its own open question."""

    op = Operation("run.context", errors=(RunNotFound,), audience="internal", is_long=True)

    run_id: Id
    effort_id: Id
    max_tokens: Annotated[int, Meta(ge=1)]
    """The size of the window."""


class ListRuns(Request[Page[RunReply]], frozen=True, kw_only=True):
    """List the runs, newest first; with `all`, including archived ones."""

    op = Operation("run.list", errors=(ProjectNotFound,), is_long=True, pages=Pages())

    all: bool = False
    """Whether to include archived runs."""
    project: ProjectRef | None = None
    """List only the runs of this project (default: all)."""
    cursor: Id | None = None
    limit: Limit = 100


class AttendRun(Change[RunReply], frozen=True, kw_only=True):
    """Attend a run: start it, resume it or keep it attended. Only the lines of attended runs are worked on."""

    op = Operation(
        "run.attend",
        errors=(RunNotFound, RunAttended, RunChanged, RunFinished, BranchNotFound, BranchInUse),
        audience="internal",
    )

    run_id: Id
    attender: Name
    begins: bool = False
    """Whether this starts or resumes the run (default: keep it attended)."""
    content_hash: Name | None = None
    """The hash of the current task file. If the file has changed, the run is refused unless `is_forced`."""
    is_forced: bool = False
    retry_failed: bool = False
    """Whether all failed lines are queued again. Lines that a limit of the run kept from starting always are, and so
    are skipped lines together with the lines that they need."""
    keep_going: bool = False
    """Whether, from now on, a line starts even if one that it depends on did not succeed."""
    accept_no_change: bool = False
    """Whether, from now on, lines that end with `no_change` satisfy their dependents."""
    limits: RunLimits | None = None
    """The run's limits from now on; a limit of None is left unchanged."""
    branch: BranchName | None = None
    """Continue the conversation on this branch, such as a fork of the run's own. It is the run's branch from now on."""
    lease_seconds: Annotated[int, Meta(ge=1, le=86_400)] = 60


class LeaveRun(Change[RunReply], frozen=True, kw_only=True):
    """Stop attending a run. If lines are left, the run is interrupted."""

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
    """The runs that were deleted, or that a dry run would delete."""

    run_ids: list[int]


class CleanRuns(Change[Cleaned], frozen=True, kw_only=True):
    """Delete runs that have been archived or finished for some days (default: 7)."""

    op = Operation("run.clean", errors=(ProjectNotFound,))

    days: Annotated[int, Meta(ge=0, le=36_500)] = 7
    """Delete runs that have been archived or finished for more days than this, with their conversations and findings.
    Their lines stay as finished efforts of their task."""
    project: ProjectRef | None = None
    """Delete only runs of this project (default: all)."""
    dry_run: bool = False
