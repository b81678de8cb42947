"""Chains: what an effort is based on, and what its task has produced beside."""

from typing import Any

import pytest
from tests.conformance.queue_worker import add, run
from tests.world import World

from ramet.errors import EffortNotFound


def chain(world: World, effort: Any) -> Any:
    return world.call("work.chain", effort_id=effort.id)


@pytest.mark.requirement("R168", "R187")
def test_a_chain_is_the_effort_and_what_it_is_based_on_the_nearest_first(world: World) -> None:
    plan = add(world, skill="plan")
    run(world, plan, output_content="the plan")
    build = add(world, skill="implement", based_on=plan.id)
    review = add(world, skill="review", based_on=build.id)
    found = chain(world, review)
    assert [link.skill for link in found.efforts] == ["review", "implement", "plan"]
    assert (found.efforts[-1].output_content, found.project_path, found.missing) == ("the plan", "/shop", [])


@pytest.mark.requirement("R168")
def test_a_link_that_failed_gives_way_to_its_newest_copy_that_succeeded(world: World) -> None:
    plan = add(world, skill="plan")
    build = add(world, based_on=plan.id)
    run(world, plan, "error")
    assert [link.id for link in chain(world, build).efforts] == [build.id, plan.id]
    failed = world.call("work.retry", effort_id=plan.id)
    run(world, failed, "error")
    second = world.call("work.retry", effort_id=failed.id)
    run(world, second, output_content="the plan")
    assert [link.id for link in chain(world, build).efforts] == [build.id, second.id]
    third = world.call("work.retry", effort_id=plan.id)
    run(world, third, output_content="a newer plan")
    assert [link.id for link in chain(world, build).efforts] == [build.id, third.id]


@pytest.mark.requirement("R168")
def test_a_knotted_chain_ends_where_it_began(world: World) -> None:
    first = add(world)
    second = add(world, based_on=first.id)
    world.sql("UPDATE efforts SET based_on = :id WHERE id = :first", id=second.id, first=first.id)
    assert [link.id for link in chain(world, second).efforts] == [second.id, first.id]
    world.sql("UPDATE efforts SET based_on = id WHERE id = :id", id=second.id)
    assert [link.id for link in chain(world, second).efforts] == [second.id]


@pytest.mark.requirement("R168")
def test_a_parent_that_is_gone_is_named(world: World) -> None:
    effort = add(world)
    if world.is_sqlite:
        world.sql("PRAGMA foreign_keys = OFF")
    else:
        world.sql("ALTER TABLE efforts DROP CONSTRAINT efforts_based_on_fkey")
    try:
        world.sql("UPDATE efforts SET based_on = 99")
        assert (chain(world, effort).missing, len(chain(world, effort).efforts)) == ([99], 1)
    finally:
        world.sql("UPDATE efforts SET based_on = NULL")
        if not world.is_sqlite:
            foreign = "FOREIGN KEY (based_on) REFERENCES efforts (id) ON DELETE SET NULL"
            world.sql(f"ALTER TABLE efforts ADD CONSTRAINT efforts_based_on_fkey {foreign}")


def test_the_other_reports_of_the_task_come_along_the_newest_first(world: World) -> None:
    texts = [add(world, skill="explore") for _ in range(2)]
    for effort in texts:
        run(world, effort, output_content=f"report {effort.id}")
    run(world, add(world))
    run(world, add(world, task="/shop/tasks/till"), output_content="elsewhere")
    effort = add(world, based_on=texts[0].id)
    assert [each.id for each in chain(world, effort).earlier] == [texts[1].id]
    assert [each.id for each in chain(world, add(world)).earlier] == [texts[1].id, texts[0].id]


def test_a_chain_needs_its_effort(world: World) -> None:
    with pytest.raises(EffortNotFound):
        world.call("work.chain", effort_id=1)
