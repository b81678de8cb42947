"""Refused calls: recorded once, counted, and told with the rule that would allow them."""

from typing import Any

import pytest
from tests.conformance.queue_worker import NO_CHANGES, add, begin, claim, complete, end, report, start
from tests.world import World

from ramet.errors import EffortFinished, Forbidden


def refusal(command: str, key: str, **more: Any) -> dict[str, Any]:
    rules = [f"run: {command}"]
    return {
        "kind": "refusal",
        "subject": "tool",
        "name": "Bash",
        "key": key,
        "call": command,
        "rule": f"allow {rules[0]}",
        "rules": rules,
        **more,
    }


def shown(world: World, attempt: Any) -> Any:
    return world.call("db.effort.get", effort_id=attempt.effort.id)


@pytest.mark.requirement("R358")
def test_a_refused_call_is_recorded_once_with_its_event_however_often_it_is_said(world: World) -> None:
    attempt = start(world)
    report(world, attempt, refusal("npm test", "c1"), refusal("npm test", "c2"))
    report(world, attempt, refusal("npm test", "c1"), end(), seq=3)
    effort = shown(world, attempt)
    assert effort.refused == 2
    assert [(call.name, call.call, call.rules) for call in effort.refused_calls] == [
        ("Bash", "npm test", ["run: npm test"])
    ] * 2
    events = [event.data for event in world.call("events.list", kind="session.refused").items]
    assert [(data["name"], data["call"], data["rules"]) for data in events] == [
        ("Bash", "npm test", ["run: npm test"])
    ] * 2


@pytest.mark.requirement("R358")
def test_one_notice_names_the_rules_that_would_allow_the_refused_calls(world: World) -> None:
    attempt = start(world)
    report(world, attempt, refusal("npm test", "c1"), refusal("npm run lint", "c2"), refusal("npm test", "c3"), end())
    (notice,) = world.call("fleet.notices").items
    name = f"e{attempt.effort.id}"
    assert (notice.kind, notice.effort_id) == ("refused", attempt.effort.id)
    assert notice.text == (
        f"{name}: 3 calls were refused; to allow: `ramet allow {name} 'run: npm test'`, "
        f"`ramet allow {name} 'run: npm run lint'`; `ramet allow {name}` lists them"
    )


@pytest.mark.requirement("R358", "R359")
def test_an_effort_that_changed_no_file_says_how_many_of_its_calls_were_refused(world: World) -> None:
    attempt = begin(world, claim(world, effort_id=add(world, skill="implement").id))
    report(world, attempt, refusal("npm test", "c1"), refusal("npm run lint", "c2"), end())
    done = complete(world, attempt, changes=NO_CHANGES)
    assert (done.outcome, done.reason) == ("no_change", "no files were changed; 2 tool calls were refused")


def test_another_attempt_that_is_refused_the_same_is_not_told_again(world: World) -> None:
    effort = add(world)
    for key in ("c1", "c2"):
        attempt = begin(world, claim(world, f"host/{key}", effort_id=effort.id))
        report(world, attempt, refusal("npm test", key), end("error"))
        complete(world, attempt, "error", failure="infrastructure")
        world.clock.advance(3_600_000)
    assert world.call("db.effort.get", effort_id=effort.id).refused == 2
    assert [notice.kind for notice in world.call("fleet.notices", all=True).items].count("refused") == 1


def test_an_effort_without_a_refused_call_has_no_notice_of_one(world: World) -> None:
    attempt = start(world)
    report(world, attempt, end())
    assert (shown(world, attempt).refused, shown(world, attempt).refused_calls) == (0, [])
    assert world.call("fleet.notices", all=True).items == []


def test_the_count_of_a_host_is_replaced_and_its_setting_is_named(world: World) -> None:
    attempt = start(world)
    host = {"kind": "refusal", "subject": "host", "name": "a.example:443", "rule": "add a.example to the hosts"}
    report(world, attempt, host, {**host, "times": 4}, end())
    effort = shown(world, attempt)
    assert (effort.refused, [call.times for call in effort.refused_calls]) == (4, [4])
    assert "to allow: add a.example to the hosts" in world.call("fleet.notices").items[0].text


def test_a_running_agent_shows_how_many_of_its_calls_were_refused(world: World) -> None:
    attempt = start(world)
    report(world, attempt, refusal("npm test", "c1"), refusal("npm test", "c2"))
    (member,) = world.call("fleet.status").items
    assert member.refused == 2


def test_a_refused_call_is_kept_without_secrets_and_not_at_any_length(world: World) -> None:
    attempt = start(world)
    secret = "ghp_" + "a1B2" * 9
    report(world, attempt, refusal(f"curl -H {secret} {'x' * 5000}", "k" * 5000))
    (call,) = shown(world, attempt).refused_calls
    assert secret not in call.call + call.rules[0] + call.advice
    assert (len(call.call), len(call.rules[0]) <= 520, len(call.advice) <= 500) == (500, True, True)
    assert secret not in str(world.call("events.list", kind="session.refused").items[-1].data)


def test_an_effort_that_succeeded_is_resumed_only_if_calls_were_refused(world: World) -> None:
    plain, refused = start(world, "host/1"), start(world, "host/2", instance="keeper02", agent_id="host/2")
    report(world, refused, {"kind": "native_id", "native_id": "w1"}, refusal("npm test", "c1"), instance="keeper02")
    for attempt in (plain, refused):
        complete(world, attempt)
    with pytest.raises(EffortFinished):
        world.call("work.resume", effort_id=plain.effort.id)
    again = world.call("work.resume", effort_id=refused.effort.id, reason="npm test is allowed now")
    assert (again.lifecycle, again.reason) == ("queued", "npm test is allowed now")
    assert again.continues_session_id == refused.session.id


def test_no_agent_can_resume_its_own_effort(world: World) -> None:
    attempt = start(world)
    with pytest.raises(Forbidden):
        world.call_as(f"session:{attempt.session.id}", "work.resume", effort_id=attempt.effort.id)
