"""merge: two sides joined from where they parted; what cannot be joined comes back as data."""

from typing import Any

import pytest
from tests.conformance.history.story import (
    compiled,
    compress,
    findings,
    fork,
    head,
    logged,
    merge,
    put,
    say,
    spawn,
    texts,
)
from tests.world import World

from ramet.errors import InvalidParams, InvalidRange


def parted(world: World) -> list[str]:
    """Two branches with a past in common: what they have in common."""
    shared = say(world, "a", "b")
    fork(world, "side")
    return shared


def rows(world: World) -> dict[str, list[str]]:
    return {
        name: kept for name, kept in world.dump().items() if name in ("commits", "moves", "branches", "annotations")
    }


def test_disjoint_appends_join_in_the_order_of_time(world: World) -> None:
    parted(world)
    for number in range(3):
        say(world, f"main {number}")
        say(world, f"side {number}", branch="side")
    merged = merge(world, "side")
    assert merged.conflicts == []
    assert merged.merged == 3
    assert texts(world)[2:] == ["main 0", "side 0", "main 1", "side 1", "main 2", "side 2"]
    assert texts(world, "side")[2:] == ["side 0", "side 1", "side 2"]
    shown = world.call("history.show", hash=merged.hash)
    assert (shown.second_parent, shown.content_type) == (head(world, "side"), "metadata")
    assert findings(world) == []


def test_merging_the_same_thing_twice_adds_nothing(world: World) -> None:
    parted(world)
    say(world, "m")
    say(world, "s", branch="side")
    merged = merge(world, "side")
    before = rows(world)
    again = merge(world, "side")
    assert (again.hash, again.conflicts, again.merged) == (merged.hash, [], 0)
    assert rows(world) == before
    say(world, "s2", branch="side")
    assert merge(world, "side").merged == 1
    assert texts(world) == ["a", "b", "m", "s", "s2"]


def test_a_branch_that_added_nothing_goes_forward(world: World) -> None:
    parted(world)
    say(world, "s", "t", branch="side")
    merged = merge(world, "side")
    assert (merged.hash, merged.merged) == (head(world, "side"), 2)
    assert head(world) == head(world, "side")
    assert merge(world, "main", into="side").merged == 0
    world.call("history.undo", branch="main")
    assert texts(world) == ["a", "b"]


def test_the_other_side_goes_forward_to_what_merged_it(world: World) -> None:
    parted(world)
    say(world, "m")
    say(world, "s", branch="side")
    merge(world, "side")
    merge(world, "main", into="side")
    assert head(world, "side") == head(world)
    assert texts(world, "side") == ["a", "b", "m", "s"]


def test_histories_with_nothing_in_common_are_joined_whole(world: World) -> None:
    say(world, "a")
    say(world, "x", branch="other")
    say(world, "b")
    merge(world, "other")
    assert texts(world) == ["a", "x", "b"]
    world.call("history.branch", name="empty")
    assert merge(world, "empty").merged == 0
    assert merge(world, "main", into="empty").hash == head(world)


def both_edit(world: World) -> str:
    shared = parted(world)
    world.call("history.edit", branch="main", target=shared[0], text="ours")
    world.call("history.edit", branch="side", target=shared[0], text="theirs")
    say(world, "s", branch="side")
    return shared[0]


def test_two_edits_of_one_commit_are_a_conflict_and_change_nothing(world: World) -> None:
    target = both_edit(world)
    before = world.dump()
    reply = merge(world, "side")
    (conflict,) = reply.conflicts
    assert reply.hash is None
    assert (conflict.target, conflict.kind, conflict.base) == (target, "edit", "a")
    assert (conflict.ours, conflict.theirs) == ("ours", "theirs")
    assert world.dump() == before


@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        ({"strategy": "ours"}, "ours"),
        ({"strategy": "theirs"}, "theirs"),
        ({"strategy": "both"}, "ours\n\ntheirs"),
        ({"resolutions": True}, "settled"),
        ({"strategy": "ours", "resolutions": True}, "settled"),
    ],
)
def test_a_conflict_of_edits_is_decided(world: World, decision: dict[str, Any], expected: str) -> None:
    target = both_edit(world)
    if decision.pop("resolutions", False):
        decision["resolutions"] = {target: "settled"}
    assert merge(world, "side", **decision).conflicts == []
    assert texts(world) == [expected, "b", "s"]
    before = rows(world)
    assert merge(world, "side").conflicts == []
    assert rows(world) == before


def test_what_was_decided_is_not_asked_again_after_another_merge(world: World) -> None:
    both_edit(world)
    fork(world, "third", world.call("history.log", branch="side", limit=4).items[-1].hash)
    say(world, "t", branch="third")
    merge(world, "side", strategy="ours")
    merge(world, "third")
    say(world, "s2", branch="side")
    again = merge(world, "side")
    assert again.conflicts == []
    assert texts(world) == ["ours", "b", "t", "s", "s2"] or texts(world) == ["ours", "b", "s", "t", "s2"]
    assert findings(world) == []


def test_the_same_edit_on_both_sides_is_no_conflict(world: World) -> None:
    (first, _) = parted(world)
    world.call("history.edit", branch="main", target=first, text="same")
    world.call("history.edit", branch="side", target=first, text="same")
    say(world, "s", branch="side")
    say(world, "m")
    assert merge(world, "side").conflicts == []
    assert texts(world) == ["same", "b", "s", "m"]


def test_edits_of_what_was_merged_before_conflict_too(world: World) -> None:
    parted(world)
    (added,) = say(world, "s", branch="side")
    say(world, "m")
    merge(world, "side")
    copy = next(row.hash for row in world.call("history.log", branch="main").items if row.preview == "s")
    world.call("history.edit", branch="main", target=copy, text="ours")
    world.call("history.edit", branch="side", target=added, text="theirs")
    (conflict,) = merge(world, "side").conflicts
    assert (conflict.target, conflict.ours, conflict.theirs) == (copy, "ours", "theirs")
    merge(world, "side", strategy="theirs")
    assert texts(world) == ["a", "b", "theirs", "m"]


def test_an_edit_elsewhere_reaches_the_copy_that_is_here(world: World) -> None:
    parted(world)
    (added,) = say(world, "s", branch="side")
    say(world, "late", at="2030-01-01T00:00:00Z")
    merge(world, "side")
    world.call("history.edit", branch="side", target=added, text="S")
    merge(world, "side")
    assert texts(world) == ["a", "b", "S", "late"]
    assert findings(world) == []


def pin_and_skip(world: World) -> str:
    parted(world)
    (added,) = say(world, "x", branch="side")
    copy = str(world.call("history.pick", branch="main", hash=added).hash)
    world.call("history.annotate", hash=copy, priority="pinned")
    world.call("history.annotate", hash=added, priority="skip")
    return copy


@pytest.mark.parametrize(
    ("decision", "expected"),
    [("ours", "pinned"), ("theirs", "skip"), ("both", "pinned"), ("normal", "normal")],
)
def test_a_pin_against_a_skip_is_a_conflict_to_decide(world: World, decision: str, expected: str) -> None:
    copy = pin_and_skip(world)
    (conflict,) = merge(world, "side").conflicts
    assert (conflict.target, conflict.kind) == (copy, "priority")
    assert (conflict.ours, conflict.theirs) == ("pinned", "skip")
    decided = {"resolutions": {copy: decision}} if decision == "normal" else {"strategy": decision}
    assert merge(world, "side", **decided).conflicts == []
    rows_of = {row.preview: row.priority for row in world.call("history.log", branch="main").items}
    assert rows_of["x"] == expected
    assert merge(world, "side").conflicts == []


def test_a_priority_that_is_none_is_refused(world: World) -> None:
    copy = pin_and_skip(world)
    before = world.dump()
    with pytest.raises(InvalidParams) as refusal:
        merge(world, "side", resolutions={copy: "loud"})
    assert (refusal.value.field, refusal.value.value) == ("resolutions", "loud")
    assert world.dump() == before


@pytest.mark.parametrize("compressed", ["main", "side", "main and side"])
def test_a_side_that_was_compressed_stays_so(world: World, compressed: str) -> None:
    parted(world)
    mine, yours = [], []
    for number in range(3):
        mine += say(world, f"m{number}")
        yours += say(world, f"s{number}", branch="side")
    if "main" in compressed:
        compress(world, mine[0], mine[1], text="ms")
    if "side" in compressed:
        compress(world, yours[1], yours[2], "side", text="ss")
    merge(world, "side")
    ours = ["ms", "m2"] if "main" in compressed else ["m0", "m1", "m2"]
    theirs = ["s0", "ss"] if "side" in compressed else ["s0", "s1", "s2"]
    assert texts(world) == ["a", "b", *ours, *theirs]
    summaries = [row.hash for row in world.call("history.log", branch="main").items if row.compresses]
    opened = {row.preview for each in summaries for row in world.call("history.expand", hash=each).commits}
    assert opened == ({"m0", "m1"} if "main" in compressed else set()) | (
        {"s1", "s2"} if "side" in compressed else set()
    )


def test_a_summary_of_what_both_have_is_refused(world: World) -> None:
    shared = parted(world)
    say(world, "m")
    compress(world, shared[0], shared[1], "side", text="a, b")
    before = world.dump()
    with pytest.raises(InvalidRange) as refusal:
        merge(world, "side")
    assert "undo" in (refusal.value.fix or "")
    assert world.dump() == before


def test_a_summary_of_what_was_merged_in_between_ours_is_refused(world: World) -> None:
    parted(world)
    yours = []
    for number in range(2):
        yours += say(world, f"s{number}", branch="side")
        say(world, f"m{number}")
    merge(world, "side")
    compress(world, yours[0], yours[1], "side", text="ss")
    before = rows(world)
    with pytest.raises(InvalidRange):
        merge(world, "side")
    assert rows(world) == before
    assert texts(world) == ["a", "b", "s0", "m0", "s1", "m1"]


def test_annotations_tags_and_edits_come_along(world: World) -> None:
    shared = parted(world)
    say(world, "m")
    (kept,) = say(world, "s", branch="side", tags=["key"], priority="pinned")
    world.call("history.edit", branch="side", target=kept, text="S")
    world.call("history.edit", branch="side", target=shared[1], text="B")
    merge(world, "side")
    assert texts(world) == ["a", "B", "m", "S"]
    copy = next(row for row in world.call("history.log", branch="main").items if row.preview == "s")
    assert (copy.tags, copy.priority) == (["key"], "pinned")


def test_a_collapse_that_was_merged_can_still_be_expanded(world: World) -> None:
    parted(world)
    say(world, "m")
    spawn(world, "kid", parent="side")
    say(world, "work", branch="kid")
    world.call("history.collapse", child="kid", text="it worked")
    merge(world, "side")
    copy = next(row for row in world.call("history.log", branch="main").items if row.collapses)
    expanded = world.call("history.expand", hash=copy.hash)
    assert (expanded.kind, expanded.branch, expanded.head) == ("collapse", "kid", head(world, "kid"))
    assert expanded.commits[-1].preview == "work"


def test_three_branches_join_to_the_same_whichever_two_are_first(world: World) -> None:
    parted(world)
    fork(world, "third")
    for number in range(2):
        for name in ("main", "side", "third"):
            say(world, f"{name} {number}", branch=name)
    for name in ("main", "side"):
        fork(world, f"{name}2", name)
    merge(world, "side")
    merge(world, "third")
    merge(world, "third", into="side2")
    merge(world, "side2", into="main2")
    assert compiled(world).messages == compiled(world, "main2").messages
    assert len(logged(world)) > 8


def test_a_session_boundary_is_merged_as_one(world: World) -> None:
    parted(world)
    say(world, "m")
    put(world, "session", branch="side", session_type="end", summary="done", decisions=["x"])
    merge(world, "side")
    assert texts(world)[-1] == "[Session end]\n\ndone\n\nDecisions:\n- x"
