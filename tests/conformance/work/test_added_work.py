"""Adding work from a directory: project, task, title and effort in one operation."""

from typing import Any

import pytest
from tests.world import World

from ramet.errors import InvalidParams, ProjectNotFound, UnknownSkill

HERE = {"directory": "/code/shop/src", "repository": "/code/shop"}


def add(world: World, prompt: str = "Mend the cart\nIt forgets things.", **params: Any) -> Any:
    return world.call("work.add", prompt=prompt, **{"here": HERE, **params})


def test_a_repository_becomes_a_project_and_the_prompt_a_task_with_a_title(world: World) -> None:
    effort = add(world)
    assert (effort.registered, effort.task_id) == ("/code/shop", "/code/shop/.ramet/tasks/mend-the-cart")
    assert [project.path for project in world.call("db.project.list").items] == ["/code/shop"]
    (task,) = world.call("db.task.list").items
    assert (task.dir_path, task.title) == (effort.task_id, "Mend the cart")
    assert world.events() == ["project.added", "task.added", "effort.queued"]


def test_nothing_is_left_of_work_that_is_refused(world: World) -> None:
    with pytest.raises(UnknownSkill):
        add(world, skill="juggle")
    assert world.call("db.project.list").items == []
    assert world.call("db.task.list").items == []
    assert world.events() == []


def test_a_repeated_request_adds_once_and_says_the_same(world: World) -> None:
    first, again = add(world, idempotency_key="k"), add(world, idempotency_key="k")
    assert again == first
    assert world.events().count("effort.queued") == 1


def test_the_nearest_project_is_taken_and_none_is_registered(world: World) -> None:
    for path in ("/code", "/code/shop/src"):
        world.call("db.project.upsert", path=path)
    effort = add(world)
    assert (effort.registered, effort.task_id) == (None, "/code/shop/src/.ramet/tasks/mend-the-cart")


def test_a_repository_that_is_nearer_than_every_project_becomes_one(world: World) -> None:
    world.call("db.project.upsert", path="/code")
    assert add(world).registered == "/code/shop"


def test_a_linked_worktree_belongs_to_its_repository(world: World) -> None:
    effort = add(world, here={"directory": "/elsewhere/worktree", "repository": "/code/shop"})
    assert effort.task_id.startswith("/code/shop/")


def test_a_project_that_only_another_host_has_is_not_here(world: World) -> None:
    world.call("db.project.upsert", path="/code", host="far")
    effort = add(world, here={**HERE, "host": "near"})
    assert effort.registered == "/code/shop"


def test_a_directory_in_no_project_and_no_repository_is_refused(world: World) -> None:
    with pytest.raises(ProjectNotFound) as refused:
        add(world, here={"directory": "/nowhere"})
    assert refused.value.value == "/nowhere"
    assert "project add" in (refused.value.fix or "")


def test_a_path_that_is_not_absolute_is_named(world: World) -> None:
    with pytest.raises(InvalidParams) as refused:
        add(world, here={"directory": "shop"})
    assert refused.value.field == "here.directory"


def test_no_secret_of_the_prompt_gets_into_the_names_that_are_made_of_it(world: World) -> None:
    effort = add(world, "use ghp_abcdefghijklmnopqrstuvwxyz0123456789 to push")
    (task,) = world.call("db.task.list").items
    assert "abcdefghijklmnop" not in effort.task_id + (task.title or "") + (effort.prompt or "")
