"""What an attempt comes to: the end of its effort, or another attempt, by what failed and how often."""

from datetime import timedelta
from typing import Any

import pytest
from tests.conformance.queue_worker import (
    NO_CHANGES,
    add,
    claim,
    complete,
    end,
    report,
    run,
    start,
)
from tests.world import World

from ramet.errors import InvalidParams, NoticeNotFound


def notices(world: World) -> list[str]:
    return [notice.kind for notice in world.call("fleet.notices").items]


def fail(world: World, effort_id: int, failure: str, times: int) -> Any:
    """Let attempts fail, each when its time has come."""
    done = None
    for number in range(times):
        world.clock.advance(86_400)
        done = complete(
            world,
            claim(world, f"host/{number}", effort_id=effort_id),
            "error",
            failure=failure,
            reason=f"{failure} {number}",
        )
    return done


def test_a_success_finishes_the_effort_with_what_it_left(world: World) -> None:
    attempt = start(world)
    changes = {"files": ["a.py"], "insertions": 3, "deletions": 1}
    done = complete(
        world,
        attempt,
        output_content="the text",
        report_file=".ramet/x.md",
        reason="nothing to do",
        git_head="abc",
        git_branch="ramet/e1",
        changes=changes,
        usage={"input_tokens": 5},
        metadata={"log_file": "a.log"},
    )
    assert (done.lifecycle, done.outcome, done.ignored, done.requeued) == ("finished", "success", False, False)
    assert (done.output_content, done.report_file, done.reason) == ("the text", ".ramet/x.md", "nothing to do")
    assert (done.git_head, done.git_branch, done.usage, done.metadata) == (
        *("abc", "ramet/e1"),
        {"input_tokens": 5},
        {"log_file": "a.log"},
    )
    assert (done.changes.files, done.changes.insertions, done.changes.deletions) == (["a.py"], 3, 1)
    assert world.call("work.get", effort_id=done.id).changes == done.changes
    assert world.call("db.session.get", session_id=attempt.session.id).outcome == "success"
    assert world.call("fleet.status").items == []
    assert world.events()[-1] == "effort.finished"
    assert notices(world) == []


@pytest.mark.requirement("R300")
@pytest.mark.requirement("R359")
@pytest.mark.parametrize("skill", ["do", "plan", "explore", "review", "shell"])
def test_a_no_op_of_a_skill_that_need_not_change_code_is_a_success_with_its_reason(world: World, skill: str) -> None:
    """DESIGN-2 section 3 changed the decision for skills that change code: `test_no_change` has those."""
    said = {"reason": "no files were changed", "failure": "transient", "output_content": "Verdict: APPROVED"}
    done = run(world, add(world, skill=skill), changes=NO_CHANGES, **said)
    assert (done.outcome, done.failure) == ("success", None)
    assert "no files were changed" in done.reason


@pytest.mark.parametrize("failure", ["transient", "unknown"])
def test_what_failed_in_passing_is_tried_twice_more_and_then_given_up_with_one_notice(
    world: World, failure: str
) -> None:
    effort = add(world)
    second = fail(world, effort.id, failure, 2)
    assert (second.lifecycle, second.requeued, second.agent_failures, second.outcome) == ("queued", True, 2, None)
    assert notices(world) == []
    third = fail(world, effort.id, failure, 1)
    assert (third.lifecycle, third.requeued, third.outcome, third.attempts) == ("finished", False, "error", 3)
    (notice,) = world.call("fleet.notices").items
    assert (notice.kind, notice.effort_id) == ("gave_up", effort.id)
    assert f"{failure} 0" in notice.text
    assert world.events().count("effort.requeued") == 2


def test_what_the_host_did_is_counted_apart_and_tried_more_often(world: World) -> None:
    effort = add(world)
    fail(world, effort.id, "infrastructure", 5)
    fail(world, effort.id, "transient", 2)
    row = world.call("work.get", effort_id=effort.id)
    assert (row.lifecycle, row.host_failures, row.agent_failures) == ("queued", 5, 2)
    assert fail(world, effort.id, "infrastructure", 1).outcome == "error"


@pytest.mark.parametrize("failure", ["permanent", "timeout"])
def test_what_will_fail_again_is_not_tried_again(world: World, failure: str) -> None:
    effort = add(world)
    done = fail(world, effort.id, failure, 1)
    assert (done.outcome, done.failure, done.agent_failures) == ("error", failure, 0)
    assert notices(world) == ["gave_up"]


@pytest.mark.parametrize("outcome", ["timeout", "stuck"])
def test_every_other_bound_leaves_one_notice_too(world: World, outcome: str) -> None:
    done = run(world, add(world), outcome, failure="timeout", reason="too long")
    assert (done.outcome, notices(world)) == (outcome, [outcome])
    assert world.call("fleet.notices").items[0].text.endswith("too long")


def test_an_error_of_no_known_kind_is_the_end(world: World) -> None:
    assert (run(world, add(world), "error").outcome, notices(world)) == ("error", [])


def test_pauses_double_and_are_the_same_for_the_same_attempt(world: World) -> None:
    effort = add(world)
    pauses = []
    for number in range(5):
        world.clock.advance(86_400)
        done = complete(world, claim(world, f"w{number}"), "error", failure="infrastructure")
        pauses.append((done.not_before - world.call("events.list", newest=True, limit=1).items[0].at).total_seconds())
    for pause, whole in zip(pauses, (5, 10, 20, 40, 80), strict=True):
        assert whole / 2 <= pause <= whole
    assert claim(world, "early", effort_id=effort.id).refused == "blocked"


def test_a_limit_waits_until_it_ends_and_is_nobodys_failure(world: World) -> None:
    until = "2026-01-07T12:00:00Z"
    efforts = [add(world, driver="claude"), add(world, driver="claude")]
    for number, effort in enumerate(efforts):
        claimed = claim(world, f"w{number}", effort_id=effort.id)
        done = complete(world, claimed, "error", failure="limit", retry_at=until)
        assert (done.requeued, done.agent_failures, done.host_failures) == (True, 0, 0)
        assert done.not_before.isoformat() == "2026-01-07T12:00:00+00:00"
    assert notices(world) == ["limit"]
    world.clock.advance(10 * 86_400)
    again = claim(world)
    with pytest.raises(InvalidParams, match="time zone"):
        complete(world, again, "error", failure="limit", retry_at="2026-01-07T12:00:00")


def test_what_somebody_wants_to_end_is_not_tried_again(world: World) -> None:
    attempt = start(world)
    world.call("fleet.kill", effort_id=attempt.effort.id)
    report(world, attempt, end("error", failure="transient"))
    done = complete(world, attempt, "error", failure="transient")
    assert (done.outcome, done.requeued, done.stop_request, notices(world)) == ("error", False, None, [])


def test_a_requeued_effort_keeps_why_and_lets_everybody_go(world: World) -> None:
    attempt = start(world)
    done = complete(world, attempt, "error", failure="transient", reason="hiccup", output_content="half")
    assert (done.lifecycle, done.failure, done.reason) == ("queued", "transient", "hiccup")
    assert (done.lease_owner, done.output_content) == (None, "half")
    assert world.call("db.session.get", session_id=attempt.session.id).outcome == "error"
    assert world.call("db.agents.get", id="host/1").effort_id is None
    event = world.call("events.list", kind="effort.requeued").items[-1]
    assert (event.data["failure"], event.data["reason"], event.data["attempt"]) == ("transient", "hiccup", 1)
    assert event.data["not_before"]


def test_notices_are_listed_until_they_are_dismissed(world: World) -> None:
    for _ in range(3):
        run(world, add(world), "stuck")
    first, second, third = reversed(world.call("fleet.notices").items)
    (dismissed,) = world.call("fleet.dismiss", notice_id=second.id).items
    assert dismissed.dismissed_at is not None
    assert world.call("fleet.dismiss", notice_id=second.id).items == []
    assert [each.id for each in world.call("fleet.notices").items] == [third.id, first.id]
    assert [each.id for each in world.call("fleet.notices", all=True).items] == [third.id, second.id, first.id]
    assert len(world.call("fleet.dismiss").items) == 2
    assert world.call("fleet.notices").items == []
    assert world.events().count("notice.dismissed") == 3
    with pytest.raises(NoticeNotFound):
        world.call("fleet.dismiss", notice_id=99)


def test_a_lease_is_as_long_as_configured(world: World) -> None:
    add(world)
    claimed = claim(world)
    renewed = world.call("work.renew", effort_id=claimed.id, generation=1)
    assert timedelta(0) <= renewed.expires_at - claimed.lease_expires_at < timedelta(seconds=30)


def test_a_prompt_that_was_shortened_leaves_one_notice(world: World) -> None:
    attempt = start(world, is_cut=True)
    (notice,) = world.call("fleet.notices").items
    assert (notice.kind, notice.effort_id) == ("cut", attempt.effort.id)
    assert "work.prompt_max_tokens" in notice.text


def test_output_that_was_cut_leaves_one_notice(world: World) -> None:
    attempt = start(world)
    for _ in range(2):
        report(world, attempt, end(is_cut=True))
    (notice,) = world.call("fleet.notices").items
    assert (notice.kind, notice.effort_id) == ("cut", attempt.effort.id)
    assert "work.output_max_bytes" in notice.text
