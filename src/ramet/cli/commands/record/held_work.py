"""Why nothing starts: the daily and project budgets that are used up."""

from collections.abc import Iterable

from ramet.cli.commands.record.project_scope import Scope
from ramet.cli.invocation import Invocation
from ramet.cli.screens.effort_lines import dollars
from ramet.model.record.budget import BudgetUse
from ramet.protocol.record.daily_budgets import ListBudgets


def list_reached(invocation: Invocation, scope: Scope) -> list[BudgetUse]:
    """The budgets that are used up. An agent learns of its own with `ramet budget`."""
    if invocation.target.entrance is not None:
        return []
    return [use for use in invocation.ask(ListBudgets(project=scope.project_id)).items if use.is_reached]


def explain(uses: Iterable[BudgetUse], scope: Scope) -> list[str]:
    """A sentence for each budget, with what can be done about it."""
    return [f"no new work starts: {describe_use(use, scope)}; {say_when(use)}" for use in uses]


def describe_use(use: BudgetUse, scope: Scope) -> str:
    """`the daily budget of shop is used up: $5.02 of $5.00`."""
    day = "" if use.resets_at is None else "daily "
    whose = "" if use.project_id is None else f" of {scope.name(use.project_id)}"
    return f"the {day}budget{whose} is used up: {form(use, use.spent)} of {form(use, use.limit)}"


def say_when(use: BudgetUse) -> str:
    """When work starts again, and how a person can let it start now."""
    how = f"raise {use.key} with `ramet config set`"
    return how if use.resets_at is None else f"wait until {use.resets_at.astimezone():%Y-%m-%d %H:%M}, or {how}"


def form(use: BudgetUse, amount: float) -> str:
    """An amount of the budget's unit; an estimate is marked."""
    if use.unit == "tokens":
        return f"{amount:,.0f} tokens"
    return dollars(amount, is_estimated=use.is_cost_estimated and amount == use.spent) or "$0.00"
