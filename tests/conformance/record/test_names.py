"""The names that a shell completes."""

import pytest
from tests.world import World

from ramet.errors import InvalidParams

pytestmark = pytest.mark.requirement("R375")


def _names(world: World, *kinds: str, prefix: str = "", limit: int = 50) -> list[str]:
    return [row.name for row in world.call("names.list", kinds=list(kinds), prefix=prefix, limit=limit).items]


@pytest.fixture
def fleet(world: World) -> World:
    """Twelve efforts of a task, a session of the first, and two branches."""
    world.call("db.project.upsert", path="/shop")
    world.call("db.task.upsert", dir_path="/shop/cart", title="The cart\nremembers")
    for _ in range(12):
        world.call("db.effort.start", task_id="/shop/cart", skill="plan")
    world.call("db.session.start", task_id="/shop/cart", effort_id=1)
    world.call("history.commit", branch="what-if", text="one")
    world.call("history.commit", branch="what-else", text="two")
    return world


def test_names_come_newest_first_with_their_titles(fleet: World) -> None:
    first = fleet.call("names.list", kinds=["effort"]).items[0]
    assert (first.name, first.state, first.title) == ("e12", "plan active", "The cart")
    assert _names(fleet, "effort", limit=3) == ["e12", "e11", "e10"]
    assert _names(fleet, "session", "branch") == ["s1", "what-else", "what-if"]
    assert _names(fleet, "run") == []


def test_names_start_with_the_prefix(fleet: World) -> None:
    assert _names(fleet, "effort", prefix="e1") == ["e12", "e11", "e10", "e1"]
    assert _names(fleet, "effort", "branch", prefix="what-i") == ["what-if"]
    assert _names(fleet, "effort", prefix="%") == []
    assert _names(fleet, "branch", prefix="session/") == ["session/1"]


def test_a_long_prompt_is_cut_to_its_first_line(world: World) -> None:
    world.call("db.project.upsert", path="/shop")
    world.call("work.add", prompt="\n  First.\nSecond." + "x" * 10_000, task="/shop/cart", skill="plan")
    (row,) = world.call("names.list", kinds=["effort"]).items
    assert row.title == "First."


@pytest.mark.parametrize("wrong", [{"kinds": []}, {"kinds": ["planet"]}, {"kinds": ["run"], "limit": 0}, {}])
def test_a_wrong_request_is_refused(world: World, wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidParams):
        world.call("names.list", **wrong)
