"""`ramet budget`: what a session and its children may use, and what they have used."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.look.tree import find_roots, own_session
from ramet.cli.commands.queue.limit_options import cost_option, tokens_option
from ramet.cli.commands.record.held_work import form
from ramet.cli.commands.record.project_scope import Scope, everywhere_option, find_scope
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, clean, count, print_json, show_items
from ramet.cli.screens.effort_lines import dollars
from ramet.model.record.budget import BudgetUse
from ramet.model.spawn.child import BudgetState
from ramet.protocol.record.budgets import BudgetReply, GetBudget, SetBudget
from ramet.protocol.record.daily_budgets import ListBudgets
from ramet.protocol.replies import Page

_NAMED = Scope.named()


class _Bound(NamedTuple):
    """One of a session's limits. What is left is neither used nor reserved for children."""

    session_id: int
    project_id: int
    name: str
    form: Callable[[float], str | None]
    limit: float
    used: float | None
    """None if it is unknown: the agents have used something, and neither a cost nor a price is known."""
    reserved: float
    is_estimated: bool = False

    def form_used(self) -> str | None:
        """What was used; an estimate is marked."""
        shown = None if self.used is None else self.form(self.used)
        return f"~{shown}" if shown and self.is_estimated else shown

    @property
    def left(self) -> str | None:
        left = None if self.used is None else max(self.limit - self.used - self.reserved, 0)
        return None if left is None else self.form(left) or "$0.00"


def _tokens(number: float) -> str:
    return f"{number:,.0f}"


_COLUMNS: Columns[_Bound] = {
    "SESSION": lambda row: f"s{row.session_id}",
    "BOUND": lambda row: row.name,
    "USED": lambda row: row.form_used(),
    "RESERVED": lambda row: row.form(row.reserved) if row.reserved else None,
    "LEFT": lambda row: row.left,
    "OF": lambda row: row.form(row.limit),
}


@click.command(
    cls=Command,
    examples=[
        "ramet budget",
        "ramet budget -A",
        "ramet budget s7",
        "ramet budget s7 --max-tokens 500000",
        "ramet budget s7 --max-cost 2.50",
        "ramet budget s7 --clear",
    ],
)
@click.argument("session", required=False, type=references.session)
@tokens_option("Limit the tokens of the session and its children.", "--tokens", into="tokens")
@cost_option("Limit the cost of the session and its children, in USD.", "--cost", into="cost")
@click.option("--clear", is_flag=True, help="Remove its limits. The limits of its parents still apply.")
@everywhere_option()
@click.pass_obj
def budget(
    invocation: Invocation,
    session: int | str | None,
    *,
    tokens: int | None,
    cost: float | None,
    clear: bool,
    everywhere: bool,
) -> None:
    """Show or set the budget of SESSION, including its children (default: show those of the project's open sessions).

    --max-tokens and --max-cost each set one limit and keep the other. A session that reaches a limit is stopped with
    the outcome `budget`, and its work is kept. A child that does not fit into the budget is refused. `~` marks a cost
    that is estimated from the price table. A cost of `-` is unknown: the agent reports none and its model has no price,
    so a cost limit cannot stop it. Daily and project budgets are set with `ramet config set budget.daily_usd`.
    """
    is_change = tokens is not None or cost is not None
    if clear and is_change:
        raise click.UsageError("give --clear, or --max-tokens and --max-cost, not both.")
    if session is None and (clear or is_change):
        raise click.UsageError("give the SESSION whose budget to change.")
    if session is None:
        scope = find_scope(invocation, everywhere=everywhere)
        roots = find_roots(invocation, scope)
        found_all = [invocation.ask(GetBudget(session_id=root)) for root in roots]
        return _show(invocation, found_all, scope, _list_days(invocation, scope))
    if clear:
        invocation.ask(SetBudget(session_id=session))
        return _show(invocation, [invocation.ask(GetBudget(session_id=session))])
    found = invocation.ask(GetBudget(session_id=session))
    if is_change:
        if found.own is not None:
            tokens, cost = tokens or found.own.tokens, cost or found.own.cost_usd
        invocation.ask(SetBudget(session_id=session, tokens=tokens, cost_usd=cost))
        found = invocation.ask(GetBudget(session_id=session))
    return _show(invocation, [found])


def _list_days(invocation: Invocation, scope: Scope) -> list[BudgetUse]:
    """The daily and project budgets; for an agent, those of its own project."""
    own = invocation.target.entrance is not None
    request = ListBudgets(session_id=own_session(invocation)) if own else ListBudgets(project=scope.project_id)
    return invocation.ask(request).items


def _show(
    invocation: Invocation, replies: list[BudgetReply], scope: Scope = _NAMED, days: Sequence[BudgetUse] = ()
) -> None:
    if invocation.as_json:
        found: Any = replies[0] if len(replies) == 1 and not days else {"items": replies, "days": list(days)}
        return print_json(found)
    if not replies and not days:
        return click.echo(scope.say("no sessions yet: `ramet work` runs queued efforts"))
    for use in days:
        whose = "all projects" if use.project_id is None else scope.name(use.project_id) or "this project"
        period = "in total" if use.resets_at is None else "today"
        left = form(use, max(0.0, use.limit - use.spent))
        click.echo(clean(f"{whose} {period}: {form(use, use.spent)} of {form(use, use.limit)} used, {left} left"))
    _show_sessions(invocation, replies, scope)
    return _show_children(replies)


def _show_children(replies: list[BudgetReply]) -> None:
    """What each child used, if one session is shown."""
    for child in replies[0].children if len(replies) == 1 else []:
        spent = dollars(child.cost_usd, is_estimated=child.is_cost_estimated)
        used = ", ".join(filter(None, [count(child.tokens, "token") if child.tokens else None, spent])) or "-"
        click.echo(f"child s{child.session_id} (e{child.effort_id}, {child.outcome or 'not ended'}) used {used}")


def _show_sessions(invocation: Invocation, replies: list[BudgetReply], scope: Scope) -> None:
    states = {
        state.session_id: (state, reply.project_id)
        for reply in replies
        for state in [reply.own, *reply.above]
        if state is not None
    }
    if states:
        rows = [bound for state, project_id in states.values() for bound in _bounds(state, project_id)]
        show_items(invocation, Page(items=rows), scope.widen_table(_COLUMNS, lambda row: row.project_id), nothing="")
    for reply in replies:
        if not reply.own and not reply.above:
            spent = dollars(reply.cost_usd, is_estimated=reply.is_cost_estimated)
            known = [count(reply.tokens, "token") if reply.tokens else None, spent]
            used = ", ".join(filter(None, known)) or "-"
            where = f" ({scope.name(reply.project_id)})" if scope.has_column else ""
            click.echo(clean(f"s{reply.session_id}{where} has no budget; used so far, with its children: {used}"))


def _bounds(state: BudgetState, project_id: int) -> Iterator[_Bound]:
    """The limits on tokens and on cost that are set."""
    if state.tokens is not None:
        yield _Bound(
            state.session_id,
            project_id,
            "tokens",
            _tokens,
            state.tokens,
            used=state.spent_tokens,
            reserved=state.reserved_tokens,
        )
    if state.cost_usd is not None:
        yield _Bound(
            state.session_id,
            project_id,
            "cost",
            dollars,
            state.cost_usd,
            used=state.spent_cost_usd,
            reserved=state.reserved_cost_usd,
            is_estimated=state.is_cost_estimated,
        )
