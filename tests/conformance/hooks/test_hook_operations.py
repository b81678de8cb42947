"""The fifteen operations, for whoever has no vendor's event at hand."""

from typing import Any

import pytest
from tests.conformance import queue_worker
from tests.conformance.hook_calls import (
    CWD,
    TRANSCRIPT,
    directive,
    session,
)
from tests.world import World

from ramet.errors import InvalidParams, SessionNotFound

FIFTEEN = """
sessionStart sessionEnd preToolUse postToolUse postToolUseFailure userPrompt preCompact permissionRequest notification
stop subagentStart subagentStop taskCompleted teammateIdle fleetStart
"""


@pytest.mark.requirement("R243")
def test_the_fifteen_operations_of_the_seed_are_there_under_our_names() -> None:
    from ramet.protocol.operations import OPERATIONS

    assert {f"hooks.{name}" for name in FIFTEEN.split()} <= set(OPERATIONS)


@pytest.mark.requirement("R239")
def test_session_start_answers_with_the_session_the_effort_and_what_was_left(world: World) -> None:
    before = world.session("plan", agent_id="ada")
    world.call("db.effort.phase", effort_id=before.effort_id, label="1")
    world.call("db.session.handoff", session_id=before.id, summary="half", required_files=["/shop/a"])
    context = world.call("hooks.sessionStart", agent_id="ada", pid=9)
    assert (context.session.prev_session_id, context.session.pid) == (before.id, 9)
    assert (context.effort.current_phase, context.skill_phases[0]) == ("1: Understand", "1: Understand")
    assert context.required_files == ["/shop/a"]
    assert context.dehydration_payload["summary"] == "half"
    assert world.call("hooks.sessionStart", agent_id="ada", pid=9).session.id == context.session.id


@pytest.mark.requirement("R239")
def test_session_start_takes_a_vendors_own_id(world: World) -> None:
    context = world.call("hooks.sessionStart", driver="codex", native_id="n1", cwd=CWD, transcript_path=TRANSCRIPT)
    assert world.call("hooks.sessionStart", session_id="codex:n1").session.id == context.session.id
    assert [each.path for each in world.call("ingest.list").items] == [TRANSCRIPT]


@pytest.mark.requirement("R239")
def test_session_start_without_any_name_is_refused(world: World) -> None:
    with pytest.raises(InvalidParams) as refusal:
        world.call("hooks.sessionStart", agent_id="nobody", pid=9)
    assert refusal.value.field == "agent_id"


@pytest.mark.requirement("R240", "R241", "R242")
def test_the_tool_hooks_answer_as_the_seed_says(world: World) -> None:
    above = world.session("do").id
    verdict = world.call("hooks.preToolUse", session_id=above, tool="Bash", args={"command": "make"})
    assert (verdict.allow, verdict.block, verdict.reason, verdict.injection) == (True, False, None, None)
    facts = {"directives": [directive()]}
    noted = world.call("hooks.postToolUse", session_id=above, tool="Read", args={"file_path": "/shop/a"}, facts=facts)
    assert (len(noted.injections), noted.session.loaded_files, noted.session.heartbeat_counter) == (1, ["/shop/a"], 1)
    prompt = world.call("hooks.userPrompt", session_id=above, prompt="go on")
    assert prompt.session_id == above
    assert world.call("db.messages.list", session_id=above).items[0].id == prompt.message_id


@pytest.mark.requirement("R243", "R246")
def test_the_other_hooks_take_a_session_and_answer_with_it(world: World) -> None:
    above = world.session("do").id
    world.call("hooks.postToolUseFailure", session_id=above, tool="Bash")
    for name in ("permissionRequest", "notification", "stop", "taskCompleted", "teammateIdle", "preCompact"):
        assert world.call(f"hooks.{name}", session_id=above).session_id == above
    child = world.call("hooks.subagentStart", session_id=above, subagent_id="a1").session_id
    assert world.call("hooks.subagentStop", session_id=above, subagent_id="a1").session_id == child
    assert (session(world, child).ended_at is None, session(world, above).ended_at) == (False, None)
    world.call("hooks.sessionEnd", session_id=above, reason="logout")
    assert session(world, above).ended_at is not None


@pytest.mark.requirement("R243")
@pytest.mark.parametrize("name", FIFTEEN.split()[1:-1])
def test_a_hook_of_a_session_that_is_not_there_says_so(world: World, name: str) -> None:
    given: dict[str, Any] = {"tool": "Bash", "prompt": "go", "subagent_id": "a1"}
    from ramet.protocol.operations import OPERATIONS

    fields = OPERATIONS[f"hooks.{name}"].request.__struct_fields__
    with pytest.raises(SessionNotFound):
        world.call(f"hooks.{name}", session_id=99, **{key: value for key, value in given.items() if key in fields})


@pytest.mark.requirement("R243")
def test_a_fleet_is_known_before_its_sessions_are(world: World) -> None:
    fleet = world.call("hooks.fleetStart", agents=[{"id": "ada", "claims": ["plan"]}, {"id": "bob", "label": "Bob"}])
    assert [(each.id, each.claims, each.effort_id) for each in fleet.agents] == [
        ("ada", ["plan"], None),
        ("bob", None, None),
    ]
    queued = queue_worker.add(world, skill="implement")
    assert queue_worker.claim(world, "ada").refused == "missing"
    assert queue_worker.claim(world, "bob").id == queued.id
