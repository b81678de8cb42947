"""Branches and moves: everything can be reached, and everything that was rewritten can be had back."""

from collections.abc import Callable

import pytest
from tests.conformance.history.story import (
    collect,
    compiled,
    compress,
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

from ramet.errors import (
    BranchExists,
    BranchInUse,
    BranchNotFound,
    CommitNotFound,
    InvalidParams,
    NothingToUndo,
    NotInHistory,
)
from ramet.model.instant import to_iso


def moves(world: World, branch: str = "main") -> list[tuple[str, bool]]:
    return [(move.why, move.undone) for move in world.call("history.moves", branch=branch).items]


def test_a_branch_begins_with_its_first_commit_or_empty_or_at_a_place(world: World) -> None:
    first, second = say(world, "a", "b")
    assert world.call("history.branch", name="empty").hash is None
    at_commit = world.call("history.branch", name="old", **{"from": first[:10]})
    at_branch = world.call("history.branch", name="new", **{"from": "main"})
    assert (at_commit.hash, at_commit.depth, at_branch.hash, at_branch.depth) == (first, 1, second, 2)
    listed = world.call("history.branches", prefix="ne").items
    assert [(row.name, row.hash) for row in listed] == [("new", second)]
    with pytest.raises(BranchExists):
        world.call("history.branch", name="new")


def test_a_fork_copies_nothing_and_goes_its_own_way(world: World) -> None:
    say(world, *"abc")
    rows = world.dump()["commits"]
    fork(world, "side")
    assert world.dump()["commits"] == rows
    say(world, "d")
    say(world, "e", branch="side")
    assert (logged(world), logged(world, "side")) == (list("abcd"), list("abce"))
    assert world.call("history.diff", a="main", b="side").base == head_of(world, "c")


def head_of(world: World, preview: str) -> str:
    return next(str(row.hash) for row in world.call("history.log", branch="main").items if row.preview == preview)


def test_reset_moves_a_branch_and_undo_moves_it_back(world: World) -> None:
    first, _, third = say(world, *"abc")
    assert world.call("history.reset", branch="main", to=first).hash == first
    say(world, "x")
    assert logged(world) == ["a", "x"]
    assert world.call("history.undo", branch="main").hash == third
    assert logged(world) == ["a", "b", "c"]
    assert moves(world) == [("undo", False), ("reset", True)]


def test_a_deleted_branch_is_gone_until_it_is_taken_back(world: World) -> None:
    _, second = say(world, "a", "b")
    assert world.call("history.delete", branch="main").hash == second
    with pytest.raises(BranchNotFound) as refusal:
        logged(world)
    assert (refusal.value.field, refusal.value.value) == ("branch", "main")
    assert world.call("history.show", hash=second).text == "b"
    assert world.call("history.undo", branch="main").hash == second
    assert logged(world) == ["a", "b"]


def test_a_branch_that_a_session_writes_to_is_not_deleted(world: World) -> None:
    session = world.session()
    before = world.dump()
    with pytest.raises(BranchInUse, match=f"session {session.id}"):
        world.call("history.delete", branch=f"session/{session.id}")
    assert world.dump() == before


REWRITES: dict[str, Callable[[World, list[str]], object]] = {
    "edit": lambda world, said: world.call("history.edit", branch="main", target=said[1], text="b!"),
    "compress": lambda world, said: compress(world, said[0], said[2], text="a to c"),
    "reset": lambda world, said: world.call("history.reset", branch="main", to=said[0]),
    "pick": lambda world, said: world.call("history.pick", branch="main", hash=said[0]),
    "merge": lambda world, said: merge(world, "side"),
    "delete": lambda world, said: world.call("history.delete", branch="main"),
}


@pytest.mark.parametrize("why", REWRITES)
def test_every_rewrite_is_written_down_and_taken_back_exactly(world: World, why: str) -> None:
    said = say(world, *"abcd")
    fork(world, "side", said[1])
    say(world, "s", branch="side")
    before, stood = compiled(world), head(world)
    REWRITES[why](world, said)
    assert moves(world) == [(why, False)]
    world.call("history.undo", branch="main")
    assert (compiled(world), head(world)) == (before, stood)
    assert moves(world) == [("undo", False), (why, True)]


def test_several_rewrites_are_taken_back_at_once_or_none_is(world: World) -> None:
    said = say(world, *"abc")
    before = compiled(world)
    for number in range(3):
        world.call("history.edit", branch="main", target=said[number], text=str(number))
    after = world.dump()
    with pytest.raises(NothingToUndo) as refusal:
        world.call("history.undo", branch="main", steps=4)
    assert (refusal.value.field, refusal.value.value) == ("steps", 4)
    assert world.dump() == after
    world.call("history.undo", branch="main", steps=3)
    assert compiled(world) == before
    with pytest.raises(NothingToUndo):
        world.call("history.undo", branch="main")


def test_an_undo_stays_one_when_the_rewrite_it_took_back_is_forgotten(world: World) -> None:
    said = say(world, *"abc")
    world.call("history.edit", branch="main", target=said[0], text="A")
    world.clock.advance(2 * 86_400)
    world.call("history.undo", branch="main")
    collect(world, retention_days=1)
    assert moves(world) == [("undo", False)]
    with pytest.raises(NothingToUndo):
        world.call("history.undo", branch="main")
    assert texts(world) == ["a", "b", "c"]


def test_moves_of_a_branch_that_never_was_are_refused(world: World) -> None:
    say(world, "a")
    assert moves(world) == []
    with pytest.raises(BranchNotFound):
        moves(world, "nowhere")


def test_a_branch_is_read_as_it_stood_at_a_time(world: World) -> None:
    first, second = say(world, "a", "b")
    at_two = to_iso(world.clock.now)
    say(world, "c")
    world.clock.advance(1)
    world.call("history.reset", branch="main", to=first)
    say(world, "x")
    found = world.call("history.at", branch="main", time=at_two)
    assert (found.hash, found.depth) == (second, 2)
    before_all = world.call("history.at", branch="main", time="2020-01-01T00:00:00Z")
    assert (before_all.hash, before_all.depth, before_all.tokens) == (None, 0, 0)
    assert world.call("history.at", branch="main", time="2030-01-01T00:00:00Z").hash == head(world)


def test_a_time_before_more_moves_than_a_page_holds_is_found(world: World) -> None:
    first, second = say(world, "a", "b")
    at_two = to_iso(world.clock.now)
    page_max = 1000
    for number in range(page_max + 5):
        world.clock.advance(0.001)
        world.call("history.reset", branch="main", to=(first, second)[number % 2])
    assert world.call("history.at", branch="main", time=at_two).hash == second


def test_at_answers_whether_a_branch_has_a_commit(world: World) -> None:
    first, _ = say(world, "a", "b")
    (elsewhere,) = say(world, "c", branch="other")
    found = world.call("history.at", branch="main", hash=first[:12])
    assert (found.hash, found.depth) == (first, 1)
    with pytest.raises(NotInHistory) as refusal:
        world.call("history.at", branch="main", hash=elsewhere)
    assert refusal.value.field == "hash"
    with pytest.raises(InvalidParams) as naive:
        world.call("history.at", branch="main", time="2026-01-01T00:00:00")
    assert naive.value.field == "time"
    with pytest.raises(InvalidParams, match="give either a time or a hash"):
        world.call("history.at", branch="main")


def test_pick_copies_a_commit_with_all_that_is_said_of_it(world: World) -> None:
    (source,) = say(world, "found it", tags=["key"], priority="pinned", metadata={"n": 1}, author="ada", branch="lab")
    say(world, "a")
    picked = world.call("history.pick", branch="main", hash=source)
    original, copy = world.call("history.show", hash=source), world.call("history.show", hash=picked.hash)
    assert (copy.text, copy.tags, copy.priority, copy.author, copy.at) == (
        *("found it", ["key"], "pinned", "ada"),
        original.at,
    )
    assert copy.metadata == {"n": 1, "origin": source}
    assert logged(world) == ["a", "found it"]
    assert logged(world, "lab") == ["found it"]


def test_a_picked_summary_takes_no_places_where_it_comes(world: World) -> None:
    lab = say(world, *"pqr", branch="lab")
    summary = compress(world, lab[0], lab[1], "lab", text="p and q")
    say(world, *"abc")
    world.call("history.pick", branch="main", hash=summary.hash)
    assert texts(world) == ["a", "b", "c", "p and q"]
    spawn(world, "kid", "lab", inherit="selective", filter={"types": ["output", "dialogue"]})
    assert texts(world, "kid") == ["p", "q", "r", "p and q"]


def test_an_edit_shows_its_text_in_the_place_of_its_target(world: World) -> None:
    said = say(world, *"abc")
    edit = world.call("history.edit", branch="main", target=said[1], text="B")
    assert texts(world) == ["a", "B", "c"]
    shown = world.call("history.show", hash=edit.hash)
    assert (shown.operation, shown.target, shown.text) == ("edit", said[1], "B")
    assert world.call("history.show", hash=said[1]).text == "b"
    world.call("history.edit", branch="main", target=said[1], text="B2")
    assert texts(world) == ["a", "B2", "c"]
    with pytest.raises(InvalidParams, match="itself an edit"):
        world.call("history.edit", branch="main", target=edit.hash, text="x")


def test_an_edit_is_of_its_own_branch_only(world: World) -> None:
    (shared,) = say(world, "a")
    fork(world, "side")
    (elsewhere,) = say(world, "b", branch="side")
    world.call("history.edit", branch="main", target=shared, text="A")
    assert (texts(world), texts(world, "side")) == (["A"], ["a", "b"])
    with pytest.raises(NotInHistory):
        world.call("history.edit", branch="main", target=elsewhere, text="B")
    with pytest.raises(CommitNotFound):
        world.call("history.edit", branch="main", target="0123456789", text="B")


def test_an_edited_boundary_keeps_its_kind_and_its_lists(world: World) -> None:
    boundary = put(world, "session", session_type="end", summary="done", decisions=["use x"])
    world.call("history.edit", branch="main", target=boundary, text="all done")
    assert texts(world) == ["[Session end]\n\nall done\n\nDecisions:\n- use x"]
    assert world.call("history.latest").branch is None
