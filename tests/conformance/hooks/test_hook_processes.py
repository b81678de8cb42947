"""The process behind a session: what it being gone, or another, says about the session."""

from typing import Any

from tests.conformance import queue_worker
from tests.conformance.hook_calls import (
    OTHER_WINDOW,
    WINDOW,
    event,
    hook,
    session,
    start,
)
from tests.world import World


def process(pid: int = 42, started: float = 1000.5, host: str | None = None) -> dict[str, Any]:
    return {"process": {"pid": pid, "started": started, "host": host}}


def vanish(world: World, session_id: int, pid: int = 42, started: float = 1000.5) -> Any:
    return world.call("hooks.vanished", session_id=session_id, pid=pid, started=started)


def test_a_session_whose_process_is_gone_is_over_though_nobody_said_so(world: World) -> None:
    above = hook(world, "session_start", pid=7, facts=process()).session_id
    hook(world, "subagent_start", agent_id="a1", pid=7)
    (found,) = world.call("hooks.processes").items
    assert (found.session_id, found.pid, found.started) == (above, 42, 1000.5)
    vanish(world, above)
    ended = session(world, above)
    assert (ended.outcome, ended.notes) == ("success", "process 42 disappeared")
    assert session(world, f"claude:{WINDOW}/a1").ended_at is not None
    assert world.call("db.effort.get", effort_id=ended.effort_id).lifecycle == "finished"
    assert world.call("hooks.processes").items == []


def test_a_session_that_ended_before_its_agent_had_answered_has_failed(world: World) -> None:
    above = start(world, facts=process())
    vanish(world, above)
    ended = session(world, above)
    assert (ended.outcome, "in the middle of a turn" in ended.notes) == ("error", True)
    hook(world, "session_start", source="resume")
    again = session(world, above)
    assert (again.ended_at, again.outcome, again.notes) == (None, None, None)


def test_a_session_that_is_open_in_another_process_by_now_goes_on(world: World) -> None:
    above = hook(world, "session_start", facts=process()).session_id
    hook(world, "session_start", source="resume", pid=43, facts=process(43, 2000.0))
    vanish(world, above)
    assert session(world, above).ended_at is None
    hook(world, "user_prompt", prompt="and on", pid=42, facts=process(42, 3000.0))
    vanish(world, above, 43, 2000.0)
    vanish(world, above)
    assert session(world, above).ended_at is None
    vanish(world, above, 42, 3000.0)
    assert session(world, above).ended_at is not None


def test_a_process_is_looked_for_only_where_it_is(world: World) -> None:
    hook(world, "session_start", facts=process(host="mill"))
    hook(world, "session_start", native_id=OTHER_WINDOW, pid=42)
    assert world.call("hooks.processes").items == []
    assert len(world.call("hooks.processes", host="mill").items) == 1
    assert world.call("hooks.processes", host="barn").items == []


def test_a_new_session_and_one_in_another_process_wait_for_what_the_machine_says(world: World) -> None:
    def ask(moment: str, pid: int, **facts: Any) -> bool:
        said = event(moment, tool="Bash")
        return bool(world.call("hooks.record", event=said, pid=pid, facts=facts).wants_facts)

    assert ask("pre_tool_use", 7)
    assert not ask("session_start", 7, project="/shop", **process(7))
    assert [ask(moment, 7) for moment in ("user_prompt", "pre_tool_use", "stop")] == [False] * 3
    assert [ask(moment, 8) for moment in ("session_start", "user_prompt")] == [True] * 2
    assert [ask(moment, 8) for moment in ("pre_tool_use", "stop")] == [False] * 2
    hook(world, "session_end")
    assert ask("pre_tool_use", 7)


def test_a_keeper_knows_the_process_of_its_agent(world: World) -> None:
    attempt = queue_worker.start(world, driver="claude")
    queue_worker.report(world, attempt, {"kind": "started", "pid": 42, "started_at": 1000.5})
    hook(world, "session_start", session=attempt.session.id, facts=process(43))
    assert session(world, attempt.session.id).pid == 42
    assert world.call("hooks.processes").items == []
    vanish(world, attempt.session.id)
    assert session(world, attempt.session.id).ended_at is None


def test_a_process_of_another_machine_is_another(world: World) -> None:
    first = start(world, facts=process(host="mill"))
    hook(world, "session_start", source="clear", native_id=OTHER_WINDOW, facts=process(host="barn"))
    assert session(world, first).ended_at is None
    hook(world, "session_start", source="clear", native_id="third", facts=process(host="mill"))
    assert session(world, first).ended_at is not None
