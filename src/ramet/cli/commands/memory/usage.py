"""`ramet usage`: what agents used and cost in a period."""

from datetime import UTC, datetime, timedelta
from typing import get_args

import click

from ramet.cli.command import Command
from ramet.cli.commands.memory.usage_table import draw
from ramet.cli.commands.record.project_scope import everywhere_option, find_scope
from ramet.cli.invocation import Invocation
from ramet.cli.output import count, paged, print_json
from ramet.cli.screens.styled_lines import print_lines, terminal_width
from ramet.cli.times import database_time, find_offsets, parse_since
from ramet.protocol.memory.usage import Group, ShowUsage, UsageReply, UtcOffset

_GROUPS: tuple[Group, ...] = get_args(Group)
_DAYS = 30


def _parse_groups(_ctx: click.Context, _param: click.Parameter, text: str) -> list[Group]:
    wanted = [name.strip().lower() for name in text.split(",") if name.strip()]
    known: list[Group] = [group for name in wanted for group in _GROUPS if group == name]
    unknown = [name for name in wanted if name not in _GROUPS]
    if unknown or not known:
        said = f"{unknown[0]!r} is no group" if unknown else "give at least one group"
        raise click.BadParameter(f"{said}; choose from {', '.join(_GROUPS)}.")
    return list(dict.fromkeys(known))


@click.command(
    cls=Command,
    examples=[
        "ramet usage",
        "ramet usage --since today",
        "ramet usage --by model,agent --since 7d",
        "ramet usage -A --by project --since 2026-03-01",
        "ramet usage --by effort --since 24h --json",
    ],
)
@click.option(
    "--since",
    metavar="WHEN",
    help=f"Start of the period: today, yesterday, 12h, 7d, 4w, 2026-03-01, or all (default: the last {_DAYS} days).",
)
@click.option(
    "--by",
    default="day",
    metavar="GROUP,...",
    callback=_parse_groups,
    help=f"Group by one or more of {', '.join(_GROUPS)} (default: day).",
)
@click.option("--limit", type=click.IntRange(1, 100_000), default=1000, help="Maximum number of rows (default: 1000).")
@everywhere_option("Count every project.")
@click.pass_obj
def usage(invocation: Invocation, *, since: str | None, by: list[Group], limit: int, everywhere: bool) -> None:
    """Show tokens, cost, cache share and time of the agents of this project.

    Each call of a model counts once, sub-agents included; agents that you start yourself count too, if hooks record
    them. INPUT is new input, READ and WRITE are the cache, and CACHE is the share of the input that was read from it.
    `~` marks a cost that is partly estimated from the price table. A cost of `-` is unknown: the program reports none
    and its model has no price (`ramet config set prices.input`). TIME is how long the agents ran that started then.
    Days are those of your time zone.
    """
    now = database_time()
    start = _find_start(since, now)
    scope = find_scope(invocation, everywhere=everywhere)
    offsets = find_offsets(start or datetime(2000, 1, 1, tzinfo=UTC), now)
    reply = invocation.ask(
        ShowUsage(
            since=start,
            by=by,
            project=scope.project_id,
            offsets=[UtcOffset(since=moment, minutes=minutes) for moment, minutes in offsets],
            limit=limit,
        )
    )
    if invocation.as_json:
        return print_json(reply)
    if not reply.items:
        return click.echo(scope.say(f"nothing was used{_say_since(since)}"))
    with paged(invocation):
        print_lines(draw(reply.items, reply.total, by, scope.names, terminal_width()), cut=True)
        click.echo(_explain(reply, now))
    return None


def _find_start(since: str | None, now: datetime) -> datetime | None:
    if since == "all":
        return None
    try:
        return parse_since(since or f"{_DAYS}d", now) if since else _first_day(now)
    except click.BadParameter as error:
        error.param_hint = "--since"
        raise


def _first_day(now: datetime) -> datetime:
    """The start of the first of the last days, so that no day is a part of one."""
    return parse_since("today", now) - timedelta(days=_DAYS - 1)


def _say_since(since: str | None) -> str:
    return "" if since == "all" else f" since {since}" if since else f" in the last {_DAYS} days"


def _explain(reply: UsageReply, now: datetime) -> str:
    """What the marks mean that are there, and whose days they are."""
    parts = []
    if reply.left_out:
        parts.append(f"{count(reply.left_out, 'row')} left out: --limit")
    if "day" in reply.by:
        parts.append(f"days of {now.astimezone().tzname() or 'UTC'}")
    if reply.total.is_cost_estimated:
        parts.append("~ estimated from the price table")
    if any(row.cost_usd is None and row.calls for row in reply.items):
        parts.append("- unknown")
    return "; ".join(parts) or f"since {reply.since.astimezone():%Y-%m-%d %H:%M}"
