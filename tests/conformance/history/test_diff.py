"""diff: how two contexts differ, by commit and by what a model would read."""

import pytest
from tests.conformance.history.story import compress, fork, say
from tests.world import World

from ramet.errors import BranchNotFound


def test_two_branches_differ_by_what_each_added(world: World) -> None:
    say(world, "a", "b")
    fork(world, "side")
    (mine,) = say(world, "m")
    yours = say(world, "s", "t", branch="side")
    found = world.call("history.diff", a="main", b="side")
    assert world.call("history.show", hash=found.base).text == "b"
    assert [row.hash for row in found.only_a] == [mine]
    assert [row.hash for row in found.only_b] == yours[::-1]
    assert found.text.splitlines()[:2] == ["--- main", "+++ side"]
    changed = sorted(line for line in found.text.splitlines()[2:] if line[0] in "+-")
    assert changed == ["+", "+[User]", "+s", "+t", "-m"]


def test_a_rewrite_is_seen_in_the_text_that_a_model_reads(world: World) -> None:
    said = say(world, *"abc")
    world.call("history.edit", branch="main", target=said[0], text="A")
    found = world.call("history.diff", a=said[2], b="main")
    assert (found.base, found.only_a, len(found.only_b)) == (said[2], [], 1)
    assert "-a\n+A" in found.text
    compress(world, said[1], said[2], text="b, c")
    assert "+b, c" in world.call("history.diff", a=said[2], b="main").text


def test_a_context_does_not_differ_from_itself_and_unrelated_ones_have_no_base(world: World) -> None:
    say(world, "a")
    say(world, "x", branch="other")
    same = world.call("history.diff", a="main", b="main")
    assert (same.only_a, same.only_b, same.text) == ([], [], "")
    apart = world.call("history.diff", a="main", b="other")
    assert apart.base is None
    assert [row.preview for row in (*apart.only_a, *apart.only_b)] == ["a", "x"]
    with pytest.raises(BranchNotFound) as refusal:
        world.call("history.diff", a="main", b="nowhere")
    assert refusal.value.field == "b"
