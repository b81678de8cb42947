"""The conversation of a run: saved with every turn, a branch of the history like any other."""

from typing import Any

import pytest
from tests.conformance import queue_worker
from tests.conformance.run_steps import (
    TASK,
    attend,
    claim,
    do_next,
    get,
    leave,
    record,
    start,
)
from tests.world import World

from ramet.errors import BranchInUse, BranchNotFound, InvalidParams


def said(world: World, run: Any) -> list[tuple[str, str]]:
    return [(turn.role, turn.content) for turn in get(world, run).conversation]


@pytest.mark.requirement("R81", "R96", "R97")
def test_a_turn_is_saved_when_a_line_begins_and_when_it_ends(world: World) -> None:
    run = start(world, "1", "2")
    assert said(world, run) == []
    attempt = queue_worker.begin(
        world, claim(world, run), prompt="[User]\nall that came before\n\n[Current Task]\ndo 1"
    )
    assert said(world, run) == [("user", "do 1")], "the line's own text, and not what the agent was given"
    world.clock.advance(5)
    queue_worker.complete(world, attempt, output_content="done it")
    turns = get(world, run).conversation
    assert [(turn.role, turn.content) for turn in turns] == [("user", "do 1"), ("assistant", "done it")]
    assert [turn.timestamp for turn in turns] == ["2026-01-05T08:00:00.123Z", "2026-01-05T08:00:05.123Z"]
    assert turns[0].metadata == {"line": "1", "effort": attempt.effort.id}
    assert turns[1].tokens == len("done it") // 4
    assert world.events().count("run.turn") == 2


@pytest.mark.requirement("R82", "R83")
def test_a_failure_leaves_a_note_and_an_empty_answer_nothing(world: World) -> None:
    run = start(world, "1", "2", "3", "4")
    do_next(world, run, "error", failure="permanent", reason="the disk is full", output_content="half")
    do_next(world, run, output_content="")
    do_next(world, run, "stuck")
    world.call("work.drop", effort_id=run.lines[3].effort_id)
    assert said(world, run) == [
        ("user", "do 1"),
        ("system", "✗ failed: the disk is full"),
        ("user", "do 2"),
        ("user", "do 3"),
        ("system", "✗ failed: stuck"),
    ]


@pytest.mark.requirement("R83")
def test_a_line_that_failed_before_it_began_is_told_of_too(world: World) -> None:
    run = start(world, "1")
    queue_worker.complete(world, claim(world, run), "error", failure="permanent", reason="no such driver")
    assert said(world, run) == [("user", "do 1"), ("system", "✗ failed: no such driver")]


@pytest.mark.requirement("R83", "R301")
def test_a_line_that_waits_for_another_attempt_when_a_bound_is_reached_is_told_of(world: World) -> None:
    run = start(world, "1", "2", limits={"seconds": 30})
    do_next(world, run, "error", failure="transient")
    world.clock.advance(30)
    claim(world, run)
    assert said(world, run) == [("user", "do 1"), ("system", "✗ failed: the run has reached its limit of 30 seconds")]
    assert [each.state for each in get(world, run).lines] == ["failed", "skipped"]


@pytest.mark.requirement("R81", "R98")
def test_a_line_that_is_attempted_again_does_not_repeat_its_question(world: World) -> None:
    run = start(world, "1", "2")
    do_next(world, run, "error", failure="transient")
    world.call("run.turn", run_id=run.id, role="system", content="be brief")
    world.clock.advance(600)
    attend(world, run, begins=False)
    do_next(world, run, output_content="done")
    assert said(world, run) == [("user", "do 1"), ("system", "be brief"), ("assistant", "done")]
    do_next(world, run, "error", failure="permanent", reason="no")
    attend(world, run, retry_failed=True)
    do_next(world, run, output_content="yes")
    asked = [("user", "do 2"), ("system", "✗ failed: no"), ("user", "do 2"), ("assistant", "yes")]
    assert said(world, run)[3:] == asked, "after an answer it is asked anew"


@pytest.mark.requirement("R93", "R97")
def test_a_run_that_is_resumed_has_its_whole_conversation(world: World) -> None:
    run = start(world, "1", "2")
    do_next(world, run, output_content="first")
    before = get(world, run).conversation
    leave(world, run)
    attend(world, run, "another daemon")
    assert get(world, run).conversation == before
    do_next(world, run, output_content="second")
    assert said(world, run)[2:] == [("user", "do 2"), ("assistant", "second")]


@pytest.mark.requirement("R96")
def test_a_run_that_saves_no_conversation_saves_its_lines_and_no_turn(world: World) -> None:
    run = start(world, "1", "2", save_conversation=False)
    do_next(world, run, output_content="first")
    shown = get(world, run)
    assert (shown.conversation, shown.branch, shown.lines[0].output) == ([], None, "first")
    assert world.call("history.branches", prefix="run/").items == []
    with pytest.raises(InvalidParams):
        world.call("run.turn", run_id=run.id, role="user", content="x")


@pytest.mark.requirement("R75")
def test_a_run_whose_conversation_is_gone_is_read_as_one_without(world: World) -> None:
    run = start(world, "1", "2")
    do_next(world, run, output_content="first")
    world.call("history.delete", branch=f"run/{run.id}")
    assert (said(world, run), get(world, run).counts["completed"]) == ([], 1)
    do_next(world, run, output_content="second")
    assert said(world, run) == [("user", "do 2"), ("assistant", "second")]


@pytest.mark.requirement("R75")
def test_a_run_that_was_saved_before_it_had_a_conversation_continues_with_an_empty_one(world: World) -> None:
    run = start(world, "1", "2", "3")
    do_next(world, run, output_content="first")
    leave(world, run)
    world.call("history.delete", branch=f"run/{run.id}")
    world.sql("UPDATE runs SET branch = NULL")
    found = get(world, run)
    assert (found.conversation, found.branch, found.lines[0].output) == ([], None, "first")
    attend(world, run, begins=True)
    do_next(world, run, output_content="second")
    assert (said(world, run), get(world, run).counts["completed"]) == ([], 2)


def test_the_conversation_is_a_branch_like_any_other(world: World) -> None:
    run = start(world, "1")
    do_next(world, run, output_content="done it")
    branch = get(world, run).branch
    log = world.call("history.log", branch=branch).items
    assert [(row.role, row.preview) for row in log] == [("assistant", "done it"), ("user", "do 1")]
    world.call("history.edit", branch=branch, target=log[0].hash, text="done it, twice")
    assert said(world, run) == [("user", "do 1"), ("assistant", "done it, twice")]
    compiled = world.call("history.compile", branch=branch)
    assert [message["content"] for message in compiled.messages] == ["do 1", "done it, twice"]


def test_a_branch_that_somebody_has_named_so_is_left_alone(world: World) -> None:
    world.task(TASK)
    world.call("history.commit", branch="run/1", text="mine")
    run = start(world, "1")
    do_next(world, run, output_content="done it")
    assert get(world, run).branch == "run/1.2"
    assert world.call("history.log", branch="run/1").items[0].preview == "mine"


@pytest.mark.parametrize("mode", ["parallel", "chain"])
def test_only_lines_that_follow_each_other_have_a_conversation(world: World, mode: str) -> None:
    params: dict[str, Any] = {"prompt": "build it"} if mode == "chain" else {}
    run = record(world, *([] if mode == "chain" else ["1"]), mode=mode, **params)
    attend(world, run)
    do_next(world, run, output_content="done")
    assert (get(world, run).branch, get(world, run).conversation) == (None, [])


def test_the_turns_of_a_run_can_be_read_alone(world: World) -> None:
    run = start(world, "1")
    do_next(world, run, output_content="done it")
    assert world.call("run.turns", run_id=run.id).items == get(world, run).conversation
    silent = record(world, "1", save_conversation=False)
    assert world.call("run.turns", run_id=silent.id).items == []


def test_a_turn_that_is_added_by_hand_says_to_which_line_it_belongs(world: World) -> None:
    run = record(world, "1")
    world.call("run.turn", run_id=run.id, role="system", content="be brief", line="1")
    (turn,) = get(world, run).conversation
    assert (turn.role, turn.content, turn.metadata) == ("system", "be brief", {"line": "1"})


@pytest.mark.requirement("R352")
def test_a_run_continues_on_no_branch_that_is_missing_or_that_another_one_writes_to(world: World) -> None:
    run, other = record(world, "1"), record(world, "1", task="/shop/tasks/other")
    silent = record(world, "1", task="/shop/tasks/silent", save_conversation=False)
    session = world.session("do", "/shop/tasks/talk")
    world.call("history.branch", name="fork")
    with pytest.raises(BranchNotFound):
        attend(world, run, branch="nowhere")
    with pytest.raises(BranchInUse, match=f"session {session.id}"):
        attend(world, run, branch=f"session/{session.id}")
    with pytest.raises(BranchInUse, match=f"run {other.id}"):
        attend(world, run, branch=other.branch)
    with pytest.raises(InvalidParams, match="no saved conversation"):
        attend(world, silent, branch="fork")
    shown = get(world, run)
    assert (shown.branch, shown.state) == (run.branch, "interrupted"), "nothing has changed"
    assert attend(world, run, branch="fork").branch == "fork"
