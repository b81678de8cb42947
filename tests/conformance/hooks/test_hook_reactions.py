"""What is written at each moment, and what the agent is told."""

from typing import Any, get_args

import pytest
from tests.conformance.hook_calls import (
    directive,
    hook,
    messages,
    session,
    start,
    use,
)
from tests.world import Counting, World

from ramet.model.hooks.hook import HookAnswer, Moment


@pytest.mark.requirement("R241")
def test_each_tool_call_is_a_sign_of_life_and_a_tool_at_work_is_known(world: World) -> None:
    above = start(world)
    world.clock.advance(10)
    hook(world, "pre_tool_use", tool="Bash", tool_use_id="t1")
    assert session(world, above).tools_in_flight == ["t1"]
    hook(world, "post_tool_use_failure", tool="Bash", tool_use_id="t1", error="no")
    found = session(world, above)
    assert (found.tools_in_flight, found.heartbeat_counter) == (None, 1)
    assert found.last_heartbeat.isoformat() == "2026-01-05T08:00:10.123000+00:00"


def test_a_tool_call_costs_one_look_one_write_and_one_event(world: World) -> None:
    start(world)
    use(world)
    inner, world.db = world.db, Counting(world.db)
    use(world)
    assert world.db.names == ["by_native", "beat", "insert"] * 2
    world.db = inner


@pytest.mark.requirement("R241")
def test_a_file_that_was_read_is_loaded_and_its_directory_discovered(world: World) -> None:
    above = start(world)
    for path in ("/shop/src/a.py", "b.py", "/shop/src/a.py", "../docs/c.md"):
        use(world, "Read", tool_input={"file_path": path})
    use(world, "Edit", tool_input={"file_path": "/shop/lib/d.py"})
    found = session(world, above)
    assert found.loaded_files == ["/shop/src/a.py", "/shop/src/b.py", "/shop/docs/c.md"]
    effort = world.call("db.effort.get", effort_id=found.effort_id)
    assert effort.discovered_directories == ["/shop/src", "/shop/docs", "/shop/lib"]


@pytest.mark.requirement("R241")
def test_a_directive_is_told_once_and_again_when_it_has_changed(world: World) -> None:
    above = start(world)
    told = [
        use(world, "Read", tool_input={"file_path": "a"}, facts={"directives": [directive(version=version)]}).answer
        for version in ("1", "1", "2")
    ]
    assert "Two spaces." in told[0].context
    assert "/shop/src/AGENTS.md" in told[0].context
    assert [answer.context is None for answer in told] == [False, True, False]
    effort = world.call("db.effort.get", effort_id=session(world, above).effort_id)
    assert effort.discovered_directives == ["/shop/src/AGENTS.md"]


@pytest.mark.requirement("R241")
def test_a_context_that_was_cut_is_told_its_directives_again_and_so_is_each_sub_agent(world: World) -> None:
    start(world)
    facts = {"directives": [directive()]}
    assert use(world, "Read", facts=facts).answer.context
    assert use(world, "Read", facts=facts, agent_id="a1").answer.context
    hook(world, "session_start", source="compact")
    assert use(world, "Read", facts=facts).answer.context


def test_directives_that_are_too_long_are_named(world: World) -> None:
    start(world)
    facts = {"directives": [directive(text="x" * 50_000), directive("/shop/CLAUDE.md")]}
    context = use(world, "Read", facts=facts).answer.context
    assert "/shop/src/AGENTS.md (too long to show: read the file)" in context
    assert "Two spaces." in context
    assert len(context) < 13_000


@pytest.mark.requirement("R242", "R274")
def test_a_prompt_is_in_the_transcript_at_once(world: World) -> None:
    above = start(world)
    assert messages(world, above) == [("user", "mend the cart")]
    hook(world, "user_prompt", prompt="mend the cart", prompt_id="p1")
    assert messages(world, above) == [("user", "mend the cart")]
    world.clock.advance(120)
    hook(world, "user_prompt", prompt="mend the cart", prompt_id="p2")
    assert len(messages(world, above)) == 2


@pytest.mark.requirement("R242")
def test_a_secret_in_a_prompt_is_not_kept(world: World) -> None:
    secret = "ghp_" + "a1B2" * 9
    above = start(world)
    hook(world, "user_prompt", prompt=f"use {secret}", prompt_id="p2")
    hook(world, "notification", text=f"{secret} is gone")
    hook(world, "subagent_stop", agent_id="a1", summary=f"used {secret}")
    assert secret not in repr(world.dump())
    assert len(messages(world, above)) == 2


@pytest.mark.requirement("R243")
@pytest.mark.parametrize("moment", get_args(Moment))
def test_every_moment_is_written_down_and_allowed(world: World, moment: str) -> None:
    start(world)
    before = len(world.events())
    said: dict[str, Any] = {"tool": "Bash", "text": "look", "usage": {"context_percent": 5}, "agent_id": None}
    reply = hook(world, moment, **said)
    assert not reply.answer.is_blocked
    assert len(world.events()) > before


@pytest.mark.requirement("R243")
def test_what_belongs_to_no_session_is_written_down_and_allowed(world: World) -> None:
    reply = hook(world, "other", native_id="", name="SomethingNew")
    assert (reply.session_id, reply.answer) == (None, HookAnswer())
    (seen,) = world.call("events.list", kind="hook.seen").items
    assert seen.data["name"] == "SomethingNew"


@pytest.mark.requirement("R290")
def test_what_a_program_tells_is_one_stream_with_everything_else(world: World) -> None:
    above = start(world)
    hook(world, "permission_request", tool="Bash")
    hook(world, "task_completed", text="t1 is done")
    seen = [each.data for each in world.call("events.list", kind="hook.seen").items]
    assert [(each["moment"], each.get("tool"), each.get("text")) for each in seen] == [
        ("permission_request", "Bash", None),
        ("task_completed", None, "t1 is done"),
    ]
    assert all(each.session_id == above for each in world.call("events.list", kind="hook.seen").items)


def test_a_status_line_says_how_full_the_context_is_and_what_it_cost(world: World) -> None:
    above = start(world)
    for percent in (12, 12, 30):
        hook(world, "status_line", usage={"context_percent": percent, "cost_usd": 0.5})
    assert session(world, above).context_usage == 0.3
    assert world.call("budget.get", session_id=above).cost_usd == 0.5
    assert len(world.call("events.list", kind="session.usage").items) == 3
    hook(world, "status_line", usage={"context_percent": 4000, "cost_usd": "much"})
    assert session(world, above).context_usage == 0.3


@pytest.mark.parametrize("text", ["\0", "a\0b", "x" * 10_000, "\x1b[31m", "../../etc/passwd", "\u202e"])
def test_hostile_words_break_nothing(world: World, text: str) -> None:
    hook(world, "session_start", native_id=f"n{text}", transcript_path=text, cwd="/shop")
    for moment in ("pre_tool_use", "post_tool_use"):
        given: dict[str, Any] = {"tool": text, "tool_use_id": text, "tool_input": {"file_path": text, "command": text}}
        assert not hook(world, moment, native_id=f"n{text}", **given).answer.is_blocked
    hook(world, "user_prompt", native_id=f"n{text}", prompt=text, prompt_id=text)
    hook(world, "subagent_start", native_id=f"n{text}", agent_id=text, agent_type=text)
    hook(world, "notification", native_id=f"n{text}", text=text, reason=text)
    assert world.call("db.check").passed


def test_a_session_that_has_answered_waits_for_its_person_until_they_ask_again(world: World) -> None:
    above = start(world)

    def status() -> tuple[str | None, str]:
        return world.call("fleet.status").items[0].status, world.call("spawn.tree", session_id=above).items[0].status

    world.call("db.messages.append", session_id=above, role="user", content="Go.")
    assert status() == ("running", "running")
    world.call("db.messages.append", session_id=above, role="assistant", content="Done.")
    world.clock.advance(3600)
    assert status() == ("waiting_person", "waiting_person")
    hook(world, "pre_tool_use", tool="Bash", tool_use_id="t1")
    assert status() == ("running", "running")


def test_a_session_without_a_sign_of_life_is_stale_but_one_with_a_tool_at_work_is_running(world: World) -> None:
    above = start(world)
    hook(world, "pre_tool_use", tool="Bash", tool_use_id="t1")
    world.clock.advance(3600)
    assert world.call("fleet.status").items[0].status == "running"
    hook(world, "post_tool_use", tool="Bash", tool_use_id="t1")
    world.clock.advance(3600)
    assert world.call("fleet.status").items[0].status == "detecting"
    assert [each.id for each in world.call("fleet.stale").items] == [above]
