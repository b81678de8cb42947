"""The state of an effort: the tables are whole, agree with the stored lifecycles, and say what the facts say."""

from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.model.efforts import effort

from ramet.model.record.effort import TRANSITIONS, Lifecycle, Outcome, StopRequest
from ramet.model.work.effort_state import BY_LIFECYCLE, FIRST, FOLLOWS, MEANINGS, State, derive_state

NOW = datetime(2026, 1, 5, 8, tzinfo=UTC)
SOON, BEFORE = NOW + timedelta(seconds=1), NOW - timedelta(seconds=1)
LIFECYCLE = {state: lifecycle for lifecycle, states in BY_LIFECYCLE.items() for state in states}
QUEUED: dict[str, Any] = {"lifecycle": "queued", "outcome": None}
LEASED: dict[str, Any] = {"lifecycle": "active", "outcome": None, "lease_owner": "host/1", "lease_expires_at": SOON}


def state(blocked_by: int | None = None, **facts: Any) -> State:
    return derive_state(effort(7, "do", **facts), NOW, blocked_by=blocked_by)


def test_every_state_has_a_meaning_a_lifecycle_and_what_follows() -> None:
    states = list(get_args(State))
    assert list(MEANINGS) == list(FOLLOWS) == list(LIFECYCLE) == states
    assert all(meaning.startswith(LIFECYCLE[each]) for each, meaning in MEANINGS.items())
    assert all(each not in follows and set(follows) <= set(states) for each, follows in FOLLOWS.items())


@pytest.mark.requirement("R192", "R199")
def test_what_follows_is_what_the_stored_lifecycles_allow() -> None:
    pairs = {(LIFECYCLE[each], LIFECYCLE[then]) for each, follows in FOLLOWS.items() for then in follows}
    allowed = {(start, end) for start, ends in TRANSITIONS.items() for end in ends}
    assert {pair for pair in pairs if pair[0] != pair[1]} == allowed


def test_every_state_is_reached_from_the_first_ones() -> None:
    reached, waiting = set(FIRST), list(FIRST)
    while waiting:
        news = set(FOLLOWS[waiting.pop()]) - reached
        reached |= news
        waiting += news
    assert reached == set(get_args(State))


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (QUEUED, "ready"),
        (QUEUED | {"blocked_by": 3}, "blocked"),
        (QUEUED | {"blocked_by": 3, "not_before": SOON, "awaited_by": 9}, "blocked"),
        (QUEUED | {"not_before": SOON}, "parked"),
        (QUEUED | {"not_before": SOON, "awaited_by": 9}, "parked"),
        (QUEUED | {"not_before": NOW}, "ready"),
        (QUEUED | {"not_before": NOW, "awaited_by": 9}, "awaited"),
        (LEASED, "running"),
        (LEASED | {"lease_expires_at": NOW, "awaited_by": 9}, "running"),
        (LEASED | {"stop_request": StopRequest()}, "stopping"),
        (LEASED | {"lease_expires_at": BEFORE, "stop_request": StopRequest()}, "expired"),
        (LEASED | {"lease_owner": None, "lease_expires_at": None}, "manual"),
        ({"outcome": "success"}, "succeeded"),
        ({"outcome": "no_change"}, "unchanged"),
        *(({"outcome": outcome}, "failed") for outcome in get_args(Outcome) if outcome not in ("success", "no_change")),
    ],
)
def test_the_state_follows_from_the_facts(facts: dict[str, Any], expected: State) -> None:
    assert state(**facts) == expected


@given(
    lifecycle=st.sampled_from(get_args(Lifecycle)),
    outcome=st.sampled_from([None, *get_args(Outcome)]),
    not_before=st.sampled_from([None, BEFORE, NOW, SOON]),
    lease_owner=st.sampled_from([None, "host/1"]),
    lease_expires_at=st.sampled_from([None, BEFORE, NOW, SOON]),
    stop_request=st.sampled_from([None, StopRequest()]),
    awaited_by=st.sampled_from([None, 9]),
    blocked_by=st.sampled_from([None, 3]),
)
def test_whatever_the_facts_are_the_state_is_one_of_its_lifecycle(lifecycle: Lifecycle, **facts: Any) -> None:
    assert state(lifecycle=lifecycle, **facts) in BY_LIFECYCLE[lifecycle]
