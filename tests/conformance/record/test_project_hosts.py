"""Projects that several machines share: a path on each, known by the git remote, and work only where it is."""

from typing import Any

import pytest
from tests.conformance.queue_worker import claim
from tests.world import World

from ramet.errors import InvalidParams

REMOTE = "https://ann:s3cret@forge.example/team/shop.git"


def put(world: World, path: str, host: str | None = None, remote: str | None = REMOTE, **params: Any) -> Any:
    known = {"path": path, **({"host": host} if host else {}), **({"remote": remote} if remote else {})}
    return world.call("db.project.upsert", **known, **params)


def add_on(world: World, path: str) -> Any:
    return world.call("work.add", prompt="mend the cart", skill="do", task=f"{path}/tasks/cart")


@pytest.mark.requirement("R310")
def test_the_same_remote_from_another_host_is_the_same_project(world: World) -> None:
    first = put(world, "/home/ann/shop", "north", name="Shop")
    second = put(world, "/srv/work/shop", "south", "git@forge.example:team/shop")
    assert second.id == first.id
    assert second.hosts == {"north": "/home/ann/shop", "south": "/srv/work/shop"}
    assert world.call("db.project.list").items == [second]
    assert world.events() == ["project.added", "project.changed"]
    assert put(world, "/srv/work/shop", "south") == second
    assert len(world.events()) == 2


@pytest.mark.requirement("R310")
def test_no_password_of_a_remote_is_kept(world: World) -> None:
    assert put(world, "/shop", "north").remote == "forge.example/team/shop"
    assert "s3cret" not in str(world.dump())


@pytest.mark.requirement("R310")
def test_work_is_claimed_only_where_its_project_is(world: World) -> None:
    put(world, "/home/ann/shop", "north")
    effort = add_on(world, "/home/ann/shop")
    assert world.call("work.next", host="south") is None
    assert claim(world, "south/1", host="south").refused == "missing"
    assert claim(world, "south/1", host="south", effort_id=effort.id).refused == "blocked"
    put(world, "/srv/shop", "south")
    claimed = claim(world, "south/1", host="south")
    assert claimed.id == effort.id
    assert world.call("work.chain", effort_id=effort.id, host="south").project_path == "/srv/shop"
    assert world.call("work.chain", effort_id=effort.id, host="north").project_path == "/home/ann/shop"
    assert world.call("work.chain", effort_id=effort.id).project_path == "/home/ann/shop"


@pytest.mark.requirement("R310")
def test_a_task_belongs_to_the_project_by_any_of_its_paths(world: World) -> None:
    project = put(world, "/home/ann/shop", "north")
    put(world, "/srv/shop", "south")
    effort = add_on(world, "/srv/shop")
    assert world.call("db.task.find", query="cart").items[0].project_id == project.id
    assert claim(world, "north/1", host="north").id == effort.id
    assert world.call("db.task.list", project="/srv/shop").items[0].dir_path == "/srv/shop/tasks/cart"


def test_work_of_a_project_that_nobody_located_is_for_every_host(world: World) -> None:
    put(world, "/shop", remote=None)
    effort = add_on(world, "/shop")
    assert claim(world, "north/1", host="north").id == effort.id
    assert world.call("work.chain", effort_id=effort.id, host="north").project_path == "/shop"


def test_a_project_that_was_there_before_gets_its_first_host(world: World) -> None:
    before = put(world, "/shop", remote=None)
    after = put(world, "/shop", "north")
    assert (after.id, after.hosts, after.remote) == (before.id, {"north": "/shop"}, "forge.example/team/shop")


def test_a_second_clone_on_the_same_host_is_a_project_of_its_own(world: World) -> None:
    first = put(world, "/a/shop", "north")
    second = put(world, "/b/shop", "north")
    assert (second.id == first.id, second.remote, second.hosts) == (False, None, {"north": "/b/shop"})
    assert put(world, "/c/shop", "south").id == first.id


def test_two_projects_never_have_one_path_even_on_different_hosts(world: World) -> None:
    put(world, "/work", "north")
    before = world.dump()
    with pytest.raises(InvalidParams, match="is already project 1 on another host") as refusal:
        put(world, "/work", "south", "https://forge.example/team/bank")
    assert (refusal.value.field, refusal.value.value) == ("path", "/work")
    put(world, "/bank", "south", "https://forge.example/team/bank")
    with pytest.raises(InvalidParams):
        put(world, "/work", "east", "https://forge.example/team/bank")
    assert world.dump()["project_paths"] == [*before["project_paths"], repr((2, "south", "/bank"))]
