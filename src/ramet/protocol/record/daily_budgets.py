"""Requests and replies about daily and project budgets."""

from typing import Annotated

from msgspec import Meta

from ramet.errors import EffortNotFound, ProjectNotFound, SessionNotFound
from ramet.model.record.budget import Bound, BudgetUse
from ramet.protocol.fields import Id, ProjectRef, SessionId
from ramet.protocol.operation import Operation, Request
from ramet.protocol.replies import Page

Bounds = Annotated[list[Bound], Meta(max_length=1000)]


class ListBudgets(Request[Page[BudgetUse]], frozen=True, kw_only=True):
    """List the daily and project budgets that are configured, and what was used of each. A budget that is used up
    starts no more work until it resets or is raised.
    """

    op = Operation("budget.list", errors=(ProjectNotFound, SessionNotFound, EffortNotFound), host="machine", ring="own")

    project: ProjectRef | None = None
    """The budgets of one project (default: of every project)."""
    session_id: SessionId | None = None
    """The project of this session."""
    effort_id: Id | None = None
    """The project of this effort."""


class MeasureBounds(Request[Page[BudgetUse]], frozen=True, kw_only=True):
    """Measure what was used of some bounds in a project."""

    op = Operation("budget.measure", errors=(ProjectNotFound, EffortNotFound), audience="internal")

    bounds: Bounds
    project: ProjectRef | None = None
    effort_id: Id | None = None
    """The project of this effort, instead of `project`."""
