"""gc: deletes what nothing reaches, and nothing else."""

import pytest
from tests.conformance.history.story import (
    collect,
    compiled,
    compress,
    findings,
    fork,
    head,
    merge,
    put,
    say,
    spawn,
    texts,
)
from tests.world import Counting, World

from ramet.errors import CommitNotFound, NothingToUndo

MONTH_SECONDS = 30 * 86_400


def later(world: World) -> None:
    world.clock.advance(MONTH_SECONDS)


def test_a_deleted_branch_is_collected_with_its_contents(world: World) -> None:
    say(world, "shared")
    fork(world, "gone")
    hashes = say(world, "only here", "shared", branch="gone")
    world.call("history.delete", branch="gone")
    assert collect(world, retention_days=7).commits == 0
    later(world)
    collected = collect(world, retention_days=7)
    assert (collected.commits, collected.blobs) == (2, 1)
    with pytest.raises(CommitNotFound):
        world.call("history.show", hash=hashes[0])
    assert texts(world) == ["shared"]
    assert findings(world) == []


def test_nothing_is_collected_twice_or_from_a_whole_history(world: World) -> None:
    said = say(world, *"abc")
    fork(world, "side", said[1])
    say(world, "s", branch="side")
    later(world)
    collected = collect(world)
    assert (collected.commits, collected.blobs, collected.segments) == (0, 0, 0)


def test_what_recent_moves_remember_stays_and_can_be_undone(world: World) -> None:
    said = say(world, *"abc")
    before = compiled(world)
    compress(world, said[0], said[1], text="a, b")
    world.call("history.reset", branch="main", to=said[0])
    assert collect(world, retention_days=1).commits == 0
    world.call("history.undo", branch="main", steps=2)
    assert compiled(world) == before
    later(world)
    collect(world, retention_days=1)
    assert compiled(world) == before
    with pytest.raises(NothingToUndo):
        world.call("history.undo", branch="main")


def test_what_edits_merges_and_compressions_point_at_stays(world: World) -> None:
    said = say(world, *"abc")
    fork(world, "side", said[1])
    (other,) = say(world, "s", branch="side")
    world.call("history.edit", branch="main", target=said[0], text="A")
    merge(world, "side")
    (more,) = say(world, "d")
    (last,) = say(world, "e")
    summary = compress(world, more, last, text="d, e")
    world.call("history.delete", branch="side")
    before = compiled(world)
    later(world)
    collect(world)
    assert compiled(world) == before
    assert world.call("history.show", hash=other).text == "s"
    assert [row.preview for row in world.call("history.expand", hash=summary.hash).commits] == ["d", "e"]
    assert findings(world) == []


def test_what_spawns_and_collapses_point_at_stays(world: World) -> None:
    first, _ = say(world, "a", "b")
    stood = head(world)
    spawn(world, "kid", inherit="head_snapshot")
    say(world, "work", branch="kid")
    worked = head(world, "kid")
    collapsed = world.call("history.collapse", child="kid", text="did it")
    world.call("history.delete", branch="kid")
    world.call("history.reset", branch="main", to=first)
    later(world)
    collect(world)
    expanded = world.call("history.expand", hash=collapsed.parent_commit_hash)
    assert (expanded.head, expanded.commits[-1].preview) == (worked, "work")
    assert world.call("history.show", hash=stood).text == "b"
    assert findings(world) == []


def test_transcripts_stay_whatever_their_branch_does(world: World) -> None:
    session = world.session()
    for text in ("hello", "there"):
        world.call("db.messages.append", session_id=session.id, role="user", content=text)
    first = world.call("history.log", branch=f"session/{session.id}").items[-1].hash
    world.call("history.reset", branch=f"session/{session.id}", to=first)
    later(world)
    assert collect(world).commits == 0
    listed = world.call("db.messages.list", session_id=session.id).items
    assert [message.content for message in listed] == ["hello", "there"]


def test_a_place_that_was_freed_is_taken_again_without_harm(world: World) -> None:
    say(world, "a", "b")
    fork(world, "gone")
    fork(world, "side")
    say(world, "g", branch="gone")
    say(world, "m")
    say(world, "s", branch="side")
    world.call("history.delete", branch="gone")
    later(world)
    collect(world)
    merge(world, "side")
    assert texts(world) == ["a", "b", "m", "s"]
    world.call("history.delete", branch="main")
    world.call("history.delete", branch="side")
    later(world)
    assert collect(world).commits == 7
    assert [world.sql(f"SELECT count(*) FROM {table}") for table in ("commits", "segments", "blobs")] == [[(0,)]] * 3


def test_annotations_and_tags_go_with_their_commit(world: World) -> None:
    say(world, "x", branch="gone", tags=["t"], priority="pinned")
    put(world, "reasoning", text="y")
    world.call("history.delete", branch="gone")
    later(world)
    collect(world)
    assert world.sql("SELECT count(*) FROM annotations") == [(0,)]
    assert world.sql("SELECT count(*) FROM tags") == [(0,)]


def test_the_branches_are_held_before_anything_is_read(world: World) -> None:
    say(world, "a")
    world.call("history.delete", branch="main")
    later(world)
    world.db = counting = Counting(world.db)
    assert collect(world).commits == 1
    world.db = counting.inner
    # A server shows a transaction what was there at its first statement that reads.
    assert counting.names[0] == "hold_branches"


def test_a_commit_takes_its_branch_before_it_reads_where_that_stands(world: World) -> None:
    say(world, "a")
    world.db = counting = Counting(world.db)
    say(world, "b")
    world.db = counting.inner
    assert counting.names.index("take_branch") < counting.names.index("head")
