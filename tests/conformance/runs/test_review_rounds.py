"""Chains: plan, implement, review, improve; bounded, with what the reviews found kept as data."""

from typing import Any

import pytest
from tests.conformance import queue_worker
from tests.conformance.queue_worker import NO_CHANGES
from tests.conformance.run_steps import (
    attend,
    claim,
    do_all,
    do_next,
    get,
    notices,
    record,
    states,
)
from tests.world import World

from ramet.errors import RunFinished

APPROVED = "Verdict: approved"


def requests_changes(*found: str) -> str:
    return "\n".join(["Verdict: changes requested", "", *(f"- {each}" for each in found)])


def chain(world: World, **params: Any) -> Any:
    run = record(world, mode="chain", prompt="build a cart", **params)
    attend(world, run)
    return run


def build(world: World, run: Any) -> None:
    """Everything up to the first review."""
    for skill in ("plan", "implement"):
        assert do_next(world, run, output_content=f"a {skill}") == skill


def test_a_chain_is_planned_implemented_and_reviewed_each_based_on_the_one_before(world: World) -> None:
    run = chain(world, driver="codex", model="gpt-5")
    plan, implement, review = (world.call("work.get", effort_id=each.effort_id) for each in run.lines)
    assert [each.key for each in run.lines] == ["plan", "implement", "review-1"]
    assert [each.skill for each in (plan, implement, review)] == ["plan", "implement", "review"]
    assert (implement.based_on, review.based_on) == (plan.id, implement.id)
    assert {(each.prompt, each.driver, each.model) for each in (plan, implement, review)} == {
        ("build a cart", "codex", "gpt-5")
    }
    assert (run.name, run.limits.rounds) == ("build a cart", 3)
    claim(world, run)
    assert claim(world, run, "host/2").refused == "missing"


def test_a_chain_that_is_approved_is_done(world: World) -> None:
    run = chain(world)
    build(world, run)
    do_next(world, run, output_content=APPROVED + "\n\n- FOLLOWUP: src/cart.py:3 name it better")
    shown = get(world, run)
    assert (shown.state, shown.reason, shown.counts["completed"]) == ("finished", None, 3)
    assert [(each.severity, each.file, each.line, each.state, each.round) for each in shown.findings] == [
        ("FOLLOWUP", "src/cart.py", 3, "open", 1)
    ]
    assert world.call("fleet.notices").items == []


@pytest.mark.requirement("R301")
def test_changes_that_are_requested_are_made_and_reviewed_again(world: World) -> None:
    run = chain(world)
    build(world, run)
    do_next(world, run, output_content=requests_changes("BLOCKER: a.py:1 it crashes", "NIT: b.py:2 too long"))
    assert list(states(world, run))[3:] == ["improve-1", "review-2"]
    improve, review = (world.call("work.get", effort_id=each.effort_id) for each in get(world, run).lines[3:])
    assert (improve.skill, improve.based_on) == ("improve", get(world, run).lines[2].effort_id)
    assert (review.skill, review.based_on, review.prompt) == ("review", improve.id, "build a cart")
    assert do_next(world, run) == "improve-1"
    do_next(world, run, output_content=requests_changes("BLOCKER: a.py:9 it crashes", "NIT: c.py:1 odd name"))
    found = {each.file: (each.state, each.round, each.line) for each in get(world, run).findings}
    assert found == {"a.py": ("open", 2, 9), "b.py": ("gone", 1, 2), "c.py": ("open", 2, 1)}
    do_next(world, run)
    do_next(world, run, output_content=APPROVED)
    shown = get(world, run)
    assert (shown.state, {each.state for each in shown.findings}) == ("finished", {"gone"})


@pytest.mark.requirement("R301")
def test_a_reviewer_that_never_stops_finding_nits_ends_at_the_bound_with_every_blocker_kept(world: World) -> None:
    run = chain(world)
    build(world, run)
    for number in range(1, 4):
        nits = [f"NIT: n{number}_{each}.py:1 nit {number}.{each}" for each in range(5)]
        blockers = [f"BLOCKER: b{each}.py:{number} blocker {each}" for each in range(1, number + 1)]
        assert do_next(world, run, output_content=requests_changes(*nits, *blockers)) == f"review-{number}"
        if number < 3:
            assert do_next(world, run) == f"improve-{number}"
    assert do_all(world, run) == []
    shown = get(world, run)
    why = "not approved after 3 reviews: 8 findings are open, 3 of them blockers"
    assert (shown.state, shown.reason, len(shown.lines)) == ("finished", why, 7)
    kept = [(each.file, each.state) for each in shown.findings if each.severity == "BLOCKER"]
    assert kept == [(f"b{each}.py", "open") for each in (1, 2, 3)]
    assert len(shown.findings) == 18
    (notice,) = notices(world, "review_bound")
    assert notice.text == f"run {run.id} (build a cart) is {why}"
    assert len(world.call("fleet.notices").items) == 1
    with pytest.raises(RunFinished):
        attend(world, run, retry_failed=True)


@pytest.mark.requirement("R361")
def test_a_chain_whose_last_verdict_cannot_be_read_says_so_and_counts_no_findings(world: World) -> None:
    run = chain(world, limits={"rounds": 1})
    build(world, run)
    do_next(world, run, output_content="Looks good to me!")
    shown = get(world, run)
    why = "not approved after 1 review: the verdict of the last one cannot be read (it states no verdict)"
    assert (shown.state, shown.reason) == ("finished", why)
    assert shown.lines[2].reason == "its verdict cannot be read (it states no verdict)"
    assert [each.text for each in notices(world, "review_bound")] == [f"run {run.id} (build a cart) is {why}"]
    assert len(notices(world, "unreadable_verdict")) == 1


@pytest.mark.requirement("R301")
@pytest.mark.parametrize("review", ["Looks good to me!", "", "Verdict: approved\n\n- BLOCKER: a.py:1 it crashes"])
def test_a_review_that_cannot_be_read_requests_changes_and_settles_nothing(world: World, review: str) -> None:
    run = chain(world, limits={"rounds": 2})
    build(world, run)
    do_next(world, run, output_content=requests_changes("BLOCKER: z.py:1 it leaks"))
    do_next(world, run)
    do_next(world, run, output_content=review)
    shown = get(world, run)
    assert shown.state == "finished"
    assert shown.reason is not None
    assert shown.reason.startswith("not approved after 2 reviews")
    assert ("z.py", "open") in [(each.file, each.state) for each in shown.findings]
    assert len(notices(world, "review_bound")) == 1


def test_a_chain_whose_step_fails_goes_on_no_more_until_it_is_retried(world: World) -> None:
    run = chain(world)
    do_next(world, run)
    do_next(world, run, "error", failure="permanent", reason="no")
    shown = get(world, run)
    assert (shown.state, shown.reason) == ("finished", "its implement ended with error")
    assert [(each.state, each.reason) for each in shown.lines[1:]] == [("failed", "no"), ("skipped", shown.reason)]
    attend(world, run, retry_failed=True)
    assert do_next(world, run) == "implement"
    do_next(world, run, output_content=APPROVED)
    assert (get(world, run).state, get(world, run).reason) == ("finished", None)


@pytest.mark.requirement("R359")
def test_a_chain_whose_implementation_changes_nothing_stops_before_its_review(world: World) -> None:
    run = chain(world)
    do_next(world, run, output_content="a plan")
    do_next(world, run, changes=NO_CHANGES)
    shown = get(world, run)
    assert {each.key: each.state for each in shown.lines} == {
        "plan": "completed",
        "implement": "no_change",
        "review-1": "skipped",
    }
    assert (shown.state, shown.reason) == ("finished", "its implement changed nothing: no files were changed")


@pytest.mark.requirement("R359")
def test_a_chain_that_accepts_it_goes_on_with_each_round(world: World) -> None:
    run = chain(world, accept_no_change=True)
    do_next(world, run, output_content="a plan")
    do_next(world, run, changes=NO_CHANGES)
    assert do_next(world, run, output_content=requests_changes("BLOCKER: cart.py: it is empty")) == "review-1"
    assert do_next(world, run, changes=NO_CHANGES) == "improve-1"
    assert do_next(world, run, output_content=APPROVED) == "review-2"
    assert (get(world, run).state, get(world, run).reason) == ("finished", None)


def test_a_line_number_that_no_file_has_is_left_out(world: World) -> None:
    run = chain(world)
    build(world, run)
    found = '{"severity": "NIT", "text": "odd", "file": "a.py", "line": 99999999999999999999}'
    do_next(world, run, output_content=f'```json\n{{"verdict": "approved", "findings": [{found}]}}\n```')
    assert [(each.file, each.line) for each in get(world, run).findings] == [("a.py", None)]


def test_a_chain_that_reaches_a_bound_drops_what_is_left(world: World) -> None:
    run = chain(world, limits={"seconds": 30})
    attempt = queue_worker.begin(world, claim(world, run))
    world.clock.advance(30)
    queue_worker.complete(world, attempt)
    assert claim(world, run).refused == "missing"
    assert states(world, run) == {"plan": "completed", "implement": "skipped", "review-1": "skipped"}
    assert len(notices(world, "run_bound")) == 1
