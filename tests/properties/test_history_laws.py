"""What holds for every history, whatever was done to it: on both databases."""

from typing import Any

import pytest
from hypothesis import strategies as st
from tests.conformance.history.life import (
    APPENDS,
    FORMATS,
    OTHERS,
    REWRITES,
    Step,
    everything,
    live,
    names,
    prove,
    steps,
)
from tests.conformance.history.story import (
    findings,
    forget,
    fork,
    merge,
)
from tests.world import START_MS, World

from ramet.model.instant import to_iso


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str | None:
    return None if request.param == "sqlite" else str(request.getfixturevalue("worlds_schema"))


def test_compile_is_a_function_of_the_branch(url: str | None) -> None:
    def law(world: World, taken: list[Step]) -> None:
        for place in range(0, len(taken), 5):
            live(world, taken[place : place + 5])
            kept = everything(world)
            forget(world)
            assert everything(world) == kept
        assert findings(world) == []

    prove(url, steps((*APPENDS, *REWRITES, *OTHERS, "gc")), law, 30)


def read(world: World) -> Any:
    """What the branch main compiles to, in every form; None where there is none, or nothing on it."""
    if {row.name: row.hash for row in world.call("history.branches").items}.get("main") is None:
        return None
    return [world.call("history.compile", branch="main", format=form) for form in FORMATS]


def count_moves(world: World) -> int:
    return int(world.sql("SELECT count(*) FROM moves")[0][0])


def test_undo_restores_what_was_compiled_before_each_rewrite_to_the_byte(url: str | None) -> None:
    def law(world: World, taken: tuple[list[Step], list[Step]]) -> None:
        before, after = taken
        live(world, before)
        known: list[Any] = []
        for step in after:
            current, moves = read(world), count_moves(world)
            live(world, [step])
            if count_moves(world) > moves:
                known.append(current)
        while known:
            world.call("history.undo", branch="main")
            assert read(world) == known.pop()
        assert findings(world) == []

    told = steps((*APPENDS, "edit", "compress", "merge", "branch"), most=12)
    prove(url, st.tuples(told, steps((*REWRITES, *REWRITES, "say"), most=10, branches=("main",))), law, 30)


Lines = list[list[tuple[str, int]]]


def test_merge_of_disjoint_branches_is_associative(url: str | None) -> None:
    def law(world: World, lines: Lines) -> None:
        world.call("history.commit", branch="base", text="base")
        for name, line in zip("abc", lines, strict=True):
            fork(world, name, "base")
            for number, (text, second) in enumerate(line):
                at = to_iso(START_MS + 1000 * second)
                world.call("history.commit", branch=name, text=f"{name}{number} {text}", at=at)
        fork(world, "left", "a")
        fork(world, "right", "b")
        merge(world, "b", into="left")
        merge(world, "c", into="left")
        merge(world, "c", into="right")
        fork(world, "whole", "a")
        merge(world, "right", into="whole")
        read = {name: world.call("history.compile", branch=name).messages for name in ("left", "whole")}
        assert read["left"] == read["whole"]
        assert len(read["left"]) == 1 + sum(map(len, lines))
        assert findings(world) == []

    line = st.lists(st.tuples(st.sampled_from(["x", "y"]), st.integers(0, 9)), max_size=5)
    prove(url, st.lists(line, min_size=3, max_size=3), law, 25)


def test_the_same_source_committed_again_adds_no_row(url: str | None) -> None:
    def law(world: World, source: list[dict[str, Any]]) -> None:
        known: dict[str, list[str]] = {}
        for name in ("first", "second", "third"):
            for commit in source:
                world.call("history.commit", branch=name, **commit)
            rows = {table: kept for table, kept in world.dump().items() if table in ("commits", "blobs", "segments")}
            assert rows == (known or rows)
            known = rows

    commit = st.fixed_dictionaries(
        {
            "text": st.text(max_size=20).filter(lambda text: "\0" not in text),
            "at": st.integers(0, 99).map(lambda second: to_iso(START_MS + 1000 * second)),
            "author": st.sampled_from(["ada", "grace"]),
            "role": st.sampled_from(["user", "assistant"]),
        },
        optional={"metadata": st.dictionaries(st.sampled_from("xyz"), st.integers(), max_size=2)},
    )
    prove(url, st.lists(commit, max_size=8), law, 20)


def reached(world: World) -> dict[str, Any]:
    """What every branch, spawn, collapse and recent move leads to."""
    found = everything(world)
    for branch in names(world):
        tree = world.call("history.spawns", branch=branch)
        found[f"{branch} tree"] = tree
        for row in tree.children:
            for commit in row.collapses:
                found[f"collapse {commit}"] = world.call("history.expand", hash=commit)
        for row in world.call("history.log", branch=branch, limit=1000).items:
            if row.compresses:
                found[f"compression {row.hash}"] = world.call("history.expand", hash=row.hash)
        for move in world.call("history.moves", branch=branch, limit=1000).items:
            for commit in filter(None, (move.old, move.new)):
                found[f"move {commit}"] = world.call("history.compile", hash=commit)
    return found


@pytest.mark.parametrize("retention_days", [0, 1])
def test_gc_never_removes_what_anything_reaches(url: str | None, retention_days: int) -> None:
    def law(world: World, taken: list[Step]) -> None:
        live(world, taken)
        if retention_days == 0:
            world.clock.advance(1)
            world.call("history.gc", retention_days=7)
        kept = reached(world)
        if retention_days == 0:
            world.sql("DELETE FROM moves")
            kept = reached(world)
        world.call("history.gc", retention_days=retention_days)
        assert reached(world) == kept
        forget(world)
        assert reached(world) == kept
        assert findings(world) == []
        assert world.call("history.gc", retention_days=retention_days).commits == 0

    prove(url, steps((*APPENDS, *REWRITES, *OTHERS)), law, 25)
