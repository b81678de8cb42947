"""What agents cost whose programs do not say it: by the price table, each call once, and marked."""

from typing import Any

import pytest
from tests.conformance import family
from tests.conformance.hook_calls import entry, hook, ingest, session, start
from tests.conformance.prices import set_prices, used
from tests.conformance.spending import limit
from tests.world import World

from ramet.errors import UnmeasurableBound


@pytest.fixture
def priced(world: World) -> World:
    """A world with a price table of two models."""
    return set_prices(world)


def costs(world: World, of: int) -> list[Any]:
    """In `ps`, in `tree`, and in `budget`."""
    member, budget = world.call("fleet.status").items[0], world.call("budget.get", session_id=of)
    row = world.call("spawn.tree", session_id=of).items[0]
    found = [(each.cost_usd, each.is_cost_estimated) for each in (member, row, budget)]
    total = (row.total_cost_usd, row.is_total_cost_estimated)
    return [(None if cost is None else round(cost, 6), bool(mark)) for cost, mark in [*found, total]]


@pytest.mark.requirement("R371")
def test_a_session_whose_program_says_no_cost_has_an_estimate_and_its_context_while_it_works(priced: World) -> None:
    above = start(priced)
    tokens: dict[str, Any] = {
        "input_tokens": 1000,
        "cache_read_tokens": 40_000,
        "cache_write_tokens": 9000,
        "output_tokens": 200,
    }
    ingest(priced, above, used(**tokens, context_tokens=50_000))
    cost = (1000 * 1 + 40_000 * 0.1 + 9000 * 1.2 + 200 * 5) / 1_000_000
    assert costs(priced, above) == [(pytest.approx(cost), True)] * 4
    found = session(priced, above)
    assert (found.model, found.context_usage) == ("small", 0.5)
    assert priced.call("fleet.status").items[0].context_usage == 0.5


@pytest.mark.requirement("R371", "R397")
def test_a_cost_that_nobody_knows_is_none_and_not_zero(priced: World) -> None:
    above = start(priced)
    priced.call("budget.set", session_id=above, cost_usd=1.0)
    ingest(priced, above, used(model="home-made", input_tokens=1000, context_tokens=1000))
    assert costs(priced, above) == [(None, False)] * 4
    assert session(priced, above).context_usage is None
    with pytest.raises(UnmeasurableBound, match="its model home-made has no price"):
        priced.call("budget.set", session_id=above, cost_usd=2.0)
    assert priced.call("budget.get", session_id=above).own.spent_cost_usd is None


@pytest.mark.requirement("R371")
def test_a_call_is_priced_once_however_often_and_in_however_many_parts_it_is_told(priced: World) -> None:
    above = start(priced)
    for output in (1, 1, 200):
        ingest(priced, above, used(input_tokens=1000, output_tokens=output), offset=100 + output)
    ingest(priced, above, used("usage/m2", input_tokens=1000), offset=900)
    assert costs(priced, above)[0] == (pytest.approx((2000 + 200 * 5) / 1_000_000), True)


@pytest.mark.requirement("R371")
def test_a_call_with_a_long_context_has_its_own_price(priced: World) -> None:
    above = start(priced)
    ingest(priced, above, used("usage/m1", "large", input_tokens=100_000, context_tokens=100_000))
    ingest(priced, above, used("usage/m2", "large", input_tokens=300_000, context_tokens=300_000), offset=200)
    assert costs(priced, above)[0] == (1.0 + 6.0, True)


@pytest.mark.requirement("R371")
def test_a_thread_that_names_its_model_apart_is_priced_step_by_step_by_the_model_of_each(priced: World) -> None:
    above = start(priced, vendor="codex")
    ingest(priced, above, entry("t1", kind="meta", model="small"), offset=10)
    ingest(priced, above, used("thread", None, input_tokens=1000), offset=20)
    ingest(priced, above, used("thread", None, input_tokens=2000), offset=30)
    turn = entry("t2", kind="meta", model="large")
    ingest(
        priced, above, turn, used("thread", None, input_tokens=3000, window_tokens=4000, context_tokens=1000), offset=40
    )
    assert costs(priced, above)[0] == (pytest.approx((2 * 1000 * 1 + 1000 * 10) / 1_000_000), True)
    assert (session(priced, above).model, session(priced, above).context_usage) == ("large", 0.25)


@pytest.mark.requirement("R371")
def test_a_cost_of_the_whole_session_takes_the_place_of_its_estimates(priced: World) -> None:
    above = start(priced)
    priced.call("budget.set", session_id=above, cost_usd=9.0)
    ingest(priced, above, used("usage/m1", "large", input_tokens=100_000))
    ingest(priced, above, entry("cost/1", kind="usage", usage={"cost_usd": 2.5}), offset=200)
    assert costs(priced, above)[0] == (2.5, False)
    ingest(priced, above, used("usage/m2", "large", input_tokens=100_000), offset=300)
    assert costs(priced, above)[0] == (3.5, True)
    ingest(priced, above, entry("cost/1", kind="usage", usage={"cost_usd": 4.0}), offset=400)
    assert costs(priced, above)[0] == (4.0, False)
    assert priced.call("budget.get", session_id=above).own.spent_cost_usd == 4.0
    assert priced.call("db.check").passed


def test_a_status_line_knows_the_cost_and_the_context_better(priced: World) -> None:
    above = start(priced)
    ingest(priced, above, used("usage/m1", "large", input_tokens=100_000, context_tokens=100_000))
    hook(priced, "status_line", usage={"cost_usd": 0.5, "context_percent": 30})
    ingest(priced, above, used("usage/m2", "large", input_tokens=100_000, context_tokens=200_000), offset=200)
    assert costs(priced, above)[0] == (0.5, False)
    assert session(priced, above).context_usage == 0.3
    assert priced.call("db.check").passed


@pytest.mark.requirement("R371")
@pytest.mark.parametrize("is_child_last", [False, True])
def test_a_cost_that_has_sub_agents_in_it_is_counted_once_with_theirs(priced: World, is_child_last: bool) -> None:
    above = start(priced)
    below = hook(priced, "subagent_start", agent_id="a1").session_id

    def child() -> None:
        ingest(priced, below, used("usage/m2", "large", input_tokens=50_000), path="/t/a1.jsonl")

    def parent() -> None:
        ingest(priced, above, entry("cost/1", kind="usage", usage={"cost_usd": 2.0}))

    for tell in (parent, child) if is_child_last else (child, parent):
        tell()
    rows = {row.id: row for row in priced.call("spawn.tree", session_id=above).items}
    assert (rows[above].cost_usd, rows[below].cost_usd) == (1.5, 0.5)
    assert (rows[above].total_cost_usd, rows[above].is_total_cost_estimated) == (2.0, True)


@pytest.mark.requirement("R371")
def test_a_budget_in_dollars_counts_the_estimate(priced: World) -> None:
    attempt = family.parent(priced)
    limit(priced, attempt, cost_usd=0.5)
    usage = {"kind": "usage", "key": "run/large", "model": "large", "input_tokens": 60_000, "context_tokens": 60_000}
    told = {"session_id": attempt.session.id, "instance": attempt.session.instance}
    reported = priced.call("work.report", **told, seq=1, events=[usage])
    assert (reported.stop.outcome, session(priced, attempt.session.id).context_usage) == ("budget", 0.06)
    assert priced.call("budget.get", session_id=attempt.session.id).own.is_cost_estimated
    priced.call("work.report", **told, seq=2, events=[usage | {"cost_usd": 0.25}])
    spent = priced.call("budget.get", session_id=attempt.session.id)
    assert (spent.cost_usd, spent.is_cost_estimated) == (0.25, False)
    assert priced.call("db.check").passed
