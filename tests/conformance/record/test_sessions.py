"""Sessions: context windows that serve one effort at a time and hand on what they know."""

from typing import Any

import pytest
from tests.world import World

from ramet.config.settings import LimitSettings
from ramet.engine import Engine
from ramet.engine.transaction import Rules
from ramet.errors import EffortHeld, InvalidParams, SessionEnded, SessionNotFound, WrongTask
from ramet.model.redaction import Redactor
from ramet.store.database.blobs import Codec

TASK = "/shop/tasks/cart"


def start(world: World, effort_id: int, **params: Any) -> Any:
    return world.call("db.session.start", task_id=TASK, effort_id=effort_id, **params)


def find(world: World, session_id: int) -> Any:
    """The row as it is now."""
    return world.call("db.session.get", session_id=session_id)


@pytest.mark.requirement("R193", "R210", "R229")
def test_a_started_session_serves_its_effort(world: World) -> None:
    effort = world.effort()
    session = start(world, effort.id, pid=4711, driver="claude", native_id="n-1", agent_id="ada")
    assert (session.task_id, session.effort_id, session.pid) == (TASK, effort.id, 4711)
    assert (session.driver, session.native_id, session.agent_id) == ("claude", "n-1", "ada")
    assert (session.root_session_id, session.spawn_depth, session.branch) == (session.id, 0, f"session/{session.id}")
    assert (session.ended_at, session.outcome, session.already) == (None, None, False)
    assert world.call("db.agents.get", id="ada").effort_id == effort.id


@pytest.mark.requirement("R210", "R253")
def test_a_session_is_refused_an_effort_of_another_task(world: World) -> None:
    other = world.effort("do", "/shop/tasks/till")
    session = world.session("do")
    before = world.dump()
    with pytest.raises(WrongTask) as refusal:
        start(world, other.id)
    assert (refusal.value.field, refusal.value.value) == ("effort_id", other.id)
    with pytest.raises(WrongTask):
        world.call("db.session.bindEffort", session_id=session.id, effort_id=other.id)
    assert world.dump() == before


@pytest.mark.requirement("R229")
def test_starting_a_session_ends_the_agents_session_before_it_and_continues_it(world: World) -> None:
    first = world.session(agent_id="ada")
    bystander = world.session("plan", agent_id="bob")
    world.clock.advance(60)
    second = start(world, first.effort_id, agent_id="ada")
    ended = find(world, first.id)
    assert (ended.outcome, ended.ended_at) == ("success", second.created_at)
    assert (second.prev_session_id, second.agent_id) == (first.id, "ada")
    assert find(world, bystander.id).ended_at is None
    assert world.events()[-2:] == ["session.ended", "session.started"]


@pytest.mark.requirement("R229")
def test_a_session_without_an_agent_ends_nobodys_session(world: World) -> None:
    first = world.session(agent_id="ada")
    second = start(world, first.effort_id)
    assert (second.prev_session_id, second.agent_id) == (None, None)
    assert find(world, first.id).ended_at is None


@pytest.mark.requirement("R229")
@pytest.mark.parametrize("agent_id", ["ada", "helper", None])
def test_a_started_sub_agent_never_ends_its_parent(world: World, agent_id: str | None) -> None:
    """C12: the parent goes on, whoever the child is."""
    parent = world.session(agent_id="ada")
    child = start(world, parent.effort_id, parent_session_id=parent.id, agent_id=agent_id)
    grandchild = start(world, parent.effort_id, parent_session_id=child.id)
    assert (child.parent_session_id, child.root_session_id, child.spawn_depth) == (parent.id, parent.id, 1)
    assert (grandchild.root_session_id, grandchild.spawn_depth) == (parent.id, 2)
    assert child.prev_session_id is None
    assert find(world, parent.id).ended_at is None
    assert world.call("db.agents.get", id="ada").effort_id == parent.effort_id


@pytest.mark.requirement("R229", "R253")
def test_a_session_that_has_ended_spawns_nothing(world: World) -> None:
    parent = world.session()
    world.call("db.session.finish", session_id=parent.id)
    with pytest.raises(SessionEnded) as refusal:
        start(world, parent.effort_id, parent_session_id=parent.id)
    assert (refusal.value.field, refusal.value.value) == ("parent_session_id", parent.id)


@pytest.mark.requirement("R216", "R213", "R230")
def test_after_an_overflow_the_next_session_continues_at_the_same_phase(world: World) -> None:
    first = world.session(agent_id="ada")
    world.call("db.effort.phase", effort_id=first.effort_id, label="1")
    payload = {"summary": "half way", "open": [1, {"x": None}]}
    ended = world.call("db.session.finish", session_id=first.id, dehydration_payload=payload)
    second = start(world, first.effort_id, prev_session_id=first.id)
    assert (ended.dehydration_payload, find(world, first.id).dehydration_payload) == (payload, payload)
    assert (second.prev_session_id, second.agent_id, second.dehydration_payload) == (first.id, "ada", None)
    assert world.call("db.effort.list", task_id=TASK).items[0].current_phase == "1: Prepare"


@pytest.mark.requirement("R216")
def test_continuing_an_open_session_ends_it(world: World) -> None:
    first = world.session()
    second = start(world, first.effort_id, prev_session_id=first.id)
    assert find(world, first.id).outcome == "success"
    assert second.prev_session_id == first.id


@pytest.mark.requirement("R216", "R253")
def test_a_session_of_another_task_cannot_be_continued(world: World) -> None:
    elsewhere = world.session("do", "/shop/tasks/till")
    effort = world.effort()
    before = world.dump()
    with pytest.raises(WrongTask) as refusal:
        start(world, effort.id, prev_session_id=elsewhere.id)
    assert (refusal.value.field, refusal.value.value) == ("prev_session_id", elsewhere.id)
    assert world.dump() == before


@pytest.mark.requirement("R230", "R254")
def test_finishing_a_session_twice_leaves_it_as_the_first_time(world: World) -> None:
    session = world.session()
    first = world.call("db.session.finish", session_id=session.id, dehydration_payload={"a": 1}, outcome="budget")
    before = world.dump()
    world.clock.advance(60)
    again = world.call("db.session.finish", session_id=session.id, dehydration_payload={"b": 2})
    assert (again.ended_at, again.outcome, again.already) == (first.ended_at, "budget", True)
    assert again.dehydration_payload == {"a": 1}
    assert world.dump() == before


@pytest.mark.requirement("R269", "R270")
def test_the_same_native_session_again_is_resumed_and_not_made_anew(world: World) -> None:
    """C11: `driver:native_id` is one context window for good."""
    first = world.session(driver="claude", native_id="n-1", agent_id="ada", pid=1)
    again = start(world, first.effort_id, driver="claude", native_id="n-1", agent_id="ada", pid=2)
    assert (again.id, again.pid, again.already) == (first.id, 2, True)
    world.call("db.session.finish", session_id=first.id, dehydration_payload={"a": 1})
    reopened = start(world, first.effort_id, driver="claude", native_id="n-1")
    assert (reopened.id, reopened.ended_at, reopened.outcome, reopened.already) == (first.id, None, None, False)
    assert world.sql("SELECT count(*) FROM sessions") == [(1,)]
    assert world.events()[-2:] == ["session.ended", "session.resumed"]


@pytest.mark.requirement("R269", "R229")
def test_resuming_an_older_session_ends_the_agents_newer_one(world: World) -> None:
    first = world.session(driver="claude", native_id="n-1", agent_id="ada")
    second = start(world, first.effort_id, driver="claude", native_id="n-2", agent_id="ada")
    resumed = start(world, first.effort_id, driver="claude", native_id="n-1", agent_id="ada")
    assert (resumed.id, resumed.ended_at) == (first.id, None)
    assert find(world, second.id).outcome == "success"
    assert [row.id for row in world.call("db.session.find", agent_id="ada", open=True).items] == [first.id]


@pytest.mark.requirement("R269", "R229")
def test_resuming_a_child_does_not_end_its_parent(world: World) -> None:
    parent = world.session(agent_id="ada", driver="claude", native_id="p")
    child = start(world, parent.effort_id, parent_session_id=parent.id, agent_id="ada", driver="claude", native_id="c")
    world.call("db.session.finish", session_id=child.id)
    start(world, parent.effort_id, driver="claude", native_id="c", agent_id="ada")
    assert find(world, parent.id).ended_at is None
    start(world, parent.effort_id, driver="claude", native_id="p", agent_id="ada")
    assert find(world, child.id).ended_at is None


@pytest.mark.requirement("R269", "R234")
def test_an_agent_that_takes_up_a_session_without_one_is_its_agent(world: World) -> None:
    session = world.session(driver="claude", native_id="n-1")
    assert start(world, session.effort_id, driver="claude", native_id="n-1", agent_id="ada").agent_id == "ada"
    assert [row.id for row in world.call("db.session.find", agent_id="ada").items] == [session.id]


@pytest.mark.requirement("R270", "R217")
def test_resuming_with_the_next_effort_binds_the_session_to_it(world: World) -> None:
    session = world.session("plan", driver="claude", native_id="n-1")
    effort = world.effort("implement")
    resumed = start(world, effort.id, driver="claude", native_id="n-1")
    assert (resumed.id, resumed.effort_id) == (session.id, effort.id)
    assert world.events()[-1] == "session.bound"


@pytest.mark.requirement("R267", "R270")
def test_resuming_does_not_steal_an_effort(world: World) -> None:
    held = world.session("plan", agent_id="ada")
    mine = world.session("do", agent_id="bob", driver="claude", native_id="n-1")
    world.call("db.effort.finish", effort_id=mine.effort_id)
    before = world.dump()
    with pytest.raises(EffortHeld, match="ada"):
        start(world, held.effort_id, driver="claude", native_id="n-1")
    assert world.dump() == before


@pytest.mark.requirement("R253")
def test_a_native_id_without_its_driver_is_refused(world: World) -> None:
    effort = world.effort()
    with pytest.raises(InvalidParams) as refusal:
        start(world, effort.id, native_id="n-1")
    assert refusal.value.field == "driver"


@pytest.mark.requirement("R217")
def test_binding_a_session_to_the_effort_it_serves_changes_nothing(world: World) -> None:
    session = world.session(agent_id="ada")
    before = world.dump()
    assert world.call("db.session.bindEffort", session_id=session.id, effort_id=session.effort_id).already
    assert world.dump() == before


@pytest.mark.requirement("R217", "R210")
def test_a_session_is_bound_to_another_effort_of_its_task(world: World) -> None:
    session = world.session("plan")
    effort = world.effort("implement")
    bound = world.call("db.session.bindEffort", session_id=session.id, effort_id=effort.id)
    assert (bound.effort_id, bound.already) == (effort.id, False)
    assert find(world, session.id).effort_id == effort.id


@pytest.mark.requirement("R211")
def test_a_pid_is_information_and_guards_nothing(world: World) -> None:
    first = world.session(pid=1, driver="claude", native_id="n-1")
    twin = world.session("plan", pid=1)
    assert (first.pid, twin.pid) == (1, 1)
    resumed = start(world, first.effort_id, driver="claude", native_id="n-1", pid=2)
    assert world.call("db.session.heartbeat", session_id=resumed.id).pid == 2
    assert start(world, first.effort_id, driver="claude", native_id="n-1").pid == 2


@pytest.mark.requirement("R231")
def test_a_heartbeat_counts_and_stamps(world: World) -> None:
    session = world.session()
    world.call("db.session.heartbeat", session_id=session.id)
    world.clock.advance(60)
    beaten = world.call("db.session.heartbeat", session_id=session.id)
    assert beaten.heartbeat_counter == 2
    assert (beaten.last_heartbeat - session.created_at).total_seconds() == 60


@pytest.mark.requirement("R232")
@pytest.mark.parametrize("usage", [0, 0.0, 0.123456789, 1, 1.0])
def test_context_usage_is_kept_between_0_and_1(world: World, usage: float) -> None:
    session = world.session()
    world.call("db.session.updateContextUsage", session_id=session.id, usage=usage)
    assert find(world, session.id).context_usage == usage


@pytest.mark.requirement("R232", "R253")
@pytest.mark.parametrize("usage", [-0.01, 1.01, 100, "0.5", True, None])
def test_context_usage_outside_0_and_1_is_refused(world: World, usage: Any) -> None:
    session = world.session()
    with pytest.raises(InvalidParams) as refusal:
        world.call("db.session.updateContextUsage", session_id=session.id, usage=usage)
    assert refusal.value.field == "usage"
    assert find(world, session.id).context_usage is None


@pytest.mark.requirement("R212", "R233")
def test_loaded_files_are_replaced_each_once_in_the_order_given(world: World) -> None:
    session = world.session()
    for files in (["/z"], ["/b.py", "/a.py", "/b.py", "/ü \U0001f680.md"]):
        world.call("db.session.updateLoadedFiles", session_id=session.id, files=files)
    assert find(world, session.id).loaded_files == ["/b.py", "/a.py", "/ü \U0001f680.md"]
    assert world.call("db.session.updateLoadedFiles", session_id=session.id, files=[]).loaded_files == []


@pytest.mark.requirement("R231", "R232", "R233", "R253")
@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("db.session.heartbeat", {}),
        ("db.session.updateContextUsage", {"usage": 0.5}),
        ("db.session.updateLoadedFiles", {"files": ["/a"]}),
        ("db.session.bindEffort", {"effort_id": 1}),
    ],
)
def test_a_session_that_has_ended_gives_no_sign_of_life(world: World, name: str, params: Any) -> None:
    session = world.session()
    world.call("db.session.finish", session_id=session.id)
    before = world.dump()
    with pytest.raises(SessionEnded) as refusal:
        world.call(name, session_id=session.id, **params)
    assert refusal.value.value == session.id
    assert world.dump() == before


@pytest.mark.requirement("R234")
def test_sessions_are_found_by_task_effort_agent_and_whether_they_are_open(world: World) -> None:
    first = world.session("plan", agent_id="ada")
    second = world.session("do")
    third = world.session("do", "/shop/tasks/till", agent_id="bob")
    world.call("db.session.finish", session_id=second.id)

    def found(**params: Any) -> list[int]:
        return [session.id for session in world.call("db.session.find", **params).items]

    assert found() == [third.id, second.id, first.id]
    assert found(task_id=TASK) == found(task_id=TASK + "/") == [second.id, first.id]
    assert found(effort_id=second.effort_id) == [second.id]
    assert found(agent_id="bob") == [third.id]
    assert (found(open=True), found(open=False)) == ([third.id, first.id], [second.id])
    assert found(task_id=TASK, agent_id="ada", open=True) == [first.id]
    assert found(agent_id="nobody") == found(task_id="/nowhere") == []


@pytest.mark.requirement("R193", "R236")
def test_every_operation_that_takes_a_session_takes_either_of_its_names(world: World) -> None:
    """C11: a native id may itself hold a colon."""
    session = world.session(driver="claude", native_id="a:b")
    effort = world.effort("do")
    name = "claude:a:b"
    assert world.call("db.session.get", session_id=name).id == session.id
    assert world.call("db.session.heartbeat", session_id=name).id == session.id
    assert world.call("db.session.updateContextUsage", session_id=name, usage=0.5).id == session.id
    assert world.call("db.session.updateLoadedFiles", session_id=name, files=["/a"]).id == session.id
    assert world.call("db.messages.append", session_id=name, role="user", content="x").session_id == session.id
    assert len(world.call("db.messages.list", session_id=name).items) == 1
    assert world.call("db.session.bindEffort", session_id=name, effort_id=effort.id).id == session.id
    assert start(world, effort.id, parent_session_id=name).parent_session_id == session.id
    assert start(world, effort.id, prev_session_id=name).prev_session_id == session.id
    assert world.call("db.session.finish", session_id=name).id == session.id


@pytest.mark.requirement("R253")
@pytest.mark.parametrize("ref", [99, "claude:none", "nonsense", ":"])
def test_a_session_that_is_not_there_is_named_in_the_refusal(world: World, ref: Any) -> None:
    world.session(driver="claude", native_id="n-1")
    for name, params in (
        ("db.session.get", {}),
        ("db.session.heartbeat", {}),
        ("db.session.finish", {}),
        ("db.messages.append", {"role": "user", "content": "x"}),
        ("db.messages.list", {}),
    ):
        with pytest.raises(SessionNotFound) as refusal:
            world.call(name, session_id=ref, **params)
        assert (refusal.value.field, refusal.value.value) == ("session_id", ref)


@pytest.mark.requirement("R213")
def test_what_a_session_hands_on_is_on_its_own_row(world: World) -> None:
    session = world.session()
    payload = {"text": "ü\u0000 \U0001f680", "deep": [[[{}]]], "n": 2**53, "f": 0.1}
    world.call("db.session.finish", session_id=session.id, dehydration_payload=payload)
    assert find(world, session.id).dehydration_payload == payload


@pytest.mark.requirement("R234")
def test_many_sessions_come_a_page_at_a_time(world: World) -> None:
    first = world.session("do")
    for _ in range(4):
        world.call("db.session.start", task_id=first.task_id, effort_id=first.effort_id)
    world.engine = Engine(Rules(limits=LimitSettings(page_max=2)), codec=Codec(), redactor=Redactor())
    newest = world.call("db.session.find", effort_id=first.effort_id)
    older = world.call("db.session.find", effort_id=first.effort_id, cursor=newest.next)
    oldest = world.call("db.session.find", effort_id=first.effort_id, cursor=older.next)
    found = [session.id for page in (newest, older, oldest) for session in page.items]
    assert (found, oldest.next) == ([5, 4, 3, 2, 1], None)
