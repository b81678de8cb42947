"""Usage: what agents used in a period, in groups, each call once."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.conformance import queue_worker
from tests.conformance.hook_calls import entry, ingest, start
from tests.conformance.prices import set_prices, used
from tests.conformance.spending import use
from tests.world import World

from ramet.errors import InvalidParams, ProjectNotFound
from ramet.store.record import usage_times


@pytest.fixture
def priced(world: World) -> World:
    """A world with a price table of two models."""
    return set_prices(world)


def show(world: World, *by: str, **params: Any) -> Any:
    given = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in params.items()}
    return world.call("usage.show", by=list(by), **given)


def today(world: World) -> datetime:
    return datetime.fromtimestamp(world.clock.now_ms() / 1000, UTC)


def checked(world: World) -> None:
    """What is counted by time is what is counted by key."""
    keyed = "SELECT session_id, sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens) FROM usage"
    timed = keyed.replace("FROM usage", "FROM usage_times")
    grouped = " GROUP BY session_id ORDER BY session_id"
    assert world.sql(keyed + grouped) == world.sql(timed + grouped)


@pytest.mark.requirement("R396")
def test_usage_is_grouped_by_everything_that_people_ask_for_and_summed_up(world: World) -> None:
    one = queue_worker.start(world, "host/1", driver="claude", model="large")
    two = queue_worker.start(world, "host/2", driver="codex", model="small", instance="keeper02")
    use(world, one, 100, "c1", 0.5)
    use(world, one, 50, "c2", 0.25)
    use(world, two, 10, "c1", None)
    reply = show(world, "agent", "effort")
    assert [(row.agent, row.effort_id, row.input_tokens, row.calls, row.cost_usd) for row in reply.items] == [
        ("claude", one.effort.id, 150, 2, 0.75),
        ("codex", two.effort.id, 10, 1, None),
    ]
    assert (reply.total.input_tokens, reply.total.cost_usd, reply.total.sessions) == (160, 0.75, 2)
    assert {row.skill for row in show(world, "skill").items} == {"do"}
    (day,) = show(world, "day").items
    assert (day.day, day.calls, day.input_tokens) == (today(world).date().isoformat(), 3, 160)
    (project,) = show(world, "project", "day").items
    assert (project.project_id, project.day, project.cost_usd) == (1, day.day, 0.75)
    assert show(world).items == []
    checked(world)


@pytest.mark.requirement("R396")
def test_a_call_that_is_told_in_parts_counts_once_and_at_its_own_time(priced: World) -> None:
    above = start(priced)
    yesterday = today(priced) - timedelta(days=1)
    for output in (1, 1, 200):
        said = used(input_tokens=1000, output_tokens=output, cache_read_tokens=3000)
        ingest(priced, above, {**said, "at": yesterday.isoformat()}, offset=100 + output)
    ingest(priced, above, used("usage/m2", input_tokens=500), offset=900)
    rows = show(priced, "day", "model").items
    assert [(row.day, row.model, row.calls, row.input_tokens, row.output_tokens) for row in rows] == [
        (yesterday.date().isoformat(), "small", 1, 1000, 200),
        (today(priced).date().isoformat(), "small", 1, 500, 0),
    ]
    assert rows[0].cache_share == 0.75
    assert rows[0].is_cost_estimated
    assert rows[0].cost_usd == pytest.approx((1000 * 1 + 200 * 5 + 3000 * 0.1) / 1_000_000)
    assert show(priced, since=yesterday + timedelta(hours=2)).total.input_tokens == 500
    assert show(priced, until=yesterday + timedelta(hours=2)).total.input_tokens == 1000
    checked(priced)


@pytest.mark.requirement("R396")
def test_a_sum_that_grows_for_days_is_spread_over_the_days_on_which_it_grew(world: World) -> None:
    attempt = queue_worker.start(world, driver="codex")
    use(world, attempt, 100, "thread")
    first = today(world).date().isoformat()
    world.clock.advance(86_400)
    use(world, attempt, 130, "thread")
    second = today(world).date().isoformat()
    assert [(row.day, row.input_tokens, row.calls) for row in show(world, "day").items] == [
        (first, 100, 1),
        (second, 30, 1),
    ]
    checked(world)


@pytest.mark.requirement("R396")
def test_a_copy_of_a_session_does_not_count_what_its_original_used(priced: World) -> None:
    original = start(priced)
    ingest(priced, original, used(input_tokens=1000), used("usage/m2", input_tokens=10))
    copy = start(priced, native_id="copy")
    ingest(priced, copy, used(input_tokens=1000), used("usage/m2", input_tokens=10), used("usage/m3", input_tokens=5))
    total = show(priced).total
    assert (total.input_tokens, total.calls) == (1015, 3)
    checked(priced)


@pytest.mark.requirement("R396")
def test_a_cost_of_the_whole_session_replaces_its_estimates_and_belongs_to_its_model(priced: World) -> None:
    above = start(priced)
    ingest(priced, above, used(input_tokens=1_000_000))
    assert show(priced).total.is_cost_estimated
    ingest(priced, above, entry("cost/1", kind="usage", usage={"cost_usd": 0.75}), offset=900)
    (row,) = show(priced, "model").items
    assert (row.model, row.cost_usd, row.is_cost_estimated) == ("small", 0.75, False)
    checked(priced)


@pytest.mark.requirement("R396")
def test_the_days_are_those_of_the_asked_time_zone_across_a_change_of_the_clocks(world: World) -> None:
    attempt = queue_worker.start(world)
    world.clock.now = int(datetime(2026, 3, 28, 23, 30, tzinfo=UTC).timestamp() * 1000)
    use(world, attempt, 1, "c1")
    world.clock.now = int(datetime(2026, 3, 29, 22, 30, tzinfo=UTC).timestamp() * 1000)
    use(world, attempt, 2, "c2")
    winter = {"since": "2026-01-01T00:00:00Z", "minutes": 60}
    summer = {"since": "2026-03-29T01:00:00Z", "minutes": 120}
    days = {row.day: row.input_tokens for row in show(world, "day", offsets=[winter, summer]).items if row.input_tokens}
    assert days == {"2026-03-29": 1, "2026-03-30": 2}
    assert {row.day for row in show(world, "day").items if row.input_tokens} == {"2026-03-28", "2026-03-29"}


@pytest.mark.requirement("R396")
def test_a_programs_nonsense_numbers_are_bounded_and_the_rest_is_still_shown(world: World) -> None:
    attempt = queue_worker.start(world)
    for number in range(3):
        use(world, attempt, 2**62, f"c{number}")
    assert show(world).total.input_tokens == 3 * 2**53
    assert show(world, "effort").items[0].effort_id == attempt.effort.id


@pytest.mark.requirement("R396")
def test_a_period_that_makes_no_sense_is_refused_by_name(world: World) -> None:
    now = today(world)
    with pytest.raises(InvalidParams, match="since is later than until"):
        show(world, since=now, until=now - timedelta(days=1))
    with pytest.raises(InvalidParams, match="since has no time zone"):
        show(world, since=datetime(2026, 1, 1))  # noqa: DTZ001
    with pytest.raises(InvalidParams, match="by"):
        show(world, "colour")
    with pytest.raises(ProjectNotFound):
        show(world, project=77)
    assert show(world).total.cost_usd is None


@pytest.mark.requirement("R455")
def test_tokens_of_injected_texts_are_counted_beside_the_input(world: World) -> None:
    attempt = queue_worker.start(world)
    use(world, attempt, 100)
    world.db.begin()
    usage_times.count_injected(world.db, attempt.session.id, 30, world.clock.now_ms())
    world.db.commit()
    total = show(world).total
    assert (total.input_tokens, total.injected_tokens) == (100, 30)


@pytest.mark.requirement("R396")
def test_the_time_of_agents_is_from_their_start_to_their_end(world: World) -> None:
    attempt = queue_worker.start(world)
    world.clock.advance(90)
    queue_worker.report(world, attempt, queue_worker.end())
    queue_worker.complete(world, attempt)
    assert show(world).total.seconds == pytest.approx(90, abs=0.01)
