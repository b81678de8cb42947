"""Daily and project budgets in the database: what counts, what is held back, and that one notice is raised."""

from typing import Any

import pytest
from tests.conformance import queue_worker
from tests.conformance.spending import use
from tests.world import World

DAY = "2026-01-05T00:00:00Z"
NEXT_DAY = "2026-01-06T00:00:00Z"


def bound(limit: float, unit: str = "cost_usd", *, is_project: bool = False, **facts: Any) -> dict[str, Any]:
    day = {"since": DAY, "resets_at": NEXT_DAY}
    return {"key": "budget.daily_usd", "is_project": is_project, "unit": unit, "limit": limit, **day, **facts}


def spent(world: World, effort_id: int, **bounds: Any) -> list[float]:
    reply = world.call("budget.measure", bounds=[bound(1, **bounds)], effort_id=effort_id)
    return [use.spent for use in reply.items]


@pytest.mark.requirement("R397")
def test_a_budget_counts_its_day_and_its_project_by_everybody_who_shares_the_database(world: World) -> None:
    attempt = queue_worker.start(world)
    world.call("db.project.upsert", path="/barn")
    elsewhere = world.call("work.add", prompt="paint", skill="do", task="/barn/tasks/door")
    other = queue_worker.begin(
        world, queue_worker.claim(world, "other/1", effort_id=elsewhere.id), instance=queue_worker.OTHER_KEEPER
    )
    use(world, attempt, 100, "c1", 0.5)
    use(world, other, 10, "c1", 0.25)
    assert spent(world, attempt.effort.id) == [0.75]
    assert spent(world, attempt.effort.id, is_project=True) == [0.5]
    assert spent(world, elsewhere.id, is_project=True, unit="tokens") == [10]
    world.clock.advance(86_400)
    use(world, attempt, 300, "c1", 0.6)
    tomorrow = {"since": NEXT_DAY, "resets_at": "2026-01-07T00:00:00Z"}
    assert spent(world, attempt.effort.id, **tomorrow) == [pytest.approx(0.1)]
    total = {"since": None, "resets_at": None}
    assert spent(world, attempt.effort.id, unit="tokens", is_project=True, **total) == [300]


@pytest.mark.requirement("R397")
def test_a_claimed_effort_goes_back_without_an_attempt_and_one_notice_is_raised_for_the_day(world: World) -> None:
    attempt = queue_worker.start(world)
    use(world, attempt, 100, "c1", 1.0)
    waiting = queue_worker.add(world, "later")
    for _ in range(2):
        claimed = queue_worker.claim(world, "host/9", effort_id=waiting.id)
        held = world.call("work.hold", effort_id=waiting.id, generation=claimed.generation, bounds=[bound(1.0)])
        assert held.requeued.lifecycle == "queued"
        assert (held.requeued.attempts, held.requeued.not_before) == (0, None)
    (notice,) = [each for each in world.call("fleet.notices").items if each.kind == "budget"]
    assert notice.text.startswith("the daily budget is used up: $1.00 of $1.00 (budget.daily_usd); no more work starts")
    free = world.call("work.hold", effort_id=waiting.id, bounds=[bound(1.5)])
    assert (free.reached, free.requeued) == ([], None)
    assert queue_worker.claim(world, "host/9", effort_id=waiting.id).id == waiting.id


@pytest.mark.requirement("R397")
def test_a_project_whose_budget_is_used_up_is_left_out_and_others_continue(world: World) -> None:
    first = queue_worker.add(world, "held")
    world.call("db.project.upsert", path="/barn")
    other = world.call("work.add", prompt="paint", skill="do", task="/barn/tasks/door")
    held = world.call("work.get", effort_id=first.id).project_id
    assert world.call("work.next").id == first.id
    assert world.call("work.next", held=[held]).id == other.id
    assert queue_worker.claim(world, held=[held]).id == other.id
    assert queue_worker.claim(world, "host/2", held=[held]).refused == "missing"


@pytest.mark.requirement("R397")
def test_an_effort_that_was_queued_with_a_bound_keeps_it_through_its_attempts(world: World) -> None:
    effort = queue_worker.add(world, max_tokens=100, max_cost_usd=1.0)
    attempt = queue_worker.begin(world, queue_worker.claim(world, effort_id=effort.id))
    assert use(world, attempt, 60, "c1").stop is None
    queue_worker.complete(world, attempt, "error", failure="transient")
    world.clock.advance(3600)
    claimed = queue_worker.claim(world, "host/2", effort_id=effort.id)
    again = queue_worker.begin(world, claimed, instance=queue_worker.OTHER_KEEPER)
    stop = use(world, again, 50, "c2").stop
    assert (stop.outcome, "110 tokens of 100 tokens" in stop.reason) == ("budget", True)
    own = world.call("budget.get", session_id=attempt.session.id)
    assert (own.own.tokens, own.own.spent_tokens) == (100, 110)
