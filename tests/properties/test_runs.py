"""Random task files, worked on by workers that fail and vanish: every line comes to one outcome, in its order."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conformance import queue_worker, run_steps
from tests.world import World, open_world

WORKERS = ("a", "b", "c")
OUTCOMES = ("success", "error", "stuck")


@st.composite
def task_files(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Lines that depend on some of those before them; some are done."""
    count = draw(st.integers(1, 8))
    return [
        run_steps.line(
            f"l{number}",
            *draw(
                st.lists(st.sampled_from([f"l{other}" for other in range(number)]), unique=True)
                if number
                else st.just([])
            ),
            is_done=draw(st.booleans()) and draw(st.booleans()),
        )
        for number in range(count)
    ]


@pytest.mark.requirement("R76", "R93", "R98")
@settings(max_examples=25)
@given(lines=task_files(), mode=st.sampled_from(["sequential", "parallel"]), goes_on=st.booleans(), data=st.data())
def test_every_line_comes_to_one_outcome_after_all_that_it_waits_for(
    lines: list[dict[str, Any]], mode: str, goes_on: bool, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder, open_world(Path(folder), None) as world:
        run = run_steps.record(world, *lines, mode=mode, keep_going=goes_on)
        if run.state != "finished":
            run_steps.attend(world, run)
        expected = {each["key"]: "completed" for each in lines if each["is_done"]}
        held: dict[str, Any] = {}
        while run_steps.get(world, run).state != "finished":
            _claim_all(world, run, held, mode, expected, {each["key"]: each["depends_on"] for each in lines})
            worker = data.draw(st.sampled_from(sorted(held)))
            claimed = held.pop(worker)
            if data.draw(st.integers(0, 4)) == 0 and claimed.host_failures < 5:
                queue_worker.expire(world, claimed.id)  # it vanishes, and whoever claims next takes over
                continue
            outcome = data.draw(st.sampled_from(OUTCOMES))
            queue_worker.complete(world, claimed, outcome, failure=None if outcome == "success" else "permanent")
            expected[claimed.run_line] = "completed" if outcome == "success" else "failed"
            if outcome != "success" and not goes_on:
                _skip(expected, claimed.run_line, lines)
        assert run_steps.states(world, run) == expected
        assert held == {}


def _skip(expected: dict[str, str], key: str, lines: list[dict[str, Any]]) -> None:
    """What needs a line that did not succeed is skipped, and so on."""
    for each in lines:
        if key in each["depends_on"] and each["key"] not in expected:
            expected[each["key"]] = "skipped"
            _skip(expected, each["key"], lines)


def _claim_all(
    world: World, run: Any, held: dict[str, Any], mode: str, ended: dict[str, str], needs: dict[str, list[str]]
) -> None:
    """Give every free worker what is ready: nothing before its time, and nothing that another one has."""
    for worker in WORKERS:
        claimed = None if worker in held else run_steps.claim(world, run, worker)
        if claimed is None or hasattr(claimed, "refused"):
            continue
        assert claimed.run_line not in ended
        assert claimed.run_line not in [other.run_line for other in held.values()]
        assert set(needs[claimed.run_line]) <= set(ended)
        held[worker] = claimed
    assert held
    assert mode == "parallel" or len(held) == 1
