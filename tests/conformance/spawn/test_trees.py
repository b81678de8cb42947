"""Trees: who spawned whom, what each is doing and what it cost, from any of its names."""

from typing import Any

import pytest
from tests.conformance import family, queue_worker, run_steps
from tests.conformance.family import begin, parent, run, spawn
from tests.conformance.spending import use
from tests.world import Counting, World

from ramet.errors import (
    BranchNotFound,
    EffortNotFound,
    Forbidden,
    InvalidParams,
    RunNotFound,
    SessionNotFound,
    TaskNotFound,
)


def ids(trees: Any) -> list[int]:
    return [row.id for row in trees.items]


def tree(world: World, of: Any, **params: Any) -> Any:
    return world.call("spawn.tree", session_id=family.session_of(of), **params)


def row(world: World, of: Any) -> Any:
    session_id = family.session_of(of)
    return next(each for each in tree(world, of).items if each.id == session_id)


@pytest.fixture
def kin(world: World) -> dict[str, Any]:
    """A root with two children, of which the first has a child that ran; and a stranger."""
    root = parent(world)
    stranger = parent(world, "host/9", instance=queue_worker.OTHER_KEEPER)
    first = spawn(world, root, "the first")
    second = spawn(world, root, "the second")
    grandchild = spawn(world, first, "below the first")
    return {"root": root, "first": first, "second": second, "grandchild": grandchild, "stranger": stranger}


@pytest.mark.requirement("R140")
def test_the_whole_tree_is_seen_from_anywhere_in_it_parents_before_their_children(
    world: World, kin: dict[str, Any]
) -> None:
    family_ids = [family.session_of(kin[name]) for name in ("root", "first", "second", "grandchild")]
    for name in ("root", "first", "second", "grandchild"):
        assert ids(tree(world, kin[name])) == family_ids
    assert ids(tree(world, kin["stranger"])) == [kin["stranger"].session.id]
    rows = {each.goal: each for each in tree(world, kin["root"]).items}
    below = rows["below the first"]
    assert (below.parent_session_id, below.spawn_depth) == (family.session_of(kin["first"]), 2)
    assert below.root_session_id == kin["root"].session.id


@pytest.mark.requirement("R140")
def test_children_ancestors_and_what_is_below(world: World, kin: dict[str, Any]) -> None:
    root, first, second, grandchild = (
        family.session_of(kin[each]) for each in ("root", "first", "second", "grandchild")
    )
    assert ids(world.call("spawn.children", session_id=root)) == [first, second]
    assert ids(world.call("spawn.children", session_id=grandchild)) == []
    assert ids(world.call("spawn.ancestors", session_id=grandchild)) == [first, root]
    assert ids(world.call("spawn.ancestors", session_id=root)) == []
    assert ids(tree(world, first, below=True)) == [first, grandchild]
    assert ids(tree(world, root, below=True)) == [root, first, second, grandchild]


@pytest.mark.requirement("R282")
def test_a_child_is_found_by_each_of_its_names(world: World) -> None:
    recorded = run_steps.start(world, "1")
    top = queue_worker.begin(world, run_steps.claim(world, recorded))
    child = spawn(world, top, "look into it")
    attempt = begin(world, child)
    queue_worker.report(world, attempt, {"kind": "native_id", "native_id": "n1"}, instance=attempt.session.instance)
    whole = [top.session.id, child.child_session_id]
    names = {
        "session_id": child.child_session_id,
        "effort_id": child.effort_id,
        "branch": attempt.session.branch,
        "task_id": attempt.session.task_id,
        "run_id": recorded.id,
    }
    for name, value in (*names.items(), ("session_id", "command:n1")):
        assert ids(world.call("spawn.tree", **{name: value})) == whole, name
    for name in ("session_id", "effort_id", "branch"):
        assert ids(world.call("spawn.ancestors", **{name: names[name]})) == whole[:1]
    found = row(world, child)
    assert (found.effort_id, found.branch, found.native_id) == (child.effort_id, names["branch"], "n1")


@pytest.mark.requirement("R282")
@pytest.mark.parametrize(
    ("names", "error"),
    [
        ({}, InvalidParams),
        ({"session_id": 1, "effort_id": 1}, InvalidParams),
        ({"session_id": 99}, SessionNotFound),
        ({"session_id": "claude:nobody"}, SessionNotFound),
        ({"effort_id": 99}, EffortNotFound),
        ({"branch": "session/99"}, BranchNotFound),
        ({"branch": "main"}, SessionNotFound),
        ({"task_id": "/nowhere"}, TaskNotFound),
        ({"run_id": 99}, RunNotFound),
    ],
)
def test_a_name_that_names_nobody_is_refused(world: World, names: dict[str, Any], error: type[Exception]) -> None:
    parent(world)
    world.call("history.commit", branch="main", text="hello")
    with pytest.raises(error):
        world.call("spawn.tree", **names)


@pytest.mark.requirement("R140", "R286")
def test_each_call_counts_once_for_a_session_and_for_all_above_it(world: World) -> None:
    top = parent(world)
    child, other = begin(world, spawn(world, top)), begin(world, spawn(world, top), "host/3")
    grandchild = begin(world, spawn(world, child), "host/4")
    use(world, top, 1, cost_usd=0.5)
    use(world, child, 10)
    use(world, grandchild, 100, cost_usd=0.25)
    use(world, grandchild, 200, cost_usd=0.5)
    totals = {
        each.id: (each.tokens, each.total_tokens, each.cost_usd, each.total_cost_usd) for each in tree(world, top).items
    }
    assert totals == {
        top.session.id: (1, 211, 0.5, 1.0),
        child.session.id: (10, 210, None, 0.5),
        other.session.id: (0, 0, None, None),
        grandchild.session.id: (200, 200, 0.5, 0.5),
    }


@pytest.mark.requirement("R140")
def test_another_attempt_stands_beside_the_first_and_counts_for_it(world: World) -> None:
    top = parent(world)
    child = spawn(world, top)
    first = begin(world, child)
    use(world, first, 10)
    below_first = spawn(world, first)
    queue_worker.complete(world, first, "error", failure="transient")
    world.clock.advance(600)
    second = begin(world, child, instance=queue_worker.OTHER_KEEPER)
    use(world, second, 20)
    rows = {each.id: each for each in tree(world, top).items}
    assert rows[second.session.id].parent_session_id == top.session.id
    assert rows[second.session.id].prev_session_id == first.session.id
    assert [rows[each.session.id].total_tokens for each in (top, first, second)] == [30, 30, 20]
    assert ids(world.call("spawn.children", effort_id=child.effort_id)) == [below_first.child_session_id]
    assert ids(tree(world, second, below=True)) == [second.session.id]


@pytest.mark.requirement("R140", "R289", "R291")
def test_a_status_follows_from_what_is_stored_and_is_the_fleets_word(world: World) -> None:
    top = parent(world)
    child = spawn(world, top, wait=True)
    assert (row(world, top).status, row(world, child).status) == ("waiting_child", "starting")
    attempt = begin(world, child)
    queue_worker.report(world, attempt, queue_worker.text("hello"), instance=attempt.session.instance)
    assert row(world, child).status == "running"
    for seconds in (0, 200, 2000):
        world.clock.advance(seconds)
        words = {member.session_id: member.status for member in world.call("fleet.status").items}
        assert {each.id: each.status for each in tree(world, top).items} == words
    queue_worker.complete(world, attempt, "stuck", reason="in circles")
    done = row(world, child)
    assert (done.status, done.outcome, done.notes) == ("ended", "stuck", "in circles")
    assert row(world, top).status != "waiting_child"


@pytest.mark.requirement("R140")
def test_a_long_goal_is_shown_by_its_beginning(world: World) -> None:
    child = spawn(world, parent(world), "x" * 5000)
    assert row(world, child).goal == "x" * 200


@pytest.mark.requirement("R140")
def test_an_agent_sees_its_own_tree_from_itself_down(world: World, kin: dict[str, Any]) -> None:
    first, grandchild = family.session_of(kin["first"]), family.session_of(kin["grandchild"])
    assert ids(family.as_agent(world, first, "spawn.tree", session_id=grandchild)) == [first, grandchild]
    assert ids(family.as_agent(world, first, "spawn.children", session_id=first)) == [grandchild]
    assert ids(family.as_agent(world, first, "spawn.ancestors", session_id=first)) == []
    assert ids(family.as_agent(world, first, "spawn.ancestors", session_id=grandchild)) == [first]
    for name in ("spawn.tree", "spawn.children", "spawn.ancestors"):
        for stranger in ("root", "second", "stranger"):
            with pytest.raises(Forbidden):
                family.as_agent(world, first, name, session_id=family.session_of(kin[stranger]))


@pytest.mark.requirement("R140")
def test_a_tree_is_one_query_however_large_it_is(world: World) -> None:
    family.bound(world, children=1000, total=1000)
    top = parent(world)
    counts = []
    for _ in range(2):
        counting = Counting(world.db)
        world.db = counting
        tree(world, top)
        world.db = counting.inner
        counts.append(len(counting.names))
        for _ in range(30):
            spawn(world, top)
    assert counts[0] == counts[1]
    assert len(tree(world, top).items) == 61


@pytest.mark.requirement("R134")
def test_a_tree_has_as_many_as_it_may_and_refuses_the_next_by_name(world: World) -> None:
    family.bound(world, children=3, total=4)
    top = parent(world)
    children = [spawn(world, top) for _ in range(3)]
    run(world, children[0])
    orders = [{"goal": "look"}]
    by_width = world.call("spawn.agents", parent_session_id=top.session.id, agents=orders).results
    spawn(world, children[1])
    by_total = world.call("spawn.agents", parent_session_id=children[2].child_session_id, agents=orders).results
    assert [result.code for result in (*by_width, *by_total)] == ["spawn_limit"] * 2
    assert len(tree(world, top).items) == 5
