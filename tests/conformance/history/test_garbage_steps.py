"""Garbage is deleted in steps, and whatever is done between two of them, nothing goes that is reachable then."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st
from tests.conformance.history.life import APPENDS, OTHERS, REWRITES, Step, live, names, prove, steps
from tests.conformance.history.story import findings, forget
from tests.world import World

from ramet.protocol.history import garbage_steps as protocol
from ramet.protocol.history.garbage import Collected, GarbageStep, PlanGarbage
from ramet.protocol.history.garbage_steps import garbage_steps
from ramet.protocol.operation import Request
from ramet.store.history import garbage, garbage_plans


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str | None:
    return None if request.param == "sqlite" else str(request.getfixturevalue("worlds_schema"))


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rows in each step, few rows in each plan, and no margin that would hide a wrong number."""
    monkeypatch.setattr(protocol, "_STEP", dict.fromkeys(protocol._STEP, 2))
    monkeypatch.setattr(garbage_plans, "_ROWS", 7)
    monkeypatch.setattr(garbage_plans, "_PAGE", 3)
    monkeypatch.setattr(garbage, "_MARGIN", 0)


def ask(world: World, request: Request[Any]) -> Any:
    return world.perform("user", request.op, request)


def collect(
    world: World, *, between: Callable[[Request[Any]], object] = lambda _: None, at_most: int = 300
) -> Collected | None:
    """Take the steps of a collection that keeps no moves; None if it is left before its end."""
    running = garbage_steps(0)
    reply: Any = None
    for _ in range(at_most):
        try:
            request = running.send(reply)
        except StopIteration as ended:
            return ended.value  # type: ignore[no-any-return]
        between(request)
        reply = ask(world, request)
    return None


def count(world: World, table: str) -> int:
    return int(world.sql(f"SELECT count(*) FROM {table}")[0][0])


def doom(world: World) -> None:
    """Commits that nothing reaches: one branch grows out of the other, and both are deleted."""
    origin = {"from": "main"} if "main" in names(world) else {}
    world.call("history.branch", name="lost", **origin)
    for number in range(5):
        world.call("history.commit", branch="lost", text=f"lost {number}")
        if number == 2:
            world.call("history.branch", name="doomed", **{"from": "lost"})
            for other in range(4):
                world.call("history.commit", branch="doomed", text=f"doomed {other}")
    target = world.call("history.log", branch="doomed", limit=1).items[0].hash
    world.call("history.edit", branch="doomed", target=target, text="otherwise")
    for name in ("lost", "doomed"):
        world.call("history.delete", branch=name)
    world.clock.advance(1)


def revive(world: World, step: Step) -> None:
    """A branch at any commit that is there, garbage too."""
    hashes = [bytes(row[0]).hex() for row in world.sql("SELECT hash FROM commits ORDER BY id")]
    if hashes:
        name = f"revived-{len(names(world))}"
        world.call("history.branch", name=name, **{"from": hashes[-1 - step.first % min(12, len(hashes))]})
        if step.second % 2:
            world.call("history.commit", branch=name, text=f"lost {step.third % 5}")


@pytest.mark.requirement("R447")
@pytest.mark.usefixtures("small_steps")
def test_no_step_deletes_what_is_reachable_at_that_moment(url: str | None) -> None:
    def law(world: World, drawn: tuple[list[Step], list[Step]]) -> None:
        before, during = drawn
        live(world, before)
        doom(world)
        left = list(during)

        def interfere(_: Request[Any]) -> None:
            assert findings(world) == []  # whatever points at a row that is gone is found
            step = left.pop() if left else None
            if step is not None and step.verb == "revive":
                revive(world, step)
            elif step is not None and step.verb != "wait":
                live(world, [step])

        assert collect(world, between=interfere) is not None
        world.clock.advance(1)
        collect(world)
        assert findings(world) == []
        forget(world)
        assert all(world.call("history.compile", branch=name) is not None for name in names(world))
        assert collect(world) == Collected(commits=0, blobs=0, segments=0)

    told = steps((*APPENDS, *REWRITES, *REWRITES, *OTHERS), most=6)
    meanwhile = steps(("say", "delete", "reset", "undo", *["revive"] * 4, "wait", "wait", "wait"), most=10)
    prove(url, st.tuples(told, meanwhile), law, 10)


@pytest.mark.requirement("R447")
@pytest.mark.usefixtures("small_steps")
def test_a_collection_that_was_interrupted_anywhere_is_completed_by_the_next(world: World) -> None:
    for number in range(12):
        world.call("history.commit", branch="main", text=f"kept {number}")
    kept = world.call("history.compile", branch="main")
    for at_most in range(1, 12):
        world.call("history.branch", name="side", **{"from": "main"})
        for number in range(9):
            world.call("history.commit", branch="side", text=f"{at_most} {number}")
        world.call("history.delete", branch="side")
        world.clock.advance(1)
        collect(world, at_most=at_most)
        assert findings(world) == []
    collect(world)
    assert (count(world, "commits"), count(world, "blobs"), count(world, "segments")) == (12, 12, 1)
    assert (world.call("history.compile", branch="main"), findings(world)) == (kept, [])


@pytest.mark.requirement("R447")
def test_a_collection_reads_first_and_then_deletes_few_rows_at_a_time(world: World) -> None:
    for number in range(450):
        world.call("history.commit", branch="side", text=f"{number}")
    world.call("history.delete", branch="side")
    world.clock.advance(1)
    asked: list[Request[Any]] = []
    done = collect(world, between=asked.append)
    sizes = [len(each.commit_ids) for each in asked if isinstance(each, GarbageStep) and each.commit_ids]
    assert done == Collected(commits=450, blobs=450, segments=1)
    assert [isinstance(each, PlanGarbage) for each in asked].count(True) == 1
    assert sizes == [200, 200, 50]
    assert names(world) == []


def test_a_step_deletes_large_contents_one_by_one(world: World) -> None:
    for number in range(3):
        world.call("history.commit", branch="side", text=f"{number}" + incompressible(number))
    world.call("history.delete", branch="side")
    world.clock.advance(1)
    asked: list[Request[Any]] = []
    assert collect(world, between=asked.append) == Collected(commits=3, blobs=3, segments=1)
    left = [len(each.blob_ids) for each in asked if isinstance(each, GarbageStep) and each.blob_ids]
    assert left == [3, 2, 1]


def incompressible(seed: int) -> str:
    return random.Random(seed).randbytes(700_000).hex()
