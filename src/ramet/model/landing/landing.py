"""A landing: one branch on its way into a target branch. It waits in the target's queue until a lander takes it."""

from datetime import datetime
from typing import Literal

from msgspec import Struct

from ramet.model.row_parts import Part

LandingState = Literal["queued", "landing", "landed", "failed", "conflicted", "stopped", "dropped", "undone"]
LandingKind = Literal["work", "undo"]
Method = Literal["merge", "squash", "rebase"]
LandingOutcome = Literal["landed", "failed", "conflicted", "stopped"]

MEANINGS: dict[LandingState, str] = {
    "queued": "it waits for its turn, or for a landing that it needs",
    "landing": "a lander merges and tests it",
    "landed": "the target has it",
    "failed": "a check failed; the target did not move",
    "conflicted": "it conflicts with the target; the target did not move",
    "stopped": "something else is in the way, which the reason says; the target did not move",
    "dropped": "a person removed it from the queue",
    "undone": "it was landed, and its changes were taken back",
}

TRANSITIONS: dict[LandingState, tuple[LandingState, ...]] = {
    "queued": ("landing", "dropped"),
    "landing": ("queued", "landed", "failed", "conflicted", "stopped"),
    "landed": ("undone",),
    "failed": ("queued", "dropped"),
    "conflicted": ("queued", "dropped"),
    "stopped": ("queued", "dropped"),
    "dropped": ("queued",),
    "undone": (),
}
"""From each state, the states that may follow. A landing goes back to the queue if its lander gives it up."""

UNFINISHED: frozenset[LandingState] = frozenset({"queued", "landing", "failed", "conflicted", "stopped"})
"""The states from which a landing can still land. What needs such a landing waits for it."""


class LandingLease(Part, frozen=True, kw_only=True, rename=lambda name: f"lease_{name}"):
    """The lander that has a landing, and until when. Each claim has a generation of its own."""

    owner: str | None
    generation: int
    expires_at: datetime | None


class Landing(Struct, frozen=True, kw_only=True):
    """One row of `landings`."""

    id: int
    project_id: int
    host: str
    """The machine whose clone has the target; empty if no machines share the database."""
    directory: str
    """The project's path on that machine."""
    repository: str
    """The folder that all worktrees of the repository share."""
    target: str
    kind: LandingKind
    method: Method
    state: LandingState
    efforts: list[int]
    needs: list[int]
    """The landings that have to land first."""
    undoes: int | None
    """The landing that this one takes back."""
    branch: str
    head: str
    """The commit that lands."""
    left_out: list[str]
    """Commits below it that do not land: uncommitted changes that the work was started with."""
    message: str
    checks: dict[str, str]
    """The commands that have to succeed, by name."""
    reason: str | None
    files: list[str]
    """The files that conflict."""
    log: str | None
    """The file with the output of the checks, on that machine."""
    tip: str | None
    """Where the target was."""
    tested: str | None
    """The commit that passed the checks. It is recorded before the target moves to it."""
    attempts: int
    created_at: datetime
    finished_at: datetime | None
    lease: LandingLease
