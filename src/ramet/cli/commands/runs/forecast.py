"""The forecast before a fan-out: what it will probably use, and whether the budgets have room for it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ramet.cli.commands.memory.usage_table import compact
from ramet.cli.commands.record.held_work import form
from ramet.cli.commands.record.project_scope import find_scope
from ramet.cli.invocation import Invocation
from ramet.cli.output import count
from ramet.cli.screens.effort_lines import dollars
from ramet.model.record.budget import BudgetUse, Unit
from ramet.model.runs.run import RunLimits
from ramet.protocol.memory.usage import ForecastReply, ForecastUsage, Planned, Spread
from ramet.protocol.record.daily_budgets import ListBudgets

_MOST_KINDS = 1000


def plan(kinds: Iterable[tuple[str, str | None]]) -> list[Planned]:
    """The efforts of each skill and model."""
    counted = Counter(kinds).most_common(_MOST_KINDS)
    return [Planned(skill=skill, model=model, efforts=number) for (skill, model), number in counted]


def ask_forecast(invocation: Invocation, planned: Sequence[Planned]) -> ForecastReply:
    """What these efforts will probably use in the project of the current directory."""
    scope = find_scope(invocation)
    return invocation.ask(ForecastUsage(planned=list(planned), project=scope.project_id))


def list_lines(invocation: Invocation, planned: Sequence[Planned], limits: RunLimits | None = None) -> list[str]:
    """The forecast for people, and a warning for each budget that has less room."""
    reply = ask_forecast(invocation, planned)
    scope = find_scope(invocation)
    uses = invocation.ask(ListBudgets(project=scope.project_id)).items if reply.tokens else []
    return [say(reply), *_warn(reply, uses, limits or RunLimits())]


def say(reply: ForecastReply) -> str:
    """`forecast: 6 efforts, ~$1.20 (90%: $3.40), 1.2M tokens (90%: 3M); from 14 efforts: do of this project`."""
    number = sum(item.efforts for item in reply.items)
    missing = sorted({item.skill for item in reply.items if not item.history})
    if missing:
        return f"forecast: no history of {', '.join(missing)} yet, so the use of {count(number, 'effort')} is unknown"
    parts = [count(number, "effort")]
    if reply.cost_usd is not None:
        parts.append(_say_spread(_dollars(reply.cost_usd.median), _dollars(reply.cost_usd.p90)))
    else:
        parts.append("cost unknown")
    if reply.tokens is not None:
        parts.append(_say_spread(f"{compact(reply.tokens.median)} tokens", compact(reply.tokens.p90)))
    bases = dict.fromkeys(f"{count(item.history, 'effort')}: {item.basis}" for item in reply.items)
    return f"forecast: {', '.join(parts)}; from {'; '.join(bases)}"


def _say_spread(median: str, p90: str) -> str:
    return f"~{median} (90%: {p90})"


def _dollars(amount: float) -> str:
    return dollars(amount) or "$0.00"


def _warn(reply: ForecastReply, uses: Sequence[BudgetUse], limits: RunLimits) -> Iterator[str]:
    spreads: dict[Unit, Spread | None] = {"cost_usd": reply.cost_usd, "tokens": reply.tokens}
    for use in uses:
        spread, left = spreads[use.unit], max(0.0, use.limit - use.spent)
        if spread is not None and spread.p90 > left:
            yield f"the budget {use.key} has {form(use, left)} left, and the forecast may need more"
    if limits.cost_usd is not None and reply.cost_usd is not None and reply.cost_usd.p90 > limits.cost_usd:
        yield f"--max-cost is {_dollars(limits.cost_usd)}, and the forecast may need more"
    if limits.tokens is not None and reply.tokens is not None and reply.tokens.p90 > limits.tokens:
        yield f"--max-tokens is {limits.tokens:,}, and the forecast may need more"
