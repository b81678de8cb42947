"""Budgets: what a session and all below it may use, reserved before, counted with each call, settled after."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from tests.conformance import family, queue_worker
from tests.conformance.family import begin, parent, run, spawn
from tests.conformance.spending import budget, limit, tokens, use
from tests.world import Counting, World, open_world

from ramet.errors import BudgetExceeded, Forbidden, SessionNotFound

PATIENCE_SECONDS = 60


@pytest.mark.requirement("R141", "R286")
def test_what_is_used_below_a_session_counts_for_it_each_call_once(world: World) -> None:
    top = parent(world)
    limit(world, top, tokens=1000, cost_usd=5.0)
    child = begin(world, spawn(world, top))
    grandchild = begin(world, spawn(world, child), "host/3")
    use(world, top, 10, cost_usd=0.5)
    use(world, child, 20)
    use(world, grandchild, 30, cost_usd=0.25)
    use(world, grandchild, 40, cost_usd=0.5)
    reply = budget(world, top)
    assert (reply.tokens, reply.cost_usd) == (70, 1.0)
    assert (tokens(reply.own), reply.own.spent_cost_usd) == ((1000, 70, 0), 1.0)
    assert (budget(world, child).tokens, budget(world, grandchild).tokens) == (60, 40)


@pytest.mark.requirement("R141", "R286")
def test_a_childs_budget_is_taken_from_its_parents_and_what_is_left_of_it_comes_back(world: World) -> None:
    top = parent(world)
    limit(world, top, tokens=100)
    child = spawn(world, top, limits={"tokens": 60})
    assert tokens(budget(world, top).own) == (100, 0, 60)
    attempt = begin(world, child)
    use(world, attempt, 25)
    assert tokens(budget(world, top).own) == (100, 25, 35)
    queue_worker.complete(world, attempt)
    assert tokens(budget(world, top).own) == (100, 25, 0)


@pytest.mark.requirement("R141", "R286")
@pytest.mark.parametrize("asked", [{"tokens": 41}, {"cost_usd": 1.01}, {"tokens": 40, "cost_usd": 1.5}])
def test_a_child_that_asks_for_more_than_there_is_is_refused_and_nothing_is_created(
    world: World, asked: dict[str, Any]
) -> None:
    top = parent(world)
    limit(world, top, tokens=100, cost_usd=2.0)
    spawn(world, top, limits={"tokens": 50, "cost_usd": 1.0})
    use(world, top, 10)
    before = world.dump()
    with pytest.raises(BudgetExceeded, match=rf"session {top.session.id} and its descendants have used"):
        spawn(world, top, limits=asked)
    assert world.dump() == before
    spawn(world, top, limits={"tokens": 40, "cost_usd": 1.0})


@pytest.mark.requirement("R286")
def test_a_child_without_a_budget_is_refused_only_where_nothing_is_left(world: World) -> None:
    top = parent(world)
    limit(world, top, tokens=100)
    spawn(world, top)
    spawn(world, top, limits={"tokens": 100})
    with pytest.raises(BudgetExceeded):
        spawn(world, top)


@pytest.mark.requirement("R286")
def test_one_refused_child_of_several_leaves_the_others(world: World) -> None:
    top = parent(world)
    limit(world, top, tokens=100)
    orders = [{"goal": "look", "limits": {"tokens": each}} for each in (60, 50, 40)]
    results = world.call("spawn.agents", parent_session_id=top.session.id, agents=orders).results
    assert [result.code for result in results] == [None, "budget", None]
    assert tokens(budget(world, top).own) == (100, 0, 100)


@pytest.mark.requirement("R286")
def test_a_childs_own_children_are_paid_from_its_budget_not_twice_from_those_above(world: World) -> None:
    top = parent(world)
    limit(world, top, tokens=100)
    child = spawn(world, top, limits={"tokens": 60})
    spawn(world, top, limits={"tokens": 40})
    grandchild = spawn(world, child, limits={"tokens": 50})
    assert tokens(budget(world, top).own) == (100, 0, 100)
    assert tokens(budget(world, child).own) == (60, 0, 50)
    assert [state.session_id for state in budget(world, grandchild).above] == [child.child_session_id, top.session.id]
    with pytest.raises(BudgetExceeded):
        spawn(world, child, limits={"tokens": 11})


@pytest.mark.requirement("R286")
def test_what_a_detached_grandchild_was_promised_stays_promised_when_its_parent_is_over(world: World) -> None:
    top = parent(world)
    limit(world, top, tokens=100)
    child = spawn(world, top, limits={"tokens": 60})
    attempt = begin(world, child)
    spawn(world, child, limits={"tokens": 20})
    queue_worker.complete(world, attempt)
    assert tokens(budget(world, top).own) == (100, 0, 20)
    with pytest.raises(BudgetExceeded):
        spawn(world, top, limits={"tokens": 81})


@pytest.mark.requirement("R141", "R286")
def test_an_agent_hears_that_it_must_end_with_the_call_that_reaches_a_bound(world: World) -> None:
    top = parent(world)
    limit(world, top, tokens=100)
    child = begin(world, spawn(world, top))
    assert use(world, child, 99).stop is None
    stop = use(world, child, 5, "call 2").stop
    assert (stop.outcome, stop.reason) == (
        "budget",
        f"the budget is used up: session {top.session.id} and its descendants have used 104 tokens of 100 tokens",
    )
    done = queue_worker.complete(world, child, stop.outcome, reason=stop.reason, output_content="half of it")
    assert (done.outcome, done.output_content, done.requeued) == ("budget", "half of it", False)
    result = family.result(world, family.session(world, child))
    assert (result.outcome, result.notes.splitlines()[-1]) == ("budget", "half of it")


@pytest.mark.requirement("R286")
def test_a_bound_that_is_reached_leaves_one_notice_however_many_agents_it_ends(world: World) -> None:
    top = parent(world)
    limit(world, top, tokens=100)
    children = [begin(world, spawn(world, top), f"host/{number}") for number in (2, 3, 4)]
    stops = [use(world, child, 60).stop for child in children]
    assert [stop is not None for stop in stops] == [False, True, True]
    assert use(world, children[0], 60).stop is not None
    assert [notice.kind for notice in world.call("fleet.notices").items] == ["budget"]
    assert world.events().count("effort.stop_requested") == 3


@pytest.mark.requirement("R286")
def test_a_nearer_bound_ends_only_what_is_below_it(world: World) -> None:
    top = parent(world)
    limit(world, top, cost_usd=10.0)
    bounded = begin(world, spawn(world, top, limits={"cost_usd": 0.3}))
    other = begin(world, spawn(world, top), "host/3")
    for number in range(2):
        assert use(world, bounded, 1, f"call {number}", cost_usd=0.1).stop is None
    assert use(world, bounded, 1, "call 2", cost_usd=0.1).stop is not None
    assert use(world, other, 1, cost_usd=5.0).stop is None


@pytest.mark.requirement("R286")
def test_an_attempt_that_begins_when_nothing_is_left_is_asked_to_end_at_once(world: World) -> None:
    top = parent(world)
    limit(world, top, tokens=100)
    late = spawn(world, top)
    use(world, top, 100)
    attempt = begin(world, late)
    assert attempt.effort.stop_request.outcome == "budget"
    assert queue_worker.report(world, attempt, seq=1, instance=attempt.session.instance).stop.outcome == "budget"


@pytest.mark.requirement("R286")
def test_another_attempt_at_a_child_is_bound_by_what_the_first_was_given(world: World) -> None:
    top = parent(world)
    child = spawn(world, top, limits={"tokens": 100})
    first = begin(world, child)
    use(world, first, 60)
    queue_worker.complete(world, first, "error", failure="transient")
    world.clock.advance(600)
    second = begin(world, child, instance=queue_worker.OTHER_KEEPER)
    assert second.session.id != first.session.id
    assert use(world, second, 39).stop is None
    assert use(world, second, 40).stop.outcome == "budget"
    assert (budget(world, child).own.spent_tokens, budget(world, child).tokens) == (100, 100)
    assert tokens(limit(world, child, tokens=500).own) == (500, 100, 0)


@pytest.mark.requirement("R286")
def test_a_child_that_is_resumed_has_its_budget_again(world: World) -> None:
    top = parent(world)
    limit(world, top, tokens=100)
    child = spawn(world, top, limits={"tokens": 60})
    run(world, child, "stuck")
    assert tokens(budget(world, top).own) == (100, 0, 0)
    world.call("work.resume", effort_id=child.effort_id)
    begin(world, child, "host/5", instance=queue_worker.OTHER_KEEPER)
    assert tokens(budget(world, top).own) == (100, 0, 60)


@pytest.mark.requirement("R286")
def test_a_bound_counts_what_was_used_before_it_was_set_and_may_be_raised(world: World) -> None:
    top = parent(world)
    child = begin(world, spawn(world, top))
    use(world, child, 80)
    assert tokens(limit(world, top, tokens=100).own) == (100, 80, 0)
    assert tokens(limit(world, top, tokens=50).own) == (50, 80, 0)
    with pytest.raises(BudgetExceeded):
        spawn(world, top)
    limit(world, top, tokens=200)
    spawn(world, top)
    assert use(world, child, 120).stop is None
    assert limit(world, top).own is None
    assert use(world, child, 1000, "call 2").stop is None


@pytest.mark.requirement("R286")
def test_a_session_whose_bound_was_taken_away_is_promised_nothing(world: World) -> None:
    top = parent(world)
    limit(world, top, tokens=100)
    child = spawn(world, top, limits={"tokens": 60})
    spawn(world, child, limits={"tokens": 20})
    limit(world, child)
    assert tokens(budget(world, top).own) == (100, 0, 20)


@pytest.mark.requirement("R286")
def test_a_bound_on_a_child_that_is_over_promises_it_nothing(world: World) -> None:
    top = parent(world)
    limit(world, top, tokens=100)
    child = spawn(world, top)
    run(world, child)
    limit(world, child, tokens=50)
    assert tokens(budget(world, top).own) == (100, 0, 0)


@pytest.mark.requirement("R286")
def test_the_configuration_bounds_a_tree_that_has_no_budget_of_its_own(world: World) -> None:
    family.bound(world, tokens=100)
    top, other = parent(world), parent(world, "host/9", instance=queue_worker.OTHER_KEEPER)
    limit(world, other, tokens=1000)
    child = begin(world, spawn(world, top))
    assert tokens(budget(world, child).above[0]) == (100, 0, 0)
    with pytest.raises(BudgetExceeded):
        spawn(world, top, limits={"tokens": 101})
    assert use(world, child, 100).stop.outcome == "budget"
    assert use(world, other, 100).stop is None


@pytest.mark.requirement("R286")
def test_all_attempts_at_a_root_are_one_tree_with_one_budget(world: World) -> None:
    family.bound(world, tokens=100)
    first = parent(world)
    use(world, first, 60)
    queue_worker.complete(world, first, "error", failure="transient")
    world.clock.advance(600)
    claimed = queue_worker.claim(world, effort_id=first.effort.id)
    second = queue_worker.begin(world, claimed, instance=queue_worker.OTHER_KEEPER)
    assert second.session.root_session_id == first.session.id
    assert use(world, second, 40).stop.outcome == "budget"


@pytest.mark.requirement("R286")
def test_an_agent_sees_its_own_budget_and_no_other_and_can_set_none(world: World) -> None:
    top = parent(world)
    limit(world, top, tokens=100)
    child, sibling = (spawn(world, top) for _ in range(2))
    assert family.as_agent(world, child, "budget.get", session_id=child.child_session_id).own is None
    for stranger in (top.session.id, sibling.child_session_id):
        with pytest.raises(Forbidden):
            family.as_agent(world, child, "budget.get", session_id=stranger)
    with pytest.raises(SessionNotFound):
        world.call("budget.set", session_id=99, tokens=1)


@pytest.mark.requirement("R286")
def test_a_tree_without_a_bound_costs_one_look_at_each_report_of_usage(world: World) -> None:
    top = parent(world)
    counting = Counting(world.db)
    world.db = counting
    use(world, top, 10)
    plain = len(counting.names)
    world.db = counting.inner
    limit(world, top, tokens=100)
    world.db = counting
    counting.names.clear()
    use(world, top, 10, "call 2")
    world.db = counting.inner
    assert counting.names.count("is_bounded") == 1
    assert len(counting.names) == plain + 3


@pytest.mark.requirement("R286")
def test_two_that_reserve_at_once_are_not_promised_the_same(tmp_path: Path, postgres_url: str) -> None:
    with open_world(tmp_path, postgres_url) as world:
        top = parent(world)
        limit(world, top, tokens=100)
        said = _at_once(world, 4, lambda each, _: _try_spawn(each, top))
        assert sorted(said) == ["budget", "budget", "done", "done"]
        assert tokens(budget(world, top).own) == (100, 0, 80)


@pytest.mark.requirement("R286")
def test_agents_that_report_at_once_are_all_counted_and_the_one_that_reaches_the_bound_hears_it(
    tmp_path: Path, postgres_url: str
) -> None:
    with open_world(tmp_path, postgres_url) as world:
        top = parent(world)
        limit(world, top, tokens=100)
        children = [begin(world, spawn(world, top), f"host/{number + 2}") for number in range(4)]

        def report(each: World, number: int) -> list[bool]:
            return [use(each, children[number], 5, f"call {call}").stop is not None for call in range(5)]

        heard = _at_once(world, 4, report)
        assert tokens(budget(world, top).own) == (100, 100, 0)
        assert sum(stop for own in heard for stop in own) == 1


@pytest.mark.requirement("R286")
def test_a_budget_that_is_set_while_agents_report_counts_every_call(tmp_path: Path, postgres_url: str) -> None:
    with open_world(tmp_path, postgres_url) as world:
        top = parent(world)
        children = [begin(world, spawn(world, top), f"host/{number + 2}") for number in range(3)]

        def act(each: World, number: int) -> None:
            if number == 3:
                limit(each, top, tokens=10_000)
                return
            for call in range(20):
                use(each, children[number], 1, f"call {call}")

        _at_once(world, 4, act)
        assert tokens(budget(world, top).own) == (10_000, 60, 0)


def _try_spawn(world: World, top: Any) -> str:
    try:
        spawn(world, top, limits={"tokens": 40})
    except BudgetExceeded as error:
        return error.code
    return "done"


def _at_once(world: World, number: int, work: Callable[[World, int], Any]) -> list[Any]:
    """So many at the same moment, each with a connection of its own; what each found."""
    start = Barrier(number)

    def run_one(index: int) -> Any:
        own = World(world.store, world.clock)
        try:
            start.wait(PATIENCE_SECONDS)
            return work(own, index)
        finally:
            own.db.close()

    with ThreadPoolExecutor(number) as threads:
        return list(threads.map(run_one, range(number)))
