"""Projects: known by their absolute path."""

import pytest
from tests.world import World

from ramet.errors import InvalidParams


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
