"""Requests and replies about what a landing would do."""

from typing import Annotated

from msgspec import Meta, Struct

from ramet.errors import (
    EffortNotFound,
    GitFailed,
    LandingRefused,
    ProjectNotFound,
    RunNotFound,
    WorktreeError,
)
from ramet.model.landing.landing import Method
from ramet.protocol.fields import Id, Name, Path, Text
from ramet.protocol.landing.landings import LandingRow
from ramet.protocol.operation import Change, Operation, Request
from ramet.protocol.replies import Page


class PlannedLanding(Struct, frozen=True, kw_only=True):
    """A branch that would land, and what is foreseen for it."""

    efforts: list[int]
    needs: list[int]
    """Efforts of this plan that land first."""
    branch: str
    head: str
    left_out: list[str]
    """Commits of uncommitted changes that stay behind."""
    title: str
    commits: int
    files: int
    insertions: int
    deletions: int
    conflicts: list[str]
    """The files in which it would conflict with the target, or with what lands before it."""
    trusted_files: list[str]
    """The files it changes that say what runs: configuration, hooks, settings of agent programs."""
    is_contained: bool
    """Whether the target has all of it already."""


class LandingPlan(Struct, frozen=True, kw_only=True):
    """What would land, in which order, and what does not."""

    project: str
    target: str
    tip: str
    method: Method
    entries: list[PlannedLanding]
    left_out: list[str]
    """Why each other effort does not land."""
    checks: dict[str, str]
    checks_source: str
    notes: list[str]
    """What the user should know: hooks that do not run, signatures, a checkout in the way."""


class PlanLanding(Request[LandingPlan], frozen=True, kw_only=True):
    """Show what would land, in which order, with the conflicts that are foreseen. Nothing changes."""

    op = Operation(
        "landing.plan",
        errors=(EffortNotFound, RunNotFound, ProjectNotFound, WorktreeError, GitFailed, LandingRefused),
        host="machine",
    )

    effort_ids: Annotated[list[Id], Meta(max_length=1000)] = []
    run_ids: Annotated[list[Id], Meta(max_length=1000)] = []
    directory: Path | None = None
    """The caller's directory. The branch of its checkout is the target, if none is named."""
    onto: Name | None = None
    method: Method | None = None
    """Default: `land.method`."""
    checks: Annotated[list[Text], Meta(max_length=100)] = []
    """Commands that have to succeed, in place of the configured ones."""
    include_changes: bool = False
    """Whether to land the uncommitted changes, too, that the work was started with (`--with-changes`)."""


class AddedLandings(Page[LandingRow], frozen=True, kw_only=True):
    """What was queued, and the plan that it follows."""

    plan: LandingPlan


class AddLandings(Change[AddedLandings], frozen=True, kw_only=True):
    """Queue the branches of efforts and runs for a target, in the order of their dependencies."""

    op = Operation(
        "landing.add",
        errors=(EffortNotFound, RunNotFound, ProjectNotFound, WorktreeError, GitFailed, LandingRefused),
        host="machine",
    )

    effort_ids: Annotated[list[Id], Meta(max_length=1000)] = []
    run_ids: Annotated[list[Id], Meta(max_length=1000)] = []
    directory: Path | None = None
    onto: Name | None = None
    method: Method | None = None
    checks: Annotated[list[Text], Meta(max_length=100)] = []
    include_changes: bool = False
