"""A run: one execution of a task file, or of a chain of plan, implementation and reviews. Its lines are efforts."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from ramet.model.record.effort import Lifecycle, Outcome

RunMode = Literal["sequential", "parallel", "chain"]
LineState = Literal["pending", "in_progress", "completed", "no_change", "failed", "skipped"]
RunState = Literal["running", "interrupted", "finished"]

CHAIN_SKILLS = frozenset({"plan", "implement", "review", "improve"})
"""The skills of a chain's lines."""

Count = Annotated[int, Meta(ge=1, le=2**53)]


class RunLimits(Struct, frozen=True, kw_only=True):
    """What a run may use; None means no limit."""

    workers: Count | None = None
    """Maximum number of its lines that run at the same time."""
    seconds: Count | None = None
    """Maximum duration since it was last started or resumed."""
    tokens: Count | None = None
    cost_usd: Annotated[float, Meta(gt=0)] | None = None
    rounds: Annotated[int, Meta(ge=1, le=1000)] | None = None
    """Chain only: maximum number of reviews."""


class Run(Struct, frozen=True, kw_only=True):
    """One row of `runs`."""

    id: int
    project_id: int
    task_id: str
    name: str
    """The name for people: the task file's name, or the chain's first words."""
    mode: RunMode
    content_hash: str | None
    """The hash of the task file without its boxes, from when the run started."""
    limits: RunLimits
    stop_on_failure: bool
    keep_going: bool
    """Whether a line starts even if one that it depends on did not succeed (default: it is skipped)."""
    save_conversation: bool
    branch: str | None
    """The conversation, as a branch of the history."""
    created_at: datetime
    started_at: datetime
    """When it was last started or resumed."""
    attended_until: datetime | None
    finished_at: datetime | None
    archived_at: datetime | None
    reason: str | None
    """Why it ended early, or why no more of its lines are started."""
    base_commit: str | None
    """Where its lines start that depend on no other."""
    base_branch: str | None
    base_changes: str | None
    """The commit of the uncommitted changes that were taken along, on top of `base_commit`."""
    purged_at: datetime | None = None
    """When its texts were removed; None if it has them."""


class LineRow(Struct, frozen=True):
    """A line of a run, with the state of its effort."""

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
    """The first 2,000 characters of the output, unless the whole output was requested."""
    is_cost_estimated: bool = False
    """Whether a part of the cost is estimated from the price table."""


def derive_state(run: Run, *, is_attended: bool) -> RunState:
    """What a run is doing: nobody has to write down that it was interrupted."""
    if run.finished_at is not None:
        return "finished"
    return "running" if is_attended else "interrupted"


def derive_line_state(lifecycle: Lifecycle, outcome: Outcome | None, *, was_tried: bool) -> LineState:
    """What a line has come to. One that a bound of its run ended before it began is skipped, as is one that was
    dropped.
    """
    match lifecycle:
        case "queued":
            return "pending"
        case "active":
            return "in_progress"
        case "finished" if outcome == "success":
            return "completed"
        case "finished" if outcome == "no_change":
            return "no_change"
        case _:
            return "failed" if was_tried and outcome != "dropped" else "skipped"
