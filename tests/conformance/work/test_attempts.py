"""Attempts: a session, a keeper that tells what its agent says and does, each thing once."""

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.conformance.queue_worker import (
    KEEPER,
    OTHER_KEEPER,
    add,
    begin,
    claim,
    complete,
    end,
    expire,
    report,
    said_by,
    start,
    text,
)
from tests.conformance.stored_text import everything
from tests.world import World

from ramet.errors import AgentBusy, EffortHeld, SessionNotFound, WrongTask

CALL = {"kind": "tool_call", "call_id": "c1", "name": "Bash", "input": {"command": "ls", "deep": [1, None]}}
RESULT = {"kind": "tool_result", "call_id": "c1", "name": "Bash", "output": "a.py"}


def session_of(world: World, attempt: Any) -> Any:
    return world.call("db.session.get", session_id=attempt.session.id)


def test_an_attempt_has_a_session_with_its_prompt_and_the_effort_knows_where_it_is_made(world: World) -> None:
    effort = add(world)
    claimed = claim(world)
    attempt = begin(
        world, claimed, native_id="n1", model="m", worktree="/t/e1", git_branch="ramet/e1", git_base="abc", prompt="do!"
    )
    session, begun = attempt.session, attempt.effort
    assert (session.effort_id, session.driver, session.native_id) == (effort.id, "command", "n1")
    assert (session.instance, session.generation, session.agent_id) == (KEEPER, 1, "host/1")
    assert (begun.driver, begun.model, begun.worktree) == ("command", "m", "/t/e1")
    assert (begun.git_branch, begun.git_base) == ("ramet/e1", "abc")
    assert said_by(world, session.id) == [("user", "do!")]
    assert world.call("db.agents.get", id="host/1").effort_id == effort.id
    assert {"session.started", "effort.attempted", "message.appended"} <= set(world.events())


def test_the_next_attempt_follows_the_last_one(world: World) -> None:
    first = start(world)
    complete(world, first, "error", failure="infrastructure")
    world.clock.advance(60)
    second = begin(world, claim(world), instance=OTHER_KEEPER)
    assert (second.session.prev_session_id, second.session.id != first.session.id) == (first.session.id, True)


def test_an_attempt_that_continues_goes_on_in_the_same_session_and_counts_anew(world: World) -> None:
    first = start(world, native_id="n1")
    report(world, first, text("one"), text("two"), end("error", exit_status=1, reason="broke"))
    requeued = complete(world, first, "error", failure="transient")
    assert (requeued.requeued, requeued.continues_session_id) == (True, first.session.id)
    world.clock.advance(60)
    second = begin(world, claim(world, "host/2"), continues=True, instance=OTHER_KEEPER, prompt="go on")
    session = second.session
    assert (session.id, session.instance, session.generation) == (first.session.id, OTHER_KEEPER, 2)
    assert (session.ended_at, session.outcome, session.notes, session.exit_status) == (None,) * 4
    assert (session.reported_seq, session.agent_id) == (0, "host/2")
    assert second.effort.continues_session_id is None
    assert report(world, second, text("three"), instance=OTHER_KEEPER).seq == 1
    said = [content for _, content in said_by(world, session.id)]
    assert said == ["go", "one", "two", "go on", "three"]
    assert "session.resumed" in world.events()


def test_the_vendors_id_names_the_session_to_go_on_with(world: World) -> None:
    first = start(world, native_id="n1")
    complete(world, first, "error")
    world.call("work.resume", effort_id=first.effort.id)
    again = begin(world, claim(world), native_id="n1", instance=OTHER_KEEPER)
    assert again.session.id == first.session.id
    other = claim(world, "host/2", effort_id=add(world).id)
    with pytest.raises(WrongTask):
        begin(world, other, native_id="n1")


def test_an_attempt_may_be_told_to_begin_anew(world: World) -> None:
    first = start(world, native_id="n1")
    requeued = complete(world, first, "error", failure="transient", is_fresh=True)
    assert (requeued.requeued, requeued.continues_session_id) == (True, None)


def test_an_agent_holds_one_effort_and_an_effort_has_one_agent(world: World) -> None:
    start(world, "host/1")
    other = claim(world, "host/2", effort_id=add(world).id)
    with pytest.raises(AgentBusy):
        begin(world, other, agent_id="host/1")
    world.call("db.agents.register", id="ada")
    world.call("db.agents.assign", id="ada", effort_id=other.id)
    with pytest.raises(EffortHeld, match="ada"):
        begin(world, other)


def test_everything_an_agent_says_and_does_is_in_its_history(world: World) -> None:
    attempt = start(world)
    reply = report(
        world,
        attempt,
        {"kind": "started", "pid": 77, "started_at": 12.5},
        {"kind": "native_id", "native_id": "n9"},
        {"kind": "reasoning", "text": "hm"},
        text("I look."),
        CALL,
        RESULT,
        {"kind": "tool_result", "call_id": "c2", "output": "no", "is_error": True},
        {"kind": "remark", "text": "a warning"},
        text("Done."),
    )
    assert (reply.seq, reply.is_current, reply.stop) == (9, True, None)
    rows = world.call("db.messages.list", session_id=attempt.session.id).items
    assert [(row.role, row.tool_name) for row in rows] == [
        ("user", None),
        ("assistant", None),
        ("assistant", "Bash"),
        ("tool", "Bash"),
        ("tool", "tool"),
        ("tool", "stderr"),
        ("assistant", None),
    ]
    assert rows[2].content == '{"command":"ls","deep":[1,null]}'
    log = world.call("history.log", branch=attempt.session.branch).items
    assert [row.content_type for row in reversed(log)] == [
        *("dialogue", "reasoning", "dialogue", "tool_io", "tool_io", "tool_io", "tool_io", "dialogue"),
    ]
    call = world.call("history.show", hash=rows[2].commit)
    assert call.metadata is None or "call_id" not in call.metadata
    assert (call.content["direction"], call.content["call_id"]) == ("call", "c1")
    session = session_of(world, attempt)
    assert (session.pid, session.process_started, session.native_id) == (77, 12.5, "n9")
    assert (session.reported_seq, session.last_heartbeat is not None) == (9, True)
    assert world.call("db.check").passed


def test_what_is_reported_again_is_written_once(world: World) -> None:
    attempt = start(world)
    events = [text(f"line {number}") for number in range(6)]
    assert report(world, attempt, *events[:3]).seq == 3
    before = world.dump()
    assert report(world, attempt, *events[:2]).seq == 3
    assert world.dump() == before
    assert report(world, attempt, *events[1:5], seq=2).seq == 5
    assert report(world, attempt, *events[5:], seq=6).seq == 6
    said = [content for role, content in said_by(world, attempt.session.id) if role == "assistant"]
    assert said == [f"line {number}" for number in range(6)]


def test_a_gap_is_not_written_and_the_reply_says_from_where_to_go_on(world: World) -> None:
    attempt = start(world)
    report(world, attempt, text("one"))
    reply = report(world, attempt, text("three"), seq=3)
    assert (reply.seq, reply.is_current) == (1, True)
    assert report(world, attempt, text("two"), text("three"), seq=2).seq == 3
    assert [content for _, content in said_by(world, attempt.session.id)] == ["go", "one", "two", "three"]


def test_another_keeper_does_not_speak_for_the_session(world: World) -> None:
    attempt = start(world)
    before = world.dump()
    reply = report(world, attempt, text("x"), text("y"), instance=OTHER_KEEPER)
    assert (reply.seq, reply.is_current) == (2, False)
    after = world.dump()
    assert {table for table in after if after[table] != before[table]} == {"events"}
    assert world.events()[-1] == "effort.late_report"
    assert report(world, attempt, instance=OTHER_KEEPER).is_current is False
    assert world.events()[-1] == "effort.late_report"
    assert world.events().count("effort.late_report") == 1
    with pytest.raises(SessionNotFound):
        world.call("work.report", session_id=99, instance=KEEPER, seq=1, events=[])


def test_an_empty_report_renews_the_lease_and_is_no_sign_of_the_agents_life(world: World) -> None:
    attempt = start(world)
    world.sql("UPDATE efforts SET lease_expires_at = '2000-01-01T00:00:00.000Z'")
    reply = report(world, attempt)
    assert (reply.seq, reply.is_current) == (0, True)
    assert world.call("work.get", effort_id=attempt.effort.id).lease_expires_at > datetime(2025, 1, 1, tzinfo=UTC)
    assert session_of(world, attempt).last_heartbeat is None


def test_a_lease_that_is_fresh_is_not_written_again_for_each_report(world: World) -> None:
    attempt = start(world)
    before = world.call("work.get", effort_id=attempt.effort.id).lease_expires_at
    world.clock.advance(5)
    report(world, attempt, text("x"))
    if world.is_sqlite:
        assert world.call("work.get", effort_id=attempt.effort.id).lease_expires_at == before
        world.clock.advance(20)
        report(world, attempt, text("y"), seq=2)
    else:
        world.sql("UPDATE efforts SET lease_expires_at = '2000-01-01T00:00:00.000Z'")
        report(world, attempt, text("y"), seq=2)
    assert world.call("work.get", effort_id=attempt.effort.id).lease_expires_at != before


def test_a_tool_is_in_flight_from_its_call_to_its_result(world: World) -> None:
    attempt = start(world)
    report(world, attempt, CALL, {**CALL, "call_id": "c2"})
    assert session_of(world, attempt).tools_in_flight == ["c1", "c2"]
    report(world, attempt, RESULT, seq=3)
    assert session_of(world, attempt).tools_in_flight == ["c2"]
    report(world, attempt, end(), seq=4)
    assert session_of(world, attempt).tools_in_flight is None


@pytest.mark.parametrize(
    ("events", "seconds", "status"),
    [
        ([], 0, "starting"),
        ([text("x")], 300, "running"),
        ([text("x")], 301, "detecting"),
        ([text("x")], 901, "stuck"),
        ([CALL], 901, "running"),
        ([CALL, RESULT], 901, "stuck"),
    ],
)
def test_the_status_of_a_session_follows_from_what_its_agent_does(
    world: World, events: list[Any], seconds: int, status: str
) -> None:
    attempt = start(world)
    report(world, attempt, *events)
    world.clock.advance(seconds)
    world.sql("UPDATE efforts SET lease_expires_at = '2999-01-01T00:00:00.000Z'")
    (member,) = world.call("fleet.status").items
    assert (member.session_id, member.status) == (attempt.session.id, status)
    world.sql("UPDATE efforts SET lease_expires_at = '2000-01-01T00:00:00.000Z'")
    assert world.call("fleet.status").items[0].status == "orphaned"


def test_the_end_of_the_stream_ends_the_session_with_what_is_known(world: World) -> None:
    attempt = start(world)
    ended = [{"pid": 5, "name": "sleep", "signal": "SIGKILL"}]
    report(world, attempt, end("error", exit_status=3, reason="broke", failure="transient", ended=ended))
    session = session_of(world, attempt)
    assert (session.outcome, session.exit_status, session.exit_signal, session.notes) == ("error", 3, None, "broke")
    event = world.call("events.list", kind="session.ended").items[-1]
    assert event.data == {"outcome": "error", "failure": "transient", "ended": ended}
    assert world.call("work.get", effort_id=attempt.effort.id).lifecycle == "active"


def test_a_session_that_has_ended_keeps_its_end_and_learns_the_signal(world: World) -> None:
    attempt = start(world)
    complete(world, attempt, "cancelled", reason="enough")
    report(world, attempt, end("error", exit_signal=9, reason="killed"))
    session = session_of(world, attempt)
    assert (session.outcome, session.notes, session.exit_signal) == ("cancelled", "enough", 9)
    assert world.events().count("session.ended") == 1


def test_usage_is_counted_once_for_each_key_and_summed_up_at_the_end(world: World) -> None:
    attempt = start(world)
    use = {"kind": "usage", "model": "m", "input_tokens": 10, "output_tokens": 2, "cost_usd": 0.5}
    report(world, attempt, {**use, "key": "a"}, {**use, "key": "a", "input_tokens": 12}, {**use, "key": "b"})
    done = complete(world, attempt)
    assert done.usage == {
        "input_tokens": 22,
        "output_tokens": 4,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
        "cost_usd": 1.0,
    }


def test_a_limit_is_an_event(world: World) -> None:
    attempt = start(world)
    report(world, attempt, {"kind": "limit", "text": "come back", "resets_at": "2026-01-05T12:00:00Z"})
    event = world.call("events.list", kind="session.limited").items[-1]
    assert event.data == {"text": "come back", "resets_at": "2026-01-05T12:00:00Z"}


@pytest.mark.requirement("R149")
def test_not_getting_on_is_an_event_with_its_evidence(world: World) -> None:
    attempt = start(world)
    secret = "ghp_" + "a1B2" * 9
    given = {"tool": "Bash", "arguments": f"{secret} {'x' * 500}", "turns": 6}
    report(world, attempt, {"kind": "stuck", "reason": "repetition", "text": "the same again", **given})
    event = world.call("events.list", kind="session.stuck").items[-1]
    assert event.data is not None
    assert {name: event.data[name] for name in ("reason", "text", "tool", "turns")} == {
        "reason": "repetition",
        "text": "the same again",
        "tool": "Bash",
        "turns": 6,
    }
    assert len(event.data["arguments"]) == 200
    assert secret not in event.data["arguments"]


def test_whatever_a_program_prints_is_taken(world: World) -> None:
    attempt = start(world)
    reply = report(
        world,
        attempt,
        text("a\0b"),
        {"kind": "tool_call", "call_id": "", "name": "x" * 500 + "\0", "input": "\0"},
        {"kind": "usage", "key": "k\0", "model": "", "input_tokens": 10**30, "output_tokens": -5},
        {"kind": "native_id", "native_id": "\0"},
        {"kind": "limit", "text": "\0"},
        end("error", reason="\0" * 20_000, exit_status=1),
    )
    assert (reply.seq, reply.is_current) == (6, True)
    assert said_by(world, attempt.session.id)[1] == ("assistant", "a\0b")
    assert complete(world, attempt).usage["input_tokens"] == 2**53


def test_a_native_id_that_another_session_has_is_not_taken_from_it(world: World) -> None:
    first = start(world, "host/1", native_id="n1")
    second = start(world, "host/2", native_id=None)
    assert report(world, second, {"kind": "native_id", "native_id": "n1"}).seq == 1
    assert session_of(world, second).native_id is None
    assert world.call("db.session.get", session_id="command:n1").id == first.session.id


def test_no_secret_of_a_stream_is_kept(world: World) -> None:
    secret = "ghp_" + "a1B2" * 9
    attempt = start(world, prompt=f"use {secret}")
    report(
        world,
        attempt,
        text(secret),
        {"kind": "reasoning", "text": secret},
        {"kind": "tool_call", "call_id": "c", "name": "Bash", "input": {"token": secret}},
        {"kind": "tool_result", "call_id": "c", "output": secret},
        {"kind": "remark", "text": secret},
        {"kind": "limit", "text": secret},
        end("error", reason=secret),
    )
    complete(world, attempt, "error", reason=secret, output_content=secret, metadata={"a": [secret]})
    add(world, secret)
    world.call("work.output", effort_id=1, output_content=secret)
    world.call("fleet.kill", effort_id=2, reason=secret)
    assert secret not in everything(world)


def test_a_report_says_whether_the_whole_lease_is_left_again(world: World) -> None:
    attempt = start(world)
    assert not report(world, attempt, text("a word")).is_renewed
    assert report(world, attempt, seq=2).is_renewed
    expire(world, attempt.effort.id)
    assert report(world, attempt, text("another"), seq=2).is_renewed
