"""`ramet budget`: what sessions may use together with all below them, and what they have used."""

from collections.abc import Iterator
from typing import Any

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.commands.look.tree import find_roots
from ramet.cli.invocation import Invocation
from ramet.cli.output import Columns, Row, print_json, show_items

_UNITS = {"tokens": "{:,}", "cost_usd": "${:,.2f}"}
_COLUMNS: Columns = {
    "SESSION": "session",
    "BOUND": "bound",
    "USED": "used",
    "RESERVED": "reserved",
    "LEFT": "left",
    "OF": "of",
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
        return _show(invocation, [invocation.call("budget.get", session_id=root) for root in find_roots(invocation)])
    if is_change:
        own = invocation.call("budget.get", session_id=session)["own"] or {"tokens": None, "cost_usd": None}
        bounds: dict[str, Any] = {"tokens": tokens or own["tokens"], "cost_usd": cost or own["cost_usd"]}
        return _show(invocation, [invocation.call("budget.set", session_id=session, **bounds)])
    operation = "budget.set" if clear else "budget.get"
    return _show(invocation, [invocation.call(operation, session_id=session)])


def _show(invocation: Invocation, replies: list[Row]) -> None:
    if invocation.as_json:
        return print_json(replies[0] if len(replies) == 1 else {"items": replies})
    if not replies:
        return click.echo("no sessions yet: `ramet work` runs what is queued")
    bounds = {bound["session_id"]: bound for reply in replies for bound in [reply["own"], *reply["above"]] if bound}
    if bounds:
        rows = [row for bound in bounds.values() for row in _rows(bound)]
        show_items(invocation, {"items": rows}, _COLUMNS, nothing="")
    for reply in replies:
        if not reply["own"] and not reply["above"]:
            used = f"{reply['tokens']:,} tokens, ${reply['cost_usd']:,.2f}"
            click.echo(f"nothing bounds s{reply['session_id']}; with all below it, it has used {used}")
    return None


def _rows(bound: Row) -> Iterator[Row]:
    """A row for tokens and one for cost, where they are bounded. What is left is neither used nor promised."""
    for unit, form in _UNITS.items():
        if bound[unit] is None:
            continue
        used, reserved = bound[f"spent_{unit}"], bound[f"reserved_{unit}"]
        yield {
            "session": f"s{bound['session_id']}",
            "bound": unit.removesuffix("_usd"),
            "used": form.format(used),
            "reserved": form.format(reserved) if reserved else None,
            "left": form.format(max(bound[unit] - used - reserved, 0)),
            "of": form.format(bound[unit]),
        }
