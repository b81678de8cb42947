"""What is said of plans and reviews beside their text: a verdict, files that they should not have changed."""

from typing import Any

import pytest
from tests.conformance.queue_worker import NO_CHANGES, add, run
from tests.world import World

from ramet.model.work.remark import add_to_report, find_remarks

CHANGES = {"files": ["cart.py"], "insertions": 1, "deletions": 0}
APPROVED = "Verdict: APPROVED"


def notices(world: World) -> list[tuple[str, int]]:
    return [(each.kind, each.effort_id) for each in world.call("fleet.notices").items]


def finish(world: World, skill: str, output: str, **facts: Any) -> Any:
    return run(world, add(world, skill=skill), output_content=output, **facts)


@pytest.mark.requirement("R361")
@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (APPROVED, "approved"),
        ("Verdict: approved with follow-ups\n- FOLLOWUP: a.py:1 name it", "approved with follow-ups: 1 follow-up"),
        (
            "Verdict: changes requested\n- NIT: c.py:1 typo\n- BLOCKER: a.py:1 it leaks\n- BLOCKER: b.py:1 it crashes",
            "changes requested: 2 blockers, 1 nit",
        ),
        ("Looks good to me.", "its verdict cannot be read (it states no verdict)"),
        ("Verdict: fine by me", "its verdict cannot be read ('fine by me')"),
        (
            "Verdict: APPROVED\n- BLOCKER: a.py:1 it leaks",
            "its verdict cannot be read (it approves but lists blockers): 1 blocker",
        ),
    ],
)
def test_the_row_of_a_review_has_its_verdict_and_counts_its_findings(world: World, output: str, reason: str) -> None:
    done = finish(world, "review", output, changes=NO_CHANGES)
    assert (done.outcome, done.reason) == ("success", reason)


@pytest.mark.requirement("R361")
def test_a_verdict_that_cannot_be_read_leaves_a_notice_and_one_that_can_leaves_none(world: World) -> None:
    finish(world, "review", APPROVED, changes=NO_CHANGES)
    done = finish(world, "review", "Looks good to me.", changes=NO_CHANGES)
    assert notices(world) == [("unreadable_verdict", done.id)]
    (notice,) = world.call("fleet.notices").items
    assert "it states no verdict" in notice.text
    assert f"`ramet report show e{done.id}`" in notice.text


@pytest.mark.requirement("R361")
@pytest.mark.parametrize(("skill", "output"), [("plan", "1. Do it."), ("explore", "It is here."), ("review", APPROVED)])
def test_one_that_changed_files_is_named_in_its_row_and_a_notice(world: World, skill: str, output: str) -> None:
    done = finish(world, skill, output, changes=CHANGES)
    said = f"it changed 1 file, although the skill {skill} changes none: cart.py"
    assert done.outcome == "success"
    assert done.reason == (f"approved; {said}" if skill == "review" else said)
    assert notices(world) == [("changed_files", done.id)]
    assert said in world.call("fleet.notices").items[0].text


def test_an_implementation_may_change_files_and_needs_no_verdict(world: World) -> None:
    assert finish(world, "implement", "done", changes=CHANGES).reason is None
    assert finish(world, "do", "done", changes=CHANGES).reason is None
    assert notices(world) == []


def test_a_failure_has_no_verdict(world: World) -> None:
    done = run(world, add(world, skill="review"), "error", failure="permanent", reason="no")
    assert (done.reason, notices(world)) == ("no", [("gave_up", done.id)])


@pytest.mark.requirement("R361")
def test_the_report_has_the_remarks_below_it_and_reads_the_same() -> None:
    files = [f"{number}.py" for number in range(7)]
    remarks = find_remarks("review", files, "Looks good.")
    report = add_to_report("Looks good.\n\n", remarks)
    assert report == (
        "Looks good.\n"
        "\n> Ramet: its verdict cannot be read (it states no verdict)\n"
        "\n> Ramet: it changed 7 files, although the skill review changes none: "
        "0.py, 1.py, 2.py, 3.py, 4.py and 2 more\n"
    )
    assert find_remarks("review", files, report) == remarks
    assert add_to_report("Fine. ", []) == "Fine. "
