"""Tasks: containers of work that never finish."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.world import World

from ramet.errors import InvalidParams, ProjectNotFound

TASK = "/shop/tasks/cart"


@pytest.mark.requirement("R191", "R220", "R254")
def test_creating_a_task_twice_keeps_what_is_not_given(world: World) -> None:
    world.call("db.project.upsert", path="/shop")
    given = {"workspace": "apps/cart", "title": "Cart", "description": "Mend it", "keywords": "money, cart"}
    first = world.call("db.task.upsert", dir_path=TASK, **given)
    assert world.call("db.task.upsert", dir_path=TASK) == first
    changed = world.call("db.task.upsert", dir_path=TASK + "/", title="The cart")
    assert (changed.title, changed.workspace, changed.created_at) == ("The cart", "apps/cart", first.created_at)
    assert [task.dir_path for task in world.call("db.task.list").items] == [TASK]


@pytest.mark.requirement("R220")
@pytest.mark.parametrize(
    ("dir_path", "project"),
    [
        ("/shop/x", "/shop"),
        ("/shop/api/x", "/shop/api"),
        ("/shop/api", "/shop/api"),
        ("/shop/apiary", "/shop"),
        ("/shopping/x", "/"),
    ],
)
def test_a_tasks_project_is_the_one_with_the_longest_path_above_it(world: World, dir_path: str, project: str) -> None:
    projects = {path: world.call("db.project.upsert", path=path).id for path in ("/", "/shop", "/shop/api")}
    assert world.call("db.task.upsert", dir_path=dir_path).project_id == projects[project]


@pytest.mark.requirement("R220", "R253")
def test_a_task_outside_every_project_is_refused(world: World) -> None:
    world.call("db.project.upsert", path="/shop")
    with pytest.raises(ProjectNotFound) as refusal:
        world.call("db.task.upsert", dir_path="/shopping/x")
    assert (refusal.value.field, refusal.value.value) == ("dir_path", "/shopping/x")
    assert "ramet project add" in refusal.value.fix


@pytest.mark.requirement("R220")
def test_a_task_stays_in_its_project_when_a_nearer_one_comes(world: World) -> None:
    world.task()
    before = world.call("db.task.list").items[0].project_id
    world.call("db.project.upsert", path="/shop/tasks")
    assert world.call("db.task.upsert", dir_path=TASK, title="Cart").project_id == before
    assert world.call("events.list", kind="task.changed").items[-1].project_id == before


def _paths(world: World, **params: Any) -> list[str]:
    return sorted(task.dir_path for task in world.call("db.task.find", **params).items)


@pytest.fixture
def three_tasks(world: World) -> Sequence[str]:
    world.task("/shop/cart")
    world.task("/shop/till")
    world.task("/mill/wheel")
    world.call("db.task.upsert", dir_path="/shop/cart", title="Cart", workspace="apps/web", keywords="Money, cart_x")
    world.call("db.task.upsert", dir_path="/shop/till", description="counts money", workspace="apps/till")
    world.call("db.task.upsert", dir_path="/mill/wheel", title="100% wood! Änderung", workspace="apps/web")
    return ("/mill/wheel", "/shop/cart", "/shop/till")


@pytest.mark.requirement("R221")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("money", ["/shop/cart", "/shop/till"]),
        ("MONEY", ["/shop/cart", "/shop/till"]),
        ("wheel", ["/mill/wheel"]),
        ("t_x", ["/shop/cart"]),
        ("0%", ["/mill/wheel"]),
        ("d!", ["/mill/wheel"]),
        ("Änder", ["/mill/wheel"]),
        ("änder", []),
        ("o%d", []),
        ("'", []),
        ("", ["/mill/wheel", "/shop/cart", "/shop/till"]),
    ],
)
def test_tasks_are_found_by_a_word_anywhere_and_no_character_is_a_wildcard(
    world: World, three_tasks: Sequence[str], query: str, found: list[str]
) -> None:
    assert _paths(world, query=query) == found


@pytest.mark.requirement("R221", "R222")
def test_tasks_are_found_by_workspace_and_by_project(world: World, three_tasks: Sequence[str]) -> None:
    shop = world.call("db.project.upsert", path="/shop").id
    assert _paths(world, workspace="apps/web") == ["/mill/wheel", "/shop/cart"]
    assert _paths(world, workspace="apps") == []
    assert _paths(world, project="/shop") == _paths(world, project=shop) == ["/shop/cart", "/shop/till"]
    assert _paths(world, project="/shop", workspace="apps/web", query="cart") == ["/shop/cart"]
    assert _paths(world) == list(three_tasks)


@pytest.mark.requirement("R222")
def test_listing_tasks_starts_with_the_most_recently_active(world: World, three_tasks: Sequence[str]) -> None:
    world.clock.advance(60)
    world.effort("do", "/shop/till")
    world.clock.advance(60)
    world.effort("do", "/shop/cart")
    listed = [task.dir_path for task in world.call("db.task.list").items]
    assert listed == ["/shop/cart", "/shop/till", "/mill/wheel"]
    assert [task.dir_path for task in world.call("db.task.list", project="/mill").items] == ["/mill/wheel"]


@pytest.mark.requirement("R221", "R222", "R253")
@pytest.mark.parametrize(("project", "error"), [(99, ProjectNotFound), ("/no", ProjectNotFound), ("no", InvalidParams)])
def test_asking_for_a_project_that_is_not_there_is_refused(
    world: World, project: object, error: type[Exception]
) -> None:
    for name in ("db.task.find", "db.task.list"):
        with pytest.raises(error) as refusal:
            world.call(name, project=project)
        assert str(project) in str(getattr(refusal.value, "value", ""))


@pytest.mark.requirement("R206")
def test_a_task_is_active_while_it_has_active_efforts_and_never_finishes(world: World) -> None:
    efforts = [world.effort("plan"), world.effort("implement")]
    counts = []
    for effort in efforts:
        counts.append(world.call("db.task.list").items[0].active_count)
        world.call("db.effort.finish", effort_id=effort.id)
    assert [*counts, world.call("db.task.list").items[0].active_count] == [2, 1, 0]
    assert world.effort("review").ordinal == 3
