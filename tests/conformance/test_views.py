"""The four views, with the defects of seed 004's own text as regressions (P2 to P4)."""

import time

import pytest
from tests.conformance.catalog import columns_of
from tests.world import World

TASK = "/shop/tasks/cart"


@pytest.mark.requirement("R201", "R268")
def test_fleet_status_says_who_is_doing_what(world: World) -> None:
    session = world.session(agent_id="ada")
    world.call("db.agents.register", id="ada", label="Ada")
    world.call("db.effort.phase", effort_id=session.effort_id, label="1")
    world.call("db.session.heartbeat", session_id=session.id)
    world.call("db.session.updateContextUsage", session_id=session.id, usage=0.25)
    columns = "agent, label, skill, current_phase, heartbeat_counter, context_usage"
    assert world.sql(f"SELECT {columns} FROM fleet_status") == [("ada", "Ada", "implement", "1: Prepare", 1, 0.25)]


@pytest.mark.requirement("R201", "R268")
def test_fleet_status_shows_an_agent_without_an_open_session(world: World) -> None:
    session = world.session(agent_id="ada")
    world.call("db.session.finish", session_id=session.id)
    (member,) = world.call("fleet.status").items
    assert (member.agent, member.session_id, member.heartbeat_counter, member.status) == ("ada", None, None, None)


@pytest.mark.requirement("R201", "R268")
def test_fleet_status_has_one_row_for_an_agent_whose_effort_has_several_open_sessions(world: World) -> None:
    parent = world.session(agent_id="ada")
    for agent_id in ("helper", None):
        world.call(
            "db.session.start",
            task_id=TASK,
            effort_id=parent.effort_id,
            parent_session_id=parent.id,
            agent_id=agent_id,
            driver="claude",
        )
    assert [member.agent for member in world.call("fleet.status").items] == ["ada"]


@pytest.mark.requirement("R201", "R268")
def test_fleet_status_leaves_out_agents_that_hold_nothing(world: World) -> None:
    world.call("db.agents.register", id="idle")
    busy = world.session(agent_id="ada")
    assert [member.agent for member in world.call("fleet.status").items] == ["ada"]
    world.call("db.effort.finish", effort_id=busy.effort_id)
    assert world.call("fleet.status").items == []


@pytest.mark.requirement("R202")
def test_the_latest_skill_of_a_task_is_the_latest_and_not_the_last_in_the_alphabet(world: World) -> None:
    """P2: seed 004's own view says `review`."""
    for skill in ("review", "explore", "do"):
        world.effort(skill)
        world.clock.advance(60)
    (task,) = world.call("db.task.list").items
    assert (task.effort_count, task.latest_skill) == (3, "do")
    assert task.last_activity == world.call("db.effort.list", task_id=TASK).items[-1].created_at


@pytest.mark.requirement("R202", "R206")
def test_a_task_without_efforts_is_summed_up_too(world: World) -> None:
    world.task()
    (task,) = world.call("db.task.list").items
    assert (task.effort_count, task.active_count, task.latest_skill, task.last_activity) == (0, 0, None, None)


@pytest.mark.requirement("R203")
def test_active_efforts_shows_each_active_effort_once(world: World) -> None:
    """P3: seed 004's own view drops efforts without a cached skill and multiplies the others across projects."""
    world.skill("paint", ["1: Look"], "/shop/tasks/cart")
    world.skill("paint", ["1: Look"], "/mill/tasks/wheel")
    efforts = [world.effort(skill) for skill in ("paint", "plan", "do")]
    world.call("db.effort.finish", effort_id=world.effort("shell").id)
    rows = world.sql("SELECT id, skill_name FROM active_efforts ORDER BY id")
    assert rows == [(effort.id, effort.skill) for effort in efforts]
    assert set(columns_of(world, "active_efforts")) == {*columns_of(world, "efforts"), "skill_name"}


@pytest.mark.requirement("R204")
def test_a_session_is_stale_after_five_minutes_of_silence(world: World) -> None:
    now = int(time.time() * 1000)
    silent = {}
    for name, seconds in (("fresh", 240), ("stale", 360)):
        world.clock.now = now
        silent[name] = world.session(task=f"/shop/tasks/{name}").id
        world.clock.now = now - seconds * 1000
        world.call("db.session.heartbeat", session_id=silent[name])
    world.clock.now = now
    assert [session.id for session in world.call("fleet.stale").items] == [silent["stale"]]
    assert world.sql("SELECT task_dir FROM stale_sessions") == [("/shop/tasks/stale",)]


@pytest.mark.requirement("R204")
def test_a_session_whose_tool_is_at_work_is_not_stale_however_long_it_takes(world: World) -> None:
    session = world.session("do")
    world.call("hooks.preToolUse", session_id=session.id, tool="Bash", tool_use_id="t1")
    world.clock.advance(3600)
    assert world.call("fleet.stale").items == []
    world.call("hooks.postToolUse", session_id=session.id, tool="Bash", tool_use_id="t1")
    world.clock.advance(3600)
    assert [each.id for each in world.call("fleet.stale").items] == [session.id]


@pytest.mark.requirement("R204")
def test_a_session_that_never_spoke_is_as_old_as_its_start(world: World) -> None:
    """P4: seed 004's own view misses it."""
    now = int(time.time() * 1000)
    world.clock.now = now - 360_000
    mute = world.session()
    world.clock.now = now
    assert mute.last_heartbeat is None
    assert world.sql("SELECT id FROM stale_sessions") == [(mute.id,)]
    assert [session.id for session in world.call("fleet.stale").items] == [mute.id]
    world.call("db.session.finish", session_id=mute.id)
    assert world.call("fleet.stale").items == world.sql("SELECT id FROM stale_sessions") == []


@pytest.mark.requirement("R201", "R204")
@pytest.mark.parametrize(("seconds", "status"), [(0, "starting"), (300, "starting"), (301, "detecting")])
def test_the_status_of_a_session_follows_from_its_signs_of_life(world: World, seconds: int, status: str) -> None:
    session = world.session(agent_id="ada")
    world.clock.advance(seconds)
    assert world.call("fleet.status").items[0].status == status
    world.call("db.session.heartbeat", session_id=session.id)
    assert world.call("fleet.status").items[0].status == "running"
