"""Imports on both databases: what becomes of a piece, and what an import leaves alone."""

from itertools import permutations
from typing import Any

import pytest
from tests.conformance.hook_calls import CWD, PROJECT, WINDOW, entry, history, hook, ingest, messages, session, start
from tests.world import World

from ramet.errors import InvalidParams

SOURCE = f"/home/dev/.claude/projects/-shop-src/{WINDOW}.jsonl"
SAID = [
    entry("u1", "mend the cart", role="user", prompt_id="p1", at="2025-12-01T10:00:00Z"),
    entry("u2", "It is mended.", at="2025-12-01T10:05:00Z"),
]
USED = entry("usage/m1", kind="usage", model="claude-opus-5-5", usage={"input_tokens": 10, "output_tokens": 5})


def piece(*entries: dict[str, Any], native_id: str = WINDOW, **said: Any) -> dict[str, Any]:
    """A piece of a stored session with a head."""
    head = {"native_id": native_id, "cwd": CWD, "started_at": "2025-12-01T10:00:00Z", **said.pop("head", {})}
    usual = {"vendor": "claude", "source": SOURCE, "position": "100", "size_bytes": 100, "changed_ms": 1, "head": head}
    return {**usual, "entries": list(entries), "is_last": True, "project": PROJECT, **said}


def add(world: World, *pieces: dict[str, Any], **said: Any) -> list[Any]:
    return list(world.call("imports.add", pieces=list(pieces), **said).items)


@pytest.mark.requirement("R382")
def test_an_imported_session_is_closed_and_has_the_times_and_the_usage_that_were_recorded(world: World) -> None:
    (added,) = add(world, piece(*SAID, USED, head={"title": "The  cart", "model": "old"}))
    assert (added.state, added.is_new, added.added) == ("added", True, 2)
    found = session(world, added.session_id)
    assert (str(found.created_at), str(found.ended_at)) == ("2025-12-01 10:00:00+00:00", "2025-12-01 10:05:00+00:00")
    assert (found.driver, found.native_id, found.title, found.outcome) == ("claude", WINDOW, "The cart", "success")
    assert found.model == "claude-opus-5-5"
    effort = world.call("db.effort.get", effort_id=found.effort_id)
    assert (effort.lifecycle, effort.created_at, effort.finished_at) == ("finished", found.created_at, found.ended_at)
    times = [str(each.timestamp) for each in world.call("db.messages.list", session_id=found.id).items]
    assert times == ["2025-12-01 10:00:00+00:00", "2025-12-01 10:05:00+00:00"]
    assert world.sql("SELECT input_tokens, output_tokens FROM usage") == [(10, 5)]


@pytest.mark.requirement("R382")
def test_secrets_are_removed_from_all_that_is_imported(world: World) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    said = entry("u9", f"use {token}", role="user", call_id=token)
    add(world, piece(said, head={"title": f"about {token}", "cwd": f"/shop/{token}"}, source=f"/home/{token}.jsonl"))
    assert token not in str(world.dump())
    assert "ghp_" not in str([text for _, text in messages(world, 1)])


@pytest.mark.requirement("R381", "R295")
def test_the_same_piece_again_writes_no_row(world: World) -> None:
    add(world, piece(*SAID, USED))
    before = world.dump()
    (again,) = add(world, piece(*SAID, USED))
    assert (again.state, again.is_new, again.added) == ("added", False, 0)
    assert world.dump() == before


@pytest.mark.requirement("R381")
def test_a_session_that_hooks_have_watched_is_continued_and_stays_open(world: World) -> None:
    watched = start(world)
    ingest(world, watched, SAID[0])
    (added,) = add(world, piece(*SAID, USED))
    assert (added.session_id, added.is_new, added.added) == (watched, False, 1)
    assert [text for _, text in messages(world, watched)] == ["mend the cart", "It is mended."]
    found = session(world, watched)
    assert (found.ended_at, found.effort_id) == (None, world.call("db.effort.get", effort_id=found.effort_id).id)
    hook(world, "session_end", reason="other")
    ended = session(world, watched).ended_at
    add(world, piece(*SAID, entry("u3", "Bye.", at="2025-12-01T11:00:00Z"), position="200"))
    assert session(world, watched).ended_at == ended


@pytest.mark.requirement("R381")
def test_hooks_that_watch_an_imported_session_continue_it(world: World) -> None:
    (added,) = add(world, piece(*SAID, USED))
    assert start(world) == added.session_id
    assert session(world, added.session_id).ended_at is None
    ingest(world, added.session_id, *SAID, USED, entry("u3", "Go on.", role="user"))
    assert [text for _, text in messages(world, added.session_id) if text == "It is mended."] == ["It is mended."]
    assert world.sql("SELECT count(*) FROM usage") == [(1,)]


def test_a_session_of_an_agent_that_ramet_ran_is_left_alone(world: World) -> None:
    watched = start(world)
    world.sql("UPDATE sessions SET instance = 'keeper' WHERE id = :id", id=watched)
    before = world.dump()
    child = piece(*SAID, head={"parent_id": WINDOW, "native_id": "sub"}, source="/sub")
    added = add(world, piece(*SAID), child)
    assert [(each.state, each.session_id) for each in added] == [("recorded", watched), ("recorded", watched)]
    assert world.dump() == before


@pytest.mark.requirement("R382")
def test_a_sub_agent_is_a_child_and_waits_for_its_parent(world: World) -> None:
    child = piece(entry("c1", "Found it."), source="/sub", head={"native_id": "a1", "parent_id": WINDOW})
    (waiting,) = add(world, child)
    assert (waiting.state, waiting.session_id) == ("waits", None)
    assert world.sql("SELECT count(*) FROM sessions") == [(0,)]
    above, below = add(world, piece(*SAID), child)
    found = session(world, below.session_id)
    assert (found.parent_session_id, found.native_id) == (above.session_id, f"{WINDOW}/a1")
    assert found.effort_id == session(world, above.session_id).effort_id
    (orphan,) = add(world, piece(source="/c", head={"native_id": "a2", "parent_id": "gone"}), waits=False)
    assert session(world, orphan.session_id).parent_session_id is None


def family() -> list[dict[str, Any]]:
    """A session, its sub-agent, and a sub-agent of that one."""
    return [
        piece(*SAID, source="/root"),
        piece(entry("b1", "I ask another one."), source="/b", head={"native_id": "b", "parent_id": WINDOW}),
        piece(entry("c1", "Found it."), source="/c", head={"native_id": "c", "parent_id": "b"}),
    ]


@pytest.mark.requirement("R382")
@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
def test_sub_agents_of_sub_agents_are_below_them_whichever_is_imported_first(
    world: World, order: tuple[int, int, int]
) -> None:
    pieces, ids = family(), [0, 0, 0]
    for number in order:  # each by an import of its own, which knows of no other source
        (added,) = add(world, pieces[number], waits=False)
        ids[number] = added.session_id
    found = [session(world, each) for each in ids]
    assert [each.parent_session_id for each in found] == [None, ids[0], ids[1]]
    assert [(each.root_session_id, each.spawn_depth) for each in found] == [(ids[0], 0), (ids[0], 1), (ids[0], 2)]
    before = world.dump()
    add(world, *pieces)
    assert world.dump() == before


def test_sub_agents_in_a_circle_are_imported_and_none_is_above_itself(world: World) -> None:
    one = piece(*SAID, source="/1", head={"native_id": "one", "parent_id": "two"})
    two = piece(*SAID, source="/2", head={"native_id": "two", "parent_id": "one"})
    first, second = add(world, one, two, waits=False)
    parents = [session(world, each.session_id).parent_session_id for each in (first, second)]
    assert parents == [None, first.session_id]


def test_a_session_that_is_its_own_parent_or_origin_is_imported_once(world: World) -> None:
    said = {"native_id": "x", "parent_id": "x", "origin_id": "x"}
    first, second = add(world, piece(*SAID, head=said), piece(*SAID, head=said, source="/again"), waits=False)
    assert first.session_id == second.session_id
    found = session(world, first.session_id)
    assert (found.parent_session_id, found.forked_from_session_id) == (None, None)
    one, other = {"native_id": "y", "origin_id": "z"}, {"native_id": "z", "origin_id": "y"}
    assert [each.state for each in add(world, piece(head=one, source="/y"), piece(head=other, source="/z"))] == [
        "waits",
        "waits",
    ]
    added = add(world, piece(head=one, source="/y"), piece(head=other, source="/z"), waits=False)
    assert [session(world, each.session_id).forked_from_session_id for each in added] == [None, added[0].session_id]


@pytest.mark.requirement("R381")
def test_two_sources_of_one_session_give_one_session(world: World) -> None:
    old, new = add(world, piece(*SAID), piece(*SAID, entry("u3", "More."), source="/new-format.jsonl"))
    assert (old.session_id, new.is_new, new.added) == (new.session_id, False, 1)
    assert len(messages(world, old.session_id)) == 3


@pytest.mark.requirement("R382")
def test_of_a_message_that_was_streamed_the_snapshot_with_the_most_output_counts(world: World) -> None:
    def snapshot(output: int) -> dict[str, Any]:
        return {**USED, "usage": {"input_tokens": 10, "output_tokens": output}}

    add(world, piece(*SAID, snapshot(1), snapshot(60), snapshot(7)))
    assert world.sql("SELECT output_tokens FROM usage") == [(60,)]
    add(world, piece(snapshot(3), position="300"))
    assert world.sql("SELECT output_tokens FROM usage") == [(60,)]


def test_a_thought_and_a_compaction_are_in_the_history(world: World) -> None:
    summary = entry("u3", "What was done so far.", kind="compaction", role="system")
    (added,) = add(world, piece(SAID[0], entry("t1", "Hm.", kind="reasoning"), summary, SAID[1]))
    kinds = [kind for kind, _ in history(world, added.session_id)]
    assert kinds == ["dialogue", "reasoning", "session", "dialogue"]
    assert add(world, piece(SAID[0], entry("t1", "Hm.", kind="reasoning"), summary, SAID[1]))[0].added == 0


# Projects.


@pytest.mark.requirement("R382")
def test_a_session_belongs_to_the_project_around_its_directory(world: World) -> None:
    project = world.call("db.project.upsert", path=PROJECT)
    (added,) = add(world, piece(*SAID, project="/shop/src"))
    assert [each.id for each in world.call("db.session.find", project=project.id).items] == [added.session_id]
    nested = piece(*SAID, native_id="n", source="/n", project="/shop/src", is_repository=True)
    (inner,) = add(world, nested)
    assert world.call("db.session.find", project="/shop/src").items[0].id == inner.session_id


def test_a_project_that_nobody_registered_is_not_put_on_the_list(world: World) -> None:
    add(world, piece(*SAID))
    assert world.call("db.project.list").items == []
    assert [each.path for each in world.call("db.project.list", removed=True).items] == [PROJECT]
    assert len(world.call("db.session.find", project=PROJECT).items) == 1
    listed = world.call("db.project.upsert", path=PROJECT)
    assert [each.id for each in world.call("db.project.list").items] == [listed.id]
    assert len(world.call("db.session.find", project=listed.id).items) == 1


def test_a_session_without_a_directory_needs_a_project(world: World) -> None:
    with pytest.raises(InvalidParams, match="directory"):
        add(world, piece(*SAID, head={"cwd": None}, project=None))
    assert world.sql("SELECT count(*) FROM sessions") == [(0,)]


# Positions.


def test_how_far_each_source_was_imported_is_listed_in_pages(world: World) -> None:
    pieces = [piece(native_id=f"n{number}", source=f"/s{number}", skipped=number) for number in range(3)]
    add(world, *pieces)
    first = world.call("imports.list", limit=2)
    assert ([each.source for each in first.items], first.has_more) == (["/s0", "/s1"], True)
    rest = world.call("imports.list", after={"vendor": "claude", "source": "/s1"})
    assert ([(each.source, each.skipped) for each in rest.items], rest.has_more) == ([("/s2", 2)], False)
    assert world.call("imports.list", host="elsewhere").items == []


def test_the_pieces_behind_one_that_waits_wait_as_well(world: World) -> None:
    first = piece(*SAID, head={"origin_id": "gone"}, is_last=False)
    second = {**piece(entry("u3", "More."), position="200"), "head": None}
    assert [each.state for each in add(world, first, second)] == ["waits", "waits"]
    assert [each.state for each in add(world, second)] == ["waits"]
    assert [each.added for each in add(world, first, second, waits=False)] == [2, 1]


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "1969-01-01T00:00:00Z", None])
def test_impossible_times_break_nothing(world: World, at: str | None) -> None:
    (added,) = add(world, piece(entry("u1", "When?", role="user", at=at), head={"started_at": at}))
    found = session(world, added.session_id)
    assert found.created_at <= found.ended_at
    assert found.ended_at.year <= 2026


@pytest.mark.requirement("R383")
def test_a_piece_is_refused_if_the_one_before_it_is_missing(world: World) -> None:
    first, second = piece(*SAID, is_last=False), {**piece(entry("u3", "More."), position="200"), "head": None}
    add(world, first)
    assert [each.state for each in add(world, {**second, "after": "150"})] == ["moved"]
    assert [each.state for each in add(world, {**second, "after": "100"})] == ["added"]
    assert [each.state for each in add(world, {**second, "after": "100"})] == ["moved"]
    assert len(messages(world, 1)) == 3
