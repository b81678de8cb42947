"""Spawning: what one spawn writes, and what refuses it, in which order."""

from typing import Any

import pytest
from tests.conformance import queue_worker
from tests.conformance.family import as_agent, begin, bound, effort, history, parent, run, session, spawn
from tests.world import World

from ramet.config.settings import WorkSettings
from ramet.errors import (
    Forbidden,
    InvalidParams,
    PathOutside,
    RametError,
    SessionEnded,
    SessionNotFound,
    SpawnDepthExceeded,
    SpawnError,
    SpawnLimitExceeded,
    SpawnTimeTooShort,
    UnknownSkill,
)
from ramet.model.spawn.child import refused
from ramet.store.database.connection import Connection


def test_a_spawn_answers_at_once_with_the_child_that_is_now_on_record(world: World) -> None:
    above = parent(world)
    child = spawn(world, above, "count the carts")
    assert (child.outcome, child.status, child.notes, child.code) == (None, "queued", "", None)
    born = session(world, child)
    assert (born.parent_session_id, born.root_session_id, born.spawn_depth) == (above.session.id, above.session.id, 1)
    assert (born.instance, born.ended_at, born.effort_id) == (None, None, child.effort_id)


@pytest.mark.requirement("R281")
def test_one_spawn_writes_pointer_session_effort_queue_row_and_first_turn(world: World) -> None:
    above = parent(world)
    child = spawn(world, above, "count the carts")
    queued = effort(world, child)
    assert (queued.task_id, queued.ordinal, queued.lifecycle) == (
        above.effort.task_id,
        above.effort.ordinal + 1,
        "queued",
    )
    assert (queued.prompt, queued.spawned_by, queued.awaited_by) == ("count the carts", above.session.id, None)
    pointers = "SELECT parent_session_id, child_session_id, purpose FROM spawn_pointers"
    assert world.sql(pointers) == [(above.session.id, child.child_session_id, "count the carts")]
    assert history(world, child) == [("instruction", "count the carts")]
    assert history(world, above)[-1][0] == "metadata"


@pytest.mark.requirement("R109", "R124", "R125")
def test_the_log_says_who_spawned_the_child_and_how_deep_it_is(world: World) -> None:
    above = parent(world)
    child = spawn(world, above)
    told = {event.kind: event for event in world.call("events.list", limit=1000).items}
    for kind in ("session.spawned", "session.started"):
        assert told[kind].session_id == child.child_session_id
        assert told[kind].data == {"parent_session_id": above.session.id, "spawn_depth": 1}
    roots = [each for each in world.call("events.list", limit=1000, kind="session.started").items if each.data is None]
    assert [each.session_id for each in roots] == [above.session.id]


class Failing(Connection):
    """A connection that fails at one of its statements."""

    def __init__(self, inner: Connection, at: int) -> None:
        self.inner, self.left = inner, at

    def _count(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise ConnectionError("the process dies here")

    def all(self, query: Any, **params: Any) -> Any:
        self._count()
        return self.inner.all(query, **params)

    def one(self, query: Any, **params: Any) -> Any:
        self._count()
        return self.inner.one(query, **params)

    def columns(self, query: Any) -> Any:
        return self.inner.columns(query)

    def begin(self, *, locks_rows: bool = False) -> None:
        self.inner.begin(locks_rows=locks_rows)

    def begin_reading(self) -> None:
        self.inner.begin_reading()

    def commit(self) -> None:
        self.inner.commit()

    def rollback(self) -> None:
        self.inner.rollback()

    def close(self) -> None:
        self.inner.close()


@pytest.mark.requirement("R122", "R281")
def test_a_spawn_that_fails_at_any_of_its_statements_leaves_nothing(world: World) -> None:
    above, before, db = parent(world), world.dump(), world.db
    for at in range(1, 200):
        world.db = Failing(db, at)
        try:
            spawn(world, above, inherit="head_snapshot", limits={"tokens": 100})
        except ConnectionError:
            world.db = db
            assert world.dump() == before, f"at statement {at}"
        else:
            break
    world.db = db
    assert at > 15
    assert world.sql("SELECT count(*) FROM sessions WHERE spawn_depth = 1") == [(1,)]


@pytest.mark.requirement("R112", "R123")
def test_each_child_is_one_deeper_than_its_parent(world: World) -> None:
    above, depths = parent(world), []
    for _ in range(3):
        above = spawn(world, above)
        depths.append(session(world, above).spawn_depth)
    assert depths == [1, 2, 3]


@pytest.mark.requirement("R111", "R112", "R119", "R129")
def test_a_session_at_depth_three_is_refused_before_anything_else_and_nothing_is_created(world: World) -> None:
    deepest = spawn(world, spawn(world, spawn(world, parent(world))))
    before = world.dump()
    everything_wrong = {"goal": " ", "workflowId": "no such skill", "workspacePath": "/elsewhere"}
    with pytest.raises(SpawnDepthExceeded, match=r"^Max spawn depth exceeded") as refusal:
        spawn(world, deepest, **everything_wrong)
    assert world.dump() == before
    result = refused(refusal.value)
    assert (result.child_session_id, result.outcome, result.code) == (None, "error", "spawn_depth")
    assert result.notes.startswith("Max spawn depth exceeded")


@pytest.mark.requirement("R129", "R286")
def test_the_configuration_says_how_deep(world: World) -> None:
    bound(world, depth=1)
    child = spawn(world, parent(world))
    with pytest.raises(SpawnDepthExceeded):
        spawn(world, child)


@pytest.mark.requirement("R113", "R126", "R128")
def test_a_forged_depth_or_parent_in_the_context_changes_nothing(world: World) -> None:
    above = spawn(world, spawn(world, parent(world)))
    forged = {"spawnDepth": 0, "spawn_depth": 0, "parentSessionId": 1, "limits": {"tokens": 10**9}}
    child = spawn(world, above, context=forged)
    born = session(world, child)
    assert (born.spawn_depth, born.parent_session_id) == (3, above.child_session_id)
    assert effort(world, child).metadata["spawn"]["context"] == forged
    with pytest.raises(SpawnDepthExceeded):
        spawn(world, child, context=forged)
    with pytest.raises(InvalidParams):
        spawn(world, above, spawn_depth=0)


@pytest.mark.requirement("R112", "R113")
def test_continuing_a_session_keeps_its_place_in_the_tree(world: World) -> None:
    child = spawn(world, spawn(world, parent(world)))
    first = begin(world, child)
    queue_worker.complete(world, first, "error", failure="transient")
    world.clock.advance(3600)
    second = begin(world, child, instance="keeper99")
    assert second.session.id != first.session.id
    for name in ("parent_session_id", "root_session_id", "spawn_depth"):
        assert getattr(second.session, name) == getattr(first.session, name)
    assert second.session.prev_session_id == first.session.id


@pytest.mark.requirement("R291")
def test_all_attempts_at_a_root_effort_are_one_tree(world: World) -> None:
    first = parent(world)
    queue_worker.complete(world, first, "error", failure="transient")
    world.clock.advance(3600)
    second = queue_worker.begin(world, queue_worker.claim(world, effort_id=first.effort.id), instance="keeper99")
    by_hand = world.call(
        "db.session.start", task_id=first.effort.task_id, effort_id=first.effort.id, prev_session_id=second.session.id
    )
    assert {second.session.root_session_id, by_hand.root_session_id} == {first.session.id}
    assert (second.session.spawn_depth, by_hand.spawn_depth) == (0, 0)


@pytest.mark.requirement("R122")
def test_the_first_attempt_takes_the_session_that_the_spawn_left(world: World) -> None:
    above = parent(world)
    child = spawn(world, above)
    attempt = begin(world, child, native_id="n-1")
    assert attempt.session.id == child.child_session_id
    assert (attempt.session.driver, attempt.session.native_id) == ("command", "n-1")
    assert world.sql("SELECT count(*) FROM sessions WHERE effort_id = :id", id=child.effort_id) == [(1,)]
    assert history(world, child)[0] == ("instruction", "look into it")


@pytest.mark.requirement("R122")
def test_a_claim_that_came_to_nothing_leaves_the_session_for_the_next(world: World) -> None:
    child = spawn(world, parent(world))
    claimed = queue_worker.claim(world, "host/2", effort_id=child.effort_id)
    queue_worker.complete(world, claimed, "error", failure="infrastructure")
    world.clock.advance(3600)
    assert begin(world, child).session.id == child.child_session_id


@pytest.mark.requirement("R143")
def test_a_goal_stands_alone_or_has_a_skill(world: World) -> None:
    above = parent(world)
    assert effort(world, spawn(world, above)).skill == "do"
    assert effort(world, spawn(world, above, workflowId="review")).skill == "review"


BAD: list[tuple[dict[str, Any], type[RametError]]] = [
    ({"goal": " \n"}, InvalidParams),
    ({"goal": ""}, InvalidParams),
    ({"workflowId": "no such skill"}, UnknownSkill),
    ({"workspacePath": "/elsewhere"}, PathOutside),
    ({"workspacePath": "/shop/../elsewhere"}, PathOutside),
    ({"workspacePath": "../../elsewhere"}, PathOutside),
    ({"workspacePath": "/shopping"}, PathOutside),
    ({"inherit": "selective"}, SpawnError),
    ({"limits": {"tokens": 0}}, InvalidParams),
    ({"allowedTools": ["Bash(rm *)"]}, InvalidParams),
]


@pytest.mark.requirement("R120", "R286")
@pytest.mark.parametrize(("params", "error"), BAD)
def test_bad_input_is_a_typed_error_and_creates_nothing(
    world: World, params: dict[str, Any], error: type[RametError]
) -> None:
    above = parent(world)
    before = world.dump()
    with pytest.raises(error):
        spawn(world, above, **params)
    assert world.dump() == before


def test_refusals_come_in_one_order(world: World) -> None:
    bound(world, children=0)
    above = parent(world, timeout_seconds=10)
    wrong: dict[str, Any] = {"goal": " ", "workflowId": "no such skill", "workspacePath": "/elsewhere"}
    wrong["limits"] = {"seconds": 60}
    right = {"goal": "look", "workflowId": "do", "workspacePath": "/shop"}
    met = []
    for name in ("goal", "workflowId", "workspacePath"):
        with pytest.raises(RametError) as refusal:
            spawn(world, above, wait=True, **wrong)
        met.append(refusal.value.code)
        wrong[name] = right[name]
    with pytest.raises(SpawnLimitExceeded):
        spawn(world, above, wait=True, **wrong)
    bound(world)
    with pytest.raises(SpawnTimeTooShort):
        spawn(world, above, wait=True, **wrong)
    assert met == ["invalid_params", "unknown_skill", "path_outside"]


@pytest.mark.requirement("R131")
def test_a_parent_that_is_gone_or_not_named_gets_no_child(world: World) -> None:
    above = parent(world)
    queue_worker.complete(world, above)
    before = world.dump()
    with pytest.raises(SessionEnded):
        spawn(world, above)
    with pytest.raises(SessionNotFound):
        spawn(world, 999)
    with pytest.raises(InvalidParams):
        world.call("spawn.agent", goal="look")
    assert world.dump() == before


def test_a_child_that_has_not_begun_may_spawn(world: World) -> None:
    child = spawn(world, parent(world))
    assert session(world, spawn(world, child)).parent_session_id == child.child_session_id


@pytest.mark.requirement("R107")
def test_an_agent_spawns_for_its_own_session_without_naming_it(world: World) -> None:
    above = parent(world)
    child = as_agent(world, above, "spawn.agent", goal="look", workflowId="explore", workspacePath="/shop")
    assert session(world, child).parent_session_id == above.session.id


@pytest.mark.requirement("R126")
def test_an_agent_may_ask_for_its_own_session_and_those_below_it_alone(world: World) -> None:
    above, stranger = parent(world), parent(world, "host/8")
    mine, theirs = spawn(world, above), spawn(world, stranger)
    grandchild = spawn(world, mine)
    before = world.dump()
    for asker, other in ((above, stranger), (above, theirs), (mine, above), (mine, theirs)):
        sid = session(world, other).id
        for name, params in (
            ("spawn.agent", {"parent_session_id": sid, "goal": "look"}),
            ("spawn.agents", {"parent_session_id": sid, "agents": [{"goal": "look"}]}),
            ("spawn.results", {"session_ids": [sid]}),
            ("spawn.expect", {"session_ids": [sid]}),
            ("spawn.cancel", {"session_id": sid}),
            ("spawn.report", {"session_id": sid, "report": {"summary": "mine"}}),
        ):
            with pytest.raises(Forbidden):
                as_agent(world, asker, name, **params)
    assert world.dump() == before
    seen = as_agent(world, above, "spawn.results", session_ids=[grandchild.child_session_id, mine.child_session_id])
    assert [each.child_session_id for each in seen.results] == [grandchild.child_session_id, mine.child_session_id]


def test_another_attempt_at_the_same_effort_has_the_children_of_the_one_before(world: World) -> None:
    first = parent(world)
    child = spawn(world, first)
    queue_worker.complete(world, first, "error", failure="transient")
    world.clock.advance(3600)
    second = queue_worker.begin(world, queue_worker.claim(world, effort_id=first.effort.id), instance="keeper99")
    seen = as_agent(world, second, "spawn.results", session_ids=[child.child_session_id])
    assert seen.results[0].child_session_id == child.child_session_id


@pytest.mark.requirement("R134", "R143", "R286")
def test_children_total_and_unfinished_are_bounded(world: World) -> None:
    bound(world, children=2, total=3, concurrent=0)
    above = parent(world)
    first, second = spawn(world, above), spawn(world, above)
    with pytest.raises(SpawnLimitExceeded, match=r"spawn\.children is 2"):
        spawn(world, above)
    spawn(world, first)
    with pytest.raises(SpawnLimitExceeded, match=r"spawn\.total is 3"):
        spawn(world, second)
    bound(world, concurrent=3)
    with pytest.raises(SpawnLimitExceeded, match=r"spawn\.concurrent is 3"):
        spawn(world, second)
    run(world, first)
    assert spawn(world, second).status == "queued"


@pytest.mark.requirement("R134", "R143")
def test_more_than_ten_at_once_are_refused_as_a_whole(world: World) -> None:
    bound(world, children=100)
    above = parent(world)
    before = world.dump()
    agents = [{"goal": f"look at {number}"} for number in range(11)]
    with pytest.raises(SpawnLimitExceeded):
        world.call("spawn.agents", parent_session_id=above.session.id, agents=agents)
    assert world.dump() == before
    ten = world.call("spawn.agents", parent_session_id=above.session.id, agents=agents[:10])
    assert len({each.child_session_id for each in ten.results}) == 10


@pytest.mark.requirement("R118", "R120", "R137")
def test_of_several_children_a_refused_one_is_data_and_the_others_are_spawned_in_their_order(world: World) -> None:
    above = parent(world)
    agents = [{"goal": "one"}, {"goal": "two", "workflowId": "no such skill"}, {"goal": " "}, {"goal": "four"}]
    found = world.call("spawn.agents", parent_session_id=above.session.id, agents=agents).results
    assert [each.child_session_id is None for each in found] == [False, True, True, False]
    assert [each.code for each in found] == [None, "unknown_skill", "invalid_params", None]
    assert [(each.outcome, bool(each.notes)) for each in found[1:3]] == [("error", True), ("error", True)]
    prompts = "SELECT prompt FROM efforts WHERE spawned_by = :id ORDER BY id"
    assert world.sql(prompts, id=above.session.id) == [("one",), ("four",)]


@pytest.mark.requirement("R119", "R137")
def test_of_several_children_of_a_parent_too_deep_each_is_refused_as_data(world: World) -> None:
    deepest = spawn(world, spawn(world, spawn(world, parent(world))))
    before = world.dump()
    asked = {"parent_session_id": deepest.child_session_id, "agents": [{"goal": "one"}, {"goal": "two"}]}
    found = world.call("spawn.agents", **asked).results
    assert [each.notes.startswith("Max spawn depth exceeded") for each in found] == [True, True]
    assert world.dump() == before


@pytest.mark.requirement("R141", "R286")
def test_a_parent_is_refused_a_child_that_it_cannot_outlive_unless_it_is_detached(world: World) -> None:
    above = parent(world, timeout_seconds=100)
    world.clock.advance(40)
    with pytest.raises(SpawnTimeTooShort):
        spawn(world, above, wait=True, limits={"seconds": 61})
    assert effort(world, spawn(world, above, wait=True, limits={"seconds": 60})).timeout_seconds == 60
    assert effort(world, spawn(world, above, limits={"seconds": 3600})).timeout_seconds == 3600
    assert effort(world, spawn(world, above, wait=True)).timeout_seconds == 60, "what its parent has left"
    world.clock.advance(60)
    with pytest.raises(SpawnTimeTooShort):
        spawn(world, above, wait=True)


@pytest.mark.requirement("R141")
def test_an_awaited_child_takes_no_longer_than_any_attempt_may(world: World) -> None:
    bound(world, work=WorkSettings(timeout_seconds=30))
    above = parent(world, timeout_seconds=100)
    assert effort(world, spawn(world, above, wait=True)).timeout_seconds == 30
    endless = parent(world, "host/8")
    assert effort(world, spawn(world, endless, wait=True)).timeout_seconds is None


def test_a_child_works_where_its_parent_does_or_inside(world: World) -> None:
    above = parent(world, worktree="/trees/e1")
    assert effort(world, spawn(world, above)).workspace == "/trees/e1"
    assert effort(world, spawn(world, above, workspacePath="lib/../src")).workspace == "/trees/e1/src"
    inside = spawn(world, above, workspacePath="/shop/web/")
    assert effort(world, inside).workspace == "/shop/web"
    assert effort(world, spawn(world, inside)).workspace == "/shop/web"


def test_what_a_child_is_told_carries_no_secret(world: World) -> None:
    secret = "ghp_" + "a1B2" * 9
    above = parent(world)
    child = spawn(world, above, f"use {secret}", context={"key": secret})
    world.call("spawn.report", session_id=child.child_session_id, report={"summary": "s", "decisions": [secret]})
    assert secret not in repr(world.dump())
    assert secret not in repr(history(world, child))


@pytest.mark.requirement("R288")
@pytest.mark.parametrize(
    "inherit",
    [
        {"inherit": "full_clone"},
        {"inherit": "head_snapshot"},
        {"inherit": "selective", "filter": {"types": ["artifact"]}},
    ],
)
def test_a_plan_in_the_parents_history_reaches_the_child_through_compile(world: World, inherit: dict[str, Any]) -> None:
    above = parent(world)
    branch = session(world, above).branch
    world.call("history.commit", branch=branch, text="THE PLAN: count twice", content_type="artifact")
    heir, stranger = spawn(world, above, "build it", **inherit), spawn(world, above, "build it")
    texts = [
        str(world.call("history.compile", branch=session(world, each).branch, format="text").messages)
        for each in (heir, stranger)
    ]
    assert ["THE PLAN: count twice" in text for text in texts] == [True, False]
    assert all("build it" in text for text in texts)


@pytest.mark.requirement("R354")
def test_a_child_that_inherits_no_history_is_recorded_as_such(world: World) -> None:
    above = parent(world)
    branch = session(world, above).branch
    children = [spawn(world, above, "build it"), spawn(world, above, "build it", inherit="none")]
    modes = {row.child: row.inheritance_mode for row in world.call("history.spawns", branch=branch).children}
    assert [modes[session(world, child).branch] for child in children] == ["none", "none"]
    for child in children:
        log = world.call("history.log", branch=session(world, child).branch).items
        assert [row.preview for row in log] == ["build it"], "its goal and nothing else"


@pytest.mark.requirement("R354")
@pytest.mark.parametrize(
    ("chosen", "known"),
    [
        ({"types": ["artifact"]}, ["the plan"]),
        ({"tags": ["decision"]}, ["round each line"]),
        ({"last_turns": 1}, ["and the tax?"]),
        ({"tags": ["decision"], "last_turns": 1}, ["round each line", "and the tax?"]),
    ],
)
def test_a_spawned_agent_starts_with_what_its_parent_selects(world: World, chosen: Any, known: list[str]) -> None:
    above = parent(world)
    branch = session(world, above).branch
    world.call("history.commit", branch=branch, text="the plan", content_type="artifact")
    world.call("history.commit", branch=branch, text="round each line", tags=["decision"])
    world.call("history.commit", branch=branch, text="and the tax?")
    child = spawn(world, above, "build it", inherit="selective", filter=chosen)
    said = [row.preview for row in world.call("history.log", branch=session(world, child).branch).items]
    assert said[::-1][-len(known) - 1 :] == [*known, "build it"]
    assert not {"the plan", "round each line", "and the tax?"} - set(known) & set(said)
    (row,) = world.call("history.spawns", branch=branch).children
    assert row.inheritance_mode == "selective"
