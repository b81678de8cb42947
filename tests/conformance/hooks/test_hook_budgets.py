"""Budgets of sessions that people start by hand: whatever tells of a cost, and whichever window goes on, each of it
counts once in what binds it.
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from tests.conformance.family import begin, bound, spawn
from tests.conformance.hook_calls import (
    OTHER_WINDOW,
    entry,
    hook,
    ingest,
    session,
    start,
)
from tests.conformance.spending import tokens, use
from tests.world import World, open_world

from ramet.errors import BudgetExceeded, InvalidParams

PATIENCE_SECONDS = 60
OTHER_TRANSCRIPT = f"/home/dev/{OTHER_WINDOW}.jsonl"


def bind(world: World, of: int, **limits: float) -> None:
    world.call("budget.set", session_id=of, **limits)


def own(world: World, of: int) -> object:
    return world.call("budget.get", session_id=of).own


def spent(world: World, of: int) -> float:
    return float(world.call("budget.get", session_id=of).own.spent_cost_usd)


def say_used(world: World, of: int, key: str, count: int, path: str = OTHER_TRANSCRIPT) -> None:
    ingest(world, of, entry(key, kind="usage", usage={"input_tokens": count}), path=path)


def open_two(world: World) -> tuple[int, int]:
    """A window that has handed off, and another one that is open."""
    first = start(world)
    world.call("db.session.handoff", session_id=first, summary="half")
    return first, start(world, native_id=OTHER_WINDOW, transcript_path=OTHER_TRANSCRIPT)


def go_on(world: World, first: int) -> None:
    world.call("db.session.continue", session_id=first, driver="claude", native_id=OTHER_WINDOW)


@pytest.mark.requirement("R286")
def test_what_a_status_line_says_counts_until_the_transcript_says_it(world: World) -> None:
    above = start(world)
    bind(world, above, cost_usd=10.0)
    for cost in (2.0, 5.0):
        hook(world, "status_line", usage={"cost_usd": cost})
    assert spent(world, above) == 5.0
    assert world.call("db.check").passed
    ingest(world, above, entry("cost/1", kind="usage", usage={"cost_usd": 6.0}))
    hook(world, "status_line", usage={"cost_usd": 7.0})
    assert spent(world, above) == 6.0
    assert world.call("db.check").passed


@pytest.mark.requirement("R286")
def test_a_session_that_has_spent_its_money_by_its_status_line_gets_no_child(world: World) -> None:
    above = start(world)
    bind(world, above, cost_usd=1.0)
    hook(world, "status_line", usage={"cost_usd": 5.0})
    with pytest.raises(BudgetExceeded):
        world.call("spawn.agent", parent_session_id=above, goal="look")


@pytest.mark.requirement("R286")
def test_a_window_that_goes_on_behind_another_one_takes_its_bounds_along(world: World) -> None:
    first, second = open_two(world)
    below = hook(world, "subagent_start", native_id=OTHER_WINDOW, agent_id="a1").session_id
    bind(world, second, tokens=100)
    bind(world, below, tokens=50)
    go_on(world, first)
    say_used(world, below, "usage/m1", 30, path="/t/a1.jsonl")
    say_used(world, second, "usage/m2", 70)
    assert [tokens(own(world, each)) for each in (second, below)] == [(100, 100, 20), (50, 30, 0)]
    assert world.call("db.check").passed
    with pytest.raises(BudgetExceeded):
        world.call("spawn.agent", parent_session_id=second, goal="look")


@pytest.mark.requirement("R286")
def test_what_a_window_used_before_it_went_on_counts_for_the_one_before_it(world: World) -> None:
    first, second = open_two(world)
    bind(world, first, tokens=100)
    bind(world, second, tokens=100)
    say_used(world, second, "usage/m1", 70)
    go_on(world, first)
    go_on(world, first)
    say_used(world, second, "usage/m2", 10)
    assert [tokens(own(world, each))[:2] for each in (first, second)] == [(100, 80), (100, 80)]
    assert world.call("db.check").passed


@pytest.mark.requirement("R286")
def test_a_bound_of_the_configuration_holds_for_both_windows_together(world: World) -> None:
    bound(world, tokens=100)
    first, second = open_two(world)
    say_used(world, first, "usage/m0", 40, path="/t/first.jsonl")
    say_used(world, second, "usage/m1", 70)
    go_on(world, first)
    assert tokens(own(world, first))[:2] == (100, 110)
    with pytest.raises(BudgetExceeded):
        world.call("spawn.agent", parent_session_id=second, goal="look")


@pytest.mark.requirement("R286")
def test_a_window_that_goes_on_while_agents_report_below_it_counts_every_call(
    tmp_path: Path, postgres_url: str
) -> None:
    with open_world(tmp_path, postgres_url) as world:
        first, second = open_two(world)
        bind(world, first, tokens=10_000)
        children = [begin(world, spawn(world, second), f"host/{number + 2}") for number in range(3)]
        at_once = Barrier(4)

        def act(number: int) -> None:
            each = World(world.store, world.clock)
            try:
                at_once.wait(PATIENCE_SECONDS)
                if number == 3:
                    go_on(each, first)
                    return
                for call in range(20):
                    use(each, children[number], 1, f"call {call}")
            finally:
                each.db.close()

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(act, range(4)))
        assert tokens(own(world, first))[:2] == (10_000, 60)
        assert world.call("db.check").passed


def test_a_window_that_goes_on_behind_another_one_says_so_in_the_stream(world: World) -> None:
    first, second = open_two(world)
    go_on(world, first)
    (told,) = world.call("events.list", kind="session.continued").items
    assert (told.session_id, told.data) == (second, {"prev_session_id": first, "root_session_id": first})


def test_a_window_that_continues_one_does_not_continue_another(world: World) -> None:
    first, _ = open_two(world)
    other = start(world, native_id="third")
    start(world, native_id="fourth")
    world.call("db.session.handoff", session_id=other, summary="half")
    world.call("db.session.continue", session_id=first, driver="claude", native_id="fourth")
    before = world.dump()
    with pytest.raises(InvalidParams, match="cannot continue"):
        world.call("db.session.continue", session_id=other, driver="claude", native_id="fourth")
    assert world.dump() == before
    assert session(world, "claude:fourth").prev_session_id == first
