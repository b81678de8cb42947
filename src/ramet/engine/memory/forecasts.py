"""Forecasts: what efforts will probably use, from the history of the same project, skill and model."""

from collections.abc import Iterable, Sequence

from ramet.engine.answers import answers
from ramet.engine.record import lookup
from ramet.engine.transaction import Transaction
from ramet.model.memory.forecast import find_spread, is_enough
from ramet.protocol.memory.usage import Forecast, ForecastReply, ForecastUsage, Planned, Spread
from ramet.store.memory import usage
from ramet.store.memory.usage import Finished

_MOST = 200
"""How many earlier efforts are considered, the newest first: agents and prices change."""


@answers(ForecastUsage)
def forecast(tx: Transaction, request: ForecastUsage) -> ForecastReply:
    """What the planned efforts will use, one kind at a time and together."""
    project_id = lookup.project_id(tx, request.project)
    items = [_forecast(tx, project_id, planned) for planned in request.planned]
    return ForecastReply(
        items=items,
        tokens=_add_up([(item.efforts, item.tokens) for item in items]),
        cost_usd=_add_up([(item.efforts, item.cost_usd) for item in items]),
        is_cost_estimated=any(item.is_cost_estimated for item in items),
    )


def _forecast(tx: Transaction, project_id: int | None, planned: Planned) -> Forecast:
    found, basis = _find_history(tx, project_id, planned)
    costs = [(each.cost_usd or 0.0) + (each.estimated_usd or 0.0) for each in found if _has_cost(each)]
    return Forecast(
        skill=planned.skill,
        model=planned.model,
        efforts=planned.efforts,
        history=len(found),
        basis=basis,
        tokens=_spread([each.tokens for each in found]),
        cost_usd=_spread(costs),
        is_cost_estimated=any(each.estimated_usd for each in found),
    )


def _find_history(tx: Transaction, project_id: int | None, planned: Planned) -> tuple[list[Finished], str | None]:
    """The efforts that are most alike, if there are some; else the next wider choice that has any."""
    skill, model = planned.skill, planned.model
    here = "of this project" if project_id is not None else "of all projects"
    choices: list[tuple[int | None, str | None, str | None, str]] = [
        *([(project_id, skill, model, f"{skill} with {model} {here}")] if model else []),
        (project_id, skill, None, f"{skill} {here}"),
        (project_id, None, None, f"any skill {here}"),
        (None, skill, None, f"{skill} of all projects"),
        (None, None, None, "any skill of all projects"),
    ]
    fewer: tuple[list[Finished], str | None] = ([], None)
    for project, named_skill, named_model, basis in choices:
        found = usage.list_finished(tx.db, project_id=project, skill=named_skill, model=named_model, most=_MOST)
        if is_enough(len(found)):
            return found, basis
        if found and not fewer[0]:
            fewer = found, basis
    return fewer


def _has_cost(each: Finished) -> bool:
    return each.cost_usd is not None or each.estimated_usd is not None


def _spread(amounts: Sequence[float]) -> Spread | None:
    if not amounts:
        return None
    median, p90 = find_spread(amounts)
    return Spread(median=median, p90=p90)


def _add_up(kinds: Iterable[tuple[int, Spread | None]]) -> Spread | None:
    """All efforts together: many times the middle, and many times what nine of ten do not exceed, which is cautious."""
    median = p90 = 0.0
    for efforts, spread in kinds:
        if spread is None:
            return None
        median, p90 = median + efforts * spread.median, p90 + efforts * spread.p90
    return Spread(median=median, p90=p90)
