"""`ramet budget`: what sessions may use together with all below them, and what they have used."""

from collections.abc import Iterator
from typing import NamedTuple

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.look.tree import find_roots
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, print_json, show_items
from ramet.model.spawn.child import BudgetState
from ramet.protocol.record.budgets import BudgetReply, GetBudget, SetBudget
from ramet.protocol.replies import Page


class _Bound(NamedTuple):
    """One of a session's bounds. What is left is neither used nor promised."""

    session_id: int
    name: str
    form: str
    limit: float
    used: float
    reserved: float


_COLUMNS: Columns[_Bound] = {
    "SESSION": lambda row: f"s{row.session_id}",
    "BOUND": lambda row: row.name,
    "USED": lambda row: row.form.format(row.used),
    "RESERVED": lambda row: row.form.format(row.reserved) if row.reserved else None,
    "LEFT": lambda row: row.form.format(max(row.limit - row.used - row.reserved, 0)),
    "OF": lambda row: row.form.format(row.limit),
}


@click.command(
    cls=Command,
    examples=[
        "ramet budget",
        "ramet budget s7",
        "ramet budget s7 --tokens 500000",
        "ramet budget s7 --cost 2.50",
        "ramet budget s7 --clear",
    ],
)
@click.argument("session", required=False, type=references.session)
@click.option("--tokens", type=click.IntRange(min=1), help="How many tokens it and all below it may use.")
@click.option("--cost", type=click.FloatRange(min=0, min_open=True), metavar="USD", help="How much they may cost.")
@click.option("--clear", is_flag=True, help="Take its bounds away. Those above it still bind it.")
@click.pass_obj
def budget(
    invocation: Invocation, session: int | str | None, tokens: int | None, cost: float | None, clear: bool
) -> None:
    """What SESSION and all below it may use, have used, and have promised to children; else of all that is going on.

    With --tokens or --cost its bound is set, and the other one stays. Whoever reaches a bound is ended with the outcome
    `budget`; what it did until then is kept. A child for which there is no room is refused.
    """
    is_change = tokens is not None or cost is not None
    if clear and is_change:
        raise click.UsageError("give --clear, or what to set, not both.")
    if session is None and (clear or is_change):
        raise click.UsageError("whose budget? Give SESSION.")
    if session is None:
        return _show(invocation, [invocation.ask(GetBudget(session_id=root)) for root in find_roots(invocation)])
    if clear:
        return _show(invocation, [invocation.ask(SetBudget(session_id=session))])
    found = invocation.ask(GetBudget(session_id=session))
    if is_change:
        if found.own is not None:
            tokens, cost = tokens or found.own.tokens, cost or found.own.cost_usd
        found = invocation.ask(SetBudget(session_id=session, tokens=tokens, cost_usd=cost))
    return _show(invocation, [found])


def _show(invocation: Invocation, replies: list[BudgetReply]) -> None:
    if invocation.as_json:
        return print_json(replies[0] if len(replies) == 1 else {"items": replies})
    if not replies:
        return click.echo("no sessions yet: `ramet work` runs what is queued")
    states = {state.session_id: state for reply in replies for state in [reply.own, *reply.above] if state}
    if states:
        rows = [bound for state in states.values() for bound in _bounds(state)]
        show_items(invocation, Page(items=rows), _COLUMNS, nothing="")
    for reply in replies:
        if not reply.own and not reply.above:
            used = f"{reply.tokens:,} tokens, ${reply.cost_usd:,.2f}"
            click.echo(f"nothing bounds s{reply.session_id}; with all below it, it has used {used}")
    return None


def _bounds(state: BudgetState) -> Iterator[_Bound]:
    """Those of tokens and of cost, where there are such."""
    if state.tokens is not None:
        yield _Bound(
            state.session_id, "tokens", "{:,}", state.tokens, used=state.spent_tokens, reserved=state.reserved_tokens
        )
    if state.cost_usd is not None:
        yield _Bound(
            state.session_id,
            "cost",
            "${:,.2f}",
            state.cost_usd,
            used=state.spent_cost_usd,
            reserved=state.reserved_cost_usd,
        )
