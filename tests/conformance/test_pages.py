"""Pages of lists: together they are the whole list, whatever their size and whatever changes between two of them."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from tests.conformance import family, run_steps
from tests.world import World

from ramet.config.settings import LimitSettings
from ramet.engine import Engine
from ramet.engine.transaction import Rules
from ramet.errors import CommitNotFound, InvalidParams
from ramet.model.redaction import Redactor
from ramet.protocol.pages import follow, paged, whole
from ramet.protocol.wire.frames import decode_params, find_operation
from ramet.store.database.blobs import Codec

NUMBER = 5
"""More than two pages of two items."""


def pages(world: World, name: str, **params: Any) -> Iterator[list[Any]]:
    """The lists of the pages, one after the other."""
    operation = find_operation(name)
    request = decode_params(operation, msgspec.json.encode(params))
    for page in follow(lambda each: world.perform("user", operation, each), request):
        yield getattr(page, paged(operation).items[0])


def projects(world: World) -> dict[str, Any]:
    for each in range(NUMBER):
        world.call("db.project.upsert", path=f"/shop{each}")
    return {}


def tasks(world: World) -> dict[str, Any]:
    for each in range(NUMBER):
        world.task(f"/shop/tasks/{each}")
        world.clock.advance(each % 2)  # two of them were made at the same time
    return {}


def efforts(world: World) -> dict[str, Any]:
    for _ in range(NUMBER):
        world.effort()
    return {"task_id": "/shop/tasks/cart"}


def sessions(world: World) -> dict[str, Any]:
    for _ in range(NUMBER):
        world.session()
    return {}


def agents(world: World) -> dict[str, Any]:
    for each in "gamma", "alpha", "Beta", "é", "omega":
        world.call("db.agents.register", id=each)
    return {}


def skills(world: World) -> dict[str, Any]:
    for task in "/shop/tasks/a", "/till/tasks/b":
        for name in "pack", "ship", "pay":
            world.skill(name, ["1: Begin"], task)
    return {"query": "begin"}


def skills_of_project(world: World) -> dict[str, Any]:
    return {"project_id": world.skill("pack", ["1: Begin"])}


def branches(world: World) -> dict[str, Any]:
    for name in "main", "side", "a/b", "a-b", "Z":
        world.call("history.branch", name=name)
    return {}


def commits(world: World) -> dict[str, Any]:
    for each in range(NUMBER):
        world.call("history.commit", branch="main", text=f"turn {each}")
    return {"branch": "main"}


def moves(world: World) -> dict[str, Any]:
    commits(world)
    for _ in range(NUMBER):
        world.call("history.reset", branch="main", to=world.call("history.log", branch="main").items[0].hash)
    return {"branch": "main"}


def replaced(world: World) -> dict[str, Any]:
    commits(world)
    *_, first = last, *_ = [row.hash for row in world.call("history.log", branch="main").items]
    done = world.call("history.compress", branch="main", **{"from": first}, to=last, text="in short")
    return {"hash": done.hash}


def collapsed(world: World) -> dict[str, Any]:
    commits(world)
    world.call("history.spawn", parent="main", child="kid", purpose="look", inherit="full_clone")
    world.call("history.commit", branch="kid", text="found it")
    return {"hash": world.call("history.collapse", child="kid", text="it was the till").parent_commit_hash}


def spawned(world: World) -> dict[str, Any]:
    commits(world)
    for each in range(NUMBER):
        world.call("history.spawn", parent="main", child=f"kid{each}", purpose="look")
        world.clock.advance(-each % 2)  # two of them were spawned at the same time
    return {"branch": "main"}


def turns(world: World) -> dict[str, Any]:
    run = run_steps.start(world, "1")
    for each in range(NUMBER):
        world.call("run.turn", run_id=run.id, role="user", content=f"turn {each}")
    return {"run_id": run.id}


def lines(world: World) -> dict[str, Any]:
    return {"run_id": run_steps.start(world, *map(str, range(1, NUMBER + 1))).id}


def messages(world: World) -> dict[str, Any]:
    session = world.session()
    for each in range(NUMBER):
        world.call("db.messages.append", session_id=session.id, role="user", content=f"message {each}")
    return {"session_id": session.id}


def efforts_of_queue(world: World) -> dict[str, Any]:
    for each in range(NUMBER):
        world.call("work.add", prompt=f"mend {each}", task=world.task())
    return {}


def runs(world: World) -> dict[str, Any]:
    for _ in range(NUMBER):
        run_steps.record(world, "1")
    return {}


def notices(world: World) -> dict[str, Any]:
    for each in range(NUMBER):
        world.sql(
            "INSERT INTO notices (kind, text, created_at, dedupe_key)"
            f" VALUES ('gave_up', 'it failed', '2026-01-05T08:00:00.000Z', 'k{each}')"
            " RETURNING id"
        )
    return {}


def compactions(world: World) -> dict[str, Any]:
    session = world.session()
    for each in range(NUMBER):
        world.call("db.messages.append", session_id=session.id, role="user", content=f"message {each}")
        head = world.call("history.log", branch=session.branch).items[0].hash
        world.call("history.tag", hash=head, tags=[f"pre-compact/{each + 1}"])
    return {"session_id": session.id}


def tree(world: World) -> dict[str, Any]:
    root = family.parent(world)
    first = family.spawn(world, root)
    for above in root, first, root, first:
        family.spawn(world, above)
    return {"session_id": root.session.id}


def children(world: World) -> dict[str, Any]:
    root = family.parent(world)
    for _ in range(NUMBER):
        family.spawn(world, root)
    return {"session_id": root.session.id}


def ancestors(world: World) -> dict[str, Any]:
    family.bound(world, depth=NUMBER + 1)
    above: Any = family.parent(world)
    for _ in range(NUMBER):
        above = family.spawn(world, above)
    return {"session_id": family.session_of(above)}


LISTS: dict[str, Callable[[World], dict[str, Any]]] = {
    "db.agents.list": agents,
    "db.effort.list": efforts,
    "db.messages.list": messages,
    "db.project.list": projects,
    "db.session.compactions": compactions,
    "db.session.find": sessions,
    "db.skills.find": skills,
    "db.skills.list": skills_of_project,
    "db.task.find": tasks,
    "db.task.list": tasks,
    "events.list": projects,
    "fleet.notices": notices,
    "history.branches": branches,
    "history.expand": replaced,
    "history.log": commits,
    "history.moves": moves,
    "history.spawns": spawned,
    "run.get": lines,
    "run.list": runs,
    "run.turns": turns,
    "spawn.ancestors": ancestors,
    "spawn.children": children,
    "spawn.tree": tree,
    "work.list": efforts_of_queue,
}


@pytest.mark.requirement("R343")
@pytest.mark.parametrize("name", LISTS)
def test_the_pages_of_a_list_are_the_list(world: World, name: str) -> None:
    params = LISTS[name](world)
    operation = find_operation(name)
    everything = world.call(name, **params)
    expected = getattr(everything, paged(operation).items[0])
    assert len(expected) >= NUMBER
    for limit in 1, 2, len(expected), len(expected) + 1:
        found = list(pages(world, name, limit=limit, **params))
        assert [len(page) for page in found[:-1]] == [limit] * (len(found) - 1)
        assert [item for page in found for item in page] == expected
        assert found[-1]
    request = decode_params(operation, msgspec.json.encode({**params, "limit": 2}))
    joined = whole(lambda each: world.perform("user", operation, each), request)
    # A part of a transcript says how many messages come before it.
    assert joined == everything or name == "db.messages.list"


@pytest.mark.requirement("R343")
def test_what_a_collapse_replaced_comes_in_pages_too(world: World) -> None:
    params = collapsed(world)
    expected = world.call("history.expand", **params).commits
    found = list(pages(world, "history.expand", limit=2, **params))
    assert [len(page) for page in found] == [2, 2, 2]
    assert [row for page in found for row in page] == expected


def before(
    world: World, name: str, params: dict[str, Any], change: Callable[[int], Any]
) -> tuple[list[Any], list[Any]]:
    """What was in a list at first, and what its pages show while it changes between any two of them."""
    first = getattr(world.call(name, **params), paged(find_operation(name)).items[0])
    shown = []
    for number, page in enumerate(pages(world, name, limit=1, **params)):
        shown += page
        change(number)
        assert number < 50  # the list grows, and the pages come to its end all the same
    return first, shown


@pytest.mark.requirement("R343")
def test_sessions_that_are_spawned_between_pages_move_nothing(world: World) -> None:
    params = tree(world)
    other = family.parent(world, "host/9", instance="keeper09")

    def change(number: int) -> None:
        if number < 3:
            family.spawn(world, params["session_id"])
            family.spawn(world, other)

    first, shown = before(world, "spawn.tree", params, change)
    shown_ids = [row.id for row in shown]
    assert shown_ids[: len(first)] == [row.id for row in first]
    assert len(set(shown_ids)) == len(shown_ids) == len(first) + 3


@pytest.mark.requirement("R343")
def test_commits_that_are_added_between_pages_move_nothing(world: World) -> None:
    params = commits(world)
    first, shown = before(
        world, "history.log", params, lambda number: world.call("history.commit", branch="main", text=f"new {number}")
    )
    assert shown == first


@pytest.mark.requirement("R343")
def test_branches_that_come_and_go_between_pages_move_no_others(world: World) -> None:
    params = branches(world)

    def change(number: int) -> None:
        world.call("history.branch", name=f"0{number}")
        if number == 0:
            world.call("history.delete", branch="main")

    first, shown = before(world, "history.branches", params, change)
    names = [row.name for row in shown]
    assert sorted(names) == sorted({row.name for row in first} - {"main"})


@pytest.mark.requirement("R343")
def test_a_conversation_is_shown_as_it_was_when_its_first_page_was_read(world: World) -> None:
    params = turns(world)
    rows = world.call("history.log", branch=f"run/{params['run_id']}").items

    def change(number: int) -> None:
        world.call("run.turn", role="user", content=f"later {number}", **params)
        if number == 2:
            branch = f"run/{params['run_id']}"
            world.call("history.compress", branch=branch, **{"from": rows[-1].hash}, to=rows[1].hash, text="in short")

    first, shown = before(world, "run.turns", params, change)
    assert shown == first


@pytest.mark.requirement("R343")
def test_an_agents_page_of_branches_is_not_empty_because_others_come_first(world: World) -> None:
    for each in range(NUMBER):
        world.call("history.branch", name=f"a{each}")
    own = family.parent(world)
    found: list[Any] = []
    cursor: dict[str, Any] = {}
    while True:
        page = family.as_agent(world, own, "history.branches", limit=2, **cursor)
        found += page.items
        if page.next is None:
            break
        cursor = {"cursor": page.next}
    assert own.session.branch in [row.name for row in found]
    assert not any(row.name.startswith("a") for row in found)


@pytest.mark.requirement("R343", "R335")
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_the_pages_of_an_agents_branches_name_no_others(world: World, limit: int) -> None:
    own = family.parent(world)
    family.spawn(world, own)
    family.parent(world, "host/9", instance="keeper09")
    for name in "a", "b", "zz", "session/0", "session/999":
        world.call("history.branch", name=name)
    allowed = [row.name for row in family.as_agent(world, own, "history.branches").items]
    assert own.session.branch in allowed
    assert len(allowed) < len(world.call("history.branches").items)
    shown: list[str] = []
    cursor: dict[str, Any] = {}
    while True:
        page = family.as_agent(world, own, "history.branches", limit=limit, **cursor)
        shown += [row.name for row in page.items]
        if page.next is None:
            break
        assert page.next == shown[-1]
        assert len(page.items) == limit
        cursor = {"cursor": page.next}
    assert shown == allowed


@pytest.mark.requirement("R343")
def test_an_agents_pages_of_a_tree_are_its_own_part_with_the_same_totals(world: World) -> None:
    root = family.parent(world)
    first, _second = family.spawn(world, root), family.spawn(world, root)
    below = family.spawn(world, first)
    family.run(world, below)
    expected = family.as_agent(world, first, "spawn.tree", session_id=family.session_of(first))
    page = family.as_agent(world, first, "spawn.tree", session_id=family.session_of(first), limit=1)
    rest = family.as_agent(world, first, "spawn.tree", session_id=family.session_of(first), cursor=page.next)
    assert [*page.items, *rest.items] == expected.items
    assert len(expected.items) == 2


@pytest.mark.requirement("R343")
def test_a_place_behind_the_last_item_is_an_empty_last_page(world: World) -> None:
    params = tree(world)
    page = world.call("spawn.tree", cursor="9999999999999999999.9999999999999999999", limit=1, **params)
    assert (page.items, page.next) == ([], None)
    assert world.call("db.project.list", cursor=2**63 - 1).items == []


@pytest.mark.requirement("R343")
@pytest.mark.parametrize("cursor", ["4", "main", "-1.2", "1.2.3", "", "1.x", "99999999999999999999.1"])
def test_a_tree_refuses_the_cursor_of_another_list(world: World, cursor: str) -> None:
    with pytest.raises(InvalidParams) as refusal:
        world.call("spawn.tree", session_id=1, cursor=cursor)
    assert (refusal.value.field, refusal.value.value) == ("cursor", cursor)
    assert "next" in refusal.value.fix


@pytest.mark.requirement("R343")
def test_child_branches_and_turns_refuse_a_place_that_is_not_theirs(world: World) -> None:
    params = spawned(world)
    world.call("history.spawn", parent="kid1", child="grandkid", purpose="look")
    other = world.call("history.spawns", branch="kid1").children[0].spawn_id
    for cursor in other, 10**6:
        with pytest.raises(InvalidParams) as refusal:
            world.call("history.spawns", cursor=cursor, **params)
        assert (refusal.value.field, refusal.value.value) == ("cursor", cursor)
    with pytest.raises(CommitNotFound) as missing:
        world.call("run.turns", cursor="1.abcdef0123", **turns(world))
    assert missing.value.field == "cursor"


@pytest.mark.requirement("R343")
@pytest.mark.parametrize("name", ["history.branches", "db.session.find", "fleet.notices", "history.log", "work.list"])
def test_a_limit_above_the_maximum_gives_a_page_of_the_maximum_and_the_next_cursor(world: World, name: str) -> None:
    params = LISTS[name](world)
    everything = world.call(name, **params).items
    world.engine = Engine(Rules(limits=LimitSettings(page_max=3)), codec=Codec(), redactor=Redactor())
    for limit in 4, 2**31 - 1:
        page = world.call(name, limit=limit, **params)
        assert page.items == everything[:3]
        assert world.call(name, limit=limit, cursor=page.next, **params).items == everything[3:]
