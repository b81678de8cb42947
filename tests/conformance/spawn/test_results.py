"""What a parent gets of its children: typed results, once, and the same text in its history."""

from typing import Any, get_args

import pytest
from tests.conformance import queue_worker
from tests.conformance.family import as_agent, begin, effort, history, parent, result, run, session, spawn
from tests.world import World

from ramet.errors import Forbidden, SessionEnded, SpawnError
from ramet.model.record.effort import Outcome
from ramet.model.spawn.child import NOTES_CHARACTERS

REPORT: dict[str, Any] = {
    "summary": "The carts are counted.",
    "decisions": ["count twice"],
    "failed_approaches": ["counting once"],
    "artifacts": ["carts.csv"],
    "next_steps": [],
}
RENDERED = """The carts are counted.

Decisions:
- count twice

What did not work:
- counting once

Artifacts:
- carts.csv"""


@pytest.mark.requirement("R110", "R136")
def test_what_is_under_way_has_no_outcome_yet(world: World) -> None:
    child = spawn(world, parent(world))
    assert (child.status, child.outcome) == ("queued", None)
    attempt = begin(world, child)
    under_way = result(world, child)
    assert (under_way.status, under_way.outcome, under_way.notes) == ("running", None, "")
    queue_worker.complete(world, attempt, output_content="done")
    ended = result(world, child)
    assert (ended.status, ended.outcome, ended.notes) == ("ended", "success", "done")
    assert (ended.artifacts, ended.issues, ended.code) == (None, None, None)


@pytest.mark.requirement("R117", "R118", "R121", "R136", "R359")
@pytest.mark.parametrize("outcome", get_args(Outcome))
def test_every_outcome_is_mapped_and_what_went_wrong_comes_first(world: World, outcome: str) -> None:
    child = spawn(world, parent(world))
    ended = run(world, child, outcome, reason="so it was", output_content="half of it")
    assert (ended.child_session_id, ended.outcome) == (child.child_session_id, outcome)
    assert ended.notes == ("half of it" if outcome == "success" else "so it was\n\nhalf of it")


@pytest.mark.requirement("R117")
@pytest.mark.parametrize("outcome", get_args(Outcome))
def test_an_outcome_without_a_word_says_as_much_as_is_known(world: World, outcome: str) -> None:
    ended = run(world, spawn(world, parent(world)), outcome)
    assert (ended.notes == "") is (outcome == "success")


@pytest.mark.requirement("R117", "R121")
def test_a_child_that_could_not_be_delivered_is_an_error_with_its_session(world: World) -> None:
    child = spawn(world, parent(world))
    claimed = queue_worker.claim(world, "host/2", effort_id=child.effort_id)
    queue_worker.complete(world, claimed, "error", failure="permanent", reason="the program is not there")
    ended = result(world, child)
    assert (ended.child_session_id, ended.outcome) == (child.child_session_id, "error")
    assert ended.notes == "the program is not there"
    assert ended.issues is not None
    assert "the program is not there" in ended.issues[0], "what a person was told of it"


@pytest.mark.requirement("R365")
def test_why_a_child_could_not_start_is_no_part_of_its_parents_history(world: World) -> None:
    above = parent(world)
    child = spawn(world, above)
    before = history(world, above)
    claimed = queue_worker.claim(world, "host/2", effort_id=child.effort_id)
    queue_worker.complete(world, claimed, "error", failure="permanent", reason="the program of codex is not installed")
    assert history(world, above) == before
    run(world, spawn(world, above), "error", reason="it gave up")
    assert [text for _, text in history(world, above)[len(before) + 1 :]] == ["it gave up"]


def test_of_a_long_output_the_end_stands_for_the_report(world: World) -> None:
    ended = run(world, spawn(world, parent(world)), output_content="x" * 10_000 + "the end")
    assert len(ended.notes) == NOTES_CHARACTERS
    assert ended.notes.endswith("the end")


@pytest.mark.requirement("R136", "R283")
def test_a_report_is_what_the_parent_gets_keeps_and_finds_as_the_childs_output(world: World) -> None:
    above = parent(world)
    child = spawn(world, above)
    attempt = begin(world, child)
    as_agent(world, child, "spawn.report", report=REPORT)
    queue_worker.complete(world, attempt)
    ended = result(world, child)
    assert (ended.notes, ended.artifacts, ended.issues) == (RENDERED, ["carts.csv"], ["counting once"])
    assert effort(world, child).output_content == RENDERED
    (collapse,) = world.call("history.spawns", branch=session(world, child).branch).parent.collapses
    assert world.call("history.show", hash=collapse).text == RENDERED
    opened = world.call("history.expand", hash=collapse)
    assert opened.branch == session(world, child).branch


def test_a_report_stands_before_other_output_which_is_kept(world: World) -> None:
    child = spawn(world, parent(world))
    attempt = begin(world, child)
    as_agent(world, child, "spawn.report", report={"summary": "short"})
    queue_worker.complete(world, attempt, output_content="the whole story")
    assert (result(world, child).notes, effort(world, child).output_content) == ("short", "the whole story")


def test_the_same_report_again_changes_nothing_and_an_ended_session_reports_no_more(world: World) -> None:
    child = spawn(world, parent(world))
    attempt = begin(world, child)
    as_agent(world, child, "spawn.report", report=REPORT)
    before = world.dump()
    as_agent(world, child, "spawn.report", report=REPORT)
    assert world.dump() == before
    queue_worker.complete(world, attempt)
    with pytest.raises(SessionEnded):
        world.call("spawn.report", session_id=child.child_session_id, report=REPORT)
    with pytest.raises(Forbidden):
        as_agent(world, child, "spawn.report", report=REPORT)


@pytest.mark.requirement("R283")
def test_completing_twice_gives_the_parent_one_result(world: World) -> None:
    above = parent(world)
    child = spawn(world, above)
    attempt = begin(world, child)
    queue_worker.complete(world, attempt, output_content="done")
    once = history(world, above)
    again = queue_worker.complete(world, attempt, "error", output_content="not done")
    assert again.ignored
    assert history(world, above) == once
    assert once[-1][1] == "done"
    assert result(world, child).outcome == "success"
    assert world.events().count("session.collapsed") == 1


def test_a_second_attempt_brings_the_one_result_of_the_child(world: World) -> None:
    above = parent(world)
    child = spawn(world, above)
    queue_worker.complete(world, begin(world, child), "error", failure="transient", reason="a hiccup")
    assert (result(world, child).status, result(world, child).outcome) == ("queued", None)
    world.clock.advance(3600)
    queue_worker.complete(world, begin(world, child, instance="keeper99"), output_content="done")
    assert (result(world, child).outcome, result(world, child).notes) == ("success", "done")
    assert world.events().count("session.collapsed") == 1


@pytest.mark.requirement("R132")
def test_a_parent_that_is_over_leaves_its_child_finishing_and_linked(world: World) -> None:
    above = parent(world)
    child = spawn(world, above, wait=True)
    attempt = begin(world, child)
    queue_worker.complete(world, above, "timeout", failure="timeout")
    assert session(world, child).ended_at is None
    queue_worker.complete(world, attempt, output_content="done all the same")
    assert session(world, child).parent_session_id == above.session.id
    assert result(world, child).outcome == "success"
    assert history(world, above)[-1][1] == "done all the same"


def test_results_come_in_the_order_in_which_children_are_named(world: World) -> None:
    above = parent(world)
    ids = [spawn(world, above).child_session_id for _ in range(3)]
    asked = [ids[2], ids[0], ids[1], ids[2]]
    assert [each.child_session_id for each in world.call("spawn.results", session_ids=asked).results] == asked


def test_a_child_is_collapsed_by_hand_with_a_text_or_its_report(world: World) -> None:
    above = parent(world)
    child = spawn(world, above)
    with pytest.raises(SpawnError):
        world.call("spawn.collapse", session_id=child.child_session_id)
    assert world.call("spawn.collapse", session_id=child.child_session_id, text="so far").summary_text == "so far"
    world.call("spawn.report", session_id=child.child_session_id, report={"summary": "nearly"})
    seen = world.call("spawn.collapse", session_id=child.child_session_id, auto_commit=False)
    assert (seen.summary_text, seen.parent_commit_hash) == ("nearly", None)
    assert history(world, above)[-1][1] == "so far"
    with pytest.raises(SpawnError):
        world.call("spawn.collapse", session_id=above.session.id, text="of whom?")
