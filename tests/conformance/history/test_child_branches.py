"""Spawns: what a child inherits, and how its work comes back to the parent."""

import pytest
from tests.conformance.history.story import (
    compiled,
    compress,
    findings,
    head,
    logged,
    put,
    say,
    spawn,
    texts,
)
from tests.world import Counting, World

from ramet.errors import BranchExists, BranchNotFound, NothingToExpand, SpawnError


def collapse(world: World, child: str = "kid", **params: object) -> object:
    world.clock.advance(1)
    return world.call("history.collapse", child=child, **params)


@pytest.mark.requirement("R7", "R55")
def test_a_full_clone_has_all_that_the_parent_had_before_the_spawn(world: World) -> None:
    say(world, "a", "b")
    before, stood = compiled(world), head(world)
    row = spawn(world, "kid", inherit="full_clone", display_name="Kid")
    assert head(world, "kid") == stood == row.parent_commit
    assert compiled(world, "kid") == before
    assert (row.parent, row.child, row.purpose, row.display_name) == ("main", "kid", "look into it", "Kid")
    assert logged(world)[:2] == logged(world, "kid")
    assert '"kind":"spawn"' in logged(world)[2]
    assert texts(world) == ["a", "b"]


@pytest.mark.requirement("R7", "R55")
def test_a_snapshot_is_one_instruction_with_the_parents_text(world: World) -> None:
    said = say(world, "a", "b")
    put(world, "instruction", text="be brief")
    world.call("history.edit", branch="main", target=said[0], text="A")
    row = spawn(world, "kid", inherit="head_snapshot")
    (commit,) = world.call("history.log", branch="kid").items
    assert (commit.content_type, commit.role) == ("instruction", "system")
    assert texts(world, "kid") == ["[user]: A\n\n[user]: b\n\n[system]: be brief"]
    assert row.parent_commit == world.call("history.log", branch="main").items[1].hash


def test_a_snapshot_drops_the_oldest_first_to_fit(world: World) -> None:
    put(world, "instruction", text="be brief")
    say(world, *(f"{letter} " * 20 for letter in "abcd"))
    spawn(world, "kid", max_tokens=25)
    (text,) = texts(world, "kid")
    assert text.startswith("[system]: be brief")
    assert "d d" in text
    assert "c c" in text
    assert "b b" not in text


@pytest.mark.requirement("R7")
@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"types": ["artifact"]}, ["be brief", "code"]),
        ({"tags": ["key", "other"]}, ["be brief", "a"]),
        ({"last_turns": 2}, ["be brief", "b!", "c"]),
        ({"last_turns": 0}, ["be brief"]),
        ({"types": ["reasoning"], "tags": ["key"], "last_turns": 1}, ["be brief", "a", "hm", "c"]),
    ],
)
def test_a_selective_child_gets_what_the_filter_names(
    world: World, chosen: dict[str, object], expected: list[str]
) -> None:
    put(world, "instruction", text="be brief")
    say(world, "a", tags=["key"])
    put(world, "reasoning", text="hm")
    put(world, "artifact", text="code", artifact_type="code")
    (edited,) = say(world, "b")
    say(world, "c", role="assistant")
    world.call("history.edit", branch="main", target=edited, text="b!")
    spawn(world, "kid", inherit="selective", filter=chosen)
    assert texts(world, "kid") == expected
    assert findings(world) == []


def test_a_child_of_an_empty_parent_is_empty(world: World) -> None:
    world.call("history.branch", name="main")
    for mode in ("full_clone", "head_snapshot", "selective"):
        row = spawn(world, mode, inherit=mode, filter={"last_turns": 1})
        assert compiled(world, mode).messages == []
        if mode == "full_clone":
            assert row.parent_commit is None


@pytest.mark.requirement("R56")
def test_the_pointer_is_written_after_the_parents_commit_in_one_transaction(world: World) -> None:
    say(world, "a")
    counting = Counting(world.db)
    world.db = counting
    spawn(world, "kid")
    names = [name.rpartition(".")[2] for name in counting.names]
    last_commit = max(place for place, name in enumerate(names) if name == "insert_commit")
    assert names.index("insert") > last_commit
    assert world.sql("SELECT count(*) FROM spawn_pointers") == [(1,)]


def test_a_child_whose_name_is_taken_is_refused(world: World) -> None:
    say(world, "a")
    say(world, "x", branch="kid")
    before = world.dump()
    with pytest.raises(BranchExists):
        spawn(world, "kid")
    with pytest.raises(BranchNotFound):
        spawn(world, "new", parent="nowhere")
    assert world.dump() == before


def test_relatives_are_shown(world: World) -> None:
    say(world, "a")
    spawn(world, "kid")
    spawn(world, "twin")
    spawn(world, "grandkid", parent="kid")
    tree = world.call("history.spawns", branch="kid")
    assert (tree.parent.parent, tree.ancestors) == ("main", ["main"])
    assert [row.child for row in tree.children] == ["grandkid"]
    assert world.call("history.spawns", branch="grandkid").ancestors == ["kid", "main"]
    assert [row.child for row in world.call("history.spawns", branch="main").children] == ["kid", "twin"]
    parents = {row.name: row.parent for row in world.call("history.branches").items}
    assert parents == {"main": None, "kid": "main", "twin": "main", "grandkid": "kid"}


@pytest.mark.requirement("R57")
def test_a_collapse_remembers_the_child_and_its_head(world: World) -> None:
    say(world, "a")
    spawn(world, "kid", purpose="find it")
    (found,) = say(world, "found it", branch="kid")
    reply = collapse(world, text="Subagent completed: found")
    shown = world.call("history.show", hash=reply.parent_commit_hash)  # type: ignore[attr-defined]
    assert shown.metadata == {"collapse": {"child": "kid", "head": found}}
    assert (shown.text, shown.collapses, shown.branches) == ("Subagent completed: found", "kid", ["main"])
    assert texts(world) == ["a", "Subagent completed: found"]
    expanded = world.call("history.expand", hash=shown.hash)
    assert (expanded.kind, expanded.branch, expanded.head) == ("collapse", "kid", found)
    assert [row.preview for row in expanded.commits] == ["[user]: a", "found it"]


@pytest.mark.requirement("R40", "R41")
def test_a_collapse_for_review_commits_nothing(world: World) -> None:
    say(world, "a")
    spawn(world, "kid", purpose="find it")
    say(world, "found it, at last", branch="kid")
    before = world.dump()
    reply = world.call("history.collapse", child="kid", text="twelve chars", auto_commit=False)
    assert (reply.parent_commit_hash, reply.child, reply.purpose) == (None, "kid", "find it")
    assert (reply.summary_text, reply.summary_tokens) == ("twelve chars", 3)
    assert reply.source_tokens == sum(row.tokens for row in world.call("history.log", branch="kid").items)
    assert world.dump() == before


def test_a_report_becomes_text_within_its_budget(world: World) -> None:
    say(world, "a")
    spawn(world, "kid")
    report = {
        "summary": "Subagent completed: the cart",
        "decisions": ["use x"],
        "failed_approaches": ["y"],
        "artifacts": ["cart.py"],
        "next_steps": ["ship", "rest"],
    }
    collapse(world, report=report)
    assert texts(world)[-1] == (
        "Subagent completed: the cart\n\nDecisions:\n- use x\n\nWhat did not work:\n- y\n\n"
        "Artifacts:\n- cart.py\n\nNext steps:\n- ship\n- rest"
    )
    short = world.call("history.collapse", child="kid", report=report, target_tokens=12)
    assert short.summary_tokens <= 12
    assert short.summary_text.endswith("[… cut to fit]")


def test_a_childs_own_closing_report_is_enough(world: World) -> None:
    say(world, "a")
    spawn(world, "kid", purpose="find it")
    put(world, "session", branch="kid", session_type="start", summary="begun")
    closing = put(world, "session", branch="kid", session_type="end", summary="under the sofa")
    say(world, "bye", branch="kid")
    collapse(world)
    assert texts(world)[-1] == "Subagent completed: find it\n\nunder the sofa"
    world.call("history.edit", branch="kid", target=closing, text="behind the sofa")
    collapse(world)
    assert texts(world)[-1] == "Subagent completed: find it\n\nbehind the sofa"


@pytest.mark.requirement("R58")
def test_a_collapse_with_nothing_to_say_is_refused_with_the_fix(world: World) -> None:
    say(world, "a")
    spawn(world, "kid")
    say(world, "work", branch="kid")
    before = world.dump()
    with pytest.raises(SpawnError) as refusal:
        world.call("history.collapse", child="kid")
    assert refusal.value.field == "text"
    assert "write the report (--text)" in (refusal.value.fix or "")
    with pytest.raises(SpawnError, match="not spawned"):
        world.call("history.collapse", child="main", text="x")
    assert world.dump() == before


@pytest.mark.requirement("R59")
def test_several_collapses_add_up_and_leave_the_child_whole(world: World) -> None:
    say(world, "a")
    spawn(world, "kid", inherit="full_clone")
    stood = []
    for number in range(3):
        say(world, f"step {number}", branch="kid")
        stood.append(head(world, "kid"))
        collapse(world, text=f"did {number}")
    collapse(world, text="did 2")
    assert texts(world) == ["a", "did 0", "did 1", "did 2", "did 2"]
    assert texts(world, "kid") == ["a", "step 0", "step 1", "step 2"]
    (row,) = world.call("history.spawns", branch="main").children
    assert [world.call("history.expand", hash=each).head for each in row.collapses] == [*stood, stood[-1]]


def test_the_same_collapse_after_a_reset_is_the_same_commit(world: World) -> None:
    say(world, "a")
    spawn(world, "kid")
    before = str(head(world))
    first = world.call("history.collapse", child="kid", text="did it")
    world.call("history.reset", branch="main", to=before)
    second = world.call("history.collapse", child="kid", text="did it")
    assert second == first
    assert world.sql("SELECT count(*) FROM collapses") == [(1,)]


def test_only_what_stands_for_others_can_be_expanded(world: World) -> None:
    (plain,) = say(world, "a")
    with pytest.raises(NothingToExpand) as refusal:
        world.call("history.expand", hash=plain)
    assert refusal.value.field == "hash"
    world.call("history.branch", name="empty")
    with pytest.raises(NothingToExpand):
        world.call("history.expand", hash="empty")


@pytest.mark.requirement("R60")
def test_after_a_crash_the_latest_root_without_an_end_is_found(world: World) -> None:
    assert world.call("history.latest").branch is None
    say(world, "x", branch="old")
    put(world, "session", branch="main", session_type="handoff", summary="half way", next_steps=["go on"])
    say(world, "more")
    put(world, "session", branch="done", session_type="end", summary="all done")
    spawn(world, "kid")
    say(world, "work", branch="kid")
    found = world.call("history.latest")
    assert (found.branch, found.hash) == ("main", head(world))
    assert found.boundary == {"session_type": "handoff", "next_steps": ["go on"], "summary": "half way"}
    put(world, "session", session_type="end", summary="finished")
    assert world.call("history.latest").branch == "old"
    put(world, "session", session_type="start", summary="again")
    assert world.call("history.latest").branch == "main"
    assert world.call("history.latest", prefix="ol").branch == "old"


def test_a_spawn_from_a_compressed_parent_inherits_the_summary(world: World) -> None:
    said = say(world, *"abcd")
    compress(world, said[0], said[2], text="a to c")
    spawn(world, "clone", inherit="full_clone")
    spawn(world, "shot", inherit="head_snapshot")
    assert texts(world, "clone") == ["a to c", "d"]
    assert texts(world, "shot") == ["[user]: a to c\n\n[user]: d"]
