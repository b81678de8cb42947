"""What a child costs: a row or two, however long the history that it inherits."""

from pathlib import Path
from typing import Any

import pytest
from tests.conformance.history.story import fork, say
from tests.world import World, open_world

CHILDREN = 1000
_PAGES = "SELECT (SELECT page_count FROM pragma_page_count) - (SELECT freelist_count FROM pragma_freelist_count)"


def tell_a_long_story(world: World, tokens: int) -> None:
    turn = "a turn of the conversation, as long as many are. " * 16
    for number in range(tokens // (len(turn) // 4)):
        say(world, f"{number:4d}{turn}")
    assert world.call("history.branches").items[0].tokens >= 0.98 * tokens


def used_bytes(world: World) -> int:
    pages, size = world.sql(_PAGES)[0][0], world.sql("SELECT page_size FROM pragma_page_size")[0][0]
    return int(pages * size)


def cost_of_children(folder: Path, tokens: int, way: str) -> float:
    """The bytes that each child adds to the file, where branches or spawns are made."""
    with open_world(folder, None) as world:
        tell_a_long_story(world, tokens)
        before = used_bytes(world)
        for number in range(CHILDREN):
            if way == "branch":
                fork(world, f"child/{number}")
            else:
                params: dict[str, Any] = {"parent": "main", "child": f"child/{number}", "purpose": "look into it"}
                world.call("history.spawn", inherit="full_clone", **params)
        cost = (used_bytes(world) - before) / CHILDREN
        assert world.call("history.branches", prefix=f"child/{CHILDREN - 1}").items[0].tokens >= 0.98 * tokens
    before_file, world_file = before, (folder / "ramet.db").stat().st_size
    assert abs(world_file - before_file - cost * CHILDREN) <= 64 * 1024
    return cost


def test_a_thousand_forks_of_a_long_history_add_less_than_300_bytes_each(tmp_path: Path) -> None:
    assert cost_of_children(tmp_path, 100_000, "branch") < 300


def test_a_thousand_spawns_add_their_pointer_and_the_parents_commit_and_no_more(tmp_path: Path) -> None:
    assert cost_of_children(tmp_path, 100_000, "spawn") < 600


@pytest.mark.parametrize("way", ["branch", "spawn"])
def test_a_child_costs_the_same_whatever_the_length_of_the_history(tmp_path: Path, way: str) -> None:
    short = cost_of_children(tmp_path / "short", 1_000, way)
    long = cost_of_children(tmp_path / "long", 100_000, way)
    assert long <= short * 1.1
