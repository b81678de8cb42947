"""The rules of the queue: which attempts are made again, and when."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import convert
from msgspec.structs import replace

from ramet.model.record.effort import (
    Effort,
    Failure,
    Outcome,
    StopRequest,
)
from ramet.model.work.retry_policy import (
    RetryPolicy,
    Scope,
    Tried,
    backoff_ms,
    decide,
)
from ramet.protocol.record.efforts import EffortRow, nest

POLICY = RetryPolicy(retries=2, host_retries=5, backoff_seconds=5, backoff_max_seconds=300, limit_seconds=300)


def tried(**facts: int) -> Tried:
    """An effort on its first attempt."""
    return Tried(**{"id": 7, "attempts": 1, "agent_failures": 0, "host_failures": 0, **facts})


def effort(**facts: Any) -> Effort:
    row: dict[str, Any] = dict.fromkeys(EffortRow.__struct_fields__)
    row |= {"id": 7, "task_id": "/t", "skill": "do", "ordinal": 1, "lifecycle": "active", "priority": 0}
    row |= {"created_at": "2026-01-05T08:00:00Z", "attempts": 1, "lease_generation": 1}
    row |= {"agent_failures": 0, "host_failures": 0, "accepts_no_change": False}
    return nest(convert(row | facts, EffortRow))


@pytest.mark.parametrize("outcome", get_args(Outcome))
@pytest.mark.parametrize("failure", [None, *get_args(Failure)])
def test_only_an_error_that_may_pass_is_tried_again(outcome: Outcome, failure: Failure | None) -> None:
    passing = {"transient", "unknown", "infrastructure", "limit"}
    decision = decide(tried(), outcome, failure, POLICY)
    assert decision.requeue is (outcome == "error" and failure in passing)
    assert not decide(tried(), outcome, failure, POLICY, stop=StopRequest()).requeue
    put_back = decide(tried(), outcome, failure, POLICY, stop=StopRequest(requeues=True))
    assert put_back.requeue is (outcome not in ("success", "no_change"))


@pytest.mark.parametrize("outcome", get_args(Outcome))
@pytest.mark.parametrize("failure", [None, *get_args(Failure)])
def test_an_end_that_nobody_asked_for_is_told_once_by_kind(outcome: Outcome, failure: Failure | None) -> None:
    given_up = tried(agent_failures=9, host_failures=9)
    notice = decide(given_up, outcome, failure, POLICY).notice
    expected = {"timeout": "timeout", "stuck": "stuck"}.get(outcome)
    if outcome == "error" and failure is not None:
        expected = "limit" if failure == "limit" else "gave_up"
    assert notice == expected
    assert decide(given_up, outcome, failure, POLICY, stop=StopRequest()).notice is None


@pytest.mark.parametrize(
    ("failure", "counted"),
    [
        ("transient", (1, 0)),
        ("unknown", (1, 0)),
        ("infrastructure", (0, 1)),
        ("limit", (0, 0)),
        ("permanent", (0, 0)),
        ("timeout", (0, 0)),
        (None, (0, 0)),
    ],
)
def test_a_failure_counts_for_whoever_failed(failure: Failure | None, counted: tuple[int, int]) -> None:
    decision = decide(tried(), "error", failure, POLICY)
    assert (decision.agent_failures, decision.host_failures) == counted


@pytest.mark.parametrize(
    ("failure", "field", "most"), [("transient", "agent_failures", 2), ("infrastructure", "host_failures", 5)]
)
def test_the_bound_is_the_number_of_attempts_beyond_the_first(failure: Failure, field: str, most: int) -> None:
    assert decide(tried(**{field: most - 1}), "error", failure, POLICY).requeue
    assert not decide(tried(**{field: most}), "error", failure, POLICY).requeue


@given(
    st.integers(1, 10**9), st.integers(1, 10**6), st.integers(0, 10**6), st.integers(0, 3600), st.integers(0, 86_400)
)
def test_a_pause_is_bounded_shortened_by_at_most_half_and_the_same_each_time(
    effort_id: int, attempt: int, failures: int, first: int, longest: int
) -> None:
    policy = replace(POLICY, backoff_seconds=first, backoff_max_seconds=longest)
    pause = backoff_ms(effort_id, attempt, failures, policy)
    whole = min(first * 2 ** min(max(failures - 1, 0), 32), longest) * 1000
    assert whole // 2 - 1 <= pause <= whole
    assert pause == backoff_ms(effort_id, attempt, failures, policy)


def test_efforts_that_failed_together_do_not_come_back_together() -> None:
    assert len({backoff_ms(effort_id, 1, 3, POLICY) for effort_id in range(100)}) > 90


@pytest.mark.parametrize(
    ("scope", "why"),
    [
        (Scope(), None),
        (Scope(skills=["do", "plan"], drivers=["shell"], project_id=1), None),
        (Scope(skills=["plan"]), "skill"),
        (Scope(skills=[]), "skill"),
        (Scope(drivers=["claude"]), "driver"),
        (Scope(project_id=2), "project"),
    ],
)
def test_a_worker_takes_what_is_in_its_scope(scope: Scope, why: str | None) -> None:
    assert scope.excludes(effort(driver="shell"), 1) == why


def test_an_effort_without_a_driver_is_for_everybody() -> None:
    assert Scope(drivers=["claude"]).excludes(effort(driver=None), 1) is None
