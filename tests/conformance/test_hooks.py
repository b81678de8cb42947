"""Hooks: which session an event belongs to, what is written at each moment, and what the agent is answered."""

from typing import Any, get_args

import pytest
from tests.conformance import labour
from tests.conformance.hooking import (
    CWD,
    OTHER_WINDOW,
    TRANSCRIPT,
    WINDOW,
    directive,
    entry,
    event,
    hook,
    ingest,
    messages,
    session,
    start,
    use,
)
from tests.world import Counting, World

from ramet.errors import InvalidParams, SessionNotFound
from ramet.model.hook import HookAnswer, Moment

FIFTEEN = """
sessionStart sessionEnd preToolUse postToolUse postToolUseFailure userPrompt preCompact permissionRequest notification
stop subagentStart subagentStop taskCompleted teammateIdle fleetStart
"""


@pytest.mark.requirement("R243")
def test_the_fifteen_operations_of_the_seed_are_there_under_our_names() -> None:
    from ramet.protocol.operations import OPERATIONS

    assert {f"hooks.{name}" for name in FIFTEEN.split()} <= set(OPERATIONS)


def test_a_session_started_by_hand_is_known_from_its_first_hook_on(world: World) -> None:
    reply = hook(world, "session_start", source="startup", pid=42)
    found = session(world, f"claude:{WINDOW}")
    assert (reply.session_id, reply.wants_ingest, reply.answer) == (found.id, True, HookAnswer())
    assert (found.pid, found.agent_id, found.parent_session_id) == (42, f"claude:{WINDOW}", None)
    effort = world.call("db.effort.get", effort_id=found.effort_id)
    assert (effort.task_id, effort.skill, effort.lifecycle) == ("/shop/.ramet/adhoc", "do", "active")
    assert effort.holder == f"claude:{WINDOW}"


def test_whichever_hook_comes_first_makes_the_session_and_the_others_find_it(world: World) -> None:
    first = hook(world, "post_tool_use", tool="Bash").session_id
    assert {hook(world, moment, tool="Bash").session_id for moment in ("session_start", "stop", "other")} == {first}
    assert hook(world, "session_start", native_id=OTHER_WINDOW).session_id != first
    assert hook(world, "session_start", vendor="codex").session_id not in (None, first)


def test_a_session_where_no_project_is_known_waits_for_what_the_disk_says(world: World) -> None:
    reply = world.call("hooks.record", event=event("pre_tool_use", tool="Bash"))
    assert (reply.session_id, reply.wants_facts) == (None, True)
    assert world.call("db.counts").sessions == 0
    hook(world, "pre_tool_use", tool="Bash", cwd="/elsewhere/deep", facts={"project": "/elsewhere"})
    assert session(world, f"claude:{WINDOW}").task_id == "/elsewhere/.ramet/adhoc"


def test_the_nearest_registered_project_goes_before_what_the_disk_suggests(world: World) -> None:
    world.call("db.project.upsert", path="/shop/src")
    hook(world, "session_start", facts={"project": "/shop"})
    assert session(world, f"claude:{WINDOW}").task_id == "/shop/src/.ramet/adhoc"


@pytest.mark.parametrize(
    ("directory", "is_repository", "project"),
    [("/home/shop", True, "/home/shop"), ("/home/shop", False, "/home"), ("/home", True, "/home")],
)
def test_a_repository_inside_a_project_is_one_of_its_own(
    world: World, directory: str, is_repository: bool, project: str
) -> None:
    """Somebody may have started an agent in their home once."""
    world.call("db.project.upsert", path="/home")
    facts = {"project": directory, "is_repository": is_repository}
    hook(world, "session_start", cwd="/home/shop/src", facts=facts)
    assert session(world, f"claude:{WINDOW}").task_id == f"{project}/.ramet/adhoc"


def test_an_agent_that_holds_an_effort_works_on_it(world: World) -> None:
    before = world.session("plan", agent_id="ada")
    reply = hook(world, "session_start", agent="ada")
    found = session(world, reply.session_id)
    assert (found.effort_id, found.prev_session_id, found.agent_id) == (before.effort_id, before.id, "ada")
    assert session(world, before.id).ended_at is not None


def test_an_agent_that_ramet_started_is_bound_by_its_session(world: World) -> None:
    attempt = labour.start(world, driver="claude")
    reply = hook(world, "pre_tool_use", tool="Bash", session=attempt.session.id)
    assert (reply.session_id, reply.wants_ingest) == (attempt.session.id, False)
    assert session(world, attempt.session.id).native_id == WINDOW
    assert hook(world, "post_tool_use", tool="Bash", session=str(attempt.session.id)).session_id == attempt.session.id
    assert world.call("db.counts").sessions == 1


def test_a_program_that_an_agent_starts_by_itself_is_its_child(world: World) -> None:
    attempt = labour.start(world, driver="claude")
    hook(world, "session_start", session=attempt.session.id)
    child = session(world, hook(world, "session_start", session=attempt.session.id, native_id=OTHER_WINDOW).session_id)
    assert (child.parent_session_id, child.spawn_depth) == (attempt.session.id, 1)
    assert child.effort_id == attempt.effort.id
    assert session(world, attempt.session.id).ended_at is None


def test_a_session_that_the_environment_names_wrongly_is_known_by_its_own_name(world: World) -> None:
    for wrong in (4711, "99999999999999999999999", "claude:nobody"):
        assert hook(world, "session_start", session=wrong).session_id == 1


@pytest.mark.requirement("R246")
def test_a_sub_agent_is_a_child_session_and_never_ends_its_parent(world: World) -> None:
    above = start(world)
    hook(world, "subagent_start", agent_id="a1", agent_type="Explore")
    child = session(world, f"claude:{WINDOW}/a1")
    assert (child.parent_session_id, child.root_session_id, child.spawn_depth) == (above, above, 1)
    assert (child.effort_id, child.agent_id) == (session(world, above).effort_id, None)
    assert use(world, agent_id="a1").session_id == child.id
    assert (session(world, child.id).heartbeat_counter, session(world, above).heartbeat_counter) == (1, 0)
    hook(world, "subagent_stop", agent_id="a1", agent_type="Explore", summary="three carts")
    ended = session(world, child.id)
    assert (ended.outcome, ended.notes, session(world, above).ended_at) == ("success", "three carts", None)


@pytest.mark.requirement("R246")
def test_sub_agents_are_never_refused_however_deep(world: World) -> None:
    start(world)
    ids = [hook(world, "pre_tool_use", tool="Bash", agent_id=f"a{number}").session_id for number in range(20)]
    assert len(set(ids)) == 20
    assert session(world, f"claude:{WINDOW}").ended_at is None


@pytest.mark.requirement("R246")
def test_the_fleet_shows_an_agent_by_its_own_session_while_its_sub_agents_work(world: World) -> None:
    above = start(world)
    hook(world, "subagent_start", agent_id="a1")
    (member,) = world.call("fleet.status").items
    assert (member.agent, member.session_id) == (f"claude:{WINDOW}", above)


@pytest.mark.requirement("R243")
def test_the_end_of_a_session_ends_its_sub_agents_and_the_effort_that_was_only_its_own(world: World) -> None:
    above = start(world)
    hook(world, "subagent_start", agent_id="a1")
    hook(world, "session_end", reason="prompt_input_exit")
    assert session(world, above).outcome == "success"
    assert session(world, f"claude:{WINDOW}/a1").outcome == "success"
    effort = world.call("db.effort.get", effort_id=session(world, above).effort_id)
    assert (effort.lifecycle, effort.outcome, effort.holder) == ("finished", "success", None)


@pytest.mark.requirement("R243")
def test_the_end_of_a_session_leaves_an_effort_that_somebody_gave_it(world: World) -> None:
    before = world.session("plan", agent_id="ada")
    hook(world, "session_start", agent="ada")
    hook(world, "session_end")
    effort = world.call("db.effort.get", effort_id=before.effort_id)
    assert (effort.lifecycle, effort.holder) == ("active", "ada")


@pytest.mark.requirement("R243")
def test_a_session_that_ended_goes_on_when_its_program_opens_it_again(world: World) -> None:
    first = start(world)
    hook(world, "session_end")
    hook(world, "session_start", source="resume", pid=7)
    again = session(world, first)
    assert (again.ended_at, again.pid, again.agent_id) == (None, 7, f"claude:{WINDOW}")
    effort = world.call("db.effort.get", effort_id=again.effort_id)
    assert (effort.lifecycle, effort.ordinal, effort.holder) == ("active", 1, again.agent_id)


@pytest.mark.requirement("R243")
def test_however_often_a_session_ends_and_goes_on_it_has_one_effort(world: World) -> None:
    first = start(world)
    for is_heard in (True, False, True):
        if is_heard:
            hook(world, "session_end")
        hook(world, "user_prompt", prompt="and on")
    (effort,) = world.call("db.effort.list", task_id="/shop/.ramet/adhoc").items
    assert (effort.lifecycle, effort.outcome, session(world, first).effort_id) == ("active", None, effort.id)
    assert len(world.call("events.list", kind="effort.reopened").items) == 2


@pytest.mark.requirement("R243")
def test_a_session_that_outlives_the_effort_somebody_gave_it_goes_on_with_a_light_one(world: World) -> None:
    before = world.session("plan", agent_id="ada")
    first = hook(world, "session_start", agent="ada").session_id
    hook(world, "session_end")
    world.call("db.effort.finish", effort_id=before.effort_id)
    for _ in range(2):
        hook(world, "session_start", source="resume", agent="ada")
        hook(world, "session_end")
    efforts = world.call("db.effort.list", task_id=before.task_id).items
    assert [each.skill for each in efforts] == ["plan", "do"]
    assert session(world, first).effort_id == efforts[1].id


def test_a_sub_agent_that_goes_on_shows_that_its_parent_does(world: World) -> None:
    above = start(world)
    hook(world, "subagent_start", agent_id="a1")
    hook(world, "session_end")
    hook(world, "pre_tool_use", tool="Bash", agent_id="a1")
    assert session(world, above).ended_at is None
    hook(world, "session_end")
    assert world.call("db.counts").active_efforts == 0


def test_a_sub_agent_of_which_we_hear_when_all_is_over_is_over_too_until_it_goes_on(world: World) -> None:
    above = start(world)
    hook(world, "session_end")
    ingest(world, above, entry("s1", "look", role="user"), path="/t/agent-a1.jsonl", agent_id="a1")
    hook(world, "post_tool_use", tool="Bash", agent_id="a2")
    names = [f"claude:{WINDOW}/{name}" for name in ("a1", "a2")]
    assert [session(world, name).outcome for name in names] == ["success", "success"]
    hook(world, "pre_tool_use", tool="Bash", agent_id="a1")
    assert session(world, above).outcome is None
    assert [session(world, name).outcome for name in names] == [None, "success"]


def test_with_a_session_all_that_is_inside_it_ends_however_deep(world: World) -> None:
    child = ingest(world, start(world), path="/t/1.jsonl", agent_id="a1").session_id
    ingest(world, child, path="/t/2.jsonl", agent_id="b1")
    hook(world, "subagent_stop", agent_id="a1")
    hook(world, "session_end")
    assert session(world, f"claude:{WINDOW}/a1/b1").outcome == "success"
    assert world.call("db.counts").active_efforts == 0


@pytest.mark.parametrize("has_stopped", [False, True])
def test_a_sub_agent_serves_what_its_parent_serves(world: World, has_stopped: bool) -> None:
    above = start(world)
    hook(world, "subagent_start", agent_id="a1")
    if has_stopped:
        hook(world, "subagent_stop", agent_id="a1")
    begun = world.call("commands.effort.begin", task_id="/shop/cart", skill="do", title="Cart", session_id=above)
    hook(world, "pre_tool_use", tool="Bash", agent_id="a1")
    child = session(world, f"claude:{WINDOW}/a1")
    assert (child.ended_at, child.effort_id, child.task_id) == (None, begun.effort.id, "/shop/cart")
    hook(world, "session_end")
    assert session(world, child.id).ended_at is not None
    assert world.call("db.counts").active_efforts == 1


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
    assert (ended.outcome, ended.notes) == ("success", "ended without a word: process 42 is gone")
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
    assert not ask("pre_tool_use", 7, project="/shop", **process(7))
    assert [ask(moment, 7) for moment in ("user_prompt", "pre_tool_use", "stop")] == [False] * 3
    assert [ask(moment, 8) for moment in ("session_start", "user_prompt")] == [True] * 2
    assert [ask(moment, 8) for moment in ("pre_tool_use", "stop")] == [False] * 2
    hook(world, "session_end")
    assert ask("pre_tool_use", 7)


def test_a_keeper_knows_the_process_of_its_agent(world: World) -> None:
    attempt = labour.start(world, driver="claude")
    labour.report(world, attempt, {"kind": "started", "pid": 42, "started_at": 1000.5})
    hook(world, "session_start", session=attempt.session.id, facts=process(43))
    assert session(world, attempt.session.id).pid == 42
    assert world.call("hooks.processes").items == []
    vanish(world, attempt.session.id)
    assert session(world, attempt.session.id).ended_at is None


def test_a_hook_that_comes_late_does_not_open_what_has_ended(world: World) -> None:
    first = start(world)
    hook(world, "session_end")
    for moment in ("post_tool_use", "stop", "notification", "session_end", "subagent_stop", "status_line"):
        hook(world, moment, tool="Bash")
    assert session(world, first).ended_at is not None


def test_a_keeper_and_not_a_hook_says_when_its_agent_has_ended(world: World) -> None:
    attempt = labour.start(world, driver="claude")
    hook(world, "session_start", session=attempt.session.id)
    hook(world, "session_end")
    assert session(world, attempt.session.id).ended_at is None


def test_a_person_may_go_on_with_what_an_agent_of_ours_began(world: World) -> None:
    attempt = labour.start(world, driver="claude")
    above = attempt.session.id
    hook(world, "session_start", session=above)
    labour.report(world, attempt, labour.text("It is mended."), labour.end())
    labour.complete(world, attempt.effort)
    ingest(world, above, entry("u1", "It is mended."), offset=500)
    assert hook(world, "user_prompt", prompt="late", session=above).session_id == above
    assert hook(world, "stop").session_id == above

    found = session(world, start(world, pid=7))
    assert (found.native_id, found.prev_session_id, found.ended_at, found.pid) == (WINDOW, above, None, 7)
    ingest(
        world, found.id, entry("u2", "mend the cart", role="user", prompt_id="p1"), entry("u3", "Again?"), offset=900
    )
    assert messages(world, found.id) == [("user", "mend the cart"), ("assistant", "Again?")]
    (read,) = world.call("ingest.list").items
    assert (read.session_id, read.offset) == (found.id, 900)
    hook(world, "session_end")
    assert (session(world, found.id).outcome, world.call("db.counts").active_efforts) == ("success", 0)
    kept = session(world, above)
    assert (kept.effort_id, kept.native_id, len(messages(world, above))) == (attempt.effort.id, None, 2)


def test_a_person_goes_on_where_the_transcript_was_read_to(world: World) -> None:
    attempt = labour.start(world, driver="claude")
    hook(world, "session_start", session=attempt.session.id)
    ingest(world, attempt.session.id, offset=500, inode=3)
    labour.report(world, attempt, labour.end())
    found = start(world)
    (read,) = world.call("ingest.list").items
    assert (read.session_id, read.offset, read.inode) == (found, 500, 3)


def test_a_hook_that_a_sub_agent_calls_when_its_keeper_has_ended_it_all_opens_nothing(world: World) -> None:
    attempt = labour.start(world, driver="claude")
    hook(world, "subagent_start", session=attempt.session.id, agent_id="a1")
    labour.report(world, attempt, labour.end())
    labour.complete(world, attempt.effort)
    hook(world, "pre_tool_use", tool="Bash", session=attempt.session.id, agent_id="a1")
    assert session(world, f"claude:{WINDOW}/a1").ended_at is not None
    assert world.call("db.counts").active_efforts == 0


def test_an_emptied_context_goes_on_with_the_effort_of_the_one_before(world: World) -> None:
    before = world.session("plan", agent_id="ada")
    first = hook(world, "session_start", agent="ada", pid=42).session_id
    hook(world, "session_end", reason="clear")
    reply = hook(world, "session_start", source="clear", native_id=OTHER_WINDOW, pid=42)
    found = session(world, reply.session_id)
    assert (found.effort_id, found.prev_session_id) == (before.effort_id, first)
    assert "plan" in reply.answer.context


def test_an_emptied_context_is_over_also_where_nobody_heard_that_it_ended(world: World) -> None:
    first = start(world, pid=42)
    second = hook(world, "session_start", source="clear", native_id=OTHER_WINDOW, pid=42).session_id
    assert (session(world, first).outcome, session(world, second).prev_session_id) == ("success", None)
    assert world.call("db.counts").active_efforts == 1


def test_a_process_of_another_machine_is_another(world: World) -> None:
    first = start(world, facts=process(host="mill"))
    hook(world, "session_start", source="clear", native_id=OTHER_WINDOW, facts=process(host="barn"))
    assert session(world, first).ended_at is None
    hook(world, "session_start", source="clear", native_id="third", facts=process(host="mill"))
    assert session(world, first).ended_at is not None


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
    assert "/shop/src/AGENTS.md (long: read it)" in context
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


# The fifteen, for whoever has no vendor's event at hand.


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
    assert (prompt.session_id, prompt.content) == (above, None)
    assert world.call("db.messages.list", session_id=above).items[0].id == prompt.message_id


@pytest.mark.requirement("R243", "R246")
def test_the_other_hooks_take_a_session_and_answer_with_it(world: World) -> None:
    above = world.session("do").id
    world.call("hooks.postToolUseFailure", session_id=above, tool="Bash", error="no")
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
    queued = labour.add(world, skill="implement")
    assert labour.claim(world, "ada").refused == "missing"
    assert labour.claim(world, "bob").id == queued.id


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
