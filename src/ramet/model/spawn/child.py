"""Spawning: a session delegates a goal to a child session, and gets a typed result.

What a child may use is fixed when it is spawned, by the engine alone: nothing that an agent writes changes its depth,
its parent or its limits.
"""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from ramet.errors import RametError
from ramet.model.record.effort import Outcome
from ramet.model.record.session import SessionStatus

MOST_AT_ONCE = 10
"""How many children one call may spawn."""
NOTES_CHARACTERS = 4096
"""How much of a child's last output stands for its report, where it wrote none."""
TOO_DEEP = "Max spawn depth exceeded"
"""How the refusal of a child begins whose parent is as deep as sessions may be."""

Progress = Literal["queued", "running", "ended"]
"""The progress of a child: it is queued, it runs, or it has ended with an outcome."""


class SpawnLimits(Struct, frozen=True, kw_only=True):
    """What a child and its descendants may use. None: as much as its parent."""

    seconds: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None


class SpawnResult(Struct, frozen=True, kw_only=True, rename={"child_session_id": "childSessionId"}):
    """A child's result for its parent. A child's failure is data."""

    child_session_id: int | None
    """None if nothing was created."""
    outcome: Outcome | None
    """None while it has not ended."""
    notes: str
    """The child's closing report, or else the end of its output; for a failure, what went wrong."""
    status: Progress | None = None
    """None if nothing was created."""
    artifacts: list[str] | None = None
    issues: list[str] | None = None
    effort_id: int | None = None
    code: str | None = None
    """The code of the error that refused it."""


def refused(error: RametError) -> SpawnResult:
    """What a parent learns of a child that was not spawned."""
    return SpawnResult(child_session_id=None, outcome="error", notes=explain(error), code=error.code)


def explain(error: RametError) -> str:
    """A refusal for an agent: what happened, and what to do."""
    return f"{error.message}; {error.fix}" if error.fix else error.message


class BudgetState(Struct, frozen=True, kw_only=True):
    """What a session and its descendants may use, have used, and have reserved for children."""

    session_id: int
    tokens: int | None
    cost_usd: float | None
    spent_tokens: int
    spent_cost_usd: float | None
    """None if it is unknown: tokens were used, and neither their cost nor their price is known."""
    reserved_tokens: int
    """What children may still use of their own budgets."""
    reserved_cost_usd: float
    is_cost_estimated: bool = False
    """Whether a part of the cost is estimated from the price table."""


class TreeRow(Struct, frozen=True, gc=False):
    """A session in its tree."""

    # A tree may have a hundred thousand rows, so they are built by position: by name takes ten times as long.
    id: int
    parent_session_id: int | None
    prev_session_id: int | None
    root_session_id: int
    spawn_depth: int
    task_id: str
    effort_id: int
    skill: str
    agent_id: str | None
    driver: str | None
    native_id: str | None
    branch: str
    goal: str | None
    status: SessionStatus
    outcome: Outcome | None
    notes: str | None
    created_at: datetime
    ended_at: datetime | None
    tokens: int
    """The session's own tokens."""
    cost_usd: float | None
    total_tokens: int
    """The tokens of the session and its descendants, each call counted once."""
    total_cost_usd: float | None
    driver_name: str | None = None
    """Its driver, or the profile that the user configured for it."""
    is_queued: bool = False
    """Whether its effort came with a prompt: from the queue, from a run or as a child."""
    project_id: int | None = None
    """The project of its task."""
    prompt: str | None = None
    """The beginning of the newest prompt that it was given; None if it has ended."""
    tool: str | None = None
    """Its newest tool call since that prompt: `Bash: make test`; None if it has ended."""
    is_cost_estimated: bool = False
    """Whether a part of its cost is estimated from the price table."""
    is_total_cost_estimated: bool = False
    title: str | None = None
    """Its name in its program."""
    forked_from_session_id: int | None = None
    """The session of which it is a copy."""
