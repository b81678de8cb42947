"""Projects: known by their absolute path."""

import pytest
from tests.world import World

from ramet.errors import InvalidParams, ProjectBusy, ProjectNotFound


@pytest.mark.requirement("R189", "R219", "R254")
def test_registering_a_project_twice_gives_the_same_row(world: World) -> None:
    first = world.call("db.project.upsert", path="/shop", name="Shop")
    assert (first.path, first.name) == ("/shop", "Shop")
    assert world.call("db.project.upsert", path="/shop") == first
    assert world.call("db.project.upsert", path="/shop", name="Shop") == first
    assert world.call("db.project.list").items == [first]
    assert world.events() == ["project.added"]


@pytest.mark.requirement("R219")
def test_a_new_name_replaces_the_old_and_keeps_the_project(world: World) -> None:
    first = world.call("db.project.upsert", path="/shop", name="Shop")
    renamed = world.call("db.project.upsert", path="/shop", name="Store")
    assert (renamed.id, renamed.name, renamed.created_at) == (first.id, "Store", first.created_at)
    assert world.events() == ["project.added", "project.changed"]


@pytest.mark.requirement("R189")
@pytest.mark.parametrize("spelling", ["/shop/", "//shop", "/shop/./", "/x/../shop"])
def test_one_path_is_one_project_however_it_is_spelt(world: World, spelling: str) -> None:
    project = world.call("db.project.upsert", path="/shop")
    assert world.call("db.project.upsert", path=spelling) == project


@pytest.mark.requirement("R189", "R253")
@pytest.mark.parametrize("path", ["shop", "./shop", "~/shop", "C:\\shop"])
def test_a_path_that_is_not_absolute_is_refused(world: World, path: str) -> None:
    with pytest.raises(InvalidParams) as refusal:
        world.call("db.project.upsert", path=path)
    assert (refusal.value.field, refusal.value.value) == ("path", path)
    assert world.call("db.project.list").items == []


def test_a_project_that_was_removed_is_off_the_list_and_its_records_stay(world: World) -> None:
    session = world.session(task="/shop/tasks/cart")
    project = world.call("db.project.upsert", path="/shop")
    with pytest.raises(ProjectBusy) as refusal:
        world.call("db.project.remove", project="/shop")
    assert f"`ramet show e{session.effort_id}`" in refusal.value.fix
    world.call("db.session.finish", session_id=session.id)
    world.call("db.effort.finish", effort_id=session.effort_id)
    assert world.call("db.project.remove", project=project.id).path == "/shop"
    assert world.call("db.project.list").items == []
    assert world.call("db.effort.get", effort_id=session.effort_id).outcome == "success"
    with pytest.raises(ProjectNotFound):
        world.call("db.task.upsert", dir_path="/shop/tasks/new")
    world.call("db.project.remove", project=project.id)
    assert [each.kind for each in world.call("events.list", limit=100).items].count("project.removed") == 1


def test_a_project_that_is_registered_again_is_the_same(world: World) -> None:
    project = world.call("db.project.upsert", path="/shop", name="Shop")
    world.call("db.project.remove", project="/shop")
    assert world.call("db.project.upsert", path="/shop") == project
    assert world.call("db.project.list").items == [project]
    assert world.call("events.list", newest=True, limit=1).items[0].kind == "project.added"


def test_a_project_that_there_is_not_cannot_be_removed(world: World) -> None:
    for reference in (9, "/nowhere"):
        with pytest.raises(ProjectNotFound):
            world.call("db.project.remove", project=reference)
